package snapshot

import (
	"bytes"
	"os"
	"testing"
	"time"
)

func TestScratch(t *testing.T) {
	f, _ := os.Open("/tmp/out.txt")
	defer f.Close()
	s, err := Parse(f, Expect{Host: "h", Nonce: "0123456789abcdef0123456789abcdef", Profile: os.Getenv("PP"), Sent: time.Now(), Now: time.Now})
	if err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	s.Encode(&b)
	os.WriteFile("/tmp/snap.json", b.Bytes(), 0600)
	if _, err := Decode(&b); err != nil {
		t.Error(err)
	}
	t.Log(len(s.Files), len(s.Processes), len(s.Sockets), s.Sections, s.Gaps)
}
