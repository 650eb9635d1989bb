// Package sshd is the SSH server of one simulated host.
//
// It runs a script only if it knows its digest, over the host's tree and with an
// empty environment; what would change a host is simulated by its Unit and never
// executed. No terminal, no forwarding, no subsystem, no password. Standard library,
// x/crypto/ssh and the lab's ledger and fault switch only.
package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/lab/fault"
	"cordon/internal/lab/ledger"
)

// User is the only login name.
const User = "ir"

// Limits in real time and count: they guard the machine the lab runs on.
const (
	handshakeIn = 10 * time.Second
	runsAtMost  = 2 * time.Minute
	connsAtMost = 32
	openAtMost  = 10 // sessions of one connection
)

// Kinds of script.
const (
	Collect  = "collect"
	Fetch    = "fetch"
	ActStop  = "act-stop"
	ActStart = "act-start"
)

// Script is one that the server knows. Kind "act" with the name act-stop.sh or
// act-start.sh means ActStop or ActStart.
type Script struct{ Name, SHA256, Kind string }

// Unit is what an act changes. Unit names are already checked.
type Unit interface {
	// Status is what systemctl would say: is-active, is-enabled, MainPID.
	Status(unit string) (active, enabled string, mainPID int)
	Stop(unit string) error  // disable --now
	Start(unit string) error // enable --now
}

// Options make a server; all are required.
type Options struct {
	Name    string // of the host
	Root    string // of its tree
	Client  ssh.PublicKey
	HostKey ssh.Signer
	Scripts []Script
	Ledger  *ledger.Ledger
	Faults  *fault.Switch
	Unit    Unit
	Before  func() error // called before a collector reads the tree
}

// Serve answers on l until ctx ends or l is closed, and then ends every connection.
// It returns nil in both cases.
func Serve(ctx context.Context, l net.Listener, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	slots := make(chan struct{}, connsAtMost)
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("accept on %s: %w", o.Name, err)
		}
		o.Ledger.Conn(o.Name)
		select {
		case slots <- struct{}{}:
		default:
			c.Close()
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			o.connection(ctx, c)
		})
	}
}

func (o Options) config() *ssh.ServerConfig {
	cfg := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-cordon-lab",
		MaxAuthTries:  3,
		PublicKeyCallback: func(c ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if c.User() == User && bytes.Equal(k.Marshal(), o.Client.Marshal()) {
				return nil, nil
			}
			return nil, errors.New("not the lab's key or user")
		},
	}
	cfg.AddHostKey(o.HostKey)
	return cfg
}

func (o Options) connection(ctx context.Context, c net.Conn) {
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	if err := c.SetDeadline(time.Now().Add(handshakeIn)); err != nil {
		return
	}
	conn, channels, requests, err := ssh.NewServerConn(c, o.config())
	if err != nil {
		return
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { ssh.DiscardRequests(requests) }) // port forwarding is asked for here: refused
	var open atomic.Int32
	for ch := range channels {
		if ch.ChannelType() != "session" {
			_ = ch.Reject(ssh.UnknownChannelType, "only sessions") // a dead connection ends the loop
			continue
		}
		if open.Load() >= openAtMost {
			_ = ch.Reject(ssh.ResourceShortage, "too many sessions")
			continue
		}
		channel, reqs, err := ch.Accept()
		if err != nil {
			break
		}
		open.Add(1)
		wg.Go(func() {
			defer open.Add(-1)
			o.session(ctx, channel, reqs)
		})
	}
	conn.Close()
}
