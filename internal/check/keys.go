package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func keysCheck() Check {
	return Check{
		ID:     "authorized-keys",
		Title:  "Who can log in with a key",
		Why:    "A key left behind is the simplest way back in, and nothing at the CI provider shows it.",
		Reads:  "authorized_keys and what lies beside it in every home, sshd's configuration, sshrc",
		Root:   "homes of other users",
		Needs:  []string{snapshot.SectionKeys},
		unseen: (*view).unreadDaemon,
		Attack: []string{"T1098.004"},
		NIST:   []string{"AC-2", "IA-5"},
		look: func(v *view) []Finding {
			var out []Finding
			v.followed(func(p string, f *snapshot.File) {
				if f.Type != "file" {
					return
				}
				found := v.judgeKeys(p, f)
				for i := range found {
					found[i].Where, found[i].Evidence = untrusted.Text(p), evidenceFile(f)
				}
				out = append(out, found...)
			})
			return out
		},
	}
}

// isKeyPlace reports whether p decides who may log in with a key, or what runs then.
func isKeyPlace(p string) bool {
	base := path.Base(p)
	switch {
	case p == "/etc/ssh/sshd_config", path.Dir(p) == "/etc/ssh/sshd_config.d", p == "/etc/ssh/sshrc":
		return true
	case path.Base(path.Dir(p)) == ".ssh":
		return strings.HasPrefix(base, "authorized_keys") || base == "rc" || base == "environment"
	}
	return false
}

func (v *view) judgeKeys(p string, f *snapshot.File) []Finding {
	base := path.Base(p)
	switch {
	case p == "/etc/ssh/sshd_config" || path.Dir(p) == "/etc/ssh/sshd_config.d":
		return v.judgeDaemon(string(f.Content))
	case p == "/etc/ssh/sshrc":
		return []Finding{{Severity: Medium, Title: "a script runs at every login over SSH", Attack: []string{"T1546.004"}, Detail: text("%s", quote(string(f.Content)))}}
	case path.Base(path.Dir(p)) != ".ssh":
		return nil
	case base == "authorized_keys" || base == "authorized_keys2":
		return v.judgeKeyFile(p, f)
	case strings.HasPrefix(base, "authorized_keys"):
		return []Finding{{
			Severity: Medium, Title: "a copy of a key list lies beside it",
			Detail: text("Tools that plant keys leave such copies. Compare it with the list: what is in one and not in the other was changed. It holds %d key(s).", len(keyLines(string(f.Content)))),
		}}
	case base == "rc" && f.Size > 0:
		return []Finding{{Severity: High, Title: "a script runs at every login of one account", Attack: []string{"T1546.004"}, Detail: text("%s", quote(string(f.Content)))}}
	case base == "environment" && f.Size > 0:
		return v.judgeKeyEnvironment(f)
	}
	return nil
}

func (v *view) judgeKeyEnvironment(f *snapshot.File) []Finding {
	var why reasons
	for name, value := range inOrder(assignments(string(f.Content))) {
		if s, ok := loaderVar(name, value); ok {
			why.add(s, "it sets %s=%s", quote(name), quote(value))
		}
	}
	if why.worst == "" {
		return nil
	}
	return []Finding{{Severity: why.worst, Title: "logins over SSH load foreign code", Attack: []string{"T1574.006"}, Detail: text("%s.", why.text())}}
}

