package check

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// group is one line of /etc/group.
type group struct {
	name    string
	gid     int
	members []string
}

// parseGroup reads group(5); lines that are none are left out.
func parseGroup(text string) []group {
	var out []group
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(f) < 4 || f[0] == "" {
			continue
		}
		gid, err := strconv.Atoi(f[2])
		if err != nil {
			continue
		}
		g := group{name: f[0], gid: gid}
		for m := range strings.SplitSeq(f[3], ",") {
			if m = strings.TrimSpace(m); m != "" {
				g.members = append(g.members, m)
			}
		}
		out = append(out, g)
	}
	return out
}

// power is what membership in a group of that name gives, by the packages that make it.
type power struct {
	jobs  Severity // with an account that runs jobs
	words string
}

const (
	startsContainers = "it starts a container with the host's disk in it: root on this host"
	usesSudo         = "the rules of sudo that systems ship let it run anything as root"
)

var powers = map[string]power{
	"docker": {High, startsContainers}, "lxd": {High, startsContainers}, "incus-admin": {High, startsContainers}, "microk8s": {High, startsContainers},
	"libvirt": {High, "it starts a machine with the host's disk in it: root on this host"},
	"disk":    {High, "it reads and writes every block of the disks, whoever owns the files"},
	"sudo":    {High, usesSudo}, "wheel": {High, usesSudo}, "admin": {High, usesSudo},
	"shadow": {High, "it reads the hashes of all passwords"},
	"kmem":   {High, "it reads the kernel's memory"},
	"root":   {Medium, "it has what root's group may write"},
	"staff":  {Medium, "it may put programs into /usr/local on Debian, which root runs too"},
	"kvm":    {Low, "it starts virtual machines; that alone is not root"},
	"adm":    {Low, "it reads the machine's logs, and what secrets stand in them"},
}

// memberships are the groups that matter, by account: those it is listed in, and its own
// first one. A second name for the number of such a group is that group.
func (v *view) memberships() map[string][]string {
	known := map[int]string{0: "root"}
	groups := parseGroup(v.content("/etc/group"))
	for _, g := range groups {
		if _, ok := powers[g.name]; ok && known[g.gid] == "" {
			known[g.gid] = g.name
		}
	}
	out := map[string][]string{}
	add := func(account, name string) {
		if name != "" && account != "root" && !slices.Contains(out[account], name) {
			out[account] = append(out[account], name)
		}
	}
	for _, g := range groups {
		name := known[g.gid]
		if _, ok := powers[g.name]; ok {
			name = g.name
		}
		for _, m := range g.members {
			add(m, name)
		}
	}
	for _, u := range v.users {
		if u.gid >= 0 && u.uid != 0 {
			add(u.name, known[u.gid])
		}
	}
	return out
}

// groupFindings judges who can become root through a group: an account of jobs, a
// service, a person.
func (v *view) groupFindings() []Finding {
	f := v.files["/etc/group"]
	if f == nil {
		return nil
	}
	var out []Finding
	var people []string
	in := v.memberships()
	for _, name := range slices.Sorted(maps.Keys(in)) {
		groups := in[name]
		u, known := v.byName(name)
		_, jobs := v.runners[name]
		var why reasons
		for _, g := range groups {
			p := powers[g]
			switch {
			case jobs:
				why.add(p.jobs, "%s: %s", g, p.words)
			case p.jobs != High, known && u.uid == 0:
			case known && !u.system():
				why.add(Info, "%s", g)
			case known && u.system() && !stockMember(name, g):
				why.add(Medium, "%s: %s", g, p.words)
			case !known: // it comes from a directory of the network, or is left over
				why.add(Low, "%s: %s", g, p.words)
			}
		}
		title := "a service's account can become root through a group"
		switch {
		case why.worst == "":
			continue
		case why.worst == Info && !jobs:
			people = append(people, quote(name)+" ("+strings.Join(why.list, ", ")+")")
			continue
		case jobs:
			title = "the account of the jobs has a group that opens the machine"
			if why.worst == High {
				title = "every job can become root through a group"
			}
		case !known:
			title = "an account that is not in /etc/passwd has a group that means root"
		}
		out = append(out, Finding{
			Severity: why.worst, Title: title, Where: "/etc/group", Attack: []string{"T1098.007", "T1078.003"},
			Detail: text("%s is in %s.", quote(name), why.text()), Evidence: evidenceFile(f),
		})
	}
	if len(people) > 0 {
		out = append(out, Finding{
			Severity: Info, Title: "people with a group that means root", Where: "/etc/group", Attack: []string{"T1098.007"},
			Detail: text("%s. Compare with who should be.", strings.Join(people[:min(len(people), 30)], ", ")), Evidence: evidenceFile(f),
		})
	}
	return out
}

// stockMember reports memberships that a system ships.
func stockMember(account, group string) bool {
	return account == "adm" && group == "disk" || group == "libvirt" && strings.HasPrefix(account, "libvirt-")
}

// jobGroups are the words by which a rule of sudo can mean an account of jobs without
// its name, each with that account: "%group", "%#gid" and ALL.
func (v *view) jobGroups() map[string]string {
	out := map[string]string{}
	groups := parseGroup(v.content("/etc/group"))
	for _, account := range slices.Sorted(maps.Keys(v.runners)) {
		out["ALL"] = account
		u := v.runners[account]
		for _, g := range groups {
			if slices.Contains(g.members, account) || u.gid == g.gid && u.gid > 0 {
				out["%"+g.name], out["%#"+strconv.Itoa(g.gid)] = account, account
			}
		}
	}
	return out
}
