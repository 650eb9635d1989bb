package snapshot

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func machineOf(t *testing.T, pairs ...string) Ident {
	t.Helper()
	s, err := parse(ProfileWatch, whole(ProfileWatch, map[string]func(*stream){SectionIdent: func(s *stream) {
		for i := 0; i < len(pairs); i += 2 {
			s.frame("value", pairs[i], pairs[i+1])
		}
	}}))
	if err != nil {
		t.Fatal(err)
	}
	return s.Ident
}

func TestWhatAMachineRunsInIsSaidByItsSigns(t *testing.T) {
	for signs, want := range map[string]string{
		"sys_vendor Dell Inc.\nproduct_name PowerEdge R640\n":              "no sign of a hypervisor; firmware says Dell Inc., PowerEdge R640",
		"sys_vendor Amazon EC2\nproduct_name m7i.large\ncpu hypervisor\n":  "virtual machine (Amazon EC2); firmware says Amazon EC2, m7i.large",
		"sys_vendor Microsoft Corporation\nproduct_name Virtual Machine\n": "virtual machine (Hyper-V); firmware says Microsoft Corporation, Virtual Machine",
		"cpu hypervisor\n":                      "virtual machine (its processor says so)",
		"manager systemd-nspawn\ncgroup 0::/\n": "container (systemd-nspawn)",
		"cgroup 0::/kubepods.slice/x\nthere /run/.containerenv\ncpu hypervisor\n": "container (Kubernetes, podman); virtual machine (its processor says so)",
		"kernel 5.15.0-microsoft-standard-WSL2\n":                                 "virtual machine (WSL)",
		"there /proc/vz\n":                 "container (OpenVZ)",
		"there /proc/vz\nthere /proc/bc\n": "no sign of a container, and no firmware that says what the machine is",
		"":                                 "no sign of a container, and no firmware that says what the machine is",
		"manager \x1b[2J\u202ex\n":         "container (",
	} {
		if got := string(machineOf(t, "within", signs).Within); got != want && (!strings.Contains(want, "container (") || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %q, want %q", signs, got, want)
		} else if strings.ContainsAny(got, "\x1b\u202e") {
			t.Errorf("%q is kept as it came", got)
		}
	}
}

func TestATimeZoneIsWhatTheLibraryFollows(t *testing.T) {
	for _, x := range []struct{ localtime, timezone, want string }{
		{"link /usr/share/zoneinfo/Europe/Berlin", "Etc/UTC", "Europe/Berlin"},
		{"link ../usr/share/zoneinfo/Asia/Tokyo", "", "Asia/Tokyo"},
		{"link /tmp/x", "", "/tmp/x"},
		{"file", "Europe/Paris", "Europe/Paris"},
		{"file", "", "not named: /etc/localtime is a file"},
		{"none", "", "not named: there is no /etc/localtime, which means UTC"},
	} {
		pairs := []string{"localtime", x.localtime}
		if x.timezone != "" {
			pairs = append(pairs, "timezone", x.timezone)
		}
		if got := string(machineOf(t, pairs...).Zone); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
}

// A host says as much as it likes.
func TestWhatAMachineSaysOfItselfIsCapped(t *testing.T) {
	var cards, inet strings.Builder
	for i := range 70_000 {
		cards.WriteString("eth" + string(rune('a'+i%26)) + " 02:00:00:00:00:01\n")
		inet.WriteString("10." + strconv.Itoa(i>>16&255) + "." + strconv.Itoa(i>>8&255) + "." + strconv.Itoa(i&255) + "\n")
	}
	id := machineOf(t, "cards", cards.String()+"x 02:zz\n", "inet", inet.String(), "inet6", "zz 1\n00 2\n", "within", strings.Repeat("manager a\nsys_vendor "+strings.Repeat("x", 5000)+"\n", 20))
	if len(id.Cards) != maxCards || len(id.Addresses) != maxAddresses || len(id.Within) > 300 {
		t.Errorf("%d cards, %d addresses, %d letters", len(id.Cards), len(id.Addresses), len(id.Within))
	}
	id = machineOf(t, "cards", "a 00:00:00:00:00:00\nb x\nc\n", "inet", "127.0.0.1\n0.0.0.0\n::1\nfe80::1%eth0\nnonsense\n192.0.2.7\n192.0.2.7\n")
	if len(id.Cards) != 0 || strings.Join(id.Addresses, " ") != "192.0.2.7" {
		t.Errorf("%+v", id)
	}
}

func FuzzMachine(f *testing.F) {
	f.Add("sys_vendor QEMU\ncgroup 0::/docker/x\nmanager lxc\n", "eth0 02:fc:00:00:00:01\n", "20010db8000000000000000000000020 02 40 00 80 eth0\n")
	f.Fuzz(func(t *testing.T, signs, cards, inet string) {
		p := &parser{x: expect(ProfileWatch), s: &Snapshot{}, spoil: map[string]string{}}
		for _, k := range []string{"within", "cards", "inet", "inet6", "localtime", "timezone"} {
			for _, v := range []string{signs, cards, inet} {
				p.machine(k, v)
			}
		}
		id := p.s.Ident
		if len(id.Within) > 300 || !utf8.ValidString(string(id.Within)) || len(id.Cards) > maxCards || len(id.Addresses) > maxAddresses {
			t.Errorf("%+v", id)
		}
	})
}