// judgeKeyFile judges one list of keys by whose it is and by what the keys may do.
func (v *view) judgeKeyFile(p string, f *snapshot.File) []Finding {
	keys := keyLines(string(f.Content))
	if len(keys) == 0 && (f.Content != "" || f.Size == 0) {
		return nil
	}
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.String())
	}
	shown := strings.Join(names[:min(len(names), 5)], "; ")
	u, known := v.homeOwner(p)
	var out []Finding
	switch {
	case f.Content == "":
		out = append(out, Finding{Severity: Medium, Title: "a key list could not be read", Detail: "It is there and not empty."})
	case known && v.isRunner(u):
		s := Low // a person's account that also runs jobs
		if u.system() || slices.Contains(runnerNames, u.name) {
			s = High
		}
		out = append(out, Finding{
			Severity: s, Title: "somebody can log in as the account of the jobs",
			Detail: text("%s runs jobs and needs no login. %d key(s): %s. A job can add a key here and so outlive itself.", quote(u.name), len(keys), shown),
		})
	case known && u.system():
		out = append(out, Finding{
			Severity: High, Title: "somebody can log in as an account of the system",
			Detail: text("%s is for a service, not for people. %d key(s): %s.", quote(u.name), len(keys), shown),
		})
	case below(p, "/root") || known && u.uid == 0:
		out = append(out, Finding{
			Severity: Info, Title: "keys that open the root account", // every cloud's image has one
			Detail: text("%d key(s): %s. Compare with the people who should have them.", len(keys), shown),
		})
	}
	for _, k := range keys {
		for _, opt := range k.options {
			name, value, _ := strings.Cut(opt, "=")
			switch strings.ToLower(name) {
			case "environment":
				out = append(out, Finding{Severity: High, Title: "a key sets variables of the login", Attack: []string{"T1098.004", "T1574.006"}, Detail: text("%s: %s.", k, quote(opt))})
			case "command":
				s, signs := Low, suspicious(value)
				if len(signs) > 0 {
					s = High
				}
				out = append(out, Finding{Severity: s, Title: "a key starts a command", Detail: text("%s: %s. %s", k, quote(opt), strings.Join(signs, ", "))})
			case "cert-authority":
				out = append(out, Finding{Severity: Medium, Title: "a certificate authority may issue logins", Detail: text("%s: whoever holds it can log in as this account under any name.", k)})
			}
		}
	}
	return out
}

// judgeDaemon reports settings of sshd that let keys in which no list shows.
func (v *view) judgeDaemon(content string) []Finding {
	var out []Finding
	for line := range strings.Lines(content) {
		fields := strings.Fields(strings.Replace(line, "=", " ", 1))
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		value := strings.Join(fields[1:], " ")
		if strings.EqualFold(value, "none") {
			continue
		}
		switch key := strings.ToLower(fields[0]); key {
		case "authorizedkeyscommand", "authorizedprincipalscommand":
			s := Medium
			if slices.Contains([]string{"/usr/share/ec2-instance-connect/eic_run_authorized_keys", "/usr/bin/sss_ssh_authorizedkeys", "/usr/bin/google_authorized_keys"}, fields[1]) {
				s = Info
			}
			if oddPlace(fields[1]) != "" {
				s = High
			}
			out = append(out, Finding{Severity: s, Title: "a program decides who may log in", Detail: text("%s %s. Its keys are in no file.", quote(fields[0]), quote(value))})
		case "authorizedkeysfile":
			for _, place := range fields[1:] {
				if !slices.Contains([]string{".ssh/authorized_keys", ".ssh/authorized_keys2", "%h/.ssh/authorized_keys", "%h/.ssh/authorized_keys2"}, place) {
					out = append(out, Finding{Severity: Medium, Title: "keys are read from an unusual place", Detail: text("AuthorizedKeysFile names %s, which this look did not cover.", quote(place))})
				}
			}
		case "include":
			for _, more := range v.daemonElsewhere(fields[1:]) {
				out = append(out, Finding{Severity: Medium, Title: "sshd's settings go on in another place", Attack: []string{"T1098.004", "T1556"}, Detail: text("Include names %s, which was not read: it may say whose keys open which account.", quote(more))})
			}
		case "trustedusercakeys":
			out = append(out, Finding{Severity: Low, Title: "certificates open accounts", Detail: text("TrustedUserCAKeys %s: whoever holds that key can log in.", quote(value))})
		case "permituserenvironment":
			if !strings.EqualFold(value, "no") {
				out = append(out, Finding{Severity: Medium, Title: "logins may bring variables of their own", Attack: []string{"T1574.006"}, Detail: text("PermitUserEnvironment %s.", quote(value))})
			}
		}
	}
	return out
}
