package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
)

// ErrNotJSON is wrapped by JSON's error for bytes that are not one JSON document.
var ErrNotJSON = errors.New("not JSON")

var printRE = regexp.MustCompile(`^hmac:[0-9a-f]{16}$`)

// JSON keeps the values of the fields named in allow, at any depth, and replaces
// every other string and number by {"redacted":"hmac:…","len":N}; null, booleans
// and empty strings tell nothing and stay. Kept strings and all names still go
// through Text, and a field whose name announces a secret is replaced even if it is
// allowed. The elements of a list belong to the field that holds the list. The
// answer has sorted names and is the number of values replaced; on an error
// (wrapping ErrNotJSON) nothing may be kept but the fact.
func (m Marker) JSON(raw []byte, allow []string) ([]byte, int, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, 0, fmt.Errorf("redact %d bytes: %w at byte %d", len(raw), ErrNotJSON, d.InputOffset())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("redact %d bytes: %w: something follows the document", len(raw), ErrNotJSON)
	}
	keep := make(map[string]bool, len(allow))
	for _, a := range allow {
		keep[a] = true
	}
	n := 0
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m.walk(v, "", keep, &n)); err != nil {
		return nil, 0, fmt.Errorf("redact %d bytes: write: %w", len(raw), err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), n, nil
}

func (m Marker) walk(v any, field string, keep map[string]bool, n *int) any {
	switch x := v.(type) {
	case map[string]any:
		if redacted(x) {
			return x
		}
		names := make([]string, 0, len(x))
		for k := range x {
			names = append(names, k)
		}
		sort.Strings(names)
		out := make(map[string]any, len(x))
		for _, k := range names {
			name, found := m.Text(k)
			*n += found
			out[name] = m.walk(x[k], k, keep, n)
		}
		return out
	case []any:
		for i := range x {
			x[i] = m.walk(x[i], field, keep, n)
		}
		return x
	case string:
		if x == "" {
			return x
		}
		if keep[field] && (!sensitive(field) || plain(field, x)) {
			s, found := m.Text(x)
			*n += found
			return s
		}
		return m.replaced(x, n)
	case json.Number:
		if keep[field] {
			return x
		}
		return m.replaced(x.String(), n)
	}
	return v
}

func (m Marker) replaced(s string, n *int) any {
	if mark.FindString(s) == s {
		return s
	}
	*n++
	return map[string]any{"redacted": m.Print(s), "len": len(s)}
}

// redacted recognises what an earlier JSON wrote.
func redacted(x map[string]any) bool {
	p, isText := x["redacted"].(string)
	l, isNumber := x["len"].(json.Number)
	return len(x) == 2 && isText && isNumber && printRE.MatchString(p) && numberRE.MatchString(l.String())
}
