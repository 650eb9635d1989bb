// Package snapshot is what one read of a host says, and nothing else.
//
// A host is read once into a framed stream; Parse turns the stream into a Snapshot,
// with secrets already replaced. Everything after that (checks, drift, evidence,
// review from a bundle) is a function of the Snapshot. All of it is "as told by the
// host": a root attacker can forge every byte. The package may import level 0.
package snapshot

import (
	"time"

	"cordon/internal/evidence"
	"cordon/internal/untrusted"
)

// Schema names the JSON form.
const Schema = "cordon.snapshot/1"

// Snapshot is one read. Complete means that the end frame of our nonce was seen;
// where it is false, absence means nothing.
type Snapshot struct {
	Schema   string    `json:"schema"`
	Host     string    `json:"host"` // the name we asked for, not the one it gives itself
	Profile  string    `json:"profile"`
	Taken    time.Time `json:"taken"` // our clock, when the read began
	Complete bool      `json:"complete"`
	Offset   Offset    `json:"offset"`
	Ident    Ident     `json:"ident"`

	Processes []Process      `json:"processes,omitempty"`
	Sockets   []Socket       `json:"sockets,omitempty"`
	Files     []File         `json:"files,omitempty"`
	Log       []LogLine      `json:"log,omitempty"`  // the agents' logs, each oldest first
	Jobs      []Job          `json:"jobs,omitempty"` // what they say ran here
	Facts     []Fact         `json:"facts,omitempty"`
	Sections  []Section      `json:"sections"` // what was asked for and how it ended
	Gaps      []evidence.Gap `json:"gaps,omitempty"`

	Redacted int `json:"redacted,omitempty"` // values that were replaced, of files, tables, logs and arguments

	Carried *Carried `json:"carried,omitempty"` // how it came here; nil: not recorded
	Rereads []Reread `json:"rereads,omitempty"` // files read twice; empty: not asked for

	Asked      []Asked `json:"asked,omitempty"`       // paths of a list; empty: none was asked for
	AskedFiles []File  `json:"asked_files,omitempty"` // what was there of them. Checks do not look here: a sweep does
}

// Offset is host clock minus ours, plus or minus Uncertainty. Known is false where
// the host gave no time.
type Offset struct {
	Known       bool          `json:"known"`
	Value       time.Duration `json:"value_ns"`
	Uncertainty time.Duration `json:"uncertainty_ns"`
}

// Ident is who the host says it is.
type Ident struct {
	Hostname  untrusted.Text `json:"hostname"`
	Kernel    untrusted.Text `json:"kernel"`
	OS        untrusted.Text `json:"os"`
	MachineID string         `json:"machine_id,omitempty"` // fingerprint, not the id itself
	BootID    untrusted.Text `json:"boot_id"`
	UID       int            `json:"uid"` // who we are there; -1: not told
	BootTime  time.Time      `json:"boot_time,omitzero"`

	Cards     []Card         `json:"interfaces,omitempty"`
	Addresses []string       `json:"addresses,omitempty"`      // of its own, sorted; without those that only it can reach
	Within    untrusted.Text `json:"virtualization,omitempty"` // what it runs in; empty: not told
	Zone      untrusted.Text `json:"time_zone,omitempty"`      // of its wall clock; what a snapshot says of times is UTC
}

// Card is one network interface with its hardware address.
type Card struct {
	Name untrusted.Text `json:"name"`
	MAC  string         `json:"mac"`
}

// Section is one part of the collector and how it ended: "ok", "denied", "cut",
// "missing", "not asked". Only "ok" lets a check say "nothing found".
type Section struct {
	Name string `json:"name"`
	End  string `json:"end"`
	Why  string `json:"why,omitempty"`
}

