package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"filippo.io/age"

	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/redact"
	"cordon/internal/untrusted"
)

// Fetched describes one file that was asked for, as told by the host.
type Fetched struct {
	Schema    string         `json:"schema"`
	Host      string         `json:"host"`
	Path      untrusted.Text `json:"path"`
	PathBytes []byte         `json:"path_bytes,omitempty"` // base64, where the path is not UTF-8
	Link      untrusted.Text `json:"link,omitempty"`       // of a process: the file it was started from
	Why       string         `json:"why,omitempty"`        // it was not read, and why; then nothing below but how it was asked

	Mode  uint32    `json:"mode"` // permission and setuid bits
	UID   int       `json:"uid"`
	GID   int       `json:"gid"`
	Size  int64     `json:"size"` // on the host, when the read began
	Mtime time.Time `json:"mtime,omitzero"`
	Ctime time.Time `json:"ctime,omitzero"`
	Inode uint64    `json:"inode,omitempty"`
	Names uint64    `json:"names"` // directory entries it has; 0: deleted

	Kind      string `json:"kind,omitempty"`    // by its first bytes
	Secrets   string `json:"secrets,omitempty"` // SecretsPlace, SecretsSeen, SecretsNone, SecretsOpaque
	Searched  int64  `json:"searched"`          // bytes from its front that were searched for secrets
	SHA256    string `json:"sha256,omitempty"`  // of what was read; withheld where it looks secret-bearing: a short secret can be guessed from it
	Print     string `json:"print,omitempty"`   // HMAC of the same
	Read      int64  `json:"read"`              // bytes
	Max       int64  `json:"max"`
	Truncated bool   `json:"truncated,omitempty"` // the file is longer than what was read
	Changed   bool   `json:"changed,omitempty"`   // its numbers were others after the read

	Sealed     string   `json:"sealed,omitempty"`        // item that holds it
	SealedSum  string   `json:"sealed_sha256,omitempty"` // SHA-256 of that
	Recipients []string `json:"recipients,omitempty"`    // who can open it

	Started time.Time         `json:"started"` // our clock
	Ended   time.Time         `json:"ended"`
	Offset  snapshot.Offset   `json:"offset"`
	As      int               `json:"as_uid"` // who we were there; -1: not told
	Carried *snapshot.Carried `json:"carried,omitempty"`

	Item string `json:"-"` // name of the description
}

// Words of Fetched.Secrets.
const (
	SecretsPlace  = "secret-bearing by its place"
	SecretsSeen   = "secret-bearing by its content"
	SecretsNone   = "none seen"
	SecretsOpaque = "cannot tell: packed or encrypted"
)

// tell fills in what the host answered.
func (f *Fetched) tell(a answer, m redact.Marker) {
	f.As = -1
	if n, err := strconv.Atoi(a.uid); err == nil && n >= 0 {
		f.As = n
	}
	if sec, err := strconv.ParseInt(a.date, 10, 64); err == nil {
		f.Offset = snapshot.OffsetOf(time.Unix(sec, 0).Add(500*time.Millisecond), f.Started, a.heard)
	}
	if p := string(f.Path); !utf8.ValidString(p) {
		f.PathBytes = []byte(p)
	}
	if a.link != "" {
		link, _ := m.Text(a.link)
		f.Link = untrusted.Text(link)
	}
	f.Why = a.no
	if !a.whole {
		return
	}
	x, inode, names, _ := eight(a.before) // readFetch understood it
	f.Mode, f.UID, f.GID, f.Size, f.Mtime, f.Ctime, f.Inode, f.Names = x.Mode, x.UID, x.GID, x.Size, x.Mtime, x.Ctime, inode, names
	f.Read, f.Changed = int64(len(a.data)), a.before != a.after
	f.Truncated = f.Read < f.Size || f.Read == f.Max && f.Changed
	f.Kind = magicOf(a.data)
	f.Secrets, f.Searched = secretsIn(string(f.Path), f.Kind, a.data, m)
	f.Print = m.Print(string(a.data))
	if f.Secrets != SecretsPlace && f.Secrets != SecretsSeen {
		sum := sha256.Sum256(a.data)
		f.SHA256 = hex.EncodeToString(sum[:])
	}
}

// keepFetched seals what was read and describes it, or records the gap.
func (h *Hosts) keepFetched(ctx context.Context, to evidence.Sink, f *Fetched, data []byte, recipients []age.Recipient, named []string) error {
	base := "host/" + f.Host + "/fetched-" + f.Started.Format("20060102T150405.000Z")
	source := "file of " + f.Host + " by " + f.Carried.Transport + ": " + Wanted{Path: string(f.Path)}.shown()
	f.Item = base + ".json"
	if f.Why != "" {
		gap := evidence.Gap{Name: "host/" + f.Host + ": " + Wanted{Path: string(f.Path)}.shown(), Why: f.Why, At: f.Ended}
		if err := to.Miss(ctx, gap); err != nil {
			return fmt.Errorf("record what could not be fetched from %s: %w", f.Host, err)
		}
	} else if len(recipients) > 0 {
		sealed, err := seal(data, recipients)
		if err != nil {
			return fmt.Errorf("seal a file of %s: %w", f.Host, err)
		}
		it, err := to.Put(ctx, evidence.Item{
			Name: base + ".age", Source: source, Media: "application/age", At: f.Ended, Truncated: f.Truncated, Sealed: true,
		}, sealed)
		if err != nil {
			return fmt.Errorf("keep a file of %s: %w", f.Host, err)
		}
		f.Sealed, f.SealedSum, f.Recipients = it.Name, it.Digest, named
	}
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("describe a file of %s: %w", f.Host, err)
	}
	_, err = to.Put(ctx, evidence.Item{
		Name: f.Item, Source: source + ", described", Media: "application/json", At: f.Ended, Truncated: f.Truncated,
	}, bytes.NewReader(append(untrusted.EscapeJSON(b), '\n')))
	if err != nil {
		return fmt.Errorf("keep the description of a file of %s: %w", f.Host, err)
	}
	return nil
}

// sealer understands age recipients.
func sealer(all []string) ([]age.Recipient, error) {
	var out []age.Recipient
	for _, s := range all {
		r, err := age.ParseRecipients(strings.NewReader(s))
		if err != nil || len(r) != 1 {
			return nil, fmt.Errorf("%w: %s is no age recipient", ErrBadConfig, untrusted.Clean(s, 100))
		}
		out = append(out, r...)
	}
	return out, nil
}

// seal encrypts data to every one of the recipients.
func seal(data []byte, to []age.Recipient) (io.Reader, error) {
	var b bytes.Buffer
	w, err := age.Encrypt(&b, to...)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	return &b, errors.Join(err, w.Close())
}
