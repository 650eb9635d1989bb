// Package playbooks is the language in which a containment is written down: what
// is done in which order, what has to be there first, and what counts as done.
// LANGUAGE.md is its manual, Schema its JSON Schema, and the *.yaml files beside
// this one are the built-in playbooks.
//
// A playbook holds words from closed lists and no code: it can ask for a plan, but
// a person confirms it and the engine carries it out. The package may import
// levels 0 and 1; it knows neither providers nor the engine.
package playbooks

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/untrusted"
	"cordon/internal/yamlfile"
)

// Format is the value of the key "cordon" in every playbook.
const Format = "playbook/1"

// Kinds of act: what Act.Do may say.
const (
	Gather   = "gather"   // read and keep, from the provider
	Plan     = "plan"     // have plans made for Verb, one confirmed, and carried out
	Exposure = "exposure" // open or refresh the list of what the runner could reach
	Confirm  = "confirm"  // the verdict: can it poll, fetch secrets, deploy
	Manual   = "manual"   // a person does it, and writes down what was done
	Wait     = "wait"     // until what Until says is so
)

// What an act is on: Act.On.
const (
	OnRunner = "runner" // every runner of the case
	OnHosts  = "hosts"  // every host of the case
)

// What is checked after an act: Act.Verify.
const (
	VerifyPaused  = "paused"
	VerifyGone    = "gone"
	VerifyStopped = "stopped"
)

// UntilIdle is the value of Act.Until: no job runs on the runner.
const UntilIdle = "idle"

// DifferentPerson is the value of Act.SignOff: somebody else than who did the work
// says that it was done.
const DifferentPerson = "different-person"

// Kinds of a field of a manual act: Field.Kind.
const (
	FieldText   = "text"
	FieldDate   = "date"   // 2026-11-30, or with a time in UTC
	FieldPerson = "person" // a name or an address, as people are called in the case
	FieldURL    = "url"    // http or https
	FieldNumber = "number" // digits, at most one sign
	FieldRunner = "runner" // a runner, which has to be online when the act is done: the provider is asked
)

// SecondPerson is the value of Act.Ask that wants another person's agreement.
const SecondPerson = "second-person"

// ErrUnknown is wrapped by Find where no built-in playbook has the id.
var ErrUnknown = errors.New("no such playbook")

// Playbook is one parsed file. It is not changed after Parse and then safe for
// concurrent use. Attack holds ATT&CK techniques ("T1078", attack.mitre.org), NIST
// controls of SP 800-53 revision 5 ("IR-4").
type Playbook struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Why     string   `json:"why"`
	Steps   []Step   `json:"steps"`
	Attack  []string `json:"attack,omitempty"`
	NIST    []string `json:"nist,omitempty"`
	Source  []byte   `json:"-"`      // the exact bytes that were read
	SHA256  string   `json:"sha256"` // of Source, lower-case hex
	BuiltIn bool     `json:"built_in"`

	doc *yamlfile.Doc
}

// Step is done as a whole, in the order of the file. Needs are ids of earlier
// steps that must be done, or waived with a reason, before this one starts.
type Step struct {
	ID     string   `yaml:"id" json:"id"`
	Title  string   `yaml:"title" json:"title"`
	Why    string   `yaml:"why" json:"why"`
	Needs  []string `yaml:"needs" json:"needs,omitempty"`
	Acts   []Act    `yaml:"acts" json:"acts"`
	Attack []string `yaml:"attack" json:"attack,omitempty"`
	NIST   []string `yaml:"nist" json:"nist,omitempty"`
}

