package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newHostAccept(e env) *cobra.Command {
	var fingerprint, source string
	c := &cobra.Command{
		Use: "accept HOST", Short: "Accept the SSH key of a host whose fingerprint you have from elsewhere", Args: exactly("HOST"),
		Long: `accept asks HOST for its host keys (no login; sshd may log a connection that was closed
before it) and keeps the one with the given fingerprint in the state directory, with who
accepted it and where the fingerprint is from. A host for which another key is known is
never accepted here: find out why it changed, then edit that known_hosts file. With
--read-only no key is accepted: it would change which hosts are trusted.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if fingerprint == "" || strings.TrimSpace(source) == "" {
				return usage(fmt.Errorf("accept needs --fingerprint SHA256:… and --source: what the host itself shows proves nothing"))
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			k, err := a.AcceptKey(cmd.Context(), args[0], fingerprint, source)
			if err != nil {
				return err
			}
			e.lines(a).Printf("host %s: key %s %s is %s%s", args[0], k.Type, k.Shown, k.State, because(k.Why))
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&fingerprint, "fingerprint", "", "SHA256:… as ssh-keygen -lf prints it")
	f.StringVar(&source, "source", "", "where you have the fingerprint from: cloud console, inventory, a colleague at the machine")
	return c
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
