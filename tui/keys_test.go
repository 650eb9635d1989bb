package tui

import (
	"reflect"
	"slices"
	"testing"
)

func bindings() map[string]Binding {
	all := map[string]Binding{}
	v := reflect.ValueOf(NewKeyMap())
	for i := range v.NumField() {
		all[v.Type().Field(i).Name] = v.Field(i).Interface().(Binding)
	}
	return all
}

func TestEveryKeyIsWrittenDownWhole(t *testing.T) {
	all := bindings()
	if len(Table()) != len(all) {
		t.Errorf("%d rows for %d keys: a context is missing", len(Table()), len(all))
	}
	for name, b := range all {
		if len(b.Keys) == 0 || b.Show == "" || b.Help == "" || b.Long == "" || !slices.Contains(Contexts[:], b.In) {
			t.Errorf("%s is not whole: %+v", name, b)
		}
	}
}

// The keys of lists and of everywhere work on every page, so no page may use them for
// something else. Enter is the one that each page names for itself.
func TestNoKeyMeansTwoThings(t *testing.T) {
	all := bindings()
	together := func(a, b string) bool {
		general := func(in string) bool { return in == "everywhere" || in == "lists" }
		return a == b || general(a) && b != "dialog" || general(b) && a != "dialog"
	}
	for x, a := range all {
		for y, b := range all {
			if x >= y || !together(a.In, b.In) {
				continue
			}
			for _, k := range a.Keys {
				if k != "enter" && slices.Contains(b.Keys, k) {
					t.Errorf("%q is %s and %s", k, x, y)
				}
			}
		}
	}
}

// The key that confirms is none of those that open a dialog or move about.
func TestTheKeyThatConfirmsIsNotTheKeyThatAsks(t *testing.T) {
	all := bindings()
	for _, opens := range []string{"Apply", "Open", "Contain", "Skip", "Down", "Up"} {
		for _, k := range all[opens].Keys {
			if slices.Contains(all["Yes"].Keys, k) {
				t.Errorf("%q opens and confirms", k)
			}
		}
	}
}
