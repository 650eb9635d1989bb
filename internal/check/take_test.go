package check_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"testing"

	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/redact"
)

var take struct{ addr, key, known, name, out, scrub string }

func init() {
	flag.StringVar(&take.addr, "take", "", "address of a clean host to read into -take-out (see testdata/clean/README.md)")
	flag.StringVar(&take.key, "take-key", "", "private key of root there")
	flag.StringVar(&take.known, "take-known", "", "known_hosts with its key")
	flag.StringVar(&take.name, "take-name", "", "name of the host in the snapshot")
	flag.StringVar(&take.out, "take-out", "", "file to write")
	flag.StringVar(&take.scrub, "take-scrub", "", "path of the machine that is not to stand in the file")
}

// takeSnapshot makes one of the stored snapshots of clean hosts from a host that runs now,
// through the client that users have.
func takeSnapshot(t *testing.T) {
	t.Helper()
	hosts := host.New(map[string]host.Host{take.name: {Address: take.addr, User: "root", Key: take.key, KnownHosts: take.known}},
		host.Options{Marker: redact.NewMarker([]byte("the stored snapshots of clean hosts"))})
	s, err := hosts.Read(t.Context(), take.name, snapshot.ProfileTriage)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Facts { // a container shows the boot of the machine that carries it
		switch s.Facts[i].Name {
		case "cmdline":
			s.Facts[i].Text = "BOOT_IMAGE=/boot/vmlinuz root=UUID=00000000-0000-0000-0000-000000000000 ro quiet\n"
		case "vendor":
			s.Facts[i].Text = "QEMU\n"
		}
	}
	s.Ident.Kernel = "6.1.0-28-amd64"
	var b, z bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()
	if take.scrub != "" {
		text = bytes.ReplaceAll(text, []byte(take.scrub), []byte("/srv/host"))
	}
	w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(take.out, z.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d packed, %d files, sections %v, gaps %d", len(text), z.Len(), len(s.Files), s.Sections, len(s.Gaps))
}
