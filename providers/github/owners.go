package github

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/untrusted"
)

// maxCodeowners is what GitHub reads of a CODEOWNERS file (docs: about code owners).
const maxCodeowners = 3 << 20

// ownerProperty are names that people give to the property that says whose a repository is.
var ownerProperty = regexp.MustCompile(`(?i)^(service[-_]?|code[-_]?|repo[-_]?|repository[-_]?|owning[-_]?|responsible[-_]?|product[-_]?)*(owners?|team|owner[-_]?team|squad)$`)

// owner says who can answer for a repository: by a custom property, by CODEOWNERS of its
// workflows, by a team with administration, the first of these that tells; "" where none
// does. It is a convenience, so what cannot be read is passed over.
func (p *Provider) owner(ctx context.Context, b *bounded, repo string) string {
	short := func(s string) string { return untrusted.Clean(string(p.text(s)), 120) }
	at := repoPath(repo)
	if a, err := b.get(ctx, at+"/properties/values", nil); err == nil {
		if l, err := decode[[]wireProperty](a); err == nil {
			if who := propertyOwner(l); who != "" {
				return short(who) + " (custom property)"
			}
		}
	}
	for _, place := range []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"} { // in GitHub's order
		a, err := b.get(ctx, at+"/contents/"+place, nil)
		if ends(ctx, err) {
			return ""
		}
		if err != nil {
			continue
		}
		c, err := decode[wireContent](a)
		if err != nil {
			break
		}
		if text, err := c.file(); err == nil {
			if who := codeowners(text, ".github/workflows/x.yml"); len(who) > 0 {
				return short(strings.Join(who, " ")) + " (CODEOWNERS)"
			}
		}
		break // the first that is there counts
	}
	var teams []string
	_ = b.all(ctx, at+"/teams", nil, 1, func(a answer) (bool, error) {
		l, err := decode[[]wireTeam](a)
		for _, t := range l {
			if t.Permission == "admin" {
				teams = append(teams, t.Slug)
			}
		}
		return false, err
	})
	if len(teams) == 0 {
		return ""
	}
	slices.Sort(teams)
	return short(strings.Join(teams[:min(len(teams), 3)], ", ")) + " (team with administration)"
}

func propertyOwner(l []wireProperty) string {
	for _, x := range l {
		if !ownerProperty.MatchString(x.Name) {
			continue
		}
		switch v := x.Value.(type) {
		case string:
			if v = strings.TrimSpace(v); v != "" {
				return v
			}
		case []any:
			var out []string
			for _, one := range v {
				if s, ok := one.(string); ok && len(out) < 5 {
					out = append(out, s)
				}
			}
			if len(out) > 0 {
				return strings.Join(out, ", ")
			}
		}
	}
	return ""
}

// codeowners are the owners of a file by a CODEOWNERS file: the last pattern that fits
// counts, and one without owners takes them away (docs: about code owners).
func codeowners(text []byte, file string) []string {
	if len(text) > maxCodeowners {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") || !ownsPath(f[0], file) {
			continue
		}
		out = nil
		for _, w := range f[1:min(len(f), 11)] {
			if strings.ContainsRune(w, '@') && len(w) <= 120 {
				out = append(out, w)
			}
		}
	}
	return out
}

// ownsPath matches the patterns that CODEOWNERS has of gitignore's; a pattern that is
// written in another way fits nothing, so that nobody is named by mistake.
func ownsPath(pattern, file string) bool {
	if strings.ContainsAny(pattern, `[]!\`) || len(pattern) > 300 {
		return false
	}
	if pattern == "*" {
		return true
	}
	rooted := strings.HasPrefix(pattern, "/") || strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	want := slices.CompactFunc(strings.Split(strings.Trim(pattern, "/"), "/"), func(a, b string) bool { return a == "**" && b == "**" })
	if strings.Count(pattern, "**") > 4 && len(want) > 8 {
		return false // nobody writes that, and matching it grows with every one
	}
	have := strings.Split(file, "/")
	dir := strings.HasSuffix(pattern, "/")
	// "docs/*" owns the files of docs alone, "docs" and "docs/" all below.
	below := want[len(want)-1] != "*"
	for from := range have {
		if fits(want, have[from:], dir, below) {
			return true
		}
		if rooted {
			break
		}
	}
	return false
}

func fits(want, have []string, dir, below bool) bool {
	if len(want) == 0 {
		return len(have) == 0 && !dir || len(have) > 0 && below
	}
	if want[0] == "**" {
		for i := range len(have) + 1 {
			if fits(want[1:], have[i:], dir, below) {
				return true
			}
		}
		return false
	}
	if len(have) == 0 {
		return false
	}
	ok, err := path.Match(want[0], have[0])
	return err == nil && ok && fits(want[1:], have[1:], dir, below)
}
