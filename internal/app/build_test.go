package app

import "testing"

// What lists and looks cannot write: only the set of a case that is walked in earnest has
// an issuer.
func TestOnlyAWalkedCaseCanWrite(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	if a.fleet.appliers != nil || a.fleet.issuer != nil {
		t.Error("the set that lists the fleet can write")
	}
	for _, c := range []struct {
		name string
		a    *App
		acts bool
		can  bool
	}{{"a case", a, true, true}, {"a look", a, false, false}, {"read-only", w.open(readOnly), true, false}} {
		set, err := c.a.build(c.a.marker, c.acts)
		if err != nil {
			t.Fatal(err)
		}
		if can := set.issuer != nil && set.appliers != nil; can != c.can {
			t.Errorf("%s: can write: %v", c.name, can)
		}
	}
}

func TestCloseLetsConnectionsGoAndMayBeCalledTwice(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	if _, err := a.Fleet(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(a.wires) == 0 {
		t.Error("control: there is no connection to close")
	}
	a.Close()
	a.Close()
}
