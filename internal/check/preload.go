package check

import (
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func preloadCheck() Check {
	return Check{
		ID:     "ld-preload",
		Title:  "Code that every program loads",
		Why:    "A preloaded library runs inside every program and can hide files and processes from what the host tells us.",
		Reads:  "/etc/ld.so.preload; LD_PRELOAD, LD_AUDIT and functions of bash in the environments of running processes",
		Root:   "environments of other users' processes",
		Needs:  []string{snapshot.SectionProfiles, snapshot.SectionProc, snapshot.SectionDetail},
		Attack: []string{"T1574.006"},
		NIST:   []string{"SI-7"},
		look: func(v *view) []Finding {
			var out []Finding
			if f := v.files["/etc/ld.so.preload"]; f != nil && (f.Size > 0 || strings.TrimSpace(string(f.Content)) != "") {
				out = append(out, Finding{
					Severity: Critical, Title: "every program on this host loads a library first",
					Where: "/etc/ld.so.preload", Evidence: evidenceFile(f),
					Detail: text("%s. Distributions ship no such file. With it the host can hide anything: treat every other answer of this host as a guess.", quote(string(f.Content))),
				})
			}
			for i := range v.s.Processes {
				out = append(out, v.preloaded(&v.s.Processes[i])...)
				out = append(out, v.shadowed(&v.s.Processes[i])...)
			}
			return out
		},
	}
}

// preloaded reports processes with a preload in their environment; the agents' own
// environment belongs to job-hooks. Libraries of packages are honest (jemalloc).
func (v *view) preloaded(p *snapshot.Process) []Finding {
	if v.isAgent(p) {
		return nil
	}
	var out []Finding
	for _, name := range []string{"LD_PRELOAD", "LD_AUDIT"} {
		value, there := p.Env[name]
		if !there || value == "" {
			continue
		}
		f := Finding{
			Severity: Medium, Title: "a process was started with " + name,
			Where: text("process %d (%s)", p.PID, quote(string(p.Comm))), Evidence: evidenceProc(p),
			Detail: text("%s. That library runs inside the program.", quote(value)),
		}
		switch list := strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ':' }); {
		case printShape.MatchString(value):
			f.Detail = untrusted.Text("Its value was not kept. That library runs inside the program.")
		case len(list) > 0:
			f.Severity = Low
			for _, lib := range list {
				if s := v.library(p, lib); !f.Severity.AtLeast(s) {
					f.Severity = s
				}
			}
		}
		out = append(out, f)
	}
	return out
}
