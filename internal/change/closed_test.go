package change

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestWhatIsNotUnderstoodWasNotApproved(t *testing.T) {
	type args struct {
		Runner int64 `json:"runner"`
	}
	got, err := Parse[args]("gl.pause@1", Pack(args{42}))
	if err != nil || got.Runner != 42 {
		t.Fatalf("control: what Pack wrote is read as %+v, %v", got, err)
	}
	for _, raw := range []string{``, `null trailing`, `{"runner":42,"force":true}`, `{"runner":42}{"runner":43}`, `{"runner":"42"}`, `[42]`} {
		if got, err := Parse[args]("gl.pause@1", json.RawMessage(raw)); !errors.Is(err, ErrStale) {
			t.Errorf("%q is read as %+v, %v", raw, got, err)
		}
	}
}
