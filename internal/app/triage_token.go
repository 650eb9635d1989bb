package app

import (
	"regexp"
	"slices"
	"strings"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/secret"
	"cordon/providers"
)

// token compares a token with the fingerprints in the snapshots that are kept here.
// Each case has its own key, derived from the state key, so the token is fingerprinted
// once for each case. Nothing is sent: a provider would learn the token, and GitLab
// counts every use of one as a contact of the runner.
func (t *triage) token(s secret.Secret) {
	t.recall()
	v := s.Reveal()
	hosts, places := map[string]bool{}, 0
	for _, k := range t.cases { // newest first
		print := t.a.marker.Derive("case:" + k.sum.ID).Print(v)
		for _, snap := range k.snaps {
			hosts[snap.Host] = true
			for _, in := range check.Installations(snap) {
				how := ""
				switch {
				case in.TokenPrint == print:
					how = "its fingerprint is that of the installation's token"
				case sameShort(in.ShortToken, v):
					how = "the first characters, which logs show, are the same; that alone proves little"
				default:
					continue
				}
				places++
				why := t.checked(snap.Host, snap.Taken).says("%s: %s on %s (case %s)", how, in.Root, snap.Host, k.sum.ID)
				t.addHost(snap.Host, why)
				if ref, ok := t.refOf(in.URL, in.RunnerID); ok {
					t.found(ref, why)
				} else {
					t.unknown("the installation %s on %s serves %s, which is no configured provider, or names no runner", in.Root, snap.Host, in.URL)
				}
			}
			for _, where := range mentions(snap, print) {
				places++
				t.addHost(snap.Host, t.checked(snap.Host, snap.Taken).says("the same secret was in %s", where))
			}
		}
	}
	if form := tokenForm(v); form != "" {
		t.card.Notes = append(t.card.Notes, "by its form alone it is "+form)
	}
	if places == 0 {
		t.unknown("it was compared with the kept snapshots of %d hosts and is in none of them; that does not mean that it is not in use", len(hosts))
		if githubToken(v) {
			t.unknown("cordon sends a token nowhere, and GitHub tells nobody of which runner one is: whoever it belongs to revokes it (a classic or a fine-grained one in the settings of its person, one of an App by its App); one of a job ends with its job")
			return
		}
		gitlabs := slices.DeleteFunc(slices.Clone(t.a.fleet.providers), func(p providers.Provider) bool { return t.a.cfg.Providers[p.Name()].Type != "gitlab" })
		if len(gitlabs) == 0 {
			t.unknown("cordon sends a token nowhere: find out by its form or its place what it is of, and revoke it there")
			return
		}
		t.unknown("cordon sends a token nowhere. An administrator can ask GitLab (17.5 and later) which runner a token is of: POST /api/v4/admin/token")
		for _, p := range gitlabs {
			base := t.a.cfg.Providers[p.Name()].URL
			_, host, _ := strings.Cut(base, "://")
			t.card.Next = append(t.card.Next, NextStep{
				Command: `read -rs T; printf '{"token":"%s"}' "$T" | GITLAB_HOST=` + host + ` glab api --method POST admin/token -H 'Content-Type: application/json' --input -`,
				Does:    "by hand, as an administrator: " + p.Name() + " says what the token is of; the token is in no argument",
				Notice:  "nobody on a host; the token reaches " + p.Name() + " and its logs may say that it was asked",
			})
		}
	}
}

// githubToken reports whether a token has the form of one of GitHub.
func githubToken(v string) bool {
	for _, p := range []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

var (
	knownPrefix = regexp.MustCompile(`^(?:glrt-(?:t[0-9]_)?|t[0-9]_|glrtr-)`)
	tN          = regexp.MustCompile(`^t[0-9]_`)
)

// sameShort compares a token with what a log called it: nine characters after the
// known prefixes (gitlab-runner helpers/shorten_token.go); older runners (17.5) kept "t3_" in it, and
// GitLab itself shows eight characters.
func sameShort(short, v string) bool {
	short = tN.ReplaceAllString(short, "")
	return len(short) >= 6 && strings.HasPrefix(knownPrefix.ReplaceAllString(v, ""), short)
}

// tokenForm is what GitLab's prefixes say of a token.
func tokenForm(v string) string {
	for _, f := range []struct{ prefix, is string }{
		{"glrt-t1_", "a runner token of the instance"},
		{"glrt-t2_", "a runner token of a group"},
		{"glrt-t3_", "a runner token of a project"},
		{"glrtr-", "a runner token from a registration token"},
		{"glrt-", "a runner token"},
		{"t1_", "a runner token of the instance"},
		{"t2_", "a runner token of a group"},
		{"t3_", "a runner token of a project"},
		{"GR1348941", "a registration token: whoever has it can add runners; reset it in the settings of its group or project"},
		{"glcbt-", "a job token, which ends with its job"},
		{"glpat-", "no runner's: an access token of a person, a group or a project; revoke it at once"},
		{"gldt-", "no runner's: a deploy token"},
		{"glptt-", "no runner's: a trigger token"},
		{"ghp_", "no runner's: a GitHub token"},
		{"ghs_", "no runner's: a GitHub token"},
		{"github_pat_", "no runner's: a GitHub token"},
	} {
		if strings.HasPrefix(v, f.prefix) {
			return f.is
		}
	}
	return ""
}

// maxMentions bounds the places that are named.
const maxMentions = 12

// mentions are the places of a snapshot, beside installations, where a secret with this
// fingerprint was read.
func mentions(s *snapshot.Snapshot, print string) []string {
	var out []string
	add := func(where string) {
		if len(out) < maxMentions {
			out = append(out, where)
		}
	}
	for _, f := range s.Files {
		if f.Print == print || strings.Contains(string(f.Content), print) {
			add("the file " + f.Path.String())
		}
	}
	for _, p := range s.Processes {
		hit := false
		for _, a := range p.Args {
			hit = hit || strings.Contains(string(a), print)
		}
		for _, v := range p.Env {
			hit = hit || strings.Contains(v, print)
		}
		if hit {
			add("the process " + p.Comm.String())
		}
	}
	for _, l := range s.Log {
		if strings.Contains(string(l.Text), print) {
			add("the log of " + l.Unit.String())
			break
		}
	}
	return out
}
