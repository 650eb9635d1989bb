package ghrunner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of what a listener is (src/Runner.Common/HostContext.cs).
const (
	settingsFile = ".runner"
	credFile     = ".credentials"
	keyFile      = ".credentials_rsaparams"
)

// settings is .runner.
type settings struct {
	AgentID     int    `json:"agentId"`
	AgentName   string `json:"agentName"`
	PoolID      int    `json:"poolId"`
	PoolName    string `json:"poolName"`
	ServerURL   string `json:"serverUrl"`
	GitHubURL   string `json:"gitHubUrl"`
	WorkFolder  string `json:"workFolder"`
	UseV2Flow   bool   `json:"useV2Flow"`
	ServerURLV2 string `json:"serverUrlV2"`
}

// credentials is .credentials.
type credentials struct {
	Scheme string `json:"scheme"`
	Data   struct {
		ClientID         string `json:"clientId"`
		AuthorizationURL string `json:"authorizationUrl"`
		FIPS             string `json:"requireFipsCryptography"`
	} `json:"data"`
}

// Key is .credentials_rsaparams. In the lab D is what a listener proves itself with.
type Key struct {
	D        string `json:"d"`
	DP       string `json:"dp"`
	DQ       string `json:"dq"`
	Exponent string `json:"exponent"`
	InverseQ string `json:"inverseQ"`
	Modulus  string `json:"modulus"`
	P        string `json:"p"`
	Q        string `json:"q"`
}

type files struct {
	agent settings
	cred  credentials
	key   Key
}

// Identity is who a listener is to be.
type Identity struct {
	ID       int
	Name     string
	Pool     int
	Base     string // of the GitHub
	Web      string // of the organization or repository
	ClientID string
	Key      Key
}

// File is one file of a listener's directory.
type File struct {
	Name string
	Text string
	Mode fs.FileMode
}

// bom is what .NET's UTF-8 writer begins a file with.
const bom = "\ufeff"

// Files are the three that make a directory a runner, as config.sh writes them.
func (id Identity) Files() ([]File, error) {
	s := settings{
		AgentID: id.ID, AgentName: id.Name, PoolID: id.Pool, PoolName: "Default", ServerURL: id.Base + "/_services/pipelines/", GitHubURL: id.Web,
		WorkFolder: "_work", UseV2Flow: true, ServerURLV2: id.Base + "/_services/broker/",
	}
	var c credentials
	c.Scheme = "OAuth"
	c.Data.ClientID, c.Data.AuthorizationURL, c.Data.FIPS = id.ClientID, id.Base+"/_services/vstoken/oauth2/token", "True"
	var out []File
	for _, f := range []struct {
		name string
		mode fs.FileMode
		v    any
	}{{settingsFile, 0o644, s}, {credFile, 0o600, c}, {keyFile, 0o600, id.Key}} {
		b, err := json.MarshalIndent(f.v, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", f.name, err)
		}
		out = append(out, File{f.name, bom + string(b), f.mode})
	}
	return out, nil
}

func readFiles(dir string) (files, error) {
	var f files
	for name, v := range map[string]any{settingsFile: &f.agent, credFile: &f.cred, keyFile: &f.key} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(bytes.TrimPrefix(b, []byte(bom)), v)
		}
		if err != nil {
			return files{}, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return f, nil
}

// wipe is DeleteLocalRunnerConfig (ConfigurationManager.cs): it takes away what made the
// directory a runner, and says so.
func (l *Listener) wipe() {
	for _, step := range []struct {
		said  string
		names []string
	}{{credFile, []string{credFile, keyFile}}, {settingsFile, []string{settingsFile}}} {
		there := false
		for _, n := range step.names {
			err := os.Remove(filepath.Join(l.c.Dir, n))
			there = there || !errors.Is(err, fs.ErrNotExist)
		}
		if there {
			l.cheer("Removed " + step.said)
		} else {
			l.say("Does not exist. Skipping Removing " + step.said)
		}
	}
}
