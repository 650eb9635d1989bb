package app

import (
	"os/exec"
	"strings"
	"testing"
)

// What a card offers to be pasted means to a shell exactly the words it stands for.
func TestACommandByHandIsReadByAShellAsItWasMeant(t *testing.T) {
	words := []string{"contain", "gitlab-prod/group:acme%2Fweb/runner/42", "a b", "$(id)", "it's", "`x`", "", "*", "~", "a\nb", "漢", "-x", "a;b", "#c"}
	a := &App{o: Options{Lab: "/tmp/my lab", State: "/s"}}
	line := a.Command(words...)
	out, err := exec.Command("/bin/sh", "-c", "cordon() { printf '<%s>' \"$@\"; }; "+line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v %s", line, err, out)
	}
	want := "<" + strings.Join(append([]string{"--lab", "/tmp/my lab", "--state-dir", "/s"}, words...), "><") + ">"
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
}
