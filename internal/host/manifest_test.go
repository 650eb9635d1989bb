package host

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/providers"
)

// What a manifest of evidence has to say (facts/host.md §3.4) is with every snapshot.
func TestASnapshotSaysHowAndWhenItWasTaken(t *testing.T) {
	tr := planted(t)
	secret := "glrt-" + newNonce()[:20]
	tr.file("/etc/cron.d/sync", "* * * * * root curl -H 'PRIVATE-TOKEN: "+secret+"' http://192.0.2.7\n", 0o644)
	placed(tr)
	s := serve(t, honest(tr.root, ""))
	to := &sink{}
	before := time.Now()
	gaps, err := s.hosts(Options{Timeouts: Timeouts{Total: time.Minute, Idle: time.Minute}}).Gather(t.Context(), ref("build-07"), providers.Triage, to)
	if err != nil {
		t.Fatal(err)
	}
	snap := gathered(t, to, "host/build-07/snapshot.json")
	c := snap.Carried
	address, _, _ := net.SplitHostPort(s.addr)
	for what, ok := range map[string]bool{
		"inventory name": snap.Host == "build-07", "address": c.Address == s.addr, "ip": c.IP == address,
		"host key": c.HostKey != nil && strings.HasPrefix(c.HostKey.Shown, "SHA256:") && c.HostKey.State == snapshot.KeyKnown,
		"server":   strings.HasPrefix(c.Server, "SSH-2.0-"), "user": c.User == "ir", "user's key": strings.HasPrefix(c.UserKey, "SHA256:"), "sudo": !c.Sudo,
		"who we were": snap.Ident.UID >= 0, "machine": strings.HasPrefix(snap.Ident.MachineID, "hmac:"), "boot": snap.Ident.BootID != "",
		"claimed name": snap.Ident.Hostname == "build-07", "kernel": snap.Ident.Kernel != "", "system": snap.Ident.OS != "", "boot time": !snap.Ident.BootTime.IsZero(),
		"cards":     slices.Equal(snap.Ident.Cards, []snapshot.Card{{Name: "eth0", MAC: "02:fc:00:00:00:01"}}),
		"addresses": slices.Equal(snap.Ident.Addresses, []string{"192.0.2.20", "2001:db8::20"}),
		"in what":   snap.Ident.Within == "container (docker); virtual machine (QEMU); firmware says QEMU, Standard PC", "time zone": snap.Ident.Zone == "Europe/Berlin",
		"clock": snap.Offset.Known && snap.Offset.Uncertainty > 0, "script": c.Script == collector().SHA256,
		"began": !snap.Taken.Before(before.Truncate(0).UTC()), "ended": !c.Ended.Before(snap.Taken) && !c.Ended.After(time.Now()), "bytes": c.Bytes > 1000,
		"redacted": snap.Redacted > 0 && to.items[0].Redacted == snap.Redacted, "whole": snap.Complete && !to.items[0].Truncated,
		"gaps": len(snap.Gaps) == len(gaps) && len(gaps) == len(to.gaps),
	} {
		if !ok {
			t.Errorf("%s: %+v, ident %+v, item %+v, %d gaps", what, c, snap.Ident, to.items[0], len(gaps))
		}
	}
	if strings.Contains(string(to.data["host/build-07/snapshot.json"]), secret) {
		t.Error("a token is in it")
	}
}

// RFC 3227 §2.1: what goes away by itself is read first.
func TestWhatIsVolatileIsReadFirst(t *testing.T) {
	var order []string
	var last int64
	tr := newTree(t)
	h := New(map[string]Host{"b7": {Exec: tr.serving(t)}}, Options{Marker: marker})
	ctx := WithReading(t.Context(), func(r Reading) {
		if r.Host != "b7" || r.N != len(order)+1 || r.Of != len(snapshot.SectionsOf(snapshot.ProfileTriage)) || r.Bytes <= last || r.Bytes > r.Most {
			t.Errorf("%+v after %d bytes", r, last)
		}
		last = r.Bytes
		order = append(order, r.Section)
	})
	if _, err := h.Read(ctx, "b7", snapshot.ProfileTriage); err != nil {
		t.Fatal(err)
	}
	volatile := []string{snapshot.SectionIdent, snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionNet, snapshot.SectionCross, snapshot.SectionKernel, snapshot.SectionLog}
	if len(order) < len(volatile) || !slices.Equal(order[:len(volatile)], volatile) {
		t.Error(order)
	}
}

// placed gives a host its addresses, what it runs in, and a time zone.
func placed(tr *tree) {
	tr.file("/sys/class/net/eth0/address", "02:fc:00:00:00:01\n", 0o444)
	tr.file("/sys/class/net/lo/address", "00:00:00:00:00:00\n", 0o444)
	table := "  +-- 0.0.0.0/0 3 0 5\n     |-- 192.0.2.0\n        /24 link UNICAST\n     |-- 192.0.2.20\n        /32 host LOCAL\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 192.0.2.255\n        /32 link BROADCAST\n"
	tr.file("/proc/net/fib_trie", "Main:\n"+table+"Local:\n"+table, 0o444)
	tr.file("/proc/net/if_inet6", "00000000000000000000000000000001 01 80 10 80       lo\n20010db8000000000000000000000020 02 40 00 80     eth0\n", 0o444)
	tr.file("/sys/class/dmi/id/sys_vendor", "QEMU\n", 0o444)
	tr.file("/sys/class/dmi/id/product_name", "Standard PC\n", 0o444)
	tr.file("/.dockerenv", "", 0o644)
	tr.link("/usr/share/zoneinfo/Europe/Berlin", "/etc/localtime")
	tr.file("/etc/timezone", "Etc/UTC\n", 0o644)
}

// What a machine says of its place comes the same from every shell, and what it does not
// say is left out and never made up.
func TestAMachineSaysWhereItIsUnderEveryShell(t *testing.T) {
	bare, full := newTree(t), newTree(t)
	placed(full)
	var first string
	for _, sh := range shells(t) {
		out, _ := bare.run(sh, snapshot.ProfileWatch, nil, nil)
		if id := read(t, out, snapshot.ProfileWatch).Ident; id.Cards != nil || id.Addresses != nil || !strings.Contains(string(id.Zone), "means UTC") || !strings.HasPrefix(string(id.Within), "no sign") {
			t.Errorf("%s: %+v", sh.name, id)
		}
		out, _ = full.run(sh, snapshot.ProfileWatch, nil, nil)
		said := fmt.Sprintf("%+v", read(t, out, snapshot.ProfileWatch).Ident)
		if first == "" {
			first = said
		}
		if said != first || !strings.Contains(said, "2001:db8::20") {
			t.Errorf("%s: %s, %s", sh.name, said, first)
		}
		out, _ = full.run(sh, snapshot.ProfileImage, nil, nil)
		if id := read(t, out, snapshot.ProfileImage).Ident; id.Cards != nil || id.Addresses != nil || id.Within != "" || id.Zone != "Europe/Berlin" {
			t.Errorf("%s: of a disk image, what is this machine's: %+v", sh.name, id)
		}
	}
}
