package snapshot

import (
	"time"

	"cordon/internal/untrusted"
)

// Transports by which a script reaches a host and its answer comes back.
const (
	BySSH    = "ssh"
	ByExec   = "exec"       // a configured program, kubectl exec say
	ByLocal  = "local"      // a shell on the machine that cordon runs on
	ByHand   = "by hand"    // somebody ran the printed script and brought the answer
	ByImage  = "disk image" // the responder's own shell over a mounted disk
	ByUnsaid = ""           // snapshots of builds that did not record it
)

// Sections that we add ourselves, after the collector's: whether something was looked at
// that no script reads. Absent means "not asked".
const (
	SectionHostKey = "host-key" // ok: a key was shown and taken
	SectionReread  = "reread"   // ok: every file of Rereads could be compared
)

// Carried is how an answer came here: what we did and saw, not what the host says of
// itself. Texts that a server or a person gave are cleaned before they are stored.
type Carried struct {
	Transport string    `json:"transport"`
	Carrier   string    `json:"carrier,omitempty"` // the way: user@address and jumps, the argv, the directory
	Script    string    `json:"script,omitempty"`  // SHA-256 of the script, lower-case hex
	Address   string    `json:"address,omitempty"` // SSH: HOST:PORT that was asked for last
	IP        string    `json:"ip,omitempty"`      // SSH: what that name led to; empty: a jump host or a ProxyCommand looked it up
	User      string    `json:"user,omitempty"`    // SSH: who logged in, with a public key alone
	Sudo      bool      `json:"sudo,omitempty"`
	UserKey   string    `json:"user_key,omitempty"` // fingerprint of the key that logged in, and whose certificate
	Server    string    `json:"server,omitempty"`   // version line of the SSH server
	HostKey   *HostKey  `json:"host_key,omitempty"` // nil: no host key was shown
	Ended     time.Time `json:"ended,omitzero"`     // our clock, when the contact was over
	Bytes     int64     `json:"bytes,omitempty"`    // of the answer, as it came
	By        string    `json:"by,omitempty"`       // by hand: who brought it, as told
	Brought   time.Time `json:"brought,omitzero"`   // by hand: our clock
	Claims    string    `json:"claims,omitempty"`   // exit status or other word that decides nothing
}

// States of a HostKey.
const (
	KeyKnown     = "known_hosts"      // in a known_hosts file of the person's
	KeyCertified = "host certificate" // signed by an authority of a known_hosts file
	KeyAccepted  = "accepted"         // by a person, with a fingerprint from elsewhere
	KeyChanged   = "changed"          // another one is known: nothing was sent
	KeyRevoked   = "revoked"          // nothing was sent
	KeyUnknown   = "unknown"          // nothing was sent
)

// HostKey is the key that a server showed and what it was worth. A matching key proves
// little: whoever is root on the host has it.
type HostKey struct {
	Shown string   `json:"shown"` // fingerprint, SHA256:…
	Type  string   `json:"type"`
	State string   `json:"state"`
	Known []string `json:"known,omitempty"` // fingerprints that are known for the address, with file and line
	Why   string   `json:"why,omitempty"`   // of an accepted key: who took it, when, by which source
	Hop   string   `json:"hop,omitempty"`   // the jump host that showed it; empty: the host itself
}

// Reread is one file read a second time, by the SSH server itself (SFTP) instead of by
// the host's shell and tools. Prints are the snapshot's fingerprints.
type Reread struct {
	Path    untrusted.Text `json:"path"`
	ByShell string         `json:"by_shell,omitempty"` // print of what the shell said; empty: it showed no such file
	BySFTP  string         `json:"by_sftp,omitempty"`  // print of what SFTP said; empty: no such file
	Same    bool           `json:"same"`
	Changed bool           `json:"changed,omitempty"` // differs, but its times say it changed between the two reads
	Why     string         `json:"why,omitempty"`     // could not be compared: then neither Same nor a difference
}
