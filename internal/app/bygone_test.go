package app

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/playbooks"
	"cordon/providers"
)

const goneSix = "gh/organization:acme/runner/6"

// knew is a case that read runner 6 while it was there, with a host of it.
func (h *fives) knew(a *App, id, ref string) {
	h.t.Helper()
	r, err := target.Parse(ref)
	if err != nil {
		h.t.Fatal(err)
	}
	store, err := a.cases()
	if err != nil {
		h.t.Fatal(err)
	}
	c, err := store.Create(h.t.Context(), casefile.Opening{
		ID: id, Title: "contain", Kind: "incident", Tool: a.opened(),
		Targets: []target.Ref{r, {System: target.SSH, Kind: target.Host, ID: "no-longer-configured"}},
	}, a.actor())
	if err != nil {
		h.t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"runner": providers.Runner{Ref: r, Name: "build-06"}})
	if err == nil {
		_, err = c.Append(casefile.Event{Kind: "traits", Target: r, OK: true, Data: data})
	}
	if err = errors.Join(err, c.Close()); err != nil {
		h.t.Fatal(err)
	}
}

// Taking a runner away ends its own key alone; what else it could reach is ended
// afterwards, by what the case that removed it knew.
func TestARemovedRunnersCredentialsAreEndedByWhatAnEarlierCaseKnew(t *testing.T) {
	h := newFives(t)
	a := h.open()
	credentials := CaseSpec{Playbook: "credentials"}
	if _, err := a.NewCase(t.Context(), goneSix, credentials); !errors.Is(err, ErrNoRunner) {
		t.Fatalf("control: nobody ever knew it: %v", err)
	}
	h.knew(a, "contain-6", goneSix)
	_, err := a.NewCase(t.Context(), goneSix, CaseSpec{})
	if !errors.Is(err, ErrNoRunner) || !strings.Contains(err.Error(), "contain "+goneSix+" --playbook credentials") {
		t.Errorf("what contains a registration needs one, and says what does not: %v", err)
	}
	for id, ref := range map[string]string{"credentials-whole": goneSix, "credentials-short": "gh/runner/6"} {
		s, err := a.NewCase(t.Context(), ref, CaseSpec{Playbook: "credentials", ID: id})
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		if s.Runner().String() != goneSix || len(s.HostNames()) != 0 || !strings.Contains(s.How(), "contain-6") {
			t.Errorf("%s: %s, %v, %q", ref, s.Runner(), s.HostNames(), s.How())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(h.writes) != 0 {
		t.Errorf("%v", h.writes)
	}
}

func TestOnlyAPlaybookForWhatIsLeftNeedsNoRegistration(t *testing.T) {
	var free []string
	all, err := playbooks.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if afterwards(p) {
			free = append(free, p.ID)
		}
	}
	if !slices.Equal(free, []string{"credentials"}) {
		t.Errorf("%v", free)
	}
}
