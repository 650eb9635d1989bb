package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"

	"cordon/internal/change"
	"cordon/internal/secret"
	"cordon/internal/statedir"
	"cordon/providers/gitlab"
)

// deliverTime bounds a delivery command, in real time.
const deliverTime = 30 * time.Second

// destinations are the places that plans offer for a new token.
func (a *App) destinations() []gitlab.Destination {
	var out []gitlab.Destination
	for _, name := range slices.Sorted(maps.Keys(a.cfg.Rotate.Destinations)) {
		argv := a.cfg.Rotate.Destinations[name].Command
		out = append(out, gitlab.Destination{Name: name, Kind: gitlab.Command, Title: "stdin of " + strings.Join(argv, " ")})
	}
	for i, r := range a.cfg.Rotate.Recipients {
		out = append(out, gitlab.Destination{Name: fmt.Sprintf("recipient-%d", i+1), Kind: gitlab.Sealed, Title: "sealed to " + r})
	}
	return out
}

// deliver hands a new token to where the confirmed plan said. The token touches no
// disk in clear: it goes to a command's standard input, or is sealed first.
func (a *App) deliver(ctx context.Context, c change.Change, token secret.Secret) (map[string]string, error) {
	var args struct {
		To string `json:"to"`
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, fmt.Errorf("deliver: %w", err)
	}
	if d, ok := a.cfg.Rotate.Destinations[args.To]; ok {
		return a.toCommand(ctx, args.To, d.Command, token)
	}
	for i, r := range a.cfg.Rotate.Recipients {
		if args.To == fmt.Sprintf("recipient-%d", i+1) {
			return a.sealed(c, r, token)
		}
	}
	return nil, fmt.Errorf("deliver: no destination called %q is configured", args.To)
}

func (a *App) toCommand(ctx context.Context, name string, argv []string, token secret.Secret) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, deliverTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(token.Reveal() + "\n")
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard // either could hold the token
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		var x *exec.ExitError
		if errors.As(err, &x) {
			return nil, fmt.Errorf("command %s ended with %d; its output is not shown because it may hold the token", argv[0], x.ExitCode())
		}
		return nil, fmt.Errorf("command %s: %w", argv[0], err)
	}
	return map[string]string{"delivered": "stdin of " + name}, nil
}

// sealed encrypts the token to a recipient and keeps the file beside the cases: it is
// for one person to fetch, not part of the evidence.
func (a *App) sealed(c change.Change, recipient string, token secret.Secret) (map[string]string, error) {
	r, err := age.ParseX25519Recipient(recipient)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	var buf bytes.Buffer
	arm := armor.NewWriter(&buf)
	w, err := age.Encrypt(arm, r)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	_, err = io.WriteString(w, token.Reveal()+"\n")
	if err = errors.Join(err, w.Close(), arm.Close()); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	dir := filepath.Join(a.state, "sealed")
	if err := statedir.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%s-%d.age", c.System, c.Target.ID, a.clock.Now().UnixMilli()))
	if err := statedir.Make(path, buf.Bytes()); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return map[string]string{"delivered": "sealed", "file": path}, nil
}
