package snapshot

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestTheJSONFormGivesTheSameSnapshotBack(t *testing.T) {
	s, err := parse(ProfileTriage, hosted(&planted{}))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	back, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s, back) {
		t.Error("another snapshot came back")
	}
}

func TestDecodeRefusesWhatItDoesNotKnow(t *testing.T) {
	good := `{"schema":"cordon.snapshot/1","host":"h","profile":"watch"}`
	if _, err := Decode(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"another schema":   strings.Replace(good, "snapshot/1", "snapshot/2", 1),
		"an unknown field": strings.Replace(good, `"host"`, `"hots"`, 1),
		"a second one":     good + good,
		"no JSON":          "<html>",
		"nothing":          "",
		"half":             good[:20],
	} {
		if _, err := Decode(strings.NewReader(text)); !errors.Is(err, ErrNotSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := &endless{}
	if _, err := Decode(e); !errors.Is(err, ErrNotSnapshot) || e.n > 2*MaxJSON {
		t.Errorf("endless: %v after %d bytes", err, e.n)
	}
}
