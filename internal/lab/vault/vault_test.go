package vault

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func get(t *testing.T, v *Vault, shape, name, where string) string {
	t.Helper()
	s, err := v.Get(shape, name, where)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A secret follows from seed and name alone, whatever else was asked for before.
func TestSameSeedSameSecret(t *testing.T) {
	a, b, c := New(1, ""), New(1, ""), New(2, "")
	get(t, b, "npm", "another", "x")
	for shape := range shapes {
		one := get(t, a, shape, "n-"+shape, "x")
		if two := get(t, b, shape, "n-"+shape, "y"); two != one {
			t.Errorf("%s: %q and %q", shape, one, two)
		}
		if other := get(t, c, shape, "n-"+shape, "x"); other == one {
			t.Errorf("%s: the seed does not matter", shape)
		}
		if again := get(t, a, shape, "m-"+shape, "x"); again == one {
			t.Errorf("%s: the name does not matter", shape)
		}
	}
	if k := get(t, a, "ed25519", "k", "x"); k != get(t, b, "ed25519", "k", "x") || !strings.Contains(k, "OPENSSH PRIVATE KEY") {
		t.Error("private keys differ")
	}
	if _, err := a.Get("no-such-shape", "n", "x"); err == nil {
		t.Error("an unknown shape is made")
	}
}

// The list on disk is whole at every moment and follows what is made later.
func TestListFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planted.json")
	v := New(1, path)
	val := get(t, v, "glpat", "first", "a")
	if _, err := os.Stat(path); err == nil {
		t.Error("written before it is published")
	}
	if err := v.Publish(); err != nil {
		t.Fatal(err)
	}
	second := get(t, v, "glrt", "second", "b")
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), second) {
		t.Errorf("a secret made later is not in the list: %v", err)
	}
	if err := v.Note("c", "text with "+val+" in it"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []Planted
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Value != val || list[0].Where != "a, c" || list[1].Name != "second" {
		t.Errorf("%+v", list)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

// The public half and what every key file starts with are no secrets to search for.
func TestPartsOfAKey(t *testing.T) {
	v := New(1, "")
	a, b := get(t, v, "ed25519", "a", "x"), get(t, v, "ed25519", "b", "x")
	public, err := v.Public("a")
	if err != nil {
		t.Fatal(err)
	}
	parts := searchable(a)
	if len(parts) == 0 {
		t.Fatal("nothing to search for")
	}
	for _, p := range parts {
		if len(p) < 32 || !strings.Contains(a, p) || strings.Contains(b, p) || strings.Contains(public, p) {
			t.Errorf("part %q", p)
		}
	}
}
