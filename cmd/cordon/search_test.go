package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// encodings are the forms in which a secret may lie somewhere: as it is, in base64 at
// each of the three places it can have in a longer text, in a URL, in JSON, in hex.
func encodings(secret string) map[string]string {
	j, err := json.Marshal(secret)
	if err != nil {
		panic(err) // a string always marshals
	}
	var percent, unicode strings.Builder
	for _, b := range []byte(secret) {
		fmt.Fprintf(&percent, "%%%02X", b)
		fmt.Fprintf(&unicode, `\u%04x`, b)
	}
	inJSON := strings.Trim(string(j), `"`)
	all := map[string]string{
		"clear": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "percent": percent.String(),
		"json": inJSON, "json with escaped slashes": strings.ReplaceAll(inJSON, "/", `\/`), "json with code points": unicode.String(),
		"hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for at := range 3 {
		all[fmt.Sprintf("base64 at %d", at)] = inBase64(base64.RawStdEncoding, secret, at)
		all[fmt.Sprintf("base64url at %d", at)] = inBase64(base64.RawURLEncoding, secret, at)
	}
	return all
}

// inBase64 is the part of the base64 of a longer text that depends on secret alone,
// where secret begins at an offset that is at modulo 3.
func inBase64(enc *base64.Encoding, secret string, at int) string {
	full := enc.EncodeToString(append(make([]byte, at), secret...))
	first := []int{0, 2, 3}[at]         // characters with bits of what is before
	whole := (at + len(secret)) * 8 / 6 // characters without bits of what follows
	return full[first:min(whole, len(full))]
}

// find returns how a secret with those encodings stands in text, "" if it does not.
func find(text []byte, forms map[string]string) string {
	for how, form := range forms {
		if bytes.Contains(text, []byte(form)) {
			return how
		}
	}
	return ""
}

func TestTheSearchFindsEveryForm(t *testing.T) {
	const secret = "s3cr/et+Value&\"q\"=<7>"
	for how, form := range encodings(secret) {
		if got := find([]byte("before "+form+" behind"), encodings(secret)); got == "" {
			t.Errorf("%s is not found: %s", how, form)
		}
	}
	for at, before := range []string{"abc", "a", "ab"} {
		for _, behind := range []string{"", "x", "xy", "xyz"} {
			text := base64.StdEncoding.EncodeToString([]byte(before + secret + behind))
			if got := find([]byte(text), encodings(secret)); got == "" {
				t.Errorf("base64 of %q at %d is not found", before+secret+behind, at)
			}
		}
	}
	if got := find([]byte("nothing of that kind in s3cr/et"), encodings(secret)); got != "" {
		t.Errorf("found where it is not: %s", got)
	}
}

// tree reads every file below dir; a name that cannot be read is not there any more.
func tree(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if b, err := os.ReadFile(name); err == nil {
			all[name] = b
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
