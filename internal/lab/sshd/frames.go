package sshd

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// frames writes the stream C1 of internal/host/snapshot/FORMAT.md. The first error
// stays in err.
type frames struct {
	out   io.Writer
	nonce string
	seq   int
	err   error
}

func (f *frames) value(key, text string) { f.frame("value", key, text) }

func (f *frames) frame(kind, name, text string) {
	if f.err != nil {
		return
	}
	f.seq++
	body := marked(text, 0x20)
	_, f.err = fmt.Fprintf(f.out, "C1 %s %d %s %s %d\n%s\n", f.nonce, f.seq, kind, marked(name, 0x21), len(body), body)
}

// marked is "=" and the text where all of it is printable ASCII from lowest on, else
// "~" and its base64.
func marked(text string, lowest rune) string {
	odd := func(c rune) bool { return c < lowest || c > 0x7e }
	if strings.ContainsFunc(text, odd) {
		return "~" + base64.StdEncoding.EncodeToString([]byte(text))
	}
	return "=" + text
}
