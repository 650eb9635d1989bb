package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"github.com/goccy/go-yaml"
)

// glabHost is what glab keeps of one login (gitlab.com/gitlab-org/cli, written by
// "glab auth login"). Only these keys are read.
type glabHost struct {
	Token       string `yaml:"token"`
	APIHost     string `yaml:"api_host"`
	APIProtocol string `yaml:"api_protocol"`
	IsOAuth2    string `yaml:"is_oauth2"`
}

// glabPath is where glab keeps its logins: $GLAB_CONFIG_DIR, else below XDG_CONFIG_HOME.
func glabPath() string {
	if dir := os.Getenv("GLAB_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "config.yml")
	}
	return filepath.Join(xdg.ConfigHome, "glab-cli", "config.yml")
}

// glabHosts reads glab's logins by host. The file is glab's: what is not known is passed over.
func glabHosts() (map[string]glabHost, error) {
	b, err := read(glabPath(), 0o077, "read")
	if err != nil {
		return nil, err
	}
	// glab writes "token: !!null VALUE", which by YAML's rules has no value.
	text := strings.ReplaceAll(string(b), "!!null ", "")
	var f struct {
		Hosts map[string]glabHost `yaml:"hosts"`
	}
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		return nil, fmt.Errorf("%s is not what glab writes", glabPath()) // the parser would quote the line
	}
	return f.Hosts, nil
}

func glabToken(host string) (string, error) {
	hosts, err := glabHosts()
	if err != nil {
		return "", err
	}
	login, ok := hosts[host]
	for _, name := range sorted(hosts) {
		if !ok && hosts[name].APIHost == host {
			login, ok = hosts[name], true
		}
	}
	if !ok {
		return "", fmt.Errorf("%s knows no such host; run: glab auth login --hostname %s", glabPath(), host)
	}
	return login.usable()
}

// usable returns the token, or why it is of no use here.
func (h glabHost) usable() (string, error) {
	switch {
	case h.IsOAuth2 == "true":
		return "", errors.New("glab logged in through the browser, and such a token ends after two hours; log in with a personal access token")
	case h.Token == "":
		return "", errors.New("glab's file has none for it (it may be in the keyring); name another place")
	}
	return h.Token, nil
}
