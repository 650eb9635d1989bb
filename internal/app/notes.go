package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
)

// Note writes what a person has to say into a case. What looks like a secret in it is
// replaced: a note is text of ours, not evidence.
func (a *App) Note(ctx context.Context, id, text string) (casefile.Line, error) {
	var l casefile.Line
	if text = strings.TrimSpace(text); text == "" {
		return l, fmt.Errorf("%w: a note has a text", ErrUsage)
	}
	if len(text) > casefile.MaxMsg {
		return l, fmt.Errorf("%w: a note has at most %d bytes; attach a longer text as a file", ErrUsage, casefile.MaxMsg)
	}
	err := a.hold(ctx, id, "note", func(c *casefile.Case) (err error) {
		text, _ = a.marker.Derive("case:" + id).Text(text)
		l, err = c.Append(casefile.Event{Kind: "note", OK: true, Msg: text})
		return err
	})
	return l, err
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// attachmentName is the name of an attachment in the record: foreign names do not come
// into paths, so only what is harmless stays of it.
func attachmentName(path string) string {
	n := notInName.ReplaceAllString(filepath.Base(path), "_")
	if n = strings.Trim(strings.ReplaceAll(n, "..", "_"), "."); n == "" || strings.Trim(n, "_") == "" {
		n = "file"
	}
	return "attachments/" + n[:min(len(n), 120)]
}

// Attach keeps a file in a case as evidence, as it is. Only a plain file of at most
// casefile.MaxItem bytes is taken; a pipe or a device is refused without being opened
// for long, and a longer file is refused, not cut.
func (a *App) Attach(ctx context.Context, id, path, what string) (evidence.Item, error) {
	var it evidence.Item
	if what = strings.TrimSpace(what); what == "" {
		return it, fmt.Errorf("%w: say what it is: --what", ErrUsage)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return it, fmt.Errorf("%w: attach: %w", ErrUsage, err)
	}
	defer f.Close()
	switch st, err := f.Stat(); {
	case err != nil:
		return it, fmt.Errorf("attach %s: %w", path, err)
	case !st.Mode().IsRegular():
		return it, fmt.Errorf("%w: attach %s: not a plain file", ErrUsage, path)
	case st.Size() > casefile.MaxItem:
		return it, fmt.Errorf("%w: attach %s: %d bytes, at most %d; split it, or keep it elsewhere and note its digest", ErrUsage, path, st.Size(), casefile.MaxItem)
	}
	what, _ = a.marker.Derive("case:" + id).Text(what)
	err = a.hold(ctx, id, "attach", func(c *casefile.Case) (err error) {
		it, err = c.Put(ctx, evidence.Item{Name: attachmentName(path), Source: "attached by " + a.principal() + ": " + what}, f)
		if err == nil && it.Truncated {
			err = errors.New("it grew while it was read; what is kept is marked as cut")
		}
		return err
	})
	return it, err
}
