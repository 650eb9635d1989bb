package sshd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"cordon/internal/lab/fault"
)

// maxScript is how much is read from standard input, in bytes.
const maxScript = 1 << 20

// refusal is the exit status for everything the lab does not run.
const refusal = 126

var (
	nonceLine   = regexp.MustCompile(`^N=([0-9a-f]{32})$`)
	rootLine    = regexp.MustCompile(`^R=[A-Za-z0-9._/+-]*$`)
	profileLine = regexp.MustCompile(`^P=([a-z]+)(:[A-Za-z0-9+/]+={0,2})?$`)
	unitLine    = regexp.MustCompile(`^U=([A-Za-z0-9@._-]+\.service)$`)
	fileLine    = regexp.MustCompile(`^A=[1-9][0-9]{0,8}:[A-Za-z0-9+/]+={0,2}$`)
)

// request is what came on standard input, taken apart.
type request struct {
	nonce, profile, unit string
	file                 bool
	third                string // the third line, as it came
	script               Script
	body                 []byte
}

// session serves one channel: one exec, everything else refused.
func (o Options) session(ctx context.Context, ch ssh.Channel, reqs <-chan *ssh.Request) {
	defer ch.Close()
	ctx, cancel := context.WithTimeout(ctx, runsAtMost)
	stop := context.AfterFunc(ctx, func() { ch.Close() }) // also ends a standard input that never does
	defer stop()
	done := make(chan struct{})
	started := false
	for r := range reqs {
		ok := !started && r.Type == "exec" && command(r.Payload)
		if r.Type == "exec" {
			o.Ledger.Session(o.Name)
		}
		if r.WantReply {
			_ = r.Reply(ok, nil) // a dead connection closes reqs
		}
		if ok {
			started = true
			go func() {
				defer close(done)
				o.answer(ctx, ch)
				ch.Close() // ends reqs
			}()
		}
	}
	cancel() // disconnected: what still runs is killed
	if started {
		<-done
	}
}

// command reports whether the payload of an exec request asks for the one command
// there is.
func command(payload []byte) bool {
	var p struct{ Command string }
	if ssh.Unmarshal(payload, &p) != nil {
		return false
	}
	return p.Command == "exec /bin/sh -s" || p.Command == "/bin/sh -s"
}

func (o Options) answer(ctx context.Context, ch ssh.Channel) {
	status := refusal
	req, err := o.read(ch)
	if err == nil {
		status, err = o.run(ctx, req, ch)
	}
	if err != nil {
		fmt.Fprintf(ch.Stderr(), "lab: %v\n", err)
	}
	_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)})) // nobody left to tell
}

// read takes standard input to its end and refuses what is not three known lines and
// a known script.
func (o Options) read(in io.Reader) (request, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxScript+1))
	if err != nil {
		return request{}, fmt.Errorf("read standard input: %w", err)
	}
	if len(b) > maxScript {
		return request{}, fmt.Errorf("more than %d bytes on standard input", maxScript)
	}
	parts := bytes.SplitN(b, []byte("\n"), 4)
	if len(parts) != 4 {
		return request{}, errors.New("no preamble of three lines")
	}
	n := nonceLine.FindSubmatch(parts[0])
	p, u := profileLine.FindSubmatch(parts[2]), unitLine.FindSubmatch(parts[2])
	file := fileLine.Match(parts[2])
	if n == nil || !rootLine.Match(parts[1]) || p == nil && u == nil && !file {
		return request{}, errors.New("preamble not understood")
	}
	sum := sha256.Sum256(parts[3])
	digest := hex.EncodeToString(sum[:])
	i := slices.IndexFunc(o.Scripts, func(s Script) bool { return s.SHA256 == digest })
	if i < 0 {
		return request{}, fmt.Errorf("unknown script %s", digest)
	}
	req := request{nonce: string(n[1]), script: o.Scripts[i], body: parts[3], third: string(parts[2]), file: file}
	if p != nil {
		req.profile = string(p[1])
	}
	if u != nil {
		req.unit = string(u[1])
	}
	return req, nil
}

func (o Options) run(ctx context.Context, r request, ch ssh.Channel) (int, error) {
	switch r.script.kind() {
	case Collect:
		if r.profile == "" {
			return refusal, errors.New("a collector wants a profile")
		}
		if o.Faults.Is(fault.EmptyEvidence) {
			return 0, nil
		}
		return o.collect(ctx, r, ch)
	case Fetch:
		if !r.file {
			return refusal, errors.New("a fetch wants a file")
		}
		return o.collect(ctx, r, ch)
	case ActStop, ActStart:
		if r.unit == "" {
			return refusal, errors.New("an act wants a unit")
		}
		return o.act(r, ch)
	}
	return refusal, fmt.Errorf("script %s of kind %q", r.script.Name, r.script.Kind)
}

func (s Script) kind() string {
	if s.Kind == "act" {
		return strings.TrimSuffix(s.Name, ".sh")
	}
	return s.Kind
}
