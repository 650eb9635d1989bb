package check

import (
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func hostKeyCheck() Check {
	return Check{
		ID:     "host-key",
		Title:  "The key by which the host is known",
		Why:    "Another key than the known one means that the machine was built anew, or that somebody stands in between and would get what we send.",
		Reads:  "the key that the host's SSH server showed, and what known_hosts has",
		Needs:  []string{snapshot.SectionHostKey},
		Attack: []string{"T1557"},
		NIST:   []string{"IA-3", "SC-23"},
		look: func(v *view) []Finding {
			k := hostKey(v.s)
			if k == nil || k.State != snapshot.KeyChanged && k.State != snapshot.KeyRevoked {
				return nil
			}
			f := Finding{
				Severity: High, Title: "the host shows another key than the known one",
				Where: text("%s, known %s", quote(k.Shown), listed(k.Known)), Evidence: []string{"carried:host_key"},
				Detail: text("Shown: %s %s. Known: %s. Nothing was sent to it and nothing was read. Either the machine was rebuilt (ask who did it, and compare the new fingerprint with the console), or somebody answers in its place. The known key was not replaced.",
					quote(k.Type), quote(k.Shown), listed(k.Known)),
			}
			if k.Hop != "" {
				f.Title = "a jump host shows another key than the known one"
				f.Where = text("%s: %s, known %s", quote(k.Hop), quote(k.Shown), listed(k.Known))
			}
			if k.State == snapshot.KeyRevoked {
				f.Title = "the host shows a key that is revoked"
			}
			return []Finding{f}
		},
	}
}

func hostKey(s *snapshot.Snapshot) *snapshot.HostKey {
	if s.Carried == nil {
		return nil
	}
	return s.Carried.HostKey
}

func listed(known []string) untrusted.Text {
	if len(known) == 0 {
		return "none of that kind"
	}
	var out string
	for i, k := range known {
		if i > 0 {
			out += ", "
		}
		out += quote(k)
	}
	return untrusted.Text(out)
}
