package lab

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"cordon/internal/clock"
	"cordon/internal/lab/github"
	"cordon/internal/lab/gitlab"
)

// open brings everything up, agents last.
func (l *lab) open(ready io.Writer) error {
	api, err := l.listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	ctl, err := l.listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	l.url = "http://" + api.Addr().String()
	service, err := l.service()
	if err != nil {
		return err
	}
	acc, err := l.access()
	if err != nil {
		return err
	}
	for _, spec := range l.scenario.Hosts {
		if err := l.openHost(spec, acc); err != nil {
			return fmt.Errorf("host %s of the lab: %w", spec.Name, err)
		}
	}
	if err := l.vault.Publish(); err != nil {
		return err
	}
	l.serve(api, service)
	l.serve(ctl, l.control())
	for _, h := range l.hosts {
		if err := h.boot(); err != nil {
			return err
		}
		if h.spec.Name == l.scenario.Target.Host {
			comeBack := h.resurrect
			if l.github != nil {
				comeBack = h.reregister
			}
			l.group.Go(func() error { return comeBack(l.ctx) })
		}
		if h.spec.Rogue != nil {
			h.watchRogue()
		}
	}
	return l.announce(l.ready("http://"+ctl.Addr().String()+"/_lab", acc), acc, ready)
}

// service makes the GitLab or the GitHub of the scenario.
func (l *lab) service() (http.Handler, error) {
	var err error
	if d := l.scenario.GitLab; d != nil {
		l.gitlab, err = gitlab.New(gitlab.Options{Data: *d, ID: l.id, Clock: l.clock, Ledger: l.ledger, Vault: l.vault, Faults: l.faults})
		if err != nil {
			return nil, err
		}
		return l.gitlab.Handler(), nil
	}
	l.github, err = github.New(github.Options{
		Data: *l.scenario.GitHub, ID: l.id, Clock: l.clock, Ledger: l.ledger, Vault: l.vault, Faults: l.faults, Stuck: l.scenario.Target.Runner, Wall: clock.Real{},
	})
	if err != nil {
		return nil, err
	}
	return l.github.Handler(), nil
}

// listen opens a socket that the lab's end closes.
func (l *lab) listen(addr string) (net.Listener, error) {
	s, err := (&net.ListenConfig{}).Listen(l.ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; the lab needs the loopback network 127.0.0.0/8", addr, err)
	}
	context.AfterFunc(l.ctx, func() { s.Close() })
	return s, nil
}

func (l *lab) serve(s net.Listener, h http.Handler) {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	l.group.Go(func() error {
		defer func() {
			// answers under way write to the ledger, which is closed after this
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			if srv.Shutdown(ctx) != nil {
				srv.Close()
			}
		}()
		if err := srv.Serve(s); l.ctx.Err() == nil {
			return fmt.Errorf("serve %s: %w", s.Addr(), err)
		}
		return nil
	})
}