// Act is one thing a step does. Every word comes from a closed list (see Lint).
type Act struct {
	Do       string   `yaml:"do" json:"do"`
	Verb     string   `yaml:"verb" json:"verb,omitempty"`         // plan: what the plans are for
	Profile  string   `yaml:"profile" json:"profile,omitempty"`   // gather, and plan collect: how much is read
	On       string   `yaml:"on" json:"on,omitempty"`             // gather, plan: OnRunner or OnHosts
	Optional bool     `yaml:"optional" json:"optional,omitempty"` // a target out of reach is recorded as a gap and the step goes on
	Destroys []string `yaml:"destroys" json:"destroys,omitempty"` // evidence names, globs as path.Match; added to the change's own
	Verify   string   `yaml:"verify" json:"verify,omitempty"`     // "": as the system read it back
	Ask      string   `yaml:"ask" json:"ask,omitempty"`           // "": the responder alone
	Name     string   `yaml:"name" json:"name,omitempty"`         // plan operator: which action of the owner's configuration
	Until    string   `yaml:"until" json:"until,omitempty"`       // wait

	// Of a manual act alone.
	Text    string  `yaml:"text" json:"text,omitempty"`         // what has to be done
	Fields  []Field `yaml:"fields" json:"fields,omitempty"`     // what has to be written down
	Owner   string  `yaml:"owner" json:"owner,omitempty"`       // who should do it, a person or a role
	Due     string  `yaml:"due" json:"due,omitempty"`           // since the case was opened: 12h, 14d; "": no date
	Attach  bool    `yaml:"attach" json:"attach,omitempty"`     // at least one file has to be kept with it
	SignOff string  `yaml:"sign_off" json:"sign_off,omitempty"` // "": who did it says so
}

// Field is one thing that a manual act wants written down.
type Field struct {
	ID       string `yaml:"id" json:"id"`
	Title    string `yaml:"title" json:"title"`
	Kind     string `yaml:"kind" json:"kind"`
	Required bool   `yaml:"required" json:"required,omitempty"`
}

// file is the document as written.
type file struct {
	Cordon string   `yaml:"cordon"`
	ID     string   `yaml:"id"`
	Title  string   `yaml:"title"`
	Why    string   `yaml:"why"`
	Attack []string `yaml:"attack"`
	NIST   []string `yaml:"nist"`
	Steps  []Step   `yaml:"steps"`
}

//go:embed *.yaml
var builtIn embed.FS

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of a playbook, for editors. Lint knows more.
func Schema() []byte { return slices.Clone(schema) }

// Parse reads one playbook and checks its form: keys, types, the format line. The
// error is yamlfile.Errors, each with file, line and column under name. What it
// means is checked by Lint; run only what Load or Find returned.
func Parse(name string, b []byte) (*Playbook, error) {
	var f file
	doc, err := yamlfile.Decode(name, b, &f)
	if err != nil {
		return nil, err
	}
	if f.Cordon != Format {
		return nil, yamlfile.Errors{doc.Errorf([]string{"cordon"}, `start the file with "cordon: `+Format+`"`, "not a playbook of a version that this build reads")}
	}
	sum := sha256.Sum256(b)
	return &Playbook{
		ID: f.ID, Title: f.Title, Why: f.Why, Steps: f.Steps, Attack: f.Attack, NIST: f.NIST,
		Source: slices.Clone(b), SHA256: hex.EncodeToString(sum[:]), doc: doc,
	}, nil
}

// Load is Parse, and refuses a playbook in which Lint finds an error. The error is
// yamlfile.Errors.
func Load(name string, b []byte) (*Playbook, error) {
	p, err := Parse(name, b)
	if err != nil {
		return nil, err
	}
	var bad yamlfile.Errors
	for _, l := range Lint(p) {
		if l.Severity == SeverityError {
			bad = append(bad, &yamlfile.Error{File: name, Line: l.Line, Col: l.Col, Msg: l.Text})
		}
	}
	if len(bad) > 0 {
		return nil, bad
	}
	return p, nil
}

// BuiltIn returns the playbooks that come with cordon, by id. Each passed Lint.
func BuiltIn() ([]*Playbook, error) {
	files, err := builtIn.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list built-in playbooks: %w", err)
	}
	var all []*Playbook
	for _, f := range files {
		b, err := builtIn.ReadFile(f.Name())
		if err != nil {
			return nil, fmt.Errorf("read built-in playbook: %w", err)
		}
		p, err := Load(f.Name(), b)
		if err != nil {
			return nil, fmt.Errorf("built-in playbook: %w", err)
		}
		p.BuiltIn = true
		all = append(all, p)
	}
	return all, nil
}

// Find returns the built-in playbook with this id. The error wraps ErrUnknown and
// names those there are.
func Find(id string) (*Playbook, error) {
	all, err := BuiltIn()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range all {
		if p.ID == id {
			return p, nil
		}
		ids = append(ids, p.ID)
	}
	hint := "there are: " + strings.Join(ids, ", ")
	if near := yamlfile.Nearest(id, ids); near != "" {
		hint = "did you mean " + near + "?"
	}
	return nil, fmt.Errorf("%w: %q; %s", ErrUnknown, untrusted.Text(id), hint)
}
