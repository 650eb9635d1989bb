package fleet

import (
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// machineOf tells machines apart that are configured under several names: one boot of
// one machine. Containers share the boot id of what carries them, so that its own id and
// its name have to agree too. All three are as the host says; "" where one was not told.
func machineOf(s *snapshot.Snapshot) string {
	boot, name := string(s.Ident.BootID), string(s.Ident.Hostname)
	if boot == "" || s.Ident.MachineID == "" || name == "" {
		return ""
	}
	return boot + "\x00" + s.Ident.MachineID + "\x00" + name
}

// names are the configured names of the machine behind one of them, sorted: at least
// that name itself.
func (j *join) names(host string) []string {
	was := j.hosts[host]
	if was == nil || was.machine == "" {
		return []string{host}
	}
	return j.machines[was.machine]
}

// sameMachine says of a row's hosts which are names of one machine; "" where none are.
func (j *join) sameMachine(row *Row) string {
	var said []string
	for _, h := range row.Hosts {
		if names := j.names(h); len(names) > 1 && names[0] == h {
			said = append(said, untrusted.Clean(strings.Join(names, " and "), 200)+" are names of one machine, by the ids of its boot and its own, as it says")
		}
	}
	return strings.Join(said, "; ")
}
