package lab

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"cordon/internal/lab/fault"
	"cordon/internal/lab/github"
	"cordon/internal/lab/gitlab"
	"cordon/internal/lab/machine"
)

//go:embed scenarios
var scenarios embed.FS

// DefaultScenario is the one that `cordon demo` plays.
const DefaultScenario = "runner-owned"

// Ending is how the demo is expected to end under a fault.
type Ending struct {
	Word string `yaml:"word" json:"word"`
	Exit int    `yaml:"exit" json:"exit"`
	Note string `yaml:"note" json:"note,omitempty"` // what else the ending says
}

// Target is what the scenario is about, for whoever plays it.
type Target struct {
	Runner int    `yaml:"runner" json:"runner"`
	Scope  string `yaml:"scope" json:"scope,omitempty"` // where the runner is registered, as the configuration writes it
	Host   string `yaml:"host" json:"host"`
}

// scenario has a GitLab or a GitHub.
type scenario struct {
	Name   string            `yaml:"name"`
	Title  string            `yaml:"title"`
	Target Target            `yaml:"target"`
	Faults map[string]Ending `yaml:"faults"`
	GitLab *gitlab.Data      `yaml:"gitlab"`
	GitHub *github.Data      `yaml:"github"`
	Scopes []string          `yaml:"scopes"` // of the generated configuration
	Hosts  []hostSpec        `yaml:"hosts"`

	manifests map[string]machine.Manifest
}

// hostSpec is one host and the agent its unit runs, which is a gitlab-runner or a
// GitHub listener.
type hostSpec struct {
	Name     string        `yaml:"name"`
	Address  string        `yaml:"address"` // loopback
	Unit     string        `yaml:"unit"`
	UID      int           `yaml:"uid"` // of the account that runs jobs; 0 means 998
	Manifest string        `yaml:"manifest"`
	Agent    agentSpec     `yaml:"agent"`
	Listener *listenerSpec `yaml:"listener"`
	Rogue    *listenerSpec `yaml:"rogue"` // there under the fault rogue alone
}

type agentSpec struct {
	Token    string `yaml:"token"` // name of the runner's token
	Name     string `yaml:"name"`
	SystemID string `yaml:"system_id"`
	Builds   int    `yaml:"builds"`
	PID      int    `yaml:"pid"`
}

// Endings gives the expected ending of the demo for every fault of the scenario, by
// the fault's name; "" means DefaultScenario.
func Endings(name string) (map[string]Ending, error) {
	s, err := load(name)
	if err != nil {
		return nil, err
	}
	return s.Faults, nil
}

// Faults lists what Options.Fault may be in some scenario, "none" first.
func Faults() []string { return fault.Names() }

// FaultsOf lists what Options.Fault may be in one scenario, "none" first; "" means
// DefaultScenario.
func FaultsOf(name string) ([]string, error) {
	ends, err := Endings(name)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(fault.Names(), func(n string) bool { _, ok := ends[n]; return !ok }), nil
}

// Scenarios lists the names that Serve knows.
func Scenarios() []string {
	list, err := fs.Glob(scenarios, "scenarios/*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, p := range list {
		list[i] = strings.TrimSuffix(path.Base(p), ".yaml")
	}
	return list
}

func load(name string) (*scenario, error) {
	if name == "" {
		name = DefaultScenario
	}
	if !slices.Contains(Scenarios(), name) {
		return nil, fmt.Errorf("no scenario %q: choose one of %s", name, strings.Join(Scenarios(), ", "))
	}
	b, err := scenarios.ReadFile("scenarios/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read scenario %s: %w", name, err)
	}
	s := &scenario{manifests: map[string]machine.Manifest{}}
	if err := yaml.UnmarshalWithOptions(b, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read scenario %s: %s", name, yaml.FormatError(err, false, true))
	}
	if err := s.judge(); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	for _, h := range s.Hosts {
		b, err := scenarios.ReadFile("scenarios/" + name + "/" + h.Manifest)
		if err != nil {
			return nil, fmt.Errorf("host %s of scenario %s: %w", h.Name, name, err)
		}
		if s.manifests[h.Name], err = machine.ParseManifest(b); err != nil {
			return nil, fmt.Errorf("host %s of scenario %s: %w", h.Name, name, err)
		}
	}
	return s, nil
}

// judge refuses what cannot be played.
func (s *scenario) judge() error {
	if (s.GitLab == nil) == (s.GitHub == nil) {
		return fmt.Errorf("it has to have a gitlab or a github")
	}
	if _, ok := s.Faults[fault.None]; !ok {
		return fmt.Errorf("it has no ending for %s", fault.None)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Faults)) {
		if !slices.Contains(fault.Names(), name) {
			return fmt.Errorf("it has an ending for a fault that there is not: %s", name)
		}
	}
	for _, h := range s.Hosts {
		if (h.Listener == nil) == (s.GitLab == nil) {
			return fmt.Errorf("host %s has an agent of another service", h.Name)
		}
	}
	return nil
}
