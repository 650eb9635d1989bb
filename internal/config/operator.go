package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Action is a command of the owner's for what other systems have to do: isolate a
// machine in the EDR, snapshot a disk, suspend a user. Do, Verify and Undo are a
// program and its arguments, never a shell; after Load the program is absolute, or a
// bare name to be found in PATH. Arguments may hold {runner}, {host} and {case}.
type Action struct {
	Title  string   `yaml:"title"`
	Verb   string   `yaml:"verb"` // its own word: isolate, suspend; absent: do
	On     string   `yaml:"on"`   // OnRunner or OnHosts
	Do     []string `yaml:"do"`
	Verify []string `yaml:"verify"` // free of effects: exit 0 it is so, 1 it is not, else cannot tell
	Undo   []string `yaml:"undo"`
	Within string   `yaml:"timeout"` // of each command: 30s; absent: 30s
	Env    []string `yaml:"env"`     // names of variables that are passed through; nothing else is

	TipsOff  string   `yaml:"tips_off"` // how the other side would notice; absent: it would not
	Destroys []string `yaml:"destroys"` // evidence names that cannot be read afterwards

	// Timeout is Within as a duration, set by Load.
	Timeout time.Duration `yaml:"-"`
}

// What an action is on.
const (
	OnRunner = "runner"
	OnHosts  = "hosts"
)

// Bounds of Action.Timeout.
const (
	DefaultActionTimeout = 30 * time.Second
	MaxActionTimeout     = 10 * time.Minute
)

// taken are the verbs that plans of providers and hosts have.
var taken = []string{"pause", "resume", "cancel", "rotate", "collect", "stop", "deregister", "revoke", "purge", "operator"}

var (
	holeForm    = regexp.MustCompile(`\{[A-Za-z_]+\}`)
	actionVerb  = regexp.MustCompile(`^[a-z][a-z-]{0,19}$`)
	destroyForm = regexp.MustCompile(`^[A-Za-z0-9._*?/-]+$`)
	holes       = []string{"{runner}", "{host}", "{case}"}
)

func (v *validator) action(name string, a *Action) {
	here := at("operator", name)
	if strings.TrimSpace(a.Title) == "" || strings.ContainsAny(a.Title, "\n\r") {
		v.add(here, "write title: Isolate the machine in the EDR", "no title of one line: a person confirms what it says")
	}
	if a.Verb == "" {
		a.Verb = "do"
	}
	switch {
	case !actionVerb.MatchString(a.Verb):
		v.add(append(here, "verb"), "write one word of a-z and -, such as isolate", "not a verb")
	case slices.Contains(taken, a.Verb):
		v.add(append(here, "verb"), "choose a word of your own, such as isolate", "a verb that providers or hosts have")
	}
	if a.On != OnRunner && a.On != OnHosts {
		v.add(append(here, "on"), "write on: runner or on: hosts", "not said what it is on")
	}
	if !runnable(a.Do) {
		v.add(here, "write do: [program, argument, …]", "no command to run")
	}
	v.argv(append(here, "do"), a.On, a.Do)
	v.argv(append(here, "verify"), a.On, a.Verify)
	v.argv(append(here, "undo"), a.On, a.Undo)
	a.Timeout = DefaultActionTimeout
	if a.Within != "" {
		d, err := time.ParseDuration(a.Within)
		if err != nil || d < time.Second || d > MaxActionTimeout {
			v.add(append(here, "timeout"), "write 30s or 5m, from 1s to 10m", "not a time limit")
		}
		a.Timeout = d
	}
	for i, e := range a.Env {
		if !envForm.MatchString(e) {
			v.add(append(here, "env", strconv.Itoa(i)), "write the name alone; its value is taken from the environment of cordon", "not the name of a variable")
		}
	}
	for i, d := range a.Destroys {
		if !destroyForm.MatchString(d) {
			v.add(append(here, "destroys", strconv.Itoa(i)), "such as host/*/snapshot.json", "not the name of evidence")
		}
	}
}

// argv checks one command and completes its program's path: a name without a slash is
// looked up in PATH when it is planned, everything else counts from the file.
func (v *validator) argv(where []string, on string, argv []string) {
	if len(argv) == 0 {
		return
	}
	if !runnable(argv) {
		v.add(where, "write [program, argument, …]", "no program")
		return
	}
	if holeForm.MatchString(argv[0]) {
		v.add(append(where, "0"), "write the program itself", "a program that is put in from outside")
	}
	if strings.Contains(argv[0], "/") {
		v.path(&argv[0])
		argv[0] = filepath.Clean(argv[0])
	}
	for i, arg := range argv {
		for _, h := range holeForm.FindAllString(arg, -1) {
			switch {
			case !slices.Contains(holes, h):
				v.add(append(where, strconv.Itoa(i)), "there are: {runner}, {host}, {case}", "not a placeholder")
			case h == "{host}" && on == OnRunner:
				v.add(append(where, strconv.Itoa(i)), "write on: hosts, or use {runner}", "{host} where no host is meant")
			}
		}
		if strings.ContainsRune(arg, 0) {
			v.add(append(where, strconv.Itoa(i)), "", "a zero byte in an argument")
		}
	}
}
