package check

import "cordon/internal/host/snapshot"

func rereadCheck() Check {
	return Check{
		ID:     "userland-lies",
		Title:  "Files read twice, by the host's shell and by its SSH server",
		Why:    "The shell and its tools are the host's and may be replaced; SFTP is answered by the SSH server itself. Where they disagree about a file, one of them lies.",
		Reads:  "a handful of files, by the shell and again over SFTP, where reread is configured",
		Needs:  []string{snapshot.SectionReread},
		Attack: []string{"T1014", "T1554"},
		NIST:   []string{"SI-7", "AU-10"},
		look: func(v *view) []Finding {
			var out []Finding
			for _, r := range v.s.Rereads {
				if r.Same || r.Why != "" {
					continue
				}
				f := Finding{
					Severity: High, Title: "the host's tools and its SSH server disagree about a file", Where: r.Path, Evidence: []string{"rereads:" + quote(string(r.Path))},
					Detail: text("By the shell: %s. By SFTP: %s. Treat every other answer of this host as a guess, and image its disk.", printOr(r.ByShell), printOr(r.BySFTP)),
				}
				if r.Changed {
					f.Severity = Medium
					f.Detail = text("By the shell: %s. By SFTP: %s. By its times it was written between the two reads; read the host again.", printOr(r.ByShell), printOr(r.BySFTP))
				}
				out = append(out, f)
			}
			return out
		},
	}
}

func printOr(print string) string {
	if print == "" {
		return "there is no such file"
	}
	return "content " + quote(print)
}
