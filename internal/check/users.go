package check

import (
	"path"
	"strconv"
	"strings"
)

// user is one line of /etc/passwd.
type user struct {
	name, home, shell string
	uid               int
	gid               int // of its first group; -1: not known
}

// parsePasswd reads passwd(5); lines that are none are left out.
func parsePasswd(text string) []user {
	var out []user
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(f) < 7 || f[0] == "" {
			continue
		}
		uid, err := strconv.Atoi(f[2])
		if err != nil {
			continue
		}
		gid, err := strconv.Atoi(f[3])
		if err != nil {
			gid = -1
		}
		out = append(out, user{name: f[0], uid: uid, gid: gid, home: path.Clean(f[5]), shell: f[6]})
	}
	return out
}

// system reports whether the account belongs to the machine and not to a person:
// Debian and Red Hat give people numbers from 1000.
func (u user) system() bool { return u.uid > 0 && u.uid < 1000 || u.uid == 65534 }

// runnerNames are accounts that packages and guides create for runners.
var runnerNames = []string{
	"gitlab-runner", "actions-runner", "github-runner", "gha-runner", "runner",
	"act_runner", "act-runner", "gitea-runner", "forgejo-runner", "buildkite-agent",
}

func (v *view) byName(name string) (user, bool) {
	for _, u := range v.users {
		if u.name == name {
			return u, true
		}
	}
	return user{}, false
}

func (v *view) byUID(uid int) (user, bool) {
	for _, u := range v.users {
		if u.uid == uid {
			return u, true
		}
	}
	return user{}, false
}

// runnerUsers are the accounts jobs run under: those with a runner's name, those a
// runner's unit or command line names, and the owners of running agents and of
// GitHub and Gitea roots. Root is left out: what root owns says nothing about jobs.
func (v *view) runnerUsers() map[string]user {
	out := map[string]user{}
	add := func(u user) {
		if u.uid != 0 && u.name != "root" {
			out[u.name] = u
		}
	}
	named := func(name string) {
		if name == "" || name == "root" {
			return
		}
		u, ok := v.byName(name)
		if !ok { // passwd was not read, or the account comes from elsewhere
			u = user{name: name, uid: -1, gid: -1, home: "/home/" + name}
		}
		add(u)
	}
	for _, name := range runnerNames {
		if u, ok := v.byName(name); ok {
			add(u)
		}
	}
	for pid := range v.agents {
		p := v.procs[pid]
		if u, ok := v.byUID(p.UID); ok {
			add(u)
		} else if p.UID > 0 {
			add(user{name: "uid " + strconv.Itoa(p.UID), uid: p.UID, gid: -1})
		}
		named(flagValue(argsOf(p), "--user", "-u"))
	}
	for p, f := range v.files {
		if isUnitFile(p) && f.Content != "" {
			u := parseUnit(string(f.Content))
			if u.runner(path.Base(p)) {
				named(u.last("Service", "User"))
				named(flagValue(splitCommand(u.last("Service", "ExecStart")), "--user", "-u"))
			}
		}
		if path.Base(p) == ".runner" && f.Type == "file" {
			for _, u := range v.users { // whose home it is says more than who owns the file
				if u.uid != 0 && u.home != "/" && below(p, u.home) {
					add(u)
				}
			}
			if u, ok := v.byUID(f.UID); ok && !below(p, "/home") {
				add(u)
			}
		}
	}
	return out
}

// runnerUID reports whether jobs run under uid, and the account's name.
func (v *view) runnerUID(uid int) (string, bool) {
	for name, u := range v.runners {
		if u.uid == uid && uid > 0 {
			return name, true
		}
	}
	return "", false
}

// homeOwner returns the account in whose home p lies; the longest home wins.
func (v *view) homeOwner(p string) (user, bool) {
	var best user
	for _, u := range v.users {
		if u.home != "/" && len(u.home) > len(best.home) && below(p, u.home) {
			best = u
		}
	}
	for _, u := range v.runners {
		if len(u.home) > len(best.home) && below(p, u.home) {
			best = u
		}
	}
	return best, best.home != ""
}

func (v *view) isRunner(u user) bool { _, ok := v.runners[u.name]; return ok }

// below reports whether p is dir or lies in it.
func below(p, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir != "" && strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}
