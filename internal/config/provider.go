package config

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/target"
	"cordon/internal/yamlfile"
)

// Provider is one CI service account.
type Provider struct {
	Type   string       `yaml:"type"`    // github, gitlab
	URL    string       `yaml:"url"`     // the address that people open, https://HOST[:PORT][/PATH], without that of the API and without a slash at the end
	CAFile string       `yaml:"ca_file"` // PEM; "": the machine's own roots
	Scopes []string     `yaml:"scopes"`  // see Scope; empty: mine
	Look   TokenSource  `yaml:"look"`    // for reading
	Act    *TokenSource `yaml:"act"`     // for changes; absent: asked for. Never nil after Load.
}

// kind is what the configuration of one type of provider has to look like.
type kind struct {
	url    string // an example
	scopes string // the forms of a scope
	scope  func(level, path string, has bool) (target.Scope, bool)
	tokens string // the places where a token can be
	api    string // how an address ends that is the API's
	bare   bool   // its address has no path
}

// kinds are the services that this build speaks.
var kinds = map[string]kind{
	"gitlab": {
		url: "https://gitlab.example.org", scopes: "instance, mine, group:PATH or project:PATH", scope: gitlabScope,
		tokens: "env, command, file, glab", api: "/api/v4",
	},
	"github": {
		url: "https://github.com", scopes: "enterprise:SLUG, organization:ORG, repository:OWNER/REPO, repositories:OWNER or mine", scope: githubScope,
		tokens: "env, command, file, gh, app", api: "/api/v3", bare: true,
	},
}

// Scope reads one entry of scopes. GitLab: instance, mine, group:PATH, project:PATH.
// GitHub: enterprise:SLUG, organization:ORG, repository:OWNER/REPO, repositories:OWNER
// (every repository of an organization or user), mine.
func Scope(providerType, s string) (target.Scope, bool) {
	k, ok := kinds[providerType]
	if !ok {
		return target.Scope{}, false
	}
	level, path, has := strings.Cut(s, ":")
	return k.scope(level, strings.Trim(path, "/"), has)
}

func gitlabScope(level, path string, has bool) (target.Scope, bool) {
	switch level {
	case "instance", "mine":
		return target.Scope{Level: level}, !has
	case "group", "project":
		return target.Scope{Level: level, Path: path}, path != ""
	}
	return target.Scope{}, false
}

var (
	githubOwner = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	githubRepo  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
)

func githubScope(level, path string, has bool) (target.Scope, bool) {
	s := target.Scope{Level: level, Path: path}
	switch level {
	case "mine":
		return target.Scope{Level: level}, !has
	case "enterprise", "organization", "repositories":
		return s, githubOwner.MatchString(path)
	case "repository":
		owner, repo, _ := strings.Cut(path, "/")
		return s, githubOwner.MatchString(owner) && githubRepo.MatchString(repo) && strings.Trim(repo, ".") != ""
	}
	return target.Scope{}, false
}

func (v *validator) provider(name string, p *Provider) {
	here := at("providers", name)
	types := sorted(kinds)
	switch {
	case p.Type == "":
		v.add(here, "write type: "+strings.Join(types, " or type: "), "no type")
	case !slices.Contains(types, p.Type):
		hint := "there are " + strings.Join(types, " and ")
		if near := yamlfile.Nearest(p.Type, types); near != "" {
			hint = "did you mean " + near + "?"
		}
		shown := ""
		if wordForm.MatchString(p.Type) {
			shown = " " + strconv.Quote(p.Type)
		}
		v.add(append(here, "type"), hint, "unknown provider type%s", shown)
	}
	if p.Act == nil {
		p.Act = &TokenSource{Ask: true}
	}
	v.url(append(here, "url"), p)
	v.path(&p.CAFile)
	for i, s := range p.Scopes {
		k, known := kinds[p.Type]
		if _, ok := Scope(p.Type, s); known && !ok {
			v.add(append(here, "scopes", strconv.Itoa(i)), "write "+k.scopes, "not a scope")
		}
	}
	v.token(append(here, "look"), &p.Look, p)
	v.token(append(here, "act"), p.Act, p)
	if p.Look.Ask {
		v.add(append(here, "look", "ask"), "only act can be asked for; looking goes on unattended", "look cannot be asked for")
	}
}

func (v *validator) url(here []string, p *Provider) {
	k, ok := kinds[p.Type]
	if !ok {
		k = kinds["gitlab"] // an unknown type is said elsewhere; an address is an address
	}
	if p.URL == "" {
		v.add(here, "write url: "+k.url, "no url")
		return
	}
	u, err := url.Parse(strings.TrimRight(p.URL, "/"))
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		v.add(here, "write https://HOST or https://HOST/PATH", "not a URL")
	case u.User != nil:
		v.add(here, "name the token's place under look and act", "a URL with a name or password in it")
	case strings.HasSuffix(u.Hostname(), "."):
		v.add(here, "leave out the dot", "a host with a dot at its end")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		v.add(here, "leave out ? and #", "a URL with more than a host and a path")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		v.add(here, "use https; http is for 127.0.0.1 alone", "the token would travel in clear, or not at all")
	case strings.HasSuffix(u.Path, k.api) || strings.HasSuffix(u.Path, "/api"):
		v.add(here, "leave out "+k.api+"; it is added", "the URL of the API, not of the service")
	case k.bare && strings.HasPrefix(strings.ToLower(u.Host), "api."):
		v.add(here, "write https://github.com or https://TENANT.ghe.com", "the URL of the API, not of the service")
	case k.bare && u.Path != "":
		v.add(here, "write "+k.url+" alone and name what is in it under scopes", "a URL with a path")
	default:
		p.URL = u.String()
		p.Look.host, p.Act.host = u.Host, u.Host
	}
}
