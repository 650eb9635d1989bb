package config

import "testing"

// "Nobody said" and "nothing is allowed" are two different answers.
func TestDestinations(t *testing.T) {
	if got, err := (&Config{}).Allow(); got != nil || err != nil {
		t.Errorf("absent: %v, %v", got, err)
	}
	if got, err := (&Config{Destinations: []string{}}).Allow(); got == nil || len(got) != 0 || err != nil {
		t.Errorf("empty: %v, %v", got, err)
	}
	got, err := (&Config{Destinations: []string{"192.0.2.0/24", "2001:db8::1"}}).Allow()
	if err != nil || len(got) != 2 || got[1].Bits() != 128 {
		t.Errorf("two: %v, %v", got, err)
	}
	for _, bad := range []string{"example.org", "192.0.2.0/33", ""} {
		if _, err := (&Config{Destinations: []string{bad}}).Allow(); err == nil {
			t.Errorf("%q is taken for an address", bad)
		}
	}
}
