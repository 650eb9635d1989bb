package host

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// answering serves sessions with one text.
func answering(f func(stdin string) string) func(*server, net.Conn) {
	return func(s *server, c net.Conn) {
		s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, stdin string) {
			_, _ = io.WriteString(ch, f(stdin))
			exit(ch, 0)
		})
	}
}

// errAny is an error of no kind that callers test for.
var errAny = errors.New("any")

func TestAHostileServerEndsInTheRightErrorAndBounded(t *testing.T) {
	before := descriptors(t)
	t.Cleanup(func() { // after all cases; what their servers left open is theirs to close
		if after := descriptors(t); after > before {
			t.Errorf("%d descriptors were open before, %d after", before, after)
		}
	})
	forever := func(w io.Writer, text string, pause time.Duration) {
		for {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			if pause > 0 {
				time.Sleep(pause)
			}
		}
	}
	cases := map[string]struct {
		serve func(*server, net.Conn)
		want  error
	}{
		"silent after accept": {func(_ *server, c net.Conn) { _, _ = io.Copy(io.Discard, c) }, ErrSilent},
		"lines before the version, for ever": {func(_ *server, c net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, c) }()
			forever(c, "all is well\r\n", 20*time.Millisecond)
		}, ErrSilent},
		"closed at once":    {func(_ *server, c net.Conn) {}, ErrUnreachable},
		"an HTTP server":    {func(_ *server, c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, ErrUnreachable},
		"a banner of 10 MB": {func(s *server, c net.Conn) { s.config.BannerCallback = banner(10 << 20); s.login(c) }, ErrUnreachable},
		"login refused": {func(s *server, c net.Conn) {
			s.config.PublicKeyCallback = func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
				return nil, errors.New("no" + escapes)
			}
			s.login(c)
		}, ErrLogin},
		"logged in, then silent": {func(s *server, c net.Conn) {
			if _, chans, ok := s.login(c); ok {
				for range chans { // never answered
				}
			}
		}, ErrSilent},
		"a byte now and then": {func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, _ string) { forever(ch, "C", 100*time.Millisecond) })
		}, ErrTooSlow},
		"a byte, then nothing": {func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, _ string) { forever(ch, "C", 2*time.Second) })
		}, ErrSilent},
		"endless output": {func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, _ string) { forever(ch, strings.Repeat("A", 32<<10), 0) })
		}, snapshot.ErrForged},
		"endless frames": {func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, stdin string) {
				front, _, _ := strings.Cut(watchStream(stdin), "3 value")
				_, _ = io.WriteString(ch, front[:strings.LastIndex(front, "C1")])
				for n := 3; ; n++ {
					if _, err := io.WriteString(ch, "C1 "+nonceOf.FindStringSubmatch(stdin)[1]+" "+itoa(n)+" value =x 8001\n="+strings.Repeat("a", 8000)+"\n"); err != nil {
						return
					}
				}
			})
		}, snapshot.ErrTooLarge},
		"endless error stream": {func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, _ string) {
				forever(ch.Stderr(), strings.Repeat(escapes, 1000), 0)
			})
		}, ErrNoisy},
		"a flood of channels": {func(s *server, c net.Conn) {
			s.sessions(c, func(conn *ssh.ServerConn, _ ssh.Channel, _ string) {
				for {
					if _, _, err := conn.OpenChannel("auth-agent@openssh.com", nil); err != nil && !strings.Contains(err.Error(), "prohibited") {
						return
					}
				}
			})
		}, ErrIntrusive},
		"a flood of requests": {func(s *server, c net.Conn) {
			s.sessions(c, func(conn *ssh.ServerConn, _ ssh.Channel, _ string) {
				for {
					if _, _, err := conn.SendRequest("tcpip-forward", true, nil); err != nil {
						return
					}
				}
			})
		}, ErrIntrusive},
		"output that ignores the window": {func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, stdin string) {
				go forever(ch, watchStream(stdin)[:40], 0)
				forever(ch.Stderr(), "x", 0)
			})
		}, snapshot.ErrForged},
		"a huge packet in the key exchange": {func(_ *server, c net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, c) }()
			_, _ = io.WriteString(c, "SSH-2.0-x\r\n\x7f\xff\xff\xff"+strings.Repeat("A", 1<<20))
			forever(c, strings.Repeat("A", 32<<10), 0)
		}, ErrUnreachable},
		"a version line without an end": {func(_ *server, c net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, c) }()
			forever(c, "SSH-2.0-"+strings.Repeat("A", 1<<10), 0)
		}, ErrUnreachable},
		"a farewell with escapes": {func(_ *server, c net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, c) }()
			_, _ = io.WriteString(c, "SSH-2.0-x"+"\r\n")
			text := "bye" + escapes
			body := append([]byte{1, 0, 0, 0, 11, 0, 0, 0, byte(len(text))}, text...) // SSH_MSG_DISCONNECT (RFC 4253 §11.1)
			body = append(body, 0, 0, 0, 0)
			pad := 8 - (5+len(body))%8 + 8
			pkt := append([]byte{0, 0, 0, byte(1 + len(body) + pad), byte(pad)}, body...)
			_, _ = c.Write(append(pkt, make([]byte, pad)...))
			_, _ = io.Copy(io.Discard, c)
		}, ErrUnreachable},
		"a session that is refused with escapes": {func(s *server, c net.Conn) {
			if _, chans, ok := s.login(c); ok {
				for nc := range chans {
					_ = nc.Reject(ssh.ResourceShortage, "full"+escapes)
				}
			}
		}, errAny},
		"a command that is refused": {func(s *server, c net.Conn) {
			if _, chans, ok := s.login(c); ok {
				for nc := range chans {
					if ch, reqs, err := nc.Accept(); err == nil {
						for r := range reqs {
							_ = r.Reply(false, nil)
						}
						ch.Close()
					}
				}
			}
		}, errAny},
		"answers that nobody asked for": {func(s *server, c net.Conn) {
			s.sessions(c, func(conn *ssh.ServerConn, ch ssh.Channel, _ string) {
				for range 1000 { // a reply to a request that the client never made (CVE-2026-39830)
					if _, _, err := conn.SendRequest("keepalive@openssh.com", false, nil); err != nil {
						return
					}
				}
				_, _ = io.Copy(io.Discard, ch)
				forever(ch, "C", 2*time.Second)
			})
		}, ErrIntrusive},
		"nothing at all":   {answering(func(string) string { return "" }), snapshot.ErrCut},
		"no end":           {answering(func(in string) string { s := watchStream(in); return s[:strings.LastIndex(s, "C1 ")] }), snapshot.ErrCut},
		"another nonce":    {answering(func(in string) string { return strings.Replace(watchStream(in), "C1 ", "C1 f", 1) }), snapshot.ErrForged},
		"a forged frame":   {answering(func(in string) string { return strings.Replace(watchStream(in), " 7 ", " 8 ", 1) }), snapshot.ErrForged},
		"escapes":          {answering(func(in string) string { return strings.Replace(watchStream(in), "=ok", "="+escapes, 1) }), snapshot.ErrForged},
		"only its own say": {answering(func(string) string { return "done" + escapes + "\n" }), snapshot.ErrCut},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got Exchange
			limits := fast
			if c.want == ErrTooSlow {
				limits.Total = time.Second
			}
			s := serve(t, c.serve)
			h := s.hosts(Options{
				Timeouts: limits, Limits: snapshot.Limits{Frame: 64 << 10, Total: 256 << 10},
				Recorder: func(_ context.Context, x Exchange) { got = x },
			})
			snap, err := h.Read(t.Context(), "build-07", snapshot.ProfileWatch)
			if err == nil || c.want != errAny && !errors.Is(err, c.want) {
				t.Fatalf("err %v, want %v", err, c.want)
			}
			if snap != nil && snap.Complete {
				t.Error("complete")
			}
			shown := err.Error() + got.Err + got.Stderr
			if clean := untrusted.Clean(shown, 0); clean != shown {
				t.Errorf("the error carries the host's characters: %q", shown)
			}
			if got.Err == "" || got.Host != "build-07" {
				t.Errorf("not recorded: %+v", got)
			}
			if n := s.received.Load(); n > 4<<20 {
				t.Errorf("%d bytes were taken", n)
			}
			if n := s.accepted.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func banner(n int) func(ssh.ConnMetadata) string {
	return func(ssh.ConnMetadata) string { return strings.Repeat(escapes, n/len(escapes)) }
}

