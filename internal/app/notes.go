package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
	"cordon/internal/plainfile"
)

// noteText is a note as it is kept: what looks like a secret in it is replaced, as a
// note is text of ours, not evidence.
func (a *App) noteText(id, text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("%w: a note has a text", ErrUsage)
	}
	if len(text) > casefile.MaxMsg {
		return "", fmt.Errorf("%w: a note has at most %d bytes; attach a longer text as a file", ErrUsage, casefile.MaxMsg)
	}
	text, _ = a.marker.Derive("case:" + id).Text(text)
	return text, nil
}

// Note writes what a person has to say into a case that nobody holds.
func (a *App) Note(ctx context.Context, id, text string) (casefile.Line, error) {
	var l casefile.Line
	text, err := a.noteText(id, text)
	if err != nil {
		return l, err
	}
	err = a.hold(ctx, id, "note", func(c *casefile.Case) (err error) {
		l, err = c.Append(casefile.Event{Kind: "note", OK: true, Msg: text})
		return err
	})
	return l, err
}

// Note writes what a person has to say into the case of the session. It may be called
// between Next and Answer, by the goroutine that uses the session.
func (s *Session) Note(text string) error {
	text, err := s.app.noteText(s.ID(), text)
	if err != nil {
		return err
	}
	return s.Run.Note(text)
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

// attachment opens a file that is to be kept, and names it. Only a plain file of at most
// casefile.MaxItem bytes is taken, by its own name and with something in it, as with what
// a person keeps with a step (personal); a longer file is refused, not cut.
func (a *App) attachment(id, path, what string) (it evidence.Item, f *os.File, err error) {
	if what = strings.TrimSpace(what); what == "" {
		return it, nil, fmt.Errorf("%w: say what it is: --what", ErrUsage)
	}
	if f, err = plainfile.OpenItself(path, casefile.MaxItem); errors.Is(err, plainfile.ErrSize) {
		return it, nil, fmt.Errorf("%w: attach: %w; split a long file, or keep it elsewhere and note its digest", ErrUsage, err)
	} else if err != nil {
		return it, nil, fmt.Errorf("%w: attach: %w", ErrUsage, err)
	}
	what, _ = a.marker.Derive("case:" + id).Text(what)
	return evidence.Item{Name: attachmentName(path), Source: "attached by " + a.principal() + ": " + what}, f, nil
}

// Attach keeps a file in a case that nobody holds as evidence, as it is.
func (a *App) Attach(ctx context.Context, id, path, what string) (evidence.Item, error) {
	it, f, err := a.attachment(id, path, what)
	if err != nil {
		return it, err
	}
	defer f.Close()
	err = a.hold(ctx, id, "attach", func(c *casefile.Case) (err error) {
		it, err = attach(ctx, c, it, f)
		return err
	})
	return it, err
}

// Attach keeps a file in the case of the session, like App.Attach, and may be called
// when Note may.
func (s *Session) Attach(ctx context.Context, path, what string) (evidence.Item, error) {
	it, f, err := s.app.attachment(s.ID(), path, what)
	if err != nil {
		return it, err
	}
	defer f.Close()
	return attach(ctx, s.c, it, f)
}

func attach(ctx context.Context, to *casefile.Case, it evidence.Item, f *os.File) (evidence.Item, error) {
	it, err := to.Put(ctx, it, f)
	if err == nil && it.Truncated {
		err = errors.New("it grew while it was read; what is kept is marked as cut")
	}
	return it, err
}
