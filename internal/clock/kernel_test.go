package clock

import "testing"

func TestTheKernelsWordIsOneOfThree(t *testing.T) {
	switch s := Kernel(); s.State {
	case Synchronised, NotSynchronised:
		if s.Source == "" {
			t.Errorf("a word without a source: %+v", s)
		}
	case NotKnown:
		if s.Why == "" {
			t.Errorf("not known, and not why: %+v", s)
		}
	default:
		t.Errorf("%+v", s)
	}
}