func TestAnHonestAnswerNeedsNeitherExitStatusNorQuiet(t *testing.T) {
	for name, handle := range map[string]func(*server, net.Conn){
		"exit 0": answering(watchStream),
		"no exit status": func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, in string) { _, _ = io.WriteString(ch, watchStream(in)) })
		},
		"exit signal with escapes": func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, in string) {
				_, _ = io.WriteString(ch, watchStream(in))
				_, _ = ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
					Signal     string
					Core       bool
					Msg, Extra string
				}{"KILL", false, escapes, escapes}))
			})
		},
		"a banner": func(s *server, c net.Conn) {
			s.config.BannerCallback = banner(100 << 10)
			answering(watchStream)(s, c)
		},
		"words on the error stream": func(s *server, c net.Conn) {
			s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, in string) {
				_, _ = io.WriteString(ch.Stderr(), escapes)
				_, _ = io.WriteString(ch, watchStream(in))
				exit(ch, 3)
			})
		},
		"noise of a login shell": answering(func(in string) string { return "Welcome" + escapes + watchStream(in) }),
		"its host keys offered": func(s *server, c net.Conn) {
			s.sessions(c, func(conn *ssh.ServerConn, ch ssh.Channel, in string) {
				_, _, _ = conn.SendRequest("hostkeys-00@openssh.com", false, nil)
				_, _ = io.WriteString(ch, watchStream(in))
				exit(ch, 0)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got Exchange
			s := serve(t, handle)
			snap, err := s.hosts(Options{Recorder: func(_ context.Context, x Exchange) { got = x }}).Read(t.Context(), "build-07", snapshot.ProfileWatch)
			if err != nil || !snap.Complete {
				t.Fatal(err)
			}
			if clean := untrusted.Clean(got.Stderr, 0); clean != got.Stderr {
				t.Errorf("%q", got.Stderr)
			}
			if got.HostKey != ssh.FingerprintSHA256(s.hostKey.PublicKey()) || got.UserKey != ssh.FingerprintSHA256(s.user.PublicKey()) || !got.Sent || got.Bytes == 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestHostKeysAreStrict(t *testing.T) {
	other, _ := newKey(t)
	for name, c := range map[string]struct {
		known func(s *server)
		want  error
		says  func(s *server) []string
	}{
		"unknown": {
			func(s *server) { s.trust() }, ErrUnknownHostKey,
			func(s *server) []string {
				return []string{ssh.FingerprintSHA256(s.hostKey.PublicKey()), s.dir + "/known_hosts", "ssh-ed25519 AAAA"}
			},
		},
		"changed": {
			func(s *server) { s.trust(other.PublicKey()) }, ErrHostKeyChanged,
			func(s *server) []string {
				return []string{ssh.FingerprintSHA256(s.hostKey.PublicKey()), ssh.FingerprintSHA256(other.PublicKey())}
			},
		},
		"revoked": {
			func(s *server) {
				s.write("known_hosts", "@revoked * "+strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.hostKey.PublicKey())))+"\n")
			}, ErrHostKeyRevoked,
			func(s *server) []string { return []string{ssh.FingerprintSHA256(s.hostKey.PublicKey())} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, answering(watchStream))
			c.known(s)
			before := s.read("known_hosts")
			_, err := s.hosts(Options{}).Read(t.Context(), "build-07", snapshot.ProfileWatch)
			if !errors.Is(err, c.want) {
				t.Fatalf("err %v, want %v", err, c.want)
			}
			for _, part := range c.says(s) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in %v", part, err)
				}
			}
			if s.read("known_hosts") != before {
				t.Error("known_hosts was edited")
			}
		})
	}
}

