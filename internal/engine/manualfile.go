package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
)

// MaxFiles is how many files one decision may bring.
const MaxFiles = 20

// File is a file that a person keeps with a step. Body holds no secret in clear.
type File struct {
	Name     string // base name, as it was on the person's machine
	Source   string // where it came from, for the record
	Media    string
	Redacted int // values that were replaced in Body
	Body     []byte
}

// open reads the files of a decision, all of them before anything is kept.
func (r *Run) open(paths []string) ([]File, error) {
	if len(paths) > MaxFiles {
		return nil, fmt.Errorf("%w: %d files, at most %d at once", ErrField, len(paths), MaxFiles)
	}
	var out []File
	for _, p := range paths {
		if r.o.Files == nil {
			return nil, errors.New("this run takes no files")
		}
		f, err := r.o.Files(p)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrField, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// attach keeps files in the case, under the step that they belong to.
func (r *Run) attach(ctx context.Context, t task, files []File) ([]casefile.Ref, error) {
	var refs []casefile.Ref
	for _, f := range files {
		it, err := r.sink().Put(ctx, evidence.Item{
			Name:   fmt.Sprintf("manual/%s-%d/%s", t.step.ID, t.act+1, plainName(f.Name)),
			Source: f.Source, Media: f.Media, Redacted: f.Redacted, At: r.o.Clock.Now(),
		}, bytes.NewReader(f.Body))
		if err != nil {
			return nil, fmt.Errorf("keep a file with step %s: %w", t.step.ID, err)
		}
		refs = append(refs, casefile.Ref{Path: it.Name, SHA256: it.Digest})
	}
	return refs, nil
}

// plainName makes a file's name one that evidence may have.
func plainName(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
			return c
		}
		return '_'
	}, s)
	s = strings.TrimLeft(s, ".-")
	if len(s) > 80 {
		s = s[len(s)-80:]
	}
	if s = strings.TrimLeft(s, ".-"); s == "" {
		return "file"
	}
	return s
}
