package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/untrusted"
)

// file is one entry of the archive: its bytes, or where to read them.
type file struct {
	name string
	size int64
	sum  string
	open func() (io.ReadCloser, error)
}

func inMemory(name string, b []byte) file {
	sum := sha256.Sum256(b)
	return file{name, int64(len(b)), hex.EncodeToString(sum[:]), func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

// payload collects what goes under data/, sorted by name. Blobs are read once here
// and once when they are written, never held.
func payload(v *casefile.View, status string) (files []file, lost []Lost, err error) {
	files = append(files, inMemory(journalName, v.Raw))
	torn, err := v.SetAside()
	if err != nil {
		return nil, nil, fmt.Errorf("read the torn lines: %w", err)
	}
	if torn = append(torn, v.Torn...); len(torn) > 0 {
		files = append(files, inMemory(tornName, torn))
	}
	if len(v.Opening.Playbook) > 0 {
		files = append(files, inMemory(playbookName, v.Opening.Playbook))
	}
	heads, err := v.Heads()
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for _, h := range heads {
		if name := headFile(h.Seq); !seen[name] {
			seen[name] = true
			files = append(files, inMemory(name, h.Sig))
		}
	}
	items := place(v.Items)
	for _, it := range items {
		if seen[it.File] {
			continue
		}
		seen[it.File] = true
		f, err := blob(v, it)
		if errors.Is(err, casefile.ErrBroken) || errors.Is(err, casefile.ErrNoBlob) {
			lost = append(lost, Lost{it.Name, it.Digest, !errors.Is(err, casefile.ErrNoBlob), untrusted.Clean(err.Error(), 300)})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	if len(lost) > 0 {
		status = Partial
	}
	s := tell(v, lost)
	for name, make := range map[string]func() ([]byte, error){
		caseName:     func() ([]byte, error) { return caseJSON(v, items, status) },
		gapsName:     func() ([]byte, error) { return gapsJSON(v, lost) },
		timelineName: func() ([]byte, error) { return timeline(v) },
		reportName:   func() ([]byte, error) { return s.report(status), nil },
	} {
		b, err := make()
		if err != nil {
			return nil, nil, fmt.Errorf("write %s: %w", name, err)
		}
		files = append(files, inMemory(name, b))
	}
	sort.Slice(files, func(i, j int) bool { return files[i].name < files[j].name })
	return files, lost, nil
}

func headFile(seq int) string { return fmt.Sprintf("%s%04d.sig", headsDir, seq) }

// blob reads a blob to its end, which compares its digest, and remembers how to open it again.
func blob(v *casefile.View, it placed) (file, error) {
	r, err := v.Blob(it.Digest)
	if err != nil {
		return file{}, err
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if err != nil {
		return file{}, fmt.Errorf("read %s: %w", it.Name, err)
	}
	return file{it.File, n, it.Digest, func() (io.ReadCloser, error) { return v.Blob(it.Digest) }}, nil
}

// manifest lists files as sha256sum does.
func manifest(files []file) []byte {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s  %s\n", f.sum, f.name)
	}
	return []byte(b.String())
}
