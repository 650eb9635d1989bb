package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"cordon/internal/untrusted"
)

// Discover makes a configuration of what this machine knows already, for the first
// minutes in which nobody has written one: GITLAB_TOKEN, with the address from
// GITLAB_HOST or CI_SERVER_URL, the logins of glab; GH_TOKEN or GITHUB_TOKEN, with the
// address from GH_HOST or GITHUB_SERVER_URL, and the logins of gh. Each provider is called
// after its host; its token for acting is asked for. The notes say what was seen and
// could not be used, one line each.
func Discover() (*Config, []string) {
	c := Default()
	c.Providers = map[string]Provider{}
	var notes []string
	try := func(kind, from, address string, look TokenSource) {
		v := &validator{}
		p := Provider{Type: kind, URL: address, Look: look}
		v.provider("", &p)
		u, err := url.Parse(address)
		if err != nil || len(v.errs) > 0 || !nameForm.MatchString(u.Hostname()) {
			notes = append(notes, from+": its address cannot be used; write it into "+DefaultPath())
			return
		}
		if _, taken := c.Providers[u.Hostname()]; !taken {
			c.Providers[u.Hostname()] = p
		}
	}
	if os.Getenv("GITLAB_TOKEN") != "" {
		address := "https://gitlab.com"
		for _, name := range []string{"CI_SERVER_URL", "GITLAB_HOST"} {
			if a := os.Getenv(name); a != "" {
				address = a
			}
		}
		if !strings.Contains(address, "://") { // glab takes a bare host too
			address = "https://" + address
		}
		try("gitlab", "GITLAB_TOKEN", address, TokenSource{Env: "GITLAB_TOKEN"})
	}
	hosts, err := glabHosts()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		notes = append(notes, "glab: "+err.Error())
	}
	for _, name := range sorted(hosts) {
		from := "glab's login for " + untrusted.Clean(name, 80)
		if hosts[name].Token == "" { // glab lists gitlab.com before anybody logs in
			continue
		}
		if _, err := hosts[name].usable(); err != nil {
			notes = append(notes, fmt.Sprintf("%s: %s", from, err))
			continue
		}
		host, scheme := name, "https"
		if h := hosts[name].APIHost; h != "" {
			host = h
		}
		if hosts[name].APIProtocol == "http" {
			scheme = "http"
		}
		try("gitlab", from, scheme+"://"+host, TokenSource{Glab: true})
	}
	for _, x := range ghVariables() {
		if os.Getenv(x[0]) != "" {
			try("github", x[0], x[1], TokenSource{Env: x[0]})
		}
	}
	logins, err := ghHosts()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		notes = append(notes, "gh: "+err.Error())
	}
	for _, name := range logins {
		try("github", "gh's login for "+untrusted.Clean(name, 80), "https://"+name, TokenSource{GH: true})
	}
	return c, notes
}
