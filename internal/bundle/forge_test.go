package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/signing"
)

// one is one entry of an archive that a test takes apart and puts together.
type one struct {
	head tar.Header
	body string
}

func entries(t testing.TB, bundle []byte) []one {
	t.Helper()
	var out []one
	for r := tar.NewReader(bytes.NewReader(bundle)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, one{*h, string(b)})
	}
}

func packed(t testing.TB, list []one) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range list {
		h := e.head
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(e.body))
		}
		h.Format = tar.FormatUnknown
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func file1(name, body string) one {
	return one{tar.Header{Typeflag: tar.TypeReg, Name: "INC-2026-0142/" + name, Mode: 0o644, ModTime: start}, body}
}

// edited changes the bytes of one file and nothing else.
func edited(t testing.TB, bundle []byte, name string, f func(string) string) []byte {
	t.Helper()
	list := entries(t, bundle)
	for i := range list {
		if strings.HasSuffix(list[i].head.Name, "/"+name) {
			before := list[i].body
			if list[i].body = f(before); list[i].body == before {
				t.Fatalf("%s was not changed", name)
			}
			return packed(t, list)
		}
	}
	t.Fatalf("no %s in the bundle", name)
	return nil
}

// resealed writes new manifests, and a new signature by key: what a forger with a
// key of his own, or a dishonest author with the right one, can do.
func resealed(t testing.TB, list []one, key signing.Signer, namespace string) []byte {
	t.Helper()
	root := ""
	var data, tag []file
	var octets int64
	keep := list[:0:0]
	for _, e := range list {
		r, name, _ := strings.Cut(e.head.Name, "/")
		root = r
		switch {
		case strings.HasPrefix(name, dataDir):
			data = append(data, inMemory(name, []byte(e.body)))
			octets += int64(len(e.body))
		case name == manifestName || name == tagName || name == sigName:
			continue
		}
		keep = append(keep, e)
	}
	byName := func(l []file) { sort.Slice(l, func(i, j int) bool { return l[i].name < l[j].name }) }
	byName(data)
	man := string(manifest(data))
	for i, e := range keep {
		_, name, _ := strings.Cut(e.head.Name, "/")
		if name == infoName {
			lines := strings.Split(e.body, "\n")
			for j, l := range lines {
				if strings.HasPrefix(l, "Payload-Oxum: ") {
					lines[j] = "Payload-Oxum: " + fmt.Sprintf("%d.%d", octets, len(data))
				}
			}
			keep[i].body = strings.Join(lines, "\n")
		}
		if !strings.HasPrefix(name, dataDir) {
			tag = append(tag, inMemory(name, []byte(keep[i].body)))
		}
	}
	tag = append(tag, inMemory(manifestName, []byte(man)))
	byName(tag)
	tagList := manifest(tag)
	sig, err := key.Sign(namespace, tagList)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{manifestName: man, tagName: string(tagList), sigName: string(sig)} {
		e := file1(name, body)
		e.head.Name = root + "/" + name
		keep = append(keep, e)
	}
	sort.Slice(keep, func(i, j int) bool { return keep[i].head.Name < keep[j].head.Name })
	return packed(t, keep)
}

// rewritten changes journal lines and makes everything else fit: the chain, the
// labels, case.json, the lists and the signature.
func rewritten(t testing.TB, m made, bundle []byte, change func(string) string, key signing.Signer) []byte {
	t.Helper()
	v := m.view(t)
	prev, out := casefile.First, ""
	for _, l := range strings.SplitAfter(string(v.Raw), "\n") {
		if l == "" {
			continue
		}
		from := strings.Index(l, `"prev":"`) + len(`"prev":"`)
		l = change(l[:from] + prev + l[from+64:])
		sum := sha256.Sum256([]byte(l))
		prev = hex.EncodeToString(sum[:])
		out += l
	}
	if prev == v.Head {
		t.Fatal("nothing was changed")
	}
	list := entries(t, bundle)
	for i := range list {
		switch _, name, _ := strings.Cut(list[i].head.Name, "/"); name {
		case journalName:
			list[i].body = out
		case infoName, caseName:
			list[i].body = strings.ReplaceAll(list[i].body, v.Head, prev)
		}
	}
	return resealed(t, list, key, signing.NamespaceBundle)
}
