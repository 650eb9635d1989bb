package vault

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"golang.org/x/crypto/ssh"
)

const (
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base36 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// shapes are the forms of tokens: what a scanner knows them by, and how much
// follows (prefixes: facts/gitlab-gitea.md §2.3).
var shapes = map[string]struct {
	prefix, alphabet string
	n                int
}{
	"glrt":       {"glrt-", base62, 20},         // runner authentication token
	"glrt-t1":    {"glrt-t1_", base62, 20},      // the same of an instance runner
	"glrt-t2":    {"glrt-t2_", base62, 20},      // of a group runner
	"glrt-t3":    {"glrt-t3_", base62, 20},      // of a project runner
	"gr":         {"GR1348941", base62, 20},     // registration token
	"glpat":      {"glpat-", base62, 20},        // personal access token
	"glcbt":      {"glcbt-64_", base62, 20},     // job token
	"aws-id":     {"AKIA", base36, 16},          // AWS access key id
	"npm":        {"npm_", base62, 36},          // npm automation token
	"password":   {"", base62, 24},              // what people type
	"opaque":     {"", base62, 40},              // what a service makes up
	"webhook":    {"whsec_", base62, 32},        // webhook signing secret
	"ghr":        {"BKAB7Q", base62, 23},        // GitHub runner registration
	"ghp":        {"ghp_", base62, 36},          // GitHub classic token
	"github_pat": {"github_pat_", base62, 82},   // GitHub fine-grained token
	"ghs":        {"ghs_", base62, 36},          // token of a GitHub App installation or a job
	"deploy":     {"gldt-", base62, 20},         // deploy token
	"bearer":     {"eyJhbGciOiJ", base62, 40},   // start of a JWT
	"aws-key":    {"", base62 + "+/", 40},       // AWS secret access key
	"rsaparam":   {"", base62 + base62[:2], 86}, // one number of a GitHub runner's key
}

func (v *Vault) make(shape, name string) (string, error) {
	src := v.stream(name)
	if shape == "ed25519" {
		return privateKey(src, name)
	}
	s, ok := shapes[shape]
	if !ok {
		return "", fmt.Errorf("secret %q: no shape %q", name, shape)
	}
	r := rand.New(src)
	b := []byte(s.prefix)
	for range s.n {
		b = append(b, s.alphabet[r.IntN(len(s.alphabet))])
	}
	return string(b), nil
}

// privateKey writes an OpenSSH private key (PROTOCOL.key). The library's own writer
// puts random check numbers in it, which would not follow from the seed.
func privateKey(src io.Reader, name string) (string, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(src, seed); err != nil {
		return "", fmt.Errorf("secret %q: %w", name, err)
	}
	private := ed25519.NewKeyFromSeed(seed)
	public := []byte(private.Public().(ed25519.PublicKey))
	block := ssh.Marshal(struct {
		Check1, Check2  uint32
		Type            string
		Public, Private []byte
		Comment         string
	}{0x5eed5eed, 0x5eed5eed, ssh.KeyAlgoED25519, public, private, name})
	for i := byte(1); len(block)%8 != 0; i++ {
		block = append(block, i)
	}
	body := append([]byte("openssh-key-v1\x00"), ssh.Marshal(struct {
		Cipher, KDF, Options string
		Keys                 uint32
		Public, Block        []byte
	}{"none", "none", "", 1, ssh.Marshal(struct {
		Type   string
		Public []byte
	}{ssh.KeyAlgoED25519, public}), block})...)
	return string(pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: body})), nil
}

// Public is the authorized_keys line of an ed25519 secret, with its name as comment.
// It makes the key if it is not there yet, and plants nothing.
func (v *Vault) Public(name string) (string, error) {
	v.mu.Lock()
	val, ok := v.values[name]
	v.mu.Unlock()
	if !ok {
		var err error
		if val, err = v.make("ed25519", name); err != nil {
			return "", err
		}
	}
	signer, err := ssh.ParsePrivateKey([]byte(val))
	if err != nil {
		return "", fmt.Errorf("public half of %q: %w", name, err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))) + " " + name, nil
}

// searchable gives the parts of a value that are secret wherever they are seen. Of a
// private key that is the one line that holds the seed but for its last byte (bytes
// 161 to 193 of the file, 48 bytes a line, so the fourth of base64): the lines before
// are the same in every key or hold the public half, as those after do.
func searchable(val string) []string {
	if !strings.HasPrefix(val, "-----BEGIN") {
		return []string{val}
	}
	return strings.Split(val, "\n")[4:5]
}
