package snapshot

// Names of the sections a collector may deliver; FORMAT.md says what each holds.
const (
	SectionIdent    = "ident"
	SectionProc     = "proc"   // the process table
	SectionDetail   = "detail" // environment, executable, directory, sockets of the processes
	SectionNet      = "net"
	SectionLog      = "log"
	SectionWants    = "wants" // which units start at boot
	SectionUnits    = "units"
	SectionCron     = "cron"
	SectionRunners  = "runners"
	SectionKeys     = "keys"
	SectionProfiles = "profiles"
	SectionSecrets  = "secrets"
	SectionCross    = "cross" // processes asked for by number, against the list of them
	SectionJobs     = "jobs"  // what ran here, by the agents' own files

	SectionKernel     = "kernel"     // what the kernel says of itself: modules, mounts, routes
	SectionSystem     = "system"     // persistence places of the machine that are none of the above
	SectionPrivileged = "privileged" // setuid files and capabilities
	SectionHomes      = "homes"      // what developers' tools start, and where an account can go
	SectionWork       = "work"       // the runners' own directories beside their configuration
	SectionContainers = "containers"
	SectionOwned      = "owned" // which of the paths above a package brought
	SectionAsked      = "asked" // paths that a list named; of no profile: only where there was such a list
)

// How a section ended. Only EndOK lets a check say "nothing found".
const (
	EndOK       = "ok"
	EndDenied   = "denied"
	EndCut      = "cut"
	EndMissing  = "missing"
	EndNotAsked = "not asked"
)

// Profiles a host is read with.
const (
	ProfileTriage = "triage"
	ProfileWatch  = "watch"
	ProfileImage  = "image" // triage of a mounted disk: what only a running machine has is missing
)

var (
	// What goes away by itself comes first (RFC 3227 §2.1): processes and sockets, then the
	// kernel's own tables, then logs, then what lies on a disk.
	watchSections  = []string{SectionIdent, SectionProc, SectionDetail, SectionNet, SectionLog, SectionWants}
	triageSections = []string{
		SectionIdent, SectionProc, SectionDetail, SectionNet, SectionCross, SectionKernel, SectionLog, SectionWants,
		SectionUnits, SectionCron, SectionRunners, SectionKeys, SectionProfiles, SectionSecrets, SectionJobs,
		SectionSystem, SectionPrivileged, SectionHomes, SectionWork, SectionContainers, SectionOwned,
	}
)

// SectionsOf lists the sections that profile reads, in order; nil for an unknown one.
func SectionsOf(profile string) []string {
	switch profile {
	case ProfileTriage, ProfileImage:
		return append([]string(nil), triageSections...)
	case ProfileWatch:
		return append([]string(nil), watchSections...)
	}
	return nil
}

// Section returns how the named section ended; one that was never heard of is "not asked".
func (s *Snapshot) Section(name string) Section {
	for _, x := range s.Sections {
		if x.Name == name {
			return x
		}
	}
	return Section{Name: name, End: EndNotAsked}
}

// Seen reports whether the named section ended ok in a complete snapshot, so that
// what is not in it was not there.
func (s *Snapshot) Seen(name string) bool {
	return s.Complete && s.Section(name).End == EndOK
}
