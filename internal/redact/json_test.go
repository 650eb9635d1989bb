package redact

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestJSONKeepsOnlyWhatIsAllowed(t *testing.T) {
	r := testRand()
	tok, pw, inKey := "glrt-"+planted(r, 20), planted(r, 12), "glpat-"+planted(r, 20)
	in := `{"id":42,"description":"has ` + tok + `","token":"` + pw + `","token_expires_at":null,"n":7,"active":true,"empty":"",
	 "list":["` + pw + `",{"id":1}],"tag_list":["a","b"],"` + inKey + `":{"id":2},"big":12345678901234567890}`
	out, n, err := testMarker.JSON([]byte(in), []string{"id", "description", "tag_list", "token", "big"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{tok, pw, inKey} {
		if strings.Contains(string(out), s) {
			t.Errorf("left in: %s", out)
		}
	}
	var v map[string]any
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	if v["id"] != float64(42) || v["active"] != true || v["empty"] != "" || v["description"] != "has "+testMarker.replacement(tok) {
		t.Errorf("%s", out)
	}
	for _, want := range []string{`"tag_list":["a","b"]`, `"token":{"len":12,"redacted":"` + testMarker.Print(pw) + `"}`, `{"id":1}`, `12345678901234567890`, `"n":{"len":1,`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	if n != 5 { // description, token, n, list[0], the name
		t.Errorf("%d replaced", n)
	}
	again, n, err := testMarker.JSON(out, []string{"id", "description", "tag_list", "token", "big"})
	if err != nil || n != 0 || string(again) != string(out) {
		t.Errorf("twice: %d %v %s", n, err, again)
	}
}

func TestJSONRefusesWhatItCannotRead(t *testing.T) {
	for _, in := range []string{"", "{", "<html>", "{} {}", `{"a":1}x`, strings.Repeat("[", 20000)} {
		if out, _, err := testMarker.JSON([]byte(in), nil); !errors.Is(err, ErrNotJSON) || out != nil {
			t.Errorf("%.20q: %q %v", in, out, err)
		}
	}
}

func TestJSONErrorsDoNotQuoteTheInput(t *testing.T) {
	pw := planted(testRand(), 12)
	if _, _, err := testMarker.JSON([]byte(`{"a":`+pw), nil); err == nil || strings.Contains(err.Error(), pw) {
		t.Error(err)
	}
}
