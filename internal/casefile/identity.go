package casefile

import (
	"encoding/json"

	"cordon/internal/clock"
)

// Identity is who a writer is beyond a name, and by which clock he writes. Nothing of
// it is proven by being here: it is what the machine said when the case was taken.
type Identity struct {
	User    string            `json:"user,omitempty"` // of the operating system
	UID     int               `json:"uid"`
	SSH     string            `json:"ssh_connection,omitempty"` // where the session came from, as sshd says
	Key     string            `json:"key,omitempty"`            // fingerprint of the signing key
	KeyKind string            `json:"key_kind,omitempty"`       // agent, file, ephemeral
	Tool    map[string]string `json:"tool,omitempty"`           // version, digests of the binary and of the fixed scripts
	Clock   clock.Sync        `json:"clock"`
}

// Taken is what a take line says of its writer.
type Taken struct {
	Epoch    int
	Host     string
	PID      int
	Identity *Identity // nil: the build that wrote it did not say
	Over     string    // why it was taken on explicit order; empty: it was free
}

// TakenBy reads a take line; false for lines of other kinds.
func TakenBy(l Line) (Taken, bool) {
	var d takeData
	if l.Kind != "take" || json.Unmarshal(l.Data, &d) != nil {
		return Taken{}, false
	}
	t := Taken{Epoch: d.Epoch, Host: d.Host, PID: d.PID, Identity: d.Identity}
	if d.Over != nil {
		t.Over = d.Over.Why
	}
	return t, true
}
