package check_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func indicators(t *testing.T, lines string) *check.Indicators {
	t.Helper()
	in, err := check.ParseIndicators("i.yaml", []byte("schema: cordon.indicators/1\nmade: 2026-11-30\n"+lines))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Each kind of indicator is seen where it is, and nothing is seen on a host without it.
func TestSweepFindsEachKindWhereItIs(t *testing.T) {
	const script = "#!/bin/sh\n/opt/agent-x --to 198.51.100.23\n"
	sum := sha256.Sum256([]byte(script))
	for name, x := range map[string]struct {
		list, kind, how string
		where           string
		plant           func(*snapshot.Snapshot)
	}{
		"path":             {"paths: [/etc/cron.d/x-*]\n", "path", check.IsThere, "/etc/cron.d/x-1", plantFile(file(cron, "/etc/cron.d/x-1", 0o644, 0, "#\n"))},
		"directory above":  {"paths: [/home/ir/.hid]\n", "path", check.IsThere, "process 960", plantProcess(process(960, 1, 0, "/home/ir/.hid/a", "a"))},
		"path in a script": {"paths: [/opt/agent-x]\n", "path", check.IsNamed, "/etc/rc.local", plantFile(file(cron, "/etc/rc.local", 0o755, 0, script))},
		"hash":             {"sha256: [" + hex.EncodeToString(sum[:]) + "]\n", "sha256", check.IsThere, "/etc/rc.local", plantFile(file(cron, "/etc/rc.local", 0o755, 0, script))},
		"address in use": {"addresses: [198.51.100.0/24]\n", "address", check.IsThere, "198.51.100.9:443", func(s *snapshot.Snapshot) {
			s.Sockets = append(s.Sockets, snapshot.Socket{Proto: "tcp", Local: "10.0.0.7:1", Remote: "198.51.100.9:443", State: "ESTABLISHED"})
		}},
		"address by name":  {"addresses: [198.51.100.23]\n", "address", check.IsNamed, "/etc/rc.local", plantFile(file(cron, "/etc/rc.local", 0o755, 0, script))},
		"ignored failure":  {"paths: [/var/lib/misc/p]\n", "path", check.IsNamed, "/etc/systemd/system/x.service", plantFile(file(units, "/etc/systemd/system/x.service", 0o644, 0, "[Service]\nExecStartPost=-/var/lib/misc/p\n"))},
		"all of systemd's": {"paths: [/var/lib/misc/p]\n", "path", check.IsNamed, "/etc/systemd/system/x.service", plantFile(file(units, "/etc/systemd/system/x.service", 0o644, 0, "[Service]\nExecStart=@-+!:/var/lib/misc/p x\n"))},
		"link to a path":   {"paths: [/var/lib/misc/p]\n", "path", check.IsLed, "/etc/cron.hourly/0anacron", plantFile(link(cron, "/etc/cron.hourly/0anacron", "../../var/lib/misc/p"))},
		"link to a name":   {"names: [p.sh]\n", "name", check.IsLed, "/etc/cron.hourly/0anacron", plantFile(link(cron, "/etc/cron.hourly/0anacron", "/var/lib/misc/p.sh"))},
		"process":          {"names: [kdevtmpfsi]\n", "name", check.IsThere, "process 961", plantProcess(process(961, 1, 0, "/usr/bin/kdevtmpfsi", "kdevtmpfsi"))},
		"runner":           {"names: [SHA1HULUD]\n", "name", check.IsThere, ".dev-env", plantFile(file(runners, "/home/ir/.dev-env/.runner", 0o600, 1001, `{"agentName":"SHA1HULUD","gitHubUrl":"https://github.com/a/b"}`))},
		"key":              {"keys: [\"SHA256:" + aPrint + "\"]\n", "key", check.IsThere, "/root/.ssh/authorized_keys", plantFile(file(keys, "/root/.ssh/authorized_keys", 0o600, 0, "no-pty "+sweptKey+"\n"))},
		"word in the log": {"names: [evil-project]\n", "name", check.IsNamed, "log of", func(s *snapshot.Snapshot) {
			s.Log = append(s.Log, snapshot.LogLine{Text: "job=1 repo=evil-project received"})
		}},
	} {
		in := indicators(t, x.list)
		if got := check.Sweep(in, cleanHost()); len(got.Matches) != 0 {
			t.Errorf("%s: on the clean host %+v", name, got.Matches)
		}
		s := cleanHost()
		x.plant(s)
		got := check.Sweep(in, s)
		if !slices.ContainsFunc(got.Matches, func(m check.Match) bool {
			return m.Kind == x.kind && m.How == x.how && strings.Contains(string(m.Where), x.where)
		}) {
			t.Errorf("%s: %+v", name, got.Matches)
		}
	}
}

const (
	sweptKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f x"
	// as ssh-keygen -l prints it
	aPrint = "ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA"
)

// What a snapshot cannot say is never "not found": cut reads, closed places, and files
// whose bytes are not here.
func TestSweepSaysWhatItCouldNotSee(t *testing.T) {
	in := indicators(t, "sha256: ["+strings.Repeat("a", 64)+"]\n")
	s := cleanHost()
	plantFile(described("/home/ir/.netrc", 0o600, 1001))(s)
	if got := check.Sweep(in, s); len(got.CouldNot) != 1 || !strings.Contains(got.CouldNot[0], "have no hash") {
		t.Errorf("a file without content: %v", got.CouldNot)
	}
	plain := indicators(t, "names: [nobody-here]\n")
	if got := check.Sweep(plain, cleanHost()); len(got.CouldNot) != 0 {
		t.Errorf("a whole read: %v", got.CouldNot)
	}
	s = cleanHost()
	end(s, cron, snapshot.EndDenied, "no rights")
	s.Complete = false
	if got := check.Sweep(plain, s); len(got.CouldNot) != 2 {
		t.Errorf("a cut read with a closed section: %v", got.CouldNot)
	}
}

// Names are words: "run" inside "runner" would be found everywhere.
func TestSweepMatchesWholeWords(t *testing.T) {
	s := cleanHost()
	plantFile(file(cron, "/etc/cron.d/q", 0o644, 0, "# xmrig-proxy2 and 198.51.100.230\n"))(s)
	for _, list := range []string{"names: [xmrig]\n", "names: [mrig-proxy2]\n", "addresses: [198.51.100.23]\n"} {
		if got := check.Sweep(indicators(t, list), s); len(got.Matches) != 0 {
			t.Errorf("%s found %+v", list, got.Matches)
		}
	}
}

func TestSweepIsBoundedOnAHostileHost(t *testing.T) {
	s := cleanHost()
	for i := range 5000 {
		s.Files = append(s.Files, snapshot.File{Path: untrusted.Text("/tmp/x" + strings.Repeat("y", i%50) + string(rune('a'+i%26)) + strconv.Itoa(i)), Section: cron, Type: "file"})
	}
	if got := check.Sweep(indicators(t, "paths: [/tmp]\n"), s); len(got.Matches) != 500 || got.More != 4500 {
		t.Errorf("%d matches and %d more", len(got.Matches), got.More)
	}
}

func TestIndicatorFilesAreRefusedWithAReason(t *testing.T) {
	for text, want := range map[string]string{
		"made: 2026-11-30\nnames: [abc]\n":                                           "write schema",
		"schema: cordon.indicators/1\nnames: [abc]\n":                                "write a date",
		"schema: cordon.indicators/1\nmade: yesterday\nnames: [abc]\n":               "write a date",
		"schema: cordon.indicators/1\nmade: 2026-11-30\n":                            "name at least one",
		"schema: cordon.indicators/1\nmade: 2026-11-30\nnames: [ab]\n":               "found everywhere",
		"schema: cordon.indicators/1\nmade: 2026-11-30\npaths: [tmp/x]\n":            "begins with /",
		"schema: cordon.indicators/1\nmade: 2026-11-30\nsha256: [ABC]\n":             "64 lower-case",
		"schema: cordon.indicators/1\nmade: 2026-11-30\naddresses: [example.org]\n":  "IP address",
		"schema: cordon.indicators/1\nmade: 2026-11-30\nkeys: [\"MD5:00\"]\n":        "ssh-keygen -l",
		"schema: cordon.indicators/1\nmade: 2026-11-30\nfiles: [/x]\n":               "files",
		"schema: cordon.indicators/1\nmade: 2026-11-30\nnames: [\"a\\u001b[2Jb\"]\n": "unprintable",
	} {
		if _, err := check.ParseIndicators("i.yaml", []byte(text)); !errors.Is(err, check.ErrIndicators) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
