package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cordon/internal/secret"
)

func TestKnownSecretsAreFoundInEveryForm(t *testing.T) {
	r := testRand()
	for _, v := range []string{planted(r, 24), planted(r, 9) + "/+&<\"' \\é" + planted(r, 3), "line one " + planted(r, 8) + "\nline two", planted(r, 5)} {
		k := Known([]secret.Secret{secret.New(v), secret.New("")})
		j, _ := json.Marshal(v)
		jj, _ := json.Marshal(string(j))
		forms := map[string]string{
			"raw": v, "query": url.QueryEscape(v), "path": url.PathEscape(v), "lower query": strings.ToLower(url.QueryEscape("/")) + url.QueryEscape(v),
			"json": strings.Trim(string(j), `"`), "json in json": string(jj), "go": fmt.Sprintf("%q", v), "hex": hex.EncodeToString([]byte(v)),
			"query twice": url.QueryEscape(url.QueryEscape(v)),
		}
		for shift := range 4 {
			for _, after := range []string{"", "x", "yz"} {
				p := strings.Repeat("u", shift) + v + after
				forms[fmt.Sprintf("base64 %d%s", shift, after)] = base64.StdEncoding.EncodeToString([]byte(p))
				forms[fmt.Sprintf("base64url %d%s", shift, after)] = base64.RawURLEncoding.EncodeToString([]byte(p))
			}
		}
		for name, f := range forms {
			out, n := k.Text("<<" + f + ">>")
			if n == 0 || strings.Contains(out, f) || !strings.Contains(out, secret.Placeholder) {
				t.Errorf("%q as %s: %q", v, name, out)
			}
			if !strings.HasPrefix(out, "<<") || !strings.HasSuffix(out, ">>") {
				t.Errorf("%q as %s took too much: %q", v, name, out)
			}
			if raw, err := base64.RawStdEncoding.DecodeString(strings.Trim(strings.ReplaceAll(out, secret.Placeholder, ""), "<>=")); err == nil && strings.Contains(string(raw), v[1:len(v)-1]) {
				t.Errorf("%q as %s can still be read: %q", v, name, out)
			}
		}
	}
}

func TestKnownTakesLongSecretsLineByLine(t *testing.T) {
	r := testRand()
	var lines []string
	for range 30 {
		lines = append(lines, planted(r, 64))
	}
	long := planted(r, 1500)
	k := Known([]secret.Secret{secret.New(strings.Join(lines, "\n")), secret.New(long)})
	out, n := k.Text("x " + strings.Join(lines, `\n`) + " y " + long + " z " + lines[3])
	if n != 30+3+1 {
		t.Errorf("%d found", n)
	}
	for _, l := range append(lines, long[:300], long[600:900]) {
		if strings.Contains(out, l) {
			t.Fatalf("%s left", l)
		}
	}
}

func TestKnownWithoutSecretsChangesNothing(t *testing.T) {
	for _, k := range []Replacer{{}, Known(nil), Known([]secret.Secret{secret.New("abc")})} {
		if out, n := k.Text("abc def"); out != "abc def" || n != 0 {
			t.Errorf("%q %d", out, n)
		}
	}
}
