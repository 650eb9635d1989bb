package host

import (
	"encoding/base64"
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
)

var nonceOf = regexp.MustCompile(`(?m)^N=([0-9a-f]{32})$`)

// escapes are what a host may put into any text of its own.
const escapes = "\x1b]0;owned\x07\x1b[2J\u202e\r\n"

// framer writes frames as our script does, whatever the texts hold.
type framer struct {
	nonce string
	n     int
	b     strings.Builder
}

func (f *framer) frame(kind, name, body string) {
	f.n++
	m := mark(body, 0x20)
	f.b.WriteString("C1 " + f.nonce + " " + itoa(f.n) + " " + kind + " " + mark(name, 0x21) + " " + itoa(len(m)) + "\n" + m + "\n")
}

// mark is text as a frame carries it.
func mark(s string, low rune) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < low || r > 0x7e }) < 0 {
		return "=" + s
	}
	return "~" + base64.StdEncoding.EncodeToString([]byte(s))
}

// watchStream is a whole answer to the request in stdin.
func watchStream(stdin string) string {
	m := nonceOf.FindStringSubmatch(stdin)
	if m == nil { // the connection broke before the script was there
		return ""
	}
	f := &framer{nonce: m[1]}
	f.frame("begin", "watch", "cordon-collector 1")
	for _, s := range snapshot.SectionsOf("watch") {
		f.frame("enter", s, "")
		if s == snapshot.SectionIdent {
			f.frame("value", "uid", "0")
		}
		f.frame("section", s, "ok")
	}
	f.frame("end", "watch", itoa(f.n))
	return f.b.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