func (s *server) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.dir + "/" + name)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func TestAnEndedContextClosesTheConnection(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(s *server, c net.Conn) {
		s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, _ string) {
			cancel()
			_, _ = io.Copy(io.Discard, ch)
		})
	})
	slow := fast
	slow.Idle, slow.Total = time.Hour, time.Hour
	if _, err := s.hosts(Options{Timeouts: slow}).Read(ctx, "build-07", snapshot.ProfileWatch); !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
}

func TestWhatIsMissingLocallyIsSaidBeforeAnyContact(t *testing.T) {
	s := serve(t, answering(watchStream))
	good := s.host()
	for name, c := range map[string]struct {
		edit func(*Host)
		want error
		hint string
	}{
		"no address":          {func(h *Host) { h.Address = "" }, ErrBadConfig, "address:"},
		"no user":             {func(h *Host) { h.User = "" }, ErrBadConfig, "user:"},
		"no key":              {func(h *Host) { h.Key = "" }, ErrBadConfig, "key:"},
		"no known hosts":      {func(h *Host) { h.KnownHosts = "" }, ErrBadConfig, "known_hosts:"},
		"known hosts missing": {func(h *Host) { h.KnownHosts += "x" }, ErrBadConfig, "ssh-keyscan"},
		"key missing":         {func(h *Host) { h.Key += "x" }, ErrKey, "private key"},
		"key is no key":       {func(h *Host) { h.Key = h.KnownHosts }, ErrKey, good.KnownHosts},
		"agent gone":          {func(h *Host) { h.AgentSock = s.dir + "/agent" }, ErrKey, "agent"},
		"odd unit":            {func(h *Host) { h.Unit = "a b" }, ErrBadConfig, "service"},
	} {
		x := good
		c.edit(&x)
		_, err := New(map[string]Host{"build-07": x}, Options{Timeouts: fast}).Read(t.Context(), "build-07", snapshot.ProfileWatch)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.accepted.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}
