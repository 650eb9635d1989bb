package host

import (
	"net"
	"os"
	"time"
)

// tube is a ProxyCommand as a connection: what it prints is what the server says.
type tube struct{ *process }

// proxied starts a ProxyCommand as OpenSSH does, with the person's shell and "exec". It
// is the person's own line of configuration; %-tokens in it were checked before.
func proxied(command string) (tube, error) {
	shell := os.Getenv("SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	p, err := spawn([]string{shell, "-c", "exec " + command}, os.Environ())
	return tube{p}, err
}

// drain throws away what it says on its error stream, and waits for its end.
func (t tube) drain() {
	var b [4096]byte
	for {
		if _, err := t.stderr.Read(b[:]); err != nil {
			break
		}
	}
	t.wait()
}

func (t tube) Read(p []byte) (int, error)  { return t.stdout.Read(p) }
func (t tube) Write(p []byte) (int, error) { return t.stdin.Write(p) }

func (t tube) Close() error {
	t.kill()
	return nil
}

// end names one end of a tube, which has no address.
type end string

func (e end) Network() string { return "pipe" }
func (e end) String() string  { return string(e) }

func (t tube) LocalAddr() net.Addr              { return end("ProxyCommand") }
func (t tube) RemoteAddr() net.Addr             { return end("ProxyCommand") }
func (t tube) SetDeadline(at time.Time) error   { return nil } // the guard's clock counts
func (t tube) SetReadDeadline(time.Time) error  { return nil }
func (t tube) SetWriteDeadline(time.Time) error { return nil }
