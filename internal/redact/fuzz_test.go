package redact

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/secret"
)

// Whatever stands around a token, it does not survive, and a second run is quiet.
func FuzzText(f *testing.F) {
	for i, s := range []string{"", "token=", "--token ", `{"password":"`, "https://a:", "-----BEGIN PRIVATE KEY-----\n", "Authorization: Bearer ", "\x00\xff", "password: |\n  ", "${{", "[redacted hmac:0123456789abcdef len:3]"} {
		f.Add(uint64(i), s, "\n", false)
		f.Add(uint64(i), s, `"}`, true)
	}
	f.Fuzz(func(t *testing.T, seed uint64, before, after string, byName bool) {
		r := rand.New(rand.NewPCG(seed, 0))
		var needle, in string
		if byName {
			needle = planted(r, 10)
			in = before + "\n\"password\": \"" + needle + "\"\n" + after
		} else {
			needle = "glpat-" + planted(r, 20)
			in = before + " " + needle + " " + after
		}
		if strings.Count(in, needle) != 1 {
			t.Skip("the surroundings hold it too")
		}
		out, _ := testMarker.Text(in)
		if strings.Contains(out, needle) {
			t.Fatalf("%q left %q", in, out)
		}
		if again, n := testMarker.Text(out); again != out || n != 0 {
			t.Fatalf("twice: %q then %q", out, again)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{"{}", `{"id":1,"a":[{"b":"c"}]}`, `"x"`, `{"redacted":"hmac:0123456789abcdef","len":3}`, "nope", `{"token":"[secret]"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, _, err := testMarker.JSON(raw, []string{"id"})
		if err != nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%q gave %q", raw, out)
		}
		again, n, err := testMarker.JSON(out, []string{"id"})
		if err != nil || n != 0 || string(again) != string(out) {
			t.Fatalf("twice: %q then %q (%d, %v)", out, again, n, err)
		}
	})
}

func FuzzKnown(f *testing.F) {
	f.Add("hunter-two", "the password is hunter-two.")
	f.Add("a\x00b\\c", "a\x00b\\c")
	f.Add("\xff\xfe12", "\xff\xfe12")
	letters := regexp.MustCompile(`^[\[\]secret]+$`)
	f.Fuzz(func(t *testing.T, v, text string) {
		if len(v) < minKnown || len(v) > maxExact || letters.MatchString(v) || strings.Contains(v, "[") || strings.Contains(v, "]") {
			t.Skip()
		}
		out, _ := Known([]secret.Secret{secret.New(v)}).Text(text + v + text)
		if utf8.ValidString(v) && strings.Contains(out, v) {
			t.Fatalf("%q left in %q", v, out)
		}
	})
}
