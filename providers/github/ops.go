package github

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// Operations, versioned: a case that was planned by a build with other ones is planned
// again rather than guessed at.
const (
	opGroupNew    = "github.group.create@1"    // with the runner in it
	opMove        = "github.runner.move@1"     // into a group
	opGroupRemove = "github.group.remove@1"    // an empty one
	opAccess      = "github.group.access@1"    // the repositories or organizations that a group serves
	opLabels      = "github.runner.labels@1"   // replaces the custom ones
	opCancel      = "github.run.cancel@1"      // a whole run
	opDeregister  = "github.runner.remove@1"   // for good
	opKey         = "github.key.remove@1"      // a deploy key
	opSSO         = "github.sso.remove@1"      // a credential's authorization for single sign-on
	opPAT         = "github.pat.revoke@1"      // a fine-grained token's access to an organization
	opSuspend     = "github.app.suspend@1"     // an installation
	opUnsuspend   = "github.app.unsuspend@1"   //
	opCache       = "github.cache.remove@1"    // one cache entry
	opArtifact    = "github.artifact.remove@1" // one artifact
	opWorkflow    = "github.workflow.switch@1" // a workflow, off or on
	opActions     = "github.actions.policy@1"  // Actions, off or as it was
	opRunners     = "github.runners.policy@1"  // runners of repositories, off or as it was
	opChosen      = "github.policy.chosen@1"   // whom such a policy serves
)

// operation is the closed arguments of a change: they are what is hashed and approved.
type operation interface {
	// about is what the change acts on, without its system. A change whose target is
	// another one was made to disagree with itself.
	about() target.Ref
	// request is its one call.
	request() request
	// compare reads what it acts on again. already says that there is nothing to do; an
	// error says why nothing may be sent.
	compare(ctx context.Context, p *Provider, c change.Change) (already string, err error)
	// settle tells, by reading only, whether it took effect.
	settle(ctx context.Context, p *Provider, c change.Change) (state, why string, err error)
}

// operations knows how to read the arguments of each.
var operations = map[string]func(op string, raw json.RawMessage) (operation, error){
	opGroupNew: readArgs[groupNew], opMove: readArgs[move], opGroupRemove: readArgs[groupRemove], opAccess: readArgs[access],
	opLabels: readArgs[labelSet], opCancel: readArgs[cancel], opDeregister: readArgs[deregister],
	opKey: readArgs[keyRemove], opSSO: readArgs[ssoRemove], opPAT: readArgs[patRevoke], opSuspend: readArgs[suspend], opUnsuspend: readArgs[unsuspend],
	opCache: readArgs[cacheRemove], opArtifact: readArgs[artifactRemove],
	opWorkflow: readArgs[workflowSwitch], opActions: readArgs[actionsSet], opRunners: readArgs[runnersSet], opChosen: readArgs[chosen],
}

func readArgs[T operation](op string, raw json.RawMessage) (operation, error) {
	v, err := change.Parse[T](op, raw)
	return v, err
}

// operationOf reads what a change does. A change of another build is planned again.
func operationOf(c change.Change) (operation, error) {
	read, ok := operations[c.Op]
	if !ok {
		return nil, fmt.Errorf("%w: this build does not have %s", change.ErrStale, untrusted.Text(c.Op))
	}
	return read(c.Op, c.Args)
}

// home is where an operation acts, in its arguments.
type home struct {
	Level string `json:"level"`
	Path  string `json:"path"`
}

func homeOf(s scope) home { return home{s.level, s.path} }

func (h home) scope() scope { return scope{h.Level, h.Path} }

func (h home) runner(id int64) target.Ref {
	return target.Ref{Scope: h.scope().target(), Kind: target.Runner, ID: strconv.FormatInt(id, 10)}
}

// planned makes a change with its captured call.
func (p *Provider) planned(ctx context.Context, c change.Change, op operation) (change.Change, error) {
	c.System, c.Args, c.Target = p.o.Name, change.Pack(op), op.about()
	c.Target.System = p.o.Name
	call, err := change.PlanCall(ctx, func(ctx context.Context) error {
		_, err := p.send(ctx, op.request())
		return err
	})
	if err != nil {
		return c, fmt.Errorf("capture %s: %w", c.Op, err)
	}
	c.Call = call
	return c, nil
}

// belongs checks that a change's arguments are about its target: the digest covers both,
// and a change read from a file may still have been made to disagree.
func (p *Provider) belongs(c change.Change) (operation, error) {
	if c.System != p.o.Name || c.Target.System != p.o.Name {
		return nil, fmt.Errorf("%w: %s is not a change of %s", change.ErrMismatch, untrusted.Text(c.ID), p.o.Name)
	}
	op, err := operationOf(c)
	if err != nil {
		return nil, err
	}
	about := op.about()
	about.System = p.o.Name
	if c.Target != about || about.ID == "0" {
		return nil, fmt.Errorf("%w: the arguments of %s are not about its target", change.ErrMismatch, untrusted.Text(c.ID))
	}
	return op, nil
}
