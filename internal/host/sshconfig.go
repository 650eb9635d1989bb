package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"cordon/internal/untrusted"
)

const (
	askTime  = 10 * time.Second // for ssh -G: Match exec may run something slow
	askBytes = 256 << 10
)

// settings is what ssh -G says of one host: OpenSSH's own reading of the person's
// configuration, with Include, Match exec and Match final. Keys are lower case.
type settings struct {
	host   string // as it was asked for
	values map[string][]string
}

// asked runs ssh -G with args, which end in "--" and a host.
func (h *Hosts) asked(ctx context.Context, args []string) (settings, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	argv := append(append([]string{}, h.o.SSH...), "-G")
	argv = append(argv, args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs capped
	out.max, errs.max = askBytes, 2<<10
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what Match exec started ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	name := args[len(args)-1]
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		return settings{}, fmt.Errorf("ssh -G %s did not answer within %s; does a Match exec in your SSH configuration hang?", name, askTime)
	case errors.Is(err, exec.ErrNotFound):
		return settings{}, fmt.Errorf("there is no ssh in PATH to ask about %s; write address, user, key and known_hosts under hosts", name)
	case err != nil:
		return settings{}, fmt.Errorf("ssh -G %s: %w: %s", name, err, untrusted.Clean(strings.TrimSpace(errs.String()), 300))
	case out.over:
		return settings{}, fmt.Errorf("ssh -G %s says more than %d bytes", name, askBytes)
	}
	s := settings{host: name, values: map[string][]string{}}
	for l := range strings.SplitSeq(out.String(), "\n") {
		k, v, _ := strings.Cut(strings.TrimSuffix(l, "\r"), " ")
		s.values[strings.ToLower(k)] = append(s.values[strings.ToLower(k)], v)
	}
	if s.one("hostname") == "" || s.one("port") == "" {
		return settings{}, fmt.Errorf("ssh -G %s did not name an address", name)
	}
	return s, nil
}

// capped keeps the first bytes.
type capped struct {
	bytes.Buffer
	max  int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := max(0, c.max-c.Len())
	c.over = c.over || len(p) > room
	c.Buffer.Write(p[:min(len(p), room)])
	return len(p), nil
}

func (s settings) one(key string) string {
	if v := s.values[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (s settings) drop(keys ...string) {
	for _, k := range keys {
		delete(s.values, k)
	}
}

func (s settings) yes(key string) bool { return s.one(key) == "yes" || s.one(key) == "true" }
