package snapshot

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/untrusted"
)

// Listed is one path of a list, or a pattern in the form of path.Match, and the lines
// that were sent for it: itself, and for a pattern also what a shell's wildcards leave out.
type Listed struct {
	Path  string
	Lines []string
}

func answersTo(all []Listed) map[string]*string {
	out := map[string]*string{}
	for _, l := range all {
		for _, line := range l.Lines {
			out[line] = nil
		}
	}
	return out
}

// wasAsked reports whether a path is one that the list names.
func (p *parser) wasAsked(name string) bool {
	return slices.ContainsFunc(p.x.Asked, func(l Listed) bool {
		ok, err := path.Match(l.Path, name)
		return l.Path == name || ok && err == nil
	})
}

// askedLine takes what came of one line: "absent", "there", "unseen", and why.
func (p *parser) askedLine(fr Frame) error {
	said, sent := p.asked[fr.Name]
	state, _, _ := strings.Cut(string(fr.Body), " ")
	if !sent || said != nil || !slices.Contains([]string{"absent", "there", "unseen"}, state) {
		return fmt.Errorf("%w: an answer about %s", ErrForged, untrusted.Clean(fr.Name, 60))
	}
	body := string(fr.Body)
	p.asked[fr.Name], p.file = &body, nil
	return nil
}

var sumShape = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sum takes the hash of a regular file. Of one that looks secret-bearing it is kept only
// where the list has it: a short secret can be guessed from its hash.
func (p *parser) sum(f *File, body string) error {
	if f.Type != "file" || f.SHA256 != "" || f.NoHash != "" || !sumShape.MatchString(body) {
		return fmt.Errorf("%w: a hash out of place", ErrForged)
	}
	if SecretPlace(string(f.Path)) && !p.x.Hashes[body] {
		f.Described, f.NoHash = true, "withheld, as it lies where secrets do; it is none of the hashes that were listed then"
		return nil
	}
	f.SHA256 = body
	return nil
}

// askedAll joins what came of the lines of each path.
func (p *parser) askedAll() {
	for _, l := range p.x.Asked {
		a := Asked{Path: untrusted.Text(l.Path), State: AskedAbsent}
		for _, line := range l.Lines {
			state, why := "unseen", "the host did not answer for it"
			if said := p.asked[line]; said != nil {
				state, why, _ = strings.Cut(*said, " ")
			}
			switch {
			case state == "there":
				a.State = AskedThere
			case state == "unseen" && a.State != AskedThere:
				a.State = AskedUnseen
			}
			if why != "" && a.Why == "" {
				a.Why = p.clean(why, 200)
			}
		}
		p.s.Asked = append(p.s.Asked, a)
	}
}

// secretBases are names of files that hold credentials, as the collector looks for them.
var secretBases = []string{
	".netrc", ".git-credentials", "credentials", ".npmrc", ".yarnrc.yml", ".pypirc", ".vault-token", ".pgpass", ".my.cnf", ".boto", ".s3cfg",
	".env", "hosts.yml", "shadow", "shadow-", "gshadow", "gshadow-", "auth.json", "keys.txt", "environ", "kubeconfig", "config.toml",
	"credentials.toml", "credentials.tfrc.json", "application_default_credentials.json", "credentials.db", "settings-security.xml", "token",
}

// SecretPlace reports a file that holds secrets by its place and name.
func SecretPlace(name string) bool {
	base := path.Base(name)
	return slices.Contains(secretBases, base) || strings.HasPrefix(base, ".credentials") || strings.HasPrefix(base, "id_") ||
		slices.Contains([]string{".pem", ".key", ".p12", ".pfx", ".kubeconfig", ".keytab"}, path.Ext(base)) ||
		strings.Contains(name, "/.docker/config.json") || strings.Contains(name, "/.kube/") || strings.Contains(name, "/.gnupg/")
}
