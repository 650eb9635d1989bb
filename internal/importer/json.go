package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// object is one JSON object by lower-case path: "host.name", "actor_location.country".
// Only scalars are in it.
type object map[string]string

// first is the value under the first of these paths that is there.
func (o object) first(paths ...string) string {
	for _, p := range paths {
		if v := o[p]; v != "" {
			return v
		}
	}
	return ""
}

// objects hands every object of a JSON document to f: of an array, one after another, or
// of the first list in an object that is about the whole.
func (l *Log) objects(b []byte, f func(n int, o object)) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	n := 0
	for {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if n == 0 {
				return errors.New("it is not JSON")
			}
			l.skip(n+1, "what follows is not JSON")
			return nil
		}
		for _, x := range list(v) {
			n++
			m, ok := x.(map[string]any)
			if !ok {
				l.skip(n, "it is not an object")
				continue
			}
			o := object{}
			flatten(o, "", m, 0)
			f(n, o)
		}
	}
}

// list is what a document holds: itself, its elements, or the elements of the one list of
// objects under a key, as APIs wrap them.
func list(v any) []any {
	switch x := v.(type) {
	case []any:
		return x
	case map[string]any:
		for _, key := range []string{"alerts", "resources", "value", "data", "results", "events", "items", "detections"} {
			if inner, ok := x[key].([]any); ok && len(inner) > 0 {
				if _, is := inner[0].(map[string]any); is {
					return inner
				}
			}
		}
	}
	return []any{v}
}

func flatten(o object, prefix string, m map[string]any, depth int) {
	if depth > maxDepth || len(o) > 500 {
		return
	}
	for k, v := range m {
		key := prefix + strings.ToLower(k)
		switch x := v.(type) {
		case string:
			o[key] = x[:min(len(x), 4*maxField)]
		case json.Number:
			o[key] = x.String()
		case bool:
			o[key] = fmt.Sprint(x)
		case map[string]any:
			flatten(o, key+".", x, depth+1)
		case []any:
			if len(x) == 0 {
				continue
			}
			switch one := x[0].(type) { // the first stands for all
			case string:
				o[key] = one[:min(len(one), 4*maxField)]
			case map[string]any:
				flatten(o, key+".", one, depth+1)
			}
		}
	}
}
