package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
)

// Document reads exactly one JSON document of T's shape: a list for a slice, else an
// object. Null is not an empty list: a list that was not read must never look like a list
// of nothing. Fields that T lacks are passed over: services add some without another
// version. The error holds nothing of the answer.
func Document[T any](body []byte) (T, error) {
	var v T
	start := byte('{')
	if reflect.TypeFor[T]().Kind() == reflect.Slice {
		start = '['
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] != start {
		return v, errNotJSON
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&v); err != nil {
		return v, errNotJSON
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, errors.New("more than one JSON document")
	}
	return v, nil
}

var errNotJSON = errors.New("not the expected JSON")
