package github

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"cordon/internal/evidence"
	"cordon/providers"
)

// packageTypes are those of GitHub Packages (docs: packages/packages).
var packageTypes = []string{"container", "npm", "maven", "nuget", "rubygems", "docker"}

// packages lists what the owners of the repositories published. Only classic tokens with
// read:packages may ask; where the first answer says no, the others are not asked.
func (o *outputs) packages(repos []string) {
	owners := map[string]bool{}
	for _, r := range repos {
		owner, _, _ := strings.Cut(r, "/")
		if owners[owner] {
			continue
		}
		owners[owner] = true
		if o.stop || o.ctx.Err() != nil {
			o.gaps = append(o.gaps, evidence.Gap{Name: "packages of " + owner, Why: "not asked: no requests left for it", At: o.p.clock.Now()})
			continue
		}
		o.packagesOf(owner, repos)
	}
}

func (o *outputs) packagesOf(owner string, repos []string) {
	at := "orgs/" + url.PathEscape(owner)
	for i, typ := range packageTypes {
		err := o.packagesIn(at, owner, typ, repos)
		if err != nil && i == 0 && !ends(o.ctx, err) && at[0] == 'o' { // a person's account has another path
			if uerr := o.packagesIn("users/"+url.PathEscape(owner), owner, typ, repos); uerr == nil {
				at, err = "users/"+url.PathEscape(owner), nil
			}
		}
		if err != nil {
			o.miss("packages of "+owner+" ("+typ+")", fmt.Errorf("%w; GitHub Packages needs a classic token with read:packages", err))
			if i == 0 || o.stop {
				o.miss("other packages of "+owner, fmt.Errorf("not asked after that"))
				return
			}
		}
	}
}

func (o *outputs) packagesIn(at, owner, typ string, repos []string) error {
	return o.b.all(o.ctx, at+"/packages", url.Values{"package_type": {typ}}, listPages, func(a answer) (bool, error) {
		l, err := decode[[]wirePackage](a)
		for _, x := range l {
			if x.UpdatedAt.Before(o.since) || x.Name == "" {
				continue
			}
			why := "not linked to a repository that can be seen"
			if x.Repository != nil {
				repo := repoName(x.Repository.Full)
				if !slices.Contains(repos, repo) {
					continue // of a repository whose jobs did not run here
				}
				why = "of " + repo
			}
			o.versions(at, owner, typ, x, why)
		}
		return true, err
	})
}

// versions names what came in the window; a package that only changed is named itself.
func (o *outputs) versions(at, owner, typ string, x wirePackage, why string) {
	n := 0
	err := o.b.all(o.ctx, at+"/packages/"+typ+"/"+url.PathEscape(x.Name)+"/versions", nil, 1, func(a answer) (bool, error) {
		l, err := decode[[]wireVersion](a)
		for _, v := range l {
			if v.CreatedAt.Before(o.since) {
				continue
			}
			n++
			o.add(providers.Package, owner, typ+" "+x.Name+" "+v.Name, "", v.CreatedAt, why, "")
		}
		return false, err
	})
	if err != nil {
		o.miss("versions of package "+o.p.text(x.Name).String(), err)
	}
	if n == 0 {
		o.add(providers.Package, owner, typ+" "+x.Name, "", x.UpdatedAt, why+"; changed in the window", "")
	}
}
