package host

import (
	"context"
	"fmt"
	"io"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// carrier is one way to a shell on a host. All of them carry the same frames and are
// judged by the same checks; none of them is believed.
type carrier interface {
	// open starts a shell there that reads a script from its standard input. What it
	// starts ends when g ends; what carried it is noted in ex. It arms g's limits for its
	// own way and leaves them resting.
	open(ctx context.Context, g *guard, ex *Exchange) (*session, error)
}

// session is a started shell.
type session struct {
	stdin          io.WriteCloser
	stdout, stderr io.Reader
	exit           func() int // waits for its end; the status it claims, -1: none
	reap           func()     // waits for what was started here; called after the guard ended it
	second         second     // nil: nothing but the shell can be had this way
}

// second opens the way that does not lead through the host's shell and tools.
type second func() (io.WriteCloser, io.Reader, error)

// carrierOf is the way that the configuration names.
func (h *Hosts) carrierOf(x Host) carrier {
	switch {
	case x.Root != "":
		return child{argv: h.o.Shell, bare: true, transport: snapshot.ByImage, shown: x.Root}
	case x.Local:
		return child{argv: elevated(h.o.Shell, x.Sudo), bare: true, transport: snapshot.ByLocal, shown: strings.Join(elevated(h.o.Shell, x.Sudo), " ")}
	case len(x.Exec) > 0:
		return child{argv: x.Exec, transport: snapshot.ByExec, shown: strings.Join(x.Exec, " ")}
	}
	return line{h: h, x: x}
}

// transport is the name of the way, for records and plans.
func (h Host) transport() string {
	switch {
	case h.Root != "":
		return snapshot.ByImage
	case h.Local:
		return snapshot.ByLocal
	case len(h.Exec) > 0:
		return snapshot.ByExec
	}
	return snapshot.BySSH
}

// method is the word for the way in the record of calls.
func (h Host) method() string {
	switch h.transport() {
	case snapshot.ByImage:
		return "IMAGE"
	case snapshot.ByLocal:
		return "LOCAL"
	case snapshot.ByExec:
		return "EXEC"
	}
	return "SSH"
}

func elevated(argv []string, sudo bool) []string {
	if sudo {
		return append([]string{"sudo", "-n"}, argv...)
	}
	return argv
}

// place is the host with the way to it, for messages.
func (h Host) place(ex *Exchange) string {
	if ex.Carrier == "" {
		return "host " + h.Name
	}
	return fmt.Sprintf("host %s (%s)", h.Name, untrusted.Clean(ex.Carrier, 200))
}
