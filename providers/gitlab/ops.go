package gitlab

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"cordon/internal/change"
	"cordon/internal/secret"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// Operations, versioned: a case that was planned by a build with other ones is
// planned again rather than guessed at.
const (
	opPause      = "gitlab.runner.pause@1"
	opResume     = "gitlab.runner.resume@1"
	opRotate     = "gitlab.runner.rotate@1"
	opDeregister = "gitlab.runner.deregister@1"
	opCancel     = "gitlab.job.cancel@1"
)

// The arguments are closed structs: they are what is hashed and approved.
type (
	runnerArgs struct {
		Runner int64 `json:"runner"`
	}
	rotateArgs struct {
		Runner int64  `json:"runner"`
		To     string `json:"to"` // Destination.Name; Deliver reads it
		Kind   string `json:"kind"`
	}
	cancelArgs struct {
		Project int64 `json:"project"`
		Job     int64 `json:"job"`
		Force   bool  `json:"force"`
	}
)

// made is what an operation's answer carried.
type made struct {
	answer
	token   secret.Secret
	expires time.Time
}

// run makes the operation's one call. Planning and applying both come through here,
// so what is captured is what is sent.
func run(ctx context.Context, s service, op string, args json.RawMessage) (made, error) {
	switch op {
	case opPause, opResume:
		in, err := change.Parse[runnerArgs](op, args)
		if err != nil {
			return made{}, err
		}
		a, err := s.setPaused(ctx, in.Runner, op == opPause)
		return made{answer: a}, err
	case opRotate:
		in, err := change.Parse[rotateArgs](op, args)
		if err != nil {
			return made{}, err
		}
		token, expires, a, err := s.resetToken(ctx, in.Runner)
		return made{a, token, expires}, err
	case opDeregister:
		in, err := change.Parse[runnerArgs](op, args)
		if err != nil {
			return made{}, err
		}
		a, err := s.remove(ctx, in.Runner)
		return made{answer: a}, err
	case opCancel:
		in, err := change.Parse[cancelArgs](op, args)
		if err != nil {
			return made{}, err
		}
		a, err := s.cancelJob(ctx, in.Project, in.Job, in.Force)
		return made{answer: a}, err
	}
	return made{}, unknownOp(op)
}

func unknownOp(op string) error {
	return fmt.Errorf("%w: this build does not have %s", change.ErrStale, untrusted.Text(op))
}

// planned makes a change with its captured call.
func (p *Provider) planned(ctx context.Context, c change.Change) (change.Change, error) {
	call, err := change.PlanCall(ctx, func(ctx context.Context) error {
		_, err := run(ctx, p.api, c.Op, c.Args)
		return err
	})
	if err != nil {
		return c, fmt.Errorf("capture %s: %w", c.Op, err)
	}
	c.System, c.Call = p.o.Name, call
	return c, nil
}

// belongs checks that a change's arguments are about its target: the digest covers
// both, and a change read from a file may still have been made to disagree.
func (p *Provider) belongs(c change.Change) error {
	if c.System != p.o.Name || c.Target.System != p.o.Name {
		return fmt.Errorf("%w: %s is not a change of %s", change.ErrMismatch, untrusted.Text(c.ID), p.o.Name)
	}
	id, kind := int64(0), target.Runner
	switch c.Op {
	case opPause, opResume, opDeregister:
		in, err := change.Parse[runnerArgs](c.Op, c.Args)
		if err != nil {
			return err
		}
		id = in.Runner
	case opRotate:
		in, err := change.Parse[rotateArgs](c.Op, c.Args)
		if err != nil {
			return err
		}
		id = in.Runner
	case opCancel:
		in, err := change.Parse[cancelArgs](c.Op, c.Args)
		if err != nil {
			return err
		}
		id, kind = in.Job, target.Job
	default:
		return unknownOp(c.Op)
	}
	if c.Target.Kind != kind || c.Target.ID != strconv.FormatInt(id, 10) {
		return fmt.Errorf("%w: the arguments of %s are not about its target", change.ErrMismatch, untrusted.Text(c.ID))
	}
	return nil
}
