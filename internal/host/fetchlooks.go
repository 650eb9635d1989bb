package host

import (
	"bytes"
	"net/http"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/redact"
	"cordon/internal/untrusted"
)

// searched is how much of a file is searched for secrets: searching is slow.
const searched = 256 << 10

// magics are first bytes that net/http does not know, or calls by a name of the web.
var magics = []struct{ front, kind string }{
	{"\x7fELF", "ELF program or library"},
	{"\xfe\xed\xfa\xcf", "Mach-O program or library"},
	{"\xcf\xfa\xed\xfe", "Mach-O program or library"},
	{"MZ", "Windows program or library"},
	{"-----BEGIN ", "PEM"},
	{"age-encryption.org/", "age, encrypted"},
	{"SQLite format 3\x00", "SQLite database"},
	{"\x1f\x8b", "gzip, packed"},
	{"\xfd7zXZ\x00", "xz, packed"},
	{"BZh", "bzip2, packed"},
	{"\x28\xb5\x2f\xfd", "zstd, packed"},
	{"PK\x03\x04", "zip, packed"},
	{"!<arch>\n", "ar or deb, packed"},
	{"\xed\xab\xee\xdb", "rpm, packed"},
	{"7z\xbc\xaf\x27\x1c", "7z, packed"},
}

// magicOf says what a file is by its first bytes.
func magicOf(b []byte) string {
	switch {
	case len(b) == 0:
		return "empty"
	case bytes.HasPrefix(b, []byte("#!")):
		first, _, _ := bytes.Cut(b[:min(len(b), 128)], []byte("\n"))
		return "script " + untrusted.Clean(string(first), 80)
	}
	for _, m := range magics {
		if bytes.HasPrefix(b, []byte(m.front)) {
			return m.kind
		}
	}
	return http.DetectContentType(b)
}

// secretsIn tells whether a file looks as if it held secrets, and how much of it was
// searched.
func secretsIn(name, kind string, b []byte, m redact.Marker) (string, int64) {
	if snapshot.SecretPlace(name) {
		return SecretsPlace, 0
	}
	if strings.HasSuffix(kind, "packed") || strings.HasSuffix(kind, "encrypted") {
		return SecretsOpaque, 0
	}
	front := b[:min(len(b), searched)]
	if _, n := m.Text(string(front)); n > 0 {
		return SecretsSeen, int64(len(front))
	}
	return SecretsNone, int64(len(front))
}
