// Package vault makes the secrets that are planted in a lab and remembers where.
//
// Every value follows from the seed and the secret's name, so nothing that looks
// like a credential stands in the repository, and a test can search for each of
// them. Standard library and x/crypto/ssh only.
package vault

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Planted is one secret for a test to search for; of a private key the line that
// holds its seed.
type Planted struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Where string `json:"where"`
}

// Vault is safe for concurrent use.
type Vault struct {
	seed uint64
	path string

	mu     sync.Mutex
	values map[string]string
	where  map[string]map[string]bool
	live   bool
}

// New makes a vault that lists its secrets in the file at path, mode 0600.
func New(seed uint64, path string) *Vault {
	return &Vault{seed: seed, path: path, values: map[string]string{}, where: map[string]map[string]bool{}}
}

// Get gives the secret of that name, making it in the shape at the first call, and
// notes that it now stands at where (a path on a host, a route, a file of the lab).
func (v *Vault) Get(shape, name, where string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	val, ok := v.values[name]
	if !ok {
		var err error
		if val, err = v.make(shape, name); err != nil {
			return "", err
		}
		v.values[name] = val
		v.where[name] = map[string]bool{}
	}
	if v.where[name][where] {
		return val, nil
	}
	v.where[name][where] = true
	if v.live {
		return val, v.save()
	}
	return val, nil
}

// Note marks every secret that occurs in text as standing at where.
func (v *Vault) Note(where, text string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	news := false
	for name, val := range v.values {
		if !v.where[name][where] && strings.Contains(text, val) {
			v.where[name][where] = true
			news = true
		}
	}
	if news && v.live {
		return v.save()
	}
	return nil
}

// Publish writes the list, and from now on again whenever a secret is made or gets
// to a new place, before Get returns. The file is replaced whole, so a reader
// never sees half of it.
func (v *Vault) Publish() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.live = true
	return v.save()
}

func (v *Vault) save() error {
	b, err := json.MarshalIndent(v.list(), "", " ")
	if err != nil {
		return fmt.Errorf("encode the list of planted secrets: %w", err)
	}
	tmp := v.path + ".new"
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the list of planted secrets: %w", err)
	}
	if err := os.Rename(tmp, v.path); err != nil {
		return fmt.Errorf("replace %s: %w", filepath.Base(v.path), err)
	}
	return nil
}

// List is what Publish writes.
func (v *Vault) List() []Planted {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.list()
}

func (v *Vault) list() []Planted {
	var out []Planted
	for _, name := range slices.Sorted(maps.Keys(v.values)) {
		places := slices.Sorted(maps.Keys(v.where[name]))
		for i, part := range searchable(v.values[name]) {
			p := Planted{Name: name, Value: part, Where: strings.Join(places, ", ")}
			if i > 0 {
				p.Name = fmt.Sprintf("%s#%d", name, i+1)
			}
			out = append(out, p)
		}
	}
	return out
}

// stream is the source of one name's bytes; names do not disturb each other.
func (v *Vault) stream(name string) *rand.ChaCha8 {
	var s [8]byte
	binary.BigEndian.PutUint64(s[:], v.seed)
	return rand.NewChaCha8(sha256.Sum256(append(s[:], name...)))
}
