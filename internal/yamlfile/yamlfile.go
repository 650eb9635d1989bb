// Package yamlfile reads YAML that a person wrote: configuration and playbooks.
//
// It is stricter than YAML. Unknown keys, values of the wrong type, anchors, tags,
// merge keys and second documents are errors, each with file, line, column and,
// where one is near, the word that was probably meant. A value is never part of a
// message: somebody will paste a token into the wrong place. Level 1: it may
// import level 0 and the YAML library, and knows nothing of what the files mean.
package yamlfile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"cordon/internal/untrusted"
)

// MaxBytes is the largest document that Decode takes.
const MaxBytes = 128 << 10

// maxDepth bounds nesting; the parser's cost grows with the square of it.
const maxDepth = 32

// Error is one problem at one place. Line and Col count from 1; 0 means that the
// place is not known. Hint may be empty.
type Error struct {
	File      string
	Line, Col int
	Msg, Hint string
}

// Error gives "file:line:col: message; hint" on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(untrusted.Clean(e.File, 200))
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
	}
	b.WriteString(": " + e.Msg)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Errors is every problem of one document, in its order. It is never empty where
// it is returned as an error.
type Errors []*Error

// Error gives the first problem and the number of the others.
func (e Errors) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", e[0].Error(), len(e)-1)
}

// Unwrap lets errors.As find a single *Error.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i := range e {
		all[i] = e[i]
	}
	return all
}

// Doc remembers where each key and list item stood. The zero value knows no
// places. It is immutable after Decode and safe for concurrent use.
type Doc struct {
	name string
	pos  map[string][2]int
}

// Pos returns line and column of the key or list item at path ("steps", "0",
// "needs"), or of the nearest one above it, or 0, 0.
func (d *Doc) Pos(path ...string) (line, col int) {
	if d == nil {
		return 0, 0
	}
	for n := len(path); n > 0; n-- {
		if p, ok := d.pos[strings.Join(path[:n], "\x00")]; ok {
			return p[0], p[1]
		}
	}
	return 0, 0
}

// Errorf makes an Error at path.
func (d *Doc) Errorf(path []string, hint, format string, args ...any) *Error {
	e := &Error{Msg: fmt.Sprintf(format, args...), Hint: hint}
	if d != nil {
		e.File = d.name
	}
	e.Line, e.Col = d.Pos(path...)
	return e
}

// Decode reads one document into the struct that v points to. Field names are the
// yaml tags; fields may be structs, maps by string, slices, strings, booleans and
// whole numbers. The error is Errors. An empty document leaves v as it is.
func Decode(name string, b []byte, v any) (*Doc, error) {
	d := &Doc{name: name, pos: map[string][2]int{}}
	if err := bounded(b); err != nil {
		return d, Errors{d.Errorf(nil, "", "%s", err)}
	}
	f, err := parser.ParseBytes(b, 0)
	if err != nil {
		return d, Errors{d.wrap(err)}
	}
	var body ast.Node
	for _, one := range f.Docs {
		switch {
		case one.Body == nil:
		case body != nil:
			p := one.Body.GetToken().Position
			return d, Errors{{File: name, Line: p.Line, Col: p.Column, Msg: "a second document", Hint: "keep one document a file and remove the line ---"}}
		default:
			body = one.Body
		}
	}
	if body == nil || body.Type() == ast.CommentType || body.Type() == ast.NullType {
		return d, nil
	}
	c := checker{doc: d}
	c.check(nil, body, reflect.TypeOf(v).Elem())
	if len(c.errs) > 0 {
		return d, c.errs
	}
	if err := yaml.NodeToValue(body, v, yaml.Strict()); err != nil {
		return d, Errors{d.wrap(err)}
	}
	return d, nil
}

// Foreign parses YAML that nobody here wrote, such as another project's workflow, within
// the bounds of Decode, into the tree of its first document; nil for an empty one. Nothing
// is resolved: anchors, aliases and merge keys stay nodes, for the caller to refuse. The
// error quotes nothing.
func Foreign(b []byte) (ast.Node, error) {
	if err := bounded(b); err != nil {
		return nil, err
	}
	f, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, errors.New("not YAML")
	}
	for _, one := range f.Docs {
		if one.Body != nil && one.Body.Type() != ast.CommentType {
			return one.Body, nil
		}
	}
	return nil, nil
}

// wrap turns the library's error into ours.
func (d *Doc) wrap(err error) *Error {
	e := &Error{File: d.name, Msg: "not YAML"}
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return e // its text could quote the file
	}
	// Only a syntax error's text is fixed words; the others may quote a value.
	var se *yaml.SyntaxError
	if errors.As(err, &se) {
		e.Msg = "not YAML: " + untrusted.Clean(ye.GetMessage(), 120)
	}
	if tk := ye.GetToken(); tk != nil && tk.Position != nil {
		e.Line, e.Col = tk.Position.Line, tk.Position.Column
	}
	return e
}

// bounded refuses what the parser would take too long over.
func bounded(b []byte) error {
	if len(b) > MaxBytes {
		return fmt.Errorf("larger than %d KiB", MaxBytes>>10)
	}
	depth := 0
	for _, line := range strings.Split(string(b), "\n") {
		dashes := 0
		for rest := strings.TrimSpace(line); strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "? "); dashes++ {
			rest = strings.TrimLeft(rest[2:], " ")
		}
		for _, r := range line {
			switch r {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			}
			if depth+dashes > maxDepth {
				return errors.New("nested too deeply")
			}
		}
	}
	return nil
}
