package vault

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// The part that is searched for really is the seed.
func TestPartHoldsTheSeed(t *testing.T) {
	v := New(1, "")
	text := get(t, v, "ed25519", "a", "x")
	raw, err := ssh.ParseRawPrivateKey([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	seed := raw.(*ed25519.PrivateKey).Seed()
	block, _ := pem.Decode([]byte(text))
	all := base64.StdEncoding.EncodeToString(block.Bytes)
	parts := searchable(text)
	at := strings.Index(all, parts[0])
	if len(parts) != 1 || at < 0 {
		t.Fatalf("parts %q", parts)
	}
	// whole groups of four characters stand for whole bytes
	from := (at + 3) / 4 * 4
	bytes, err := base64.StdEncoding.DecodeString(all[from : from+(at+len(parts[0])-from)/4*4])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(bytes), string(seed[:31])) {
		t.Error("the seed is not in it")
	}
}
