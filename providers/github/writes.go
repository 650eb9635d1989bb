package github

import (
	"context"
	"fmt"
	"io"
)

// request is one mutating call. Every call goes through NewRequest with a body of our own:
// v66 has none of it for labels, force-cancel and enterprises' repositories, and its group
// structs leave out an empty list, which is the one thing that a quarantine has to say.
type request struct {
	method string
	path   string             // escaped, without a slash in front
	body   any                // nil: none
	want   int                // the status that GitHub's description has for success
	shape  func(answer) error // what the answer's body has to be; nil: nothing is read from it
}

// send makes the call, once. Planning and applying both come through here, so what is
// captured is what is sent. Another success than the described one is not understood: what
// it did is not known.
func (p *Provider) send(ctx context.Context, r request) (answer, error) {
	req, err := p.changes.NewRequest(r.method, r.path, r.body)
	if err != nil {
		return answer{}, fmt.Errorf("build a request: %w", err)
	}
	at := p.clock.Now()
	resp, err := p.changes.BareDo(ctx, req)
	var body []byte
	if resp != nil && resp.Response != nil && resp.Body != nil {
		var rerr error
		body, rerr = io.ReadAll(resp.Body) // the transport has read and capped it already
		_ = resp.Body.Close()
		if err == nil {
			err = rerr
		}
	}
	a, err := reply(r.method+" "+r.path, resp, body, err)
	a.At = at
	if until := a.again(at); !until.IsZero() {
		p.limits.saw(answer{Status: a.Status, Body: a.Body, wait: until.Sub(at), waits: true})
	}
	switch {
	case err != nil:
	case a.Status != r.want:
		err = malformed(a, "not the answer that this call has")
	case r.shape != nil:
		err = r.shape(a)
	}
	return a, err
}
