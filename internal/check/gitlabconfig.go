package check

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// table is a TOML table whose shape nobody promised.
type table map[string]any

// bare finds a whole value that was replaced together with its quotes. A mark inside a
// string stays as it is.
var bare = regexp.MustCompile(`(?m)^(\s*[A-Za-z0-9_.-]+\s*=\s*)(\[redacted [^\]"'\n]*\])(\s*)$`)

// parseConfig reads gitlab-runner's config.toml with its secrets already replaced.
// Keys of any shape are kept; a file that is no TOML is an error, never a panic (the
// library bounds the depth of nesting by itself, which a test holds it to).
func parseConfig(text string) (table, error) {
	text = bare.ReplaceAllString(text, `$1"$2"$3`)
	var t table
	if err := toml.Unmarshal([]byte(text), &t); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, col := at.Position()
			return nil, fmt.Errorf("not TOML at line %d, column %d", row, col)
		}
		return nil, errors.New("not TOML")
	}
	return t, nil
}

// runners returns the [[runners]] tables.
func (t table) runners() []table {
	var out []table
	list, _ := t["runners"].([]any)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, table(m))
		}
	}
	return out
}

// sub returns a table inside t; an absent one is empty.
func (t table) sub(key string) table {
	m, _ := t[key].(map[string]any)
	return table(m)
}

// text returns a scalar as text, "" where there is none.
func (t table) text(key string) string {
	switch x := t[key].(type) {
	case nil, []any, map[string]any:
		return ""
	case string:
		return x
	default:
		return fmt.Sprint(x)
	}
}

func (t table) yes(key string) bool { b, _ := t[key].(bool); return b }

// list returns the strings of an array; a lone string counts as an array of one.
func (t table) list(key string) []string {
	switch x := t[key].(type) {
	case string:
		return []string{x}
	case []any:
		var out []string
		for _, e := range x {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

var printShape = regexp.MustCompile(`hmac:[0-9a-f]{8,64}`)

// tokenPrint takes the fingerprint out of a replaced secret.
func tokenPrint(value any) string {
	switch x := value.(type) {
	case string:
		return printShape.FindString(x)
	case map[string]any: // the JSON form {"redacted":"hmac:…","len":N}
		s, _ := x["redacted"].(string)
		return printShape.FindString(s)
	}
	return ""
}

// name is how a person knows an entry of config.toml.
func (t table) name() string {
	if n := t.text("name"); n != "" {
		return n
	}
	return strings.TrimSpace("runner " + t.text("id"))
}
