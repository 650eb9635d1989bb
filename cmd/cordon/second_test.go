package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cordon/internal/lab/ledger"
	"cordon/internal/testenv"
	"cordon/playbooks"
)

// askingPlaybook is the built-in one, with a second person before the removal.
func askingPlaybook(t *testing.T, dir string) string {
	t.Helper()
	p, err := playbooks.Find("contain")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(p.Source), "verify: gone,", "verify: gone, ask: second-person,", 1)
	text = strings.Replace(text, "id: contain\n", "id: contain-two\n", 1)
	name := filepath.Join(dir, "two.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// person makes a key and a home in which it is the configured one.
func (w *world) person(name string) (key, public string, env []string) {
	w.t.Helper()
	dir := filepath.Join(w.dir, name)
	config := filepath.Join(dir, "config", "cordon")
	if err := os.MkdirAll(config, 0o700); err != nil {
		w.t.Fatal(err)
	}
	key = filepath.Join(dir, "key")
	if out, err := exec.Command(testenv.Need(w.t, "ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(key + ".pub")
	if err == nil {
		err = os.WriteFile(filepath.Join(config, "config.yaml"), []byte("principal: "+name+"\nsigning: {key: "+key+"}\n"), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return key, strings.Join(strings.Fields(string(b))[:2], " "), append(account(dir), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
}

// TestASecondPersonAgreesFromAnotherMachine holds the removal back until somebody else
// has signed it, with cordon or with ssh-keygen alone, and refuses everything else.
func TestASecondPersonAgreesFromAnotherMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secondKey, second, _ := w.person("second") // another key of the one who asks
	bobKey, bob, bobs := w.person("bob")
	appendTo(t, filepath.Join(w.labDir(), "cordon.yaml"), "approvers:\n"+
		"  responder@lab.invalid: {signers: [\"responder@lab.invalid "+second+"\"]}\n  bob@lab.invalid: {signers: [\"bob@lab.invalid "+bob+"\"]}\n")
	first := w.cordon("contain", "gitlab-lab/42", "--case", "K", "--playbook", askingPlaybook(t, w.dir), "--yes", "--reason", reason)
	if first.code != 6 || !strings.Contains(first.err, "another person has to agree") {
		t.Fatalf("ends with %d: %s", first.code, first.err)
	}
	asked := w.cordon("case", "request-approval", "K")
	if asked.code != 0 || strings.Count(asked.out, "\n") != 8 || !strings.HasPrefix(asked.out, "cordon-approval@v1\ncase K SIMULATED\n") {
		t.Fatalf("not eight lines: %d %q %s", asked.code, asked.out, asked.err)
	}
	request := func(name string) string {
		path := filepath.Join(w.dir, name)
		if err := os.WriteFile(path, []byte(asked.out), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sign := func(name, key, namespace string) string {
		path := request(name)
		if out, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", key, path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return path + ".sig"
	}
	for file, word := range map[string]string{
		sign("self", secondKey, "cordon-approval@v1"): "nobody approves himself",
		sign("other", bobKey, "cordon-head@v1"):       "signed for another purpose",
		askingPlaybook(t, t.TempDir()):                "not a signature over any request",
		filepath.Join(w.dir, "nothing", "there.file"): "no such file",
	} {
		if s := w.cordon("case", "approve", "K", file); s.code == 0 || !strings.Contains(s.err, word) {
			t.Errorf("%s: ends with %d, %s", word, s.code, s.err)
		}
	}
	path := request("good")
	cmd := exec.Command(program(t), "approve", path, "--yes")
	cmd.Env, cmd.Dir = bobs, w.dir
	if s := finish(t, cmd); s.code != 0 {
		t.Fatalf("bob cannot sign: %s", s.err)
	}
	if s := w.cordon("case", "approve", "K", path+".sig"); s.code != 0 || !strings.Contains(s.out, "bob@lab.invalid approves") {
		t.Fatalf("ends with %d: %s%s", s.code, s.out, s.err)
	}
	if n := len(effectsOf(w.effects(), "runner.delete")); n != 0 {
		t.Fatal("it was removed before anybody agreed")
	}
	s := w.cordon("case", "resume", "K", "--yes", "--reason", reason)
	if s.code != 0 || len(effectsOf(w.effects(), "runner.delete")) != 1 || strings.Contains(s.out, "BREAK GLASS") {
		t.Errorf("ends with %d: %s%s", s.code, tail(s.out), s.err)
	}
	// The runner is silent; what its job left behind on the host is not, and comes first.
	left := regexp.MustCompile(`process \d+ \(kworkerd\) still runs on build-07`)
	for line, said := range map[string]string{
		"ending": s.out[max(0, strings.LastIndex(s.out, "ending: ")):], "brief": w.cordon("case", "brief", "K").out,
	} {
		if !left.MatchString(said) || line == "brief" && !strings.Contains(said, "STATE     HOST NOT CLEAN: process") {
			t.Errorf("the %s does not say what still runs: %s", line, said)
		}
	}
}

func effectsOf(all []ledger.Entry, effect string) []ledger.Entry {
	var out []ledger.Entry
	for _, e := range all {
		if e.Effect == effect {
			out = append(out, e)
		}
	}
	return out
}

// TestAFalseAlarmIsStoodDown stops a containment before the removal, and takes back what
// can be: the lab's ledger has the unit started and the runner resumed, in that order.
func TestAFalseAlarmIsStoodDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if s := w.cordon("contain", "gitlab-lab/42", "--case", "K", "--playbook", askingPlaybook(t, w.dir), "--yes", "--reason", reason); s.code != 6 {
		t.Fatalf("ends with %d: %s", s.code, s.err)
	}
	if s := w.cordon("case", "request-approval", "K"); s.code != 6 || s.out != "" || !strings.Contains(s.err, "is under no approvers") {
		t.Errorf("whoever asks is nobody, and is told so too late: %d %q %s", s.code, s.out, s.err)
	}
	if s := w.cordon("case", "stand-down", "K", "--yes"); s.code != 2 {
		t.Errorf("without a reason: %d %s", s.code, s.err)
	}
	s := w.cordon("case", "stand-down", "K", "--yes", "--reason", "our own benchmark")
	if s.code != 0 || ending(s.out) != "stood down (exit 0)" || !strings.Contains(s.out, "note cannot be undone: rotate/42/1.1") {
		t.Fatalf("ends with %d: %s%s", s.code, tail(s.out), s.err)
	}
	brief := w.cordon("case", "brief", "K").out
	for _, want := range []string{"STATE     STOOD DOWN, a false alarm; cannot be undone: rotate/42/1.1", "NEXT      register its machines again"} {
		if !strings.Contains(brief, want) {
			t.Errorf("the brief lacks %q:\n%s", want, brief)
		}
	}
	if n := strings.Count(s.out, "undo       this is the undo"); n != 2 || strings.Contains(s.out, "undo       none") {
		t.Errorf("%d of 2 ways back are called that:\n%s", n, s.out)
	}
	var last []string
	for _, e := range w.effects() {
		last = append(last, e.Effect)
	}
	back := strings.Join(last[max(0, len(last)-3):], " ")
	if back != "host.enable host.start runner.resume" {
		t.Errorf("taken back: %s (of %v)", back, last)
	}
	n := len(last)
	if s := w.cordon("case", "stand-down", "K", "--yes", "--reason", "again"); s.code != 0 || len(w.effects()) != n {
		t.Errorf("a second time: %d, %d effects more", s.code, len(w.effects())-n)
	}
}

// TestSeveralRunnersInOneCase contains the canary alone and the others with one
// confirmation, each change once.
func TestSeveralRunnersInOneCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.cordon("contain", "gitlab-lab/42", "gitlab-lab/43", "gitlab-lab/45", "--case", "K", "--yes", "--option", "host=none", "--reason", reason)
	if !strings.Contains(s.out, "pause on 2 runners, 2 changes") || !strings.Contains(s.out, "note gitlab-lab/42: contained") {
		t.Errorf("ends with %d: %s%s", s.code, tail(s.out), s.err)
	}
	for _, effect := range []string{"runner.pause", "runner.reset", "runner.delete"} {
		got := map[string]int{}
		for _, e := range effectsOf(w.effects(), effect) {
			got[e.Target]++
		}
		if len(got) != 3 || got["runner/42"] != 1 || got["runner/43"] != 1 || got["runner/45"] != 1 {
			t.Errorf("%s: %v", effect, got)
		}
	}
	if v := w.cordon("contain", "gitlab-lab/42", "gitlab-lab/42"); v.code != 2 {
		t.Errorf("the same twice: %d %s", v.code, v.err)
	}
}
