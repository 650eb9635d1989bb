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
	Host   string `yaml:"host" json:"host"`
}

type scenario struct {
	Name   string            `yaml:"name"`
	Title  string            `yaml:"title"`
	Target Target            `yaml:"target"`
	Faults map[string]Ending `yaml:"faults"`
	GitLab gitlab.Data       `yaml:"gitlab"`
	Hosts  []hostSpec        `yaml:"hosts"`

	manifests map[string]machine.Manifest
}

// hostSpec is one host and the agent its unit runs.
type hostSpec struct {
	Name     string    `yaml:"name"`
	Address  string    `yaml:"address"` // loopback
	Unit     string    `yaml:"unit"`
	Manifest string    `yaml:"manifest"`
	Agent    agentSpec `yaml:"agent"`
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

// Faults lists what Options.Fault may be, "none" first.
func Faults() []string { return fault.Names() }

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
	if have, want := slices.Sorted(maps.Keys(s.Faults)), slices.Sorted(slices.Values(fault.Names())); !slices.Equal(have, want) {
		return nil, fmt.Errorf("scenario %s has endings for the faults %v, wants %v", name, have, want)
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
