package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
)

// swapping is a home whose owner puts a link in the place of a file, or of the directory
// it lies in, between the look and the opening: what starts a command (TO) does it first.
// "back" undoes it before anybody looks again. The names are of this test alone.
type swapping struct {
	dir, secret string
	sh          shell
}

// run has the file read while swap and back are done around the commands of when. sneak
// is done in the last moment before the directory is entered.
func (w swapping) run(t *testing.T, when, swap, back, sneak, dd string) string {
	t.Helper()
	if err := os.RemoveAll(w.dir + "/h"); err != nil {
		t.Fatal(err)
	}
	acc := "$HM"
	if sneak != ":" { // the directory alone has to convict it
		acc = ""
	}
	write(t, mkdir(t, w.dir+"/h/d")+"/f", []byte("his own\n"))
	return decoded(t, []byte(pipe(t, w.sh, "N="+testNonce+"\nR=\nP=triage\n"+framesSh+
		strings.Replace(openSh, "  cd -P -- ", "  ("+sneak+") >&2\n  cd -P -- ", 1)+filesSh+
		"tools\nmounts\n"+dd+"\nHM="+w.dir+"/h SEC="+w.secret+"\nswap() {\n  case $1 in "+when+") ("+swap+") >&2 ;; esac\n  \"$@\"\n  w=$?\n  case $1 in "+when+") ("+back+") >&2 ;; esac\n  return $w\n}\n"+
		"exec 2>/dev/null\nTO=swap\nenter homes\nAT=0 ACC="+acc+"\nmany 4096 \"$HM/d/f\"\nleave homes\n")))
}

func mkdir(t *testing.T, d string) string {
	t.Helper()
	if err := os.MkdirAll(d, 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

// Where the link was there at the moment of the opening, nothing of what it leads to is
// told, whether the tools here can refuse a link themselves (GNU's dd) or not (busybox).
func TestALinkPutInPlaceBetweenLookAndOpeningIsNotRead(t *testing.T) {
	dir := t.TempDir()
	secret := mkdir(t, filepath.Join(dir, "s"))
	write(t, secret+"/f", []byte("canary of another\n"))
	for _, sh := range shells(t) {
		w := swapping{dir, secret, sh}
		for _, dd := range []string{"", "DD="} {
			if out := w.run(t, "none", ":", ":", ":", dd); !strings.Contains(out, "his own") {
				t.Fatalf("%s %s: without a swap nothing is read either: %q", sh.name, dd, out)
			}
			for name, x := range map[string][4]string{
				"the file, when it is opened":            {"dd | head", `[ -L "$HM/d/f" ] || { mv "$HM/d/f" "$HM/d/g"; ln -s "$SEC/f" "$HM/d/f"; }`, ":", ":"},
				"the file, and back again":               {"dd | head", `mv "$HM/d/f" "$HM/d/g"; ln -s "$SEC/f" "$HM/d/f"`, `rm "$HM/d/f"; mv "$HM/d/g" "$HM/d/f"`, ":"},
				"the directory, after the look":          {"stat", ":", `[ -L "$HM/d" ] || { mv "$HM/d" "$HM/e"; ln -s "$SEC" "$HM/d"; chown -h 65534 "$HM/d"; }`, ":"},
				"the directory, when the file is opened": {"dd | head", `[ -L "$HM/d" ] || { mv "$HM/d" "$HM/e"; ln -s "$SEC" "$HM/d"; chown -h 65534 "$HM/d"; }`, ":", ":"},
				"the directory, in the last moment":      {"none", ":", ":", `[ -L "$HM/d" ] || { mv "$HM/d" "$HM/e"; ln -s "$SEC" "$HM/d"; chown -h 65534 "$HM/d"; }`},
				"another file":                           {"dd | head", `ln -f "$SEC/f" "$HM/d/f"`, ":", ":"},
			} {
				out := w.run(t, x[0], x[1], x[2], x[3], dd)
				if strings.Contains(out, "canary") && name != "another file" {
					t.Errorf("%s %s: %s: it was read: %q", sh.name, dd, name, out)
				}
				if !strings.Contains(out, "his own") && !strings.Contains(out, "changed while it was read") && !strings.Contains(out, "not readable") {
					t.Errorf("%s %s: %s: and nothing says that it was not: %q", sh.name, dd, name, out)
				}
			}
		}
	}
}

// Of one file that a person asked for, the same.
func TestAFileThatIsSwappedWhileItIsFetchedIsNotTaken(t *testing.T) {
	dir := t.TempDir()
	secret := write(t, filepath.Join(dir, "s"), []byte("canary of another\n"))
	for _, sh := range shells(t) {
		for _, dd := range []string{":", "DD="} {
			p := write(t, filepath.Join(dir, "f"), []byte("his own\n"))
			text := strings.Replace(fetcher().Text, "  mounts\n", "  mounts\n  "+dd+"\n  LO=swap\n  swap() { rm '"+p+"'; ln -s '"+secret+"' '"+p+"'; \"$@\"; }\n", 1)
			if text == fetcher().Text {
				t.Fatal("the script has another form")
			}
			out := pipe(t, sh, "N="+testNonce+"\nR=\nA=1000:"+mark(p, 0x7f)[1:]+"\n"+text)
			a, err := readFetch(snapshot.NewFrames(strings.NewReader(out), testNonce, snapshot.Limits{}), Wanted{Path: p}, still{}.Now)
			if err != nil || a.no == "" || len(a.data) != 0 {
				t.Errorf("%s %s: %+v %v", sh.name, dd, a, err)
			}
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
	}
}
