package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"github.com/goccy/go-yaml"
)

// ghPath is where gh keeps its logins: $GH_CONFIG_DIR, else below XDG_CONFIG_HOME
// (cli/go-gh, pkg/config).
func ghPath() string {
	if dir := os.Getenv("GH_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "hosts.yml")
	}
	return filepath.Join(xdg.ConfigHome, "gh", "hosts.yml")
}

// ghHosts reads the hosts that gh is logged in to. Tokens are not read from the file, which
// may hold them: gh is asked for one when it is needed, because it may be in the keyring.
func ghHosts() ([]string, error) {
	b, err := read(ghPath(), 0o077, "read")
	if err != nil {
		return nil, err
	}
	var hosts map[string]any
	if err := yaml.Unmarshal(b, &hosts); err != nil {
		return nil, fmt.Errorf("%s is not what gh writes", ghPath()) // the parser would quote the line
	}
	return sorted(hosts), nil
}

// ghVariables are the variables that gh takes a token from, each with the address that it
// is for (gh help environment). In a job of GitHub's own, GITHUB_SERVER_URL names it.
func ghVariables() [][2]string {
	host, own := os.Getenv("GH_HOST"), "https://github.com"
	if at := os.Getenv("GITHUB_SERVER_URL"); at != "" {
		own = at
	}
	tenant := strings.HasSuffix(strings.ToLower(host), ".ghe.com")
	if tenant {
		own = "https://" + host
	}
	out := [][2]string{{"GH_TOKEN", own}, {"GITHUB_TOKEN", own}}
	if host != "" && !tenant && !strings.EqualFold(host, "github.com") {
		out = append(out, [2]string{"GH_ENTERPRISE_TOKEN", "https://" + host}, [2]string{"GITHUB_ENTERPRISE_TOKEN", "https://" + host})
	}
	return out
}
