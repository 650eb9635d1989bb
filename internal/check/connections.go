package check

import (
	"net/netip"
	"path"
	"regexp"
	"strconv"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func connectionsCheck() Check {
	return Check{
		ID:     "connections",
		Title:  "Who talks to the network",
		Why:    "An intruder needs a way in or out; a shell with a connection or a socket nobody owns is one.",
		Reads:  "/proc/net/tcp, tcp6, udp, udp6, and whose each socket is",
		Root:   "whose a socket is",
		live:   true,
		Needs:  []string{snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionNet, snapshot.SectionKeys},
		Attack: []string{"T1071", "T1059.004"},
		NIST:   []string{"SC-7", "SI-4"},
		look:   (*view).findConnections,
	}
}

// netView is what judging one socket needs of all the others.
type netView struct {
	*view
	owners    map[uint64]*snapshot.Process
	listening map[string]bool // local ports that are listened on
	usual     map[string]bool // remote ports that jobs and agents use
	allFDs    bool            // descriptors of every account were readable
}

func (v *view) findConnections() []Finding {
	n := netView{view: v, owners: map[uint64]*snapshot.Process{}, listening: map[string]bool{}, usual: map[string]bool{}}
	for _, port := range []string{"22", "53", "80", "123", "443", "853", "9418"} {
		n.usual[port] = true
	}
	for _, in := range v.found {
		if _, port, ok := cutPort(service(string(in.URL))); ok {
			n.usual[port] = true
		}
	}
	for i := range v.s.Processes {
		for _, inode := range v.s.Processes[i].Inodes {
			n.owners[inode] = &v.s.Processes[i]
		}
	}
	n.allFDs = v.s.Seen(snapshot.SectionDetail) && len(n.owners) > 0
	for _, k := range v.s.Sockets {
		if k.State == "LISTEN" {
			if _, port, ok := cutPort(k.Local); ok {
				n.listening[port] = true
			}
		}
	}
	var out []Finding
	for _, k := range v.s.Sockets {
		if f, ok := n.judge(k); ok {
			f.Evidence = append(f.Evidence, "sockets:"+untrusted.Clean(k.Proto+" "+k.Local+" "+k.Remote, 160))
			out = append(out, f)
		}
	}
	return out
}

// cutPort splits address:port at the last colon.
func cutPort(s string) (addr, port string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	_, err := strconv.ParseUint(s[i+1:], 10, 16)
	return strings.Trim(s[:i], "[]"), s[i+1:], err == nil
}

func (n netView) judge(k snapshot.Socket) (Finding, bool) {
	listen := k.State == "LISTEN"
	if !listen && k.State != "ESTABLISHED" && k.State != "SYN_SENT" || k.Inode == 0 {
		return Finding{}, false
	}
	owner := n.owners[k.Inode]
	if owner == nil && k.PID > 0 {
		owner = n.procs[k.PID]
	}
	_, localPort, _ := cutPort(k.Local)
	if !listen && n.listening[localPort] && owner != nil && !shell(owner) {
		return Finding{}, false // somebody came to a service of this host
	}
	var why reasons
	switch {
	case owner == nil && n.allFDs:
		why.add(Medium, "no process of the table owns it although all descriptors were readable: its owner ended while we read, is the kernel's, or is hidden")
	case owner == nil:
		n.unowned(k, listen, &why)
	case n.isAgent(owner):
		return Finding{}, false
	case listen:
		n.listener(k, owner, &why)
	default:
		n.outbound(k, owner, &why)
	}
	if why.worst == "" {
		return Finding{}, false
	}
	f := Finding{Severity: why.worst, Title: "a connection that no runner made", Where: untrusted.Text(k.Local + " to " + k.Remote)}
	if listen {
		f.Title, f.Where = "a port is open that no runner opened", untrusted.Text(k.Local)
		f.Attack = []string{"T1571", "T1059.004"}
	}
	f.Detail = text("%s.", why.text())
	if owner != nil {
		f.Detail = text("Process %d, %s: %s.", owner.PID, quote(commandLine(owner)), why.text())
		f.Evidence = evidenceProc(owner)
	}
	return f, true
}

// unowned judges by the account alone where descriptors were not readable.
func (n netView) unowned(k snapshot.Socket, listen bool, why *reasons) {
	name, jobs := n.runnerUID(k.UID)
	_, port, _ := cutPort(k.Remote)
	switch {
	case jobs && listen && !loopback(k.Local):
		why.add(Medium, "%s, the account of the jobs, listens; which process it is could not be read", quote(name))
	case jobs && !listen && !n.usual[port] && !loopback(k.Remote):
		why.add(Medium, "%s, the account of the jobs, talks to the unusual port %s; which process it is could not be read", quote(name), quote(port))
	}
}

func (n netView) listener(k snapshot.Socket, owner *snapshot.Process, why *reasons) {
	n.program(owner, why)
	name, jobs := n.runnerUID(owner.UID)
	switch {
	case !jobs:
	case n.underAgent(owner):
		why.add(Low, "a job that runs now as %s listens", quote(name))
	case loopback(k.Local):
		why.add(Medium, "%s, the account of the jobs, listens on loopback outside any job", quote(name))
	default:
		why.add(High, "%s, the account of the jobs, listens outside any job", quote(name))
	}
}

func (n netView) outbound(k snapshot.Socket, owner *snapshot.Process, why *reasons) {
	n.program(owner, why)
	name, jobs := n.runnerUID(owner.UID)
	_, port, _ := cutPort(k.Remote)
	working := n.underAgent(owner)
	switch {
	case jobs && !working && !n.session(owner):
		why.add(High, "it runs as %s, the account of the jobs, outside any job", quote(name))
	case jobs && !n.usual[port] && !loopback(k.Remote):
		why.add(Medium, "a job talks to the unusual port %s", quote(port))
	}
	if len(jobVariables(owner.Env)) > 0 && !working {
		why.add(High, "it carries the variables of a job that is over")
	}
}

// program judges what holds a socket by the program alone.
func (n netView) program(owner *snapshot.Process, why *reasons) {
	exe, deleted := exeOf(owner)
	if shell(owner) {
		why.add(High, "a shell or raw network tool holds it")
	}
	if odd := oddPlace(exe); odd != "" && !n.underAgent(owner) {
		why.add(High, "its executable %s %s", quote(exe), odd)
	}
	_, jobs := n.runnerUID(owner.UID)
	if deleted && jobs {
		why.add(High, "its executable is no longer on the disk")
	}
}

var shells = regexp.MustCompile(`^(sh|bash|dash|zsh|ksh|ash|busybox|nc|ncat|netcat|nc\.(openbsd|traditional)|socat|telnet)$`)

// shell reports whether the program is one that holds a connection only for an
// intruder. The executable decides; a process can give itself another name.
func shell(p *snapshot.Process) bool {
	exe, _ := exeOf(p)
	if exe == "" {
		exe = string(p.Comm)
	}
	return shells.MatchString(path.Base(exe))
}

func loopback(addr string) bool {
	host, _, _ := cutPort(addr)
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
