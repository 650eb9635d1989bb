package transport

import "testing"

func TestOneDocumentOfItsShapeIsReadAndNothingElse(t *testing.T) {
	if v, err := Document[[]int]([]byte(" [1,2]\n")); err != nil || len(v) != 2 {
		t.Errorf("control: a list: %v, %v", v, err)
	}
	if v, err := Document[struct{ A int }]([]byte(`{"a":1,"b":2}`)); err != nil || v.A != 1 {
		t.Errorf("control: an object with more than is asked for: %v, %v", v, err)
	}
	for _, body := range []string{"", "null", "{}", "[1] [2]", "[1", `["x"]`, "<html>", "[1]x"} {
		if v, err := Document[[]int]([]byte(body)); err == nil {
			t.Errorf("%q is read as %v", body, v)
		}
	}
}
