package casefile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
)

func TestTheOpeningIsReadBackAsItWasGiven(t *testing.T) {
	s, _ := diskStore(t)
	o := casefile.Opening{
		ID: "INC-2026-0142", Title: "build-07 \x1b[1m", Kind: "incident",
		Targets: []target.Ref{{System: "gitlab-prod", Scope: target.Scope{Level: "group", Path: "a/b"}, Kind: target.Runner, ID: "42"}},
		Window: casefile.Window{
			From: time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC), Why: "alert 7",
		},
		Playbook: []byte("steps:\r\n- pause\n\xff"), PlaybookName: "contain", Tool: map[string]string{"version": "1", "sha256": "x"},
	}
	c, err := s.Create(t.Context(), o, alice)
	ok(t, err)
	defer func() { ok(t, c.Close()) }()
	v := read(t, s, o.ID)
	if !reflect.DeepEqual(v.Opening, o) {
		t.Errorf("\n%+v\n%+v", v.Opening, o)
	}
	if kinds(v) != "open take" || v.Lines[1].Actor != "alice" || v.Lines[1].Key != "SHA256:alice" || v.Lines[1].Host != "jump1" {
		t.Errorf("%+v", v.Lines)
	}
	if got := v.Lines[1].T.Format(time.RFC3339Nano); !strings.HasSuffix(got, ".123Z") {
		t.Errorf("time %s is not cut to milliseconds", got)
	}
	if v.Lines[1].MonoMS <= v.Lines[0].MonoMS {
		t.Errorf("mono_ms %d, then %d", v.Lines[0].MonoMS, v.Lines[1].MonoMS)
	}
}

func TestACaseIsThereWholeOrNotAtAll(t *testing.T) {
	s, dir := diskStore(t)
	for name, o := range map[string]casefile.Opening{
		"playbook too long": {ID: "INC-1", Playbook: make([]byte, casefile.MaxItem+1)},
		"half a target":     {ID: "INC-1", Targets: []target.Ref{{System: "x"}}},
		"title too long":    {ID: "INC-1", Title: strings.Repeat("x", casefile.MaxLine)},
	} {
		if _, err := s.Create(t.Context(), o, alice); !errors.Is(err, casefile.ErrEvent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Create(t.Context(), casefile.Opening{ID: "INC-1"}, casefile.Actor{}); !errors.Is(err, casefile.ErrEvent) {
		t.Errorf("nobody: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Create(ctx, casefile.Opening{ID: "INC-1"}, alice); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left over: %v %v", left, err)
	}
	create(t, s, "INC-1")
	before := files(t, dir)
	if _, err := s.Create(t.Context(), casefile.Opening{ID: "INC-1"}, bob); !errors.Is(err, casefile.ErrExists) {
		t.Error(err)
	}
	same(t, before, files(t, dir))
}

func TestIdsOfCasesCannotLeaveTheStore(t *testing.T) {
	s, dir := diskStore(t)
	for _, id := range []string{"", ".", "..", "../x", "a/b", ".hidden", "-x", "a b", "a\n", "é", strings.Repeat("a", 65)} {
		_, cerr := s.Create(t.Context(), casefile.Opening{ID: id}, alice)
		_, terr := s.Take(t.Context(), id, alice)
		_, rerr := s.Read(id)
		for _, err := range []error{cerr, terr, rerr} {
			if !errors.Is(err, casefile.ErrCaseID) {
				t.Errorf("%q: %v", id, err)
			}
			oneLine(t, err)
		}
	}
	if left := files(t, dir); len(left) != 0 {
		t.Error(left)
	}
	for _, id := range []string{"A", "0", "INC-2026-0142_x.y", strings.Repeat("a", 64)} {
		create(t, s, id)
	}
}

func TestACaseThatIsNotThere(t *testing.T) {
	s, dir := diskStore(t)
	_, terr := s.Take(t.Context(), "INC-9", alice)
	_, rerr := s.Read("INC-9")
	if !errors.Is(terr, casefile.ErrNotFound) || !errors.Is(rerr, casefile.ErrNotFound) {
		t.Error(terr, rerr)
	}
	ok(t, os.Mkdir(filepath.Join(dir, "EMPTY"), 0o700))
	if _, err := s.Read("EMPTY"); !errors.Is(err, casefile.ErrBroken) {
		t.Errorf("a directory without a journal: %v", err)
	}
}

func TestTheListSaysWhatEachCaseIs(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "B")
	_, err := c.Append(casefile.Event{Kind: "intent"})
	ok(t, err)
	_, err = c.Append(casefile.Event{Kind: "close"})
	ok(t, err)
	create(t, s, "A")
	ok(t, os.Mkdir(filepath.Join(dir, ".new-C-1-0"), 0o700))
	ok(t, os.Mkdir(filepath.Join(dir, "D"), 0o700))
	list, err := s.List()
	ok(t, err)
	if len(list) != 3 || list[0].ID != "A" || list[0].Closed || list[1].ID != "B" || !list[1].Closed || list[1].Lines != 4 ||
		list[2].ID != "D" || list[2].Broken == "" || list[0].Broken != "" {
		t.Errorf("%+v", list)
	}
	if list[0].Title != "runner may be owned" || !strings.Contains(list[0].Writer, "alice on jump1, pid 101") {
		t.Errorf("%+v", list[0])
	}
}

func TestHeadsAreSignedAndNamed(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	note(t, c, "x")
	seq, sum := c.Head()
	ok(t, c.SignHead(fakeSigner{}))
	v := read(t, s, "INC-1")
	heads, err := v.Heads()
	ok(t, err)
	want := "signed cordon-head@v1 INC-1 3 " + sum + "\n"
	if len(heads) != 1 || heads[0].Seq != seq || heads[0].Sum != sum || heads[0].Name != "heads/0003.sig" || string(heads[0].Sig) != want {
		t.Errorf("%+v", heads)
	}
	if !strings.Contains(lastLine(v), `"data":{"seq":3,"head":"`+sum+`","sig":"heads/0003.sig","key":"SHA256:fake"}`) {
		t.Error(lastLine(v))
	}

	before := files(t, dir)
	gone := errors.New("agent gone")
	if err := c.SignHead(fakeSigner{err: gone}); !errors.Is(err, gone) {
		t.Error(err)
	}
	same(t, before, files(t, dir)) // unsigned, and said so: nothing is half there
	ok(t, os.Remove(filepath.Join(dir, "INC-1", "heads", "0003.sig")))
	if _, err := read(t, s, "INC-1").Heads(); !errors.Is(err, casefile.ErrBroken) {
		t.Errorf("a signature that is gone: %v", err)
	}
}