// Process is one line of the process table, from /proc, parsed by us.
type Process struct {
	PID     int               `json:"pid"`
	PPID    int               `json:"ppid"`
	UID     int               `json:"uid"` // -1: not told
	Comm    untrusted.Text    `json:"comm"`
	Exe     untrusted.Text    `json:"exe,omitempty"` // link target; ends in " (deleted)" where it is gone
	Cwd     untrusted.Text    `json:"cwd,omitempty"`
	Args    []untrusted.Text  `json:"args,omitempty"` // secrets replaced
	Env     map[string]string `json:"env,omitempty"`  // names; values only for an allow-list, others as fingerprints
	Cgroup  untrusted.Text    `json:"cgroup,omitempty"`
	Started time.Time         `json:"started,omitzero"` // host clock
	Inodes  []uint64          `json:"inodes,omitempty"` // sockets it holds; empty also where fd was not readable
	Memory  []int             `json:"memory,omitempty"` // pids of others whose memory it has open
	Tracer  int               `json:"tracer,omitempty"` // pid of who traces it (ptrace); 0: nobody, or not told
}

// Fact is one short text about the host that is no file's: a table of the kernel, or
// what the script counted out. FORMAT.md lists the names.
type Fact struct {
	Section string         `json:"section"`
	Name    string         `json:"name"`
	Text    untrusted.Text `json:"text"` // secrets replaced
}

// Socket is one line of /proc/net/{tcp,tcp6,udp,udp6}.
type Socket struct {
	Proto  string `json:"proto"`
	Local  string `json:"local"` // address:port
	Remote string `json:"remote"`
	State  string `json:"state"` // LISTEN, ESTABLISHED, …
	UID    int    `json:"uid"`
	Inode  uint64 `json:"inode"`
	PID    int    `json:"pid,omitempty"` // 0: owner not seen
}

// File is one path: its lstat, its link target, and for files that were asked for
// their content with secrets replaced.
type File struct {
	Path      untrusted.Text `json:"path"`
	Section   string         `json:"section"`
	Type      string         `json:"type"` // file, dir, link, other
	Mode      uint32         `json:"mode"` // permission and setuid bits
	UID       int            `json:"uid"`
	GID       int            `json:"gid"`
	Size      int64          `json:"size"`
	Mtime     time.Time      `json:"mtime,omitzero"`
	Ctime     time.Time      `json:"ctime,omitzero"`
	Link      untrusted.Text `json:"link,omitempty"`
	Content   untrusted.Text `json:"content,omitempty"`
	Described bool           `json:"described,omitempty"` // secret-bearing: place, size and fingerprint only
	Print     string         `json:"print,omitempty"`     // HMAC of the bytes as read
	Truncated bool           `json:"truncated,omitempty"`
	Redacted  int            `json:"redacted,omitempty"`

	SHA256 string `json:"sha256,omitempty"`  // as the host says; only in the section asked, where nothing else is kept of a content
	NoHash string `json:"no_hash,omitempty"` // there: why a regular file has none
}

// Asked is one path, or pattern of paths, that a list named, and what the host said of it.
type Asked struct {
	Path  untrusted.Text `json:"path"`          // as the list has it
	State string         `json:"state"`         // AskedThere, AskedAbsent, AskedUnseen
	Why   string         `json:"why,omitempty"` // unseen: why; there: why more may be
}

// States of an Asked.
const (
	AskedThere  = "there"
	AskedAbsent = "not there"
	AskedUnseen = "could not look"
)

// AskedFor is what the host said of path of a list, nil where it was not asked.
func (s *Snapshot) AskedFor(path string) *Asked {
	for i := range s.Asked {
		if string(s.Asked[i].Path) == path {
			return &s.Asked[i]
		}
	}
	return nil
}

// LogLine is one line of an agent's log.
type LogLine struct {
	At   time.Time      `json:"at,omitzero"`    // host clock
	Unit untrusted.Text `json:"unit"`           // of the journal, or the name of the log file without its ending
	From untrusted.Text `json:"from,omitempty"` // the log file; empty: the journal
	Text untrusted.Text `json:"text"`           // secrets replaced
}
