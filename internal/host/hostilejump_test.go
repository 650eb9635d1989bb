package host

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// behind is a route to s through a jump host that is served by handle.
func behind(t *testing.T, handle func(*server, net.Conn), s *server) (*Hosts, route) {
	t.Helper()
	j := serve(t, handle)
	r := route{hops: []hop{
		{host: j.addr, address: j.addr, known: j.addr, user: "ir", trusted: []string{filepath.Join(j.dir, "known_hosts")}, keys: keys{one: filepath.Join(j.dir, "id")}, jump: true},
		{host: "build-07", address: s.addr, known: s.addr, user: "ir", trusted: []string{filepath.Join(s.dir, "known_hosts")}, keys: keys{one: filepath.Join(s.dir, "id")}},
	}}
	return New(nil, Options{Timeouts: fast, Marker: marker}), r
}

// relay serves direct-tcpip as a jump host does, after letting twist at the bytes.
func relay(twist func(w io.Writer) io.Writer) func(*server, net.Conn) {
	return func(s *server, c net.Conn) {
		_, chans, ok := s.login(c)
		if !ok {
			return
		}
		for nc := range chans {
			var to struct {
				Host  string
				Port  uint32
				From  string
				FPort uint32
			}
			if ssh.Unmarshal(nc.ExtraData(), &to) != nil || nc.ChannelType() != "direct-tcpip" {
				_ = nc.Reject(ssh.UnknownChannelType, "")
				continue
			}
			out, err := net.Dial("tcp", net.JoinHostPort(to.Host, itoa(int(to.Port))))
			if err != nil {
				_ = nc.Reject(ssh.ConnectionFailed, escapes)
				continue
			}
			ch, reqs, err := nc.Accept()
			if err != nil {
				out.Close()
				return
			}
			go ssh.DiscardRequests(reqs)
			done := make(chan struct{})
			go func() { _, _ = io.Copy(twist(out), ch); out.Close(); close(done) }()
			_, _ = io.Copy(ch, out)
			ch.Close()
			out.Close()
			<-done
		}
	}
}

// flip turns one bit far into what passes.
type flip struct {
	w io.Writer
	n int
}

func (f *flip) Write(p []byte) (int, error) {
	q := append([]byte(nil), p...)
	if f.n += len(q); f.n > 4000 && len(q) > 0 {
		q[len(q)-1] ^= 1
	}
	return f.w.Write(q)
}

func TestAHostileJumpHostEndsInTheRightErrorAndSeesNothing(t *testing.T) {
	before := descriptors(t)
	straight := func(w io.Writer) io.Writer { return w }
	for name, c := range map[string]struct {
		jump func(*server, net.Conn)
		want error
	}{
		"honest": {relay(straight), nil},
		"opens no way": {func(s *server, c net.Conn) {
			if _, chans, ok := s.login(c); ok {
				for range chans { // never answered
				}
			}
		}, ErrSilent},
		"refuses with escapes": {func(s *server, c net.Conn) {
			if _, chans, ok := s.login(c); ok {
				for nc := range chans {
					_ = nc.Reject(ssh.Prohibited, "no"+escapes)
				}
			}
		}, ErrUnreachable},
		"answers itself": {func(s *server, c net.Conn) {
			if _, chans, ok := s.login(c); ok {
				for nc := range chans {
					ch, reqs, err := nc.Accept()
					if err != nil {
						return
					}
					go ssh.DiscardRequests(reqs)
					_, _ = io.WriteString(ch, "SSH-2.0-x"+strings.Repeat(escapes, 1000))
					ch.Close()
				}
			}
		}, ErrUnreachable},
		"silent inside": {func(s *server, c net.Conn) {
			if _, chans, ok := s.login(c); ok {
				for nc := range chans {
					ch, reqs, err := nc.Accept()
					if err != nil {
						return
					}
					go ssh.DiscardRequests(reqs)
					_, _ = io.Copy(io.Discard, ch)
				}
			}
		}, ErrSilent},
		"changes a byte": {relay(func(w io.Writer) io.Writer { return &flip{w: w} }), errAny},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, answering(watchStream))
			h, r := behind(t, c.jump, s)
			var ex Exchange
			j := job{script: collector(), nonce: newNonce(), third: "P=watch", profile: "watch", idle: fast.Idle, total: fast.Total}
			j.read = func(in io.Reader) error {
				_, err := snapshot.Parse(in, snapshot.Expect{Nonce: j.nonce, Profile: "watch"})
				return err
			}
			err := h.over(t, r, j, &ex)
			if c.want == nil && err != nil || c.want != nil && (err == nil || c.want != errAny && !errors.Is(err, c.want)) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if err != nil && untrusted.Clean(err.Error(), 0) != err.Error() {
				t.Errorf("%q", err)
			}
		})
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// over runs j over a ready route.
func (h *Hosts) over(t *testing.T, r route, j job, ex *Exchange) error {
	t.Helper()
	return h.carry(t.Context(), routed{line{h: h}, r}, Host{Name: "build-07"}, j, ex)
}
