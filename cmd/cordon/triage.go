package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/secret"
	"cordon/providers"
)

// maxToken bounds what is read as a token, in bytes.
const maxToken = 4 << 10

func newTriage(e env) *cobra.Command {
	var since time.Duration
	var quick bool
	var calls int
	c := &cobra.Command{
		Use:   "triage WHAT",
		Short: "Say what a runner, host, address, URL or token is about; contacts no host",
		Long: `triage turns what an alert names into runners and says of each: whose it is, what runs on it,
what it could reach, what a pause would stop, whether the host would notice, and which
command is next. Every answer says how it is known. WHAT is a runner's reference or name,
a host's name, an IP address, the URL of a job, a runner, a pipeline or a project, or -
for a token, which is asked for without echo (or read from standard input), compared
with what is kept here, and sent nowhere. No configuration is needed where GITLAB_TOKEN,
GH_TOKEN, or the login of glab or gh is there.`,
		Example: "  cordon triage build-07\n  cordon triage https://gitlab.example.org/acme/web/-/jobs/4711\n  cordon triage -",
		Args:    exactly("WHAT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			card, err := e.triage(cmd, a, args[0])
			if err != nil {
				return err
			}
			if !quick {
				from := time.Time{}
				if since > 0 {
					from = a.Clock().Now().Add(-since)
				}
				ctx := cmd.Context()
				if calls > 0 {
					cost, ok, err := a.RanCost(ctx, card, from)
					if err != nil {
						return err
					}
					if ok {
						app.Lines{W: e.err}.Cost(cost)
					}
					ctx = providers.WithCalls(ctx, calls)
				}
				if err := a.Ran(ctx, &card, from); err != nil {
					return err
				}
			}
			*e.code = card.Exit()
			if e.flags.json {
				return e.encode(card)
			}
			e.lines(a).Card(card)
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&quick, "quick", false, "do not ask what ran before: one call less")
	f.DurationVar(&since, "since", 0, "how far back to ask what ran (default 720h)")
	f.IntVar(&calls, "calls", 0, "how many requests the search for what ran may take where a provider has no list of it; what that costs is said first (default 60)")
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}

func (e env) triage(cmd *cobra.Command, a *app.App, what string) (app.Card, error) {
	if what != "-" {
		return a.Triage(cmd.Context(), what)
	}
	token, err := e.token(cmd)
	if err != nil {
		return app.Card{}, err
	}
	return a.TriageToken(cmd.Context(), token)
}

// token asks without echo, or reads the first line of a pipe.
func (e env) token(cmd *cobra.Command) (secret.Secret, error) {
	if isTerminal(e.in) {
		return e.askSecret(cmd.Context(), "token (not shown, sent nowhere)")
	}
	line, err := bufio.NewReader(io.LimitReader(e.in, maxToken)).ReadString('\n')
	if err != nil && err != io.EOF {
		return secret.Secret{}, fmt.Errorf("read the token: %w", err)
	}
	return secret.New(strings.TrimSpace(line)), nil
}
