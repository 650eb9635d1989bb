package check_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// row is one line of the detection matrix: an id of facts/host.md, what an intruder
// leaves there with a harmless payload, and the check that must find it.
type row struct {
	id    string
	check string
	least check.Severity
	where string // part of Finding.Where, its end where it ends in "$"; after "|" part of title or detail
	root  bool   // planting needs root: owners and capabilities
	plant func(*tree)
}

// allRows is the whole matrix, a name a file of rows.
func allRows() []row {
	return slices.Concat(runnerRows, panixRows, otherRows, runtimeRows, linkRows, rootRows)
}

// worlds are the rows that can stand in one tree without touching each other's files:
// those of one place only where each says what it is about, so that all of it stands
// there together. The kernel has one taint.
func worlds() [][]row {
	var out [][]row
	clash := func(a, b row) bool {
		x, saysX, okX := strings.Cut(a.where, "|")
		y, saysY, okY := strings.Cut(b.where, "|")
		return x == y && (!okX || !okY || saysX == saysY) || strings.HasPrefix(a.id, "rootkit") && strings.HasPrefix(b.id, "lkm")
	}
	for _, r := range allRows() {
		put := false
		for i := range out {
			if !slices.ContainsFunc(out[i], func(x row) bool { return clash(r, x) }) {
				out[i] = append(out[i], r)
				put = true
				break
			}
		}
		if !put {
			out = append(out, []row{r})
		}
	}
	return out
}

func hit(results []check.Result, r row) bool {
	where, says, _ := strings.Cut(r.where, "|")
	end, exact := strings.CutSuffix(where, "$")
	return slices.ContainsFunc(check.AtLeast(results, r.least), func(f check.Finding) bool {
		at := strings.Contains(string(f.Where), end) && (!exact || strings.HasSuffix(string(f.Where), end))
		return f.Check == r.check && at && strings.Contains(f.Title+" "+string(f.Detail), says)
	})
}

// without is the snapshot as it would be had the row's artefact not been planted.
func without(s, clean *snapshot.Snapshot, made []string, pids []int, told []string) *snapshot.Snapshot {
	c := *s
	c.Files, c.Processes, c.Sockets, c.Facts = nil, nil, nil, nil
	mine := func(p string) bool {
		return slices.ContainsFunc(made, func(m string) bool { return path.Clean(m) == path.Clean(p) || strings.HasPrefix(p, m+"/") })
	}
	for _, f := range s.Files {
		if !mine(string(f.Path)) {
			c.Files = append(c.Files, f)
		}
	}
	for _, f := range clean.Files {
		if mine(string(f.Path)) {
			c.Files = append(c.Files, f)
		}
	}
	for _, p := range s.Processes {
		if !slices.Contains(pids, p.PID) {
			c.Processes = append(c.Processes, p)
		}
	}
	for _, k := range s.Sockets {
		if !slices.Contains(pids, k.PID) || k.PID == 0 {
			c.Sockets = append(c.Sockets, k)
		}
	}
	for _, f := range s.Facts {
		if !slices.Contains(told, f.Name) {
			c.Facts = append(c.Facts, f)
		}
	}
	for _, f := range clean.Facts {
		if slices.Contains(told, f.Name) {
			c.Facts = append(c.Facts, f)
		}
	}
	return &c
}

// Each row is found by its check in what the collector reads of a tree that holds it,
// and is gone from the same tree without it.
func TestDetectionMatrix(t *testing.T) {
	clean := newTree(t).read()
	quiet := check.Run(clean)
	for _, f := range check.AtLeast(quiet, check.Low) {
		t.Errorf("the clean tree: %s %s: %s at %s: %s", f.Severity, f.Check, f.Title, f.Where, f.Detail)
	}
	shown := 0
	for _, world := range worlds() {
		tr := newTree(t)
		made, pids, told := map[string][]string{}, map[string][]int{}, map[string][]string{}
		for _, r := range world {
			if r.root && os.Getuid() != 0 {
				continue
			}
			tr.made, tr.pids, tr.told = nil, nil, nil
			r.plant(tr)
			made[r.id], pids[r.id], told[r.id] = tr.made, tr.pids, tr.told
		}
		s := tr.read()
		results := check.Run(s)
		for _, r := range world {
			if _, planted := made[r.id]; !planted {
				continue
			}
			shown++
			if !hit(results, r) {
				t.Errorf("%s: not found by %s at %s with %s or worse", r.id, r.check, r.where, r.least)
				for _, f := range check.AtLeast(results, check.Info) {
					if where, _, _ := strings.Cut(r.where, "|"); strings.Contains(string(f.Where), strings.TrimSuffix(where, "$")) {
						t.Logf("   there is: %s %s: %s: %s", f.Severity, f.Check, f.Title, f.Detail)
					}
				}
			}
			if hit(quiet, r) {
				t.Errorf("%s: found on the clean tree", r.id)
			}
			if hit(check.Run(without(s, clean, made[r.id], pids[r.id], told[r.id])), r) {
				t.Errorf("%s: still found at %s when its artefact is gone", r.id, r.where)
			}
		}
	}
	t.Logf("%d rows in %d trees", shown, len(worlds()))
}

// Every module of PANIX and every line of facts/host.md §2.2 is a row, or is listed
// with the reason why a tree of files cannot show it.
func TestMatrixIsWhole(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range allRows() {
		ids[strings.Split(r.id, " ")[0]] = true
	}
	for _, want := range strings.Fields(panixModules + mechanisms) {
		if why, left := notShown[want]; !ids[want] == !left {
			t.Errorf("%s: a row %v, left out %v (%s): it must be one of the two", want, ids[want], left, why)
		}
	}
	for id, why := range notShown {
		if !slices.Contains(strings.Fields(panixModules+mechanisms), id) || why == "" {
			t.Errorf("%s is left out and is no id of the facts, or has no reason", id)
		}
	}
}

const panixModules = `at authorized_keys backdoor_system_user backdoor_user bind_shell cap_backdoor create_new_user cron dbus
generator_persistence git_persistence grub initd_backdoor initramfs ld_preload lkm malicious_docker_container malicious_package
motd_backdoor network_manager package_manager_persistence pam passwd_user password_change polkit rc_local_backdoor reverse_shell
rootkit shell_profile ssh_key sudoers_backdoor suid_backdoor system_binary_backdoor systemd udev web_shell xdg `

const mechanisms = `runner-unit job-hooks env-loader path-hijack trojaned-runner tool-cache action-archive-cache dependency-caches
package-client python-startup docker-client containers-return cloud-init golden-image k8s-runner sshd-config loader-paths ebpf
proc-bind-mount immutable-attr sudo-env kernel-helpers rogue-runner`

// notShown are ids that no tree of files can show, with the reason; what is in
// brackets shows them another way.
var notShown = map[string]string{
	"golden-image":    "it is not on the host: host-age says since when it stands, and the guidance is to rebuild",
	"immutable-attr":  "file attributes need lsattr, which minimal hosts and trees do not have; not read",
	"trojaned-runner": "the time of a change cannot be set from outside [plant_test: a listener that changed after its neighbours]",
	"tool-cache":      "the time of a change cannot be set from outside [plant_test: a tool that changed after its marker]",
}
