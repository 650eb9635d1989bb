package tui

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/change"
	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/providers"
)

// cardData is what a card reads. *app.App is one; no host is contacted for any of it.
type cardData interface {
	Runner(ctx context.Context, ref string) (providers.Runner, error)
	Managers(ctx context.Context, ref target.Ref) ([]providers.Manager, error)
	Jobs(ctx context.Context, ref target.Ref, since time.Time, most int) ([]providers.Job, string, error)
	ByHand(ctx context.Context, ref target.Ref) ([]change.Link, error)
	HostsOf(ctx context.Context, r providers.Runner, asked []string) ([]target.Ref, string, error)
	KnownFleet() (fleet.Fleet, error)
	RunnerRecord(ref target.Ref) (app.RunnerRecord, error)
	HostRecord(name string) (app.HostRecord, error)
	Command(args ...string) string
}

// How far back and how many jobs a card lists.
const (
	cardJobsBack = 30 * 24 * time.Hour
	cardJobs     = 40
)

// part is one section of a card: not read yet, read, or why it could not be.
type part[T any] struct {
	v    T
	err  error
	done bool
	at   time.Time
}

type jobsRead struct {
	list    []providers.Job
	partial string
	since   time.Time
}

type hostsRead struct {
	row   fleet.Row
	known bool // row is set
	hosts []app.HostRecord
	how   string
}

// runnerCard is the page of one runner.
type runnerCard struct {
	card
	data cardData
	now  func() time.Time
	ref  string
	turn turn

	runner   part[providers.Runner]
	managers part[[]providers.Manager]
	jobs     part[jobsRead]
	hosts    part[hostsRead]
	record   part[app.RunnerRecord]
	hand     part[[]change.Link]
}

// cardMsg is the answer to one read of a card; put is run in Update.
type cardMsg struct {
	page page
	turn turn
	put  func() tea.Cmd
}

// newCard is the page of the runner that ref names.
func newCard(e env, ref string) page { return newCardOf(e, e.app, e.now, ref) }

func newCardOf(e env, data cardData, now func() time.Time, ref string) *runnerCard {
	p := &runnerCard{card: card{e: e}, data: data, now: now, ref: ref}
	p.set(p.build())
	return p
}

// read asks for one part outside the loop and puts the answer in its place, unless the
// card was read again meanwhile.
func read[T any](p *runnerCard, dst *part[T], then func(T) tea.Cmd, f func(context.Context) (T, error)) tea.Cmd {
	t := p.turn
	return p.e.safe(func(ctx context.Context) tea.Msg {
		v, err := f(ctx)
		at := p.now()
		return cardMsg{p, t, func() tea.Cmd {
			*dst = part[T]{v, err, true, at}
			if err == nil && then != nil {
				return then(v)
			}
			return nil
		}}
	})
}

// Init reads everything, the registration first: the rest is about what it says.
func (p *runnerCard) Init() tea.Cmd {
	p.turn.next()
	data, ref := p.data, p.ref
	return read(p, &p.runner, p.rest, func(ctx context.Context) (providers.Runner, error) { return data.Runner(ctx, ref) })
}

// rest reads the other parts side by side. By hand comes last: it shares answers.
func (p *runnerCard) rest(r providers.Runner) tea.Cmd {
	data, now, ref := p.data, p.now, r.Ref
	return tea.Batch(
		read(p, &p.jobs, nil, func(ctx context.Context) (jobsRead, error) {
			since := now().Add(-cardJobsBack)
			list, partial, err := data.Jobs(ctx, ref, since, cardJobs)
			return jobsRead{list, partial, since}, err
		}),
		read(p, &p.record, nil, func(context.Context) (app.RunnerRecord, error) { return data.RunnerRecord(ref) }),
		read(p, &p.managers, func([]providers.Manager) tea.Cmd {
			return tea.Batch(
				read(p, &p.hosts, nil, func(ctx context.Context) (hostsRead, error) { return readHosts(ctx, data, r) }),
				read(p, &p.hand, nil, func(ctx context.Context) ([]change.Link, error) { return data.ByHand(ctx, ref) }),
			)
		}, func(ctx context.Context) ([]providers.Manager, error) { return data.Managers(ctx, ref) }),
	)
}

// readHosts says where a runner is, from its managers' addresses and from what hosts
// said before, and what the last read of each host found.
func readHosts(ctx context.Context, data cardData, r providers.Runner) (hostsRead, error) {
	var h hostsRead
	refs, how, err := data.HostsOf(providers.WithRecent(ctx, time.Minute), r, nil)
	if err != nil {
		return h, err
	}
	h.how = how
	names := map[string]bool{}
	var order []string
	add := func(n string) {
		if !names[n] {
			names[n] = true
			order = append(order, n)
		}
	}
	for _, x := range refs {
		add(x.ID)
	}
	f, err := data.KnownFleet()
	if err != nil {
		return h, err
	}
	for _, row := range f.Rows {
		if row.Runner.Ref == r.Ref {
			h.row, h.known = row, true
			for _, n := range row.Hosts {
				add(n)
			}
		}
	}
	for _, n := range order {
		rec, err := data.HostRecord(n)
		if err != nil {
			return h, err
		}
		h.hosts = append(h.hosts, rec)
	}
	return h, nil
}

// Shown reads again what this machine knows: a host may have been checked meanwhile,
// or a case opened.
func (p *runnerCard) Shown() tea.Cmd {
	if !p.runner.done || p.runner.err != nil || p.managers.err != nil {
		return nil
	}
	data, r := p.data, p.runner.v
	return tea.Batch(
		read(p, &p.record, nil, func(context.Context) (app.RunnerRecord, error) { return data.RunnerRecord(r.Ref) }),
		read(p, &p.hosts, nil, func(ctx context.Context) (hostsRead, error) { return readHosts(ctx, data, r) }),
	)
}

// Update implements page.
func (p *runnerCard) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case cardMsg:
		if msg.page != page(p) || p.turn.stale(msg.turn) {
			return nil
		}
		cmd := msg.put()
		p.set(p.build())
		return cmd
	case tea.KeyMsg:
		return p.keyed(msg)
	}
	return nil
}

func (p *runnerCard) keyed(k tea.KeyMsg) tea.Cmd {
	switch keys := p.e.keys; {
	case keys.Contain.Is(k):
		if why := p.cannotContain(); why != "" {
			return say(why)
		}
		return contain(p.e, p.runner.v.Ref)
	case keys.Again.Is(k):
		return p.Init()
	}
	return p.key(k)
}

func (p *runnerCard) cannotContain() string {
	switch {
	case !p.runner.done:
		return "the runner is being read"
	case p.runner.err != nil:
		return "the runner could not be read: r reads it again"
	}
	return ""
}

// Title implements page.
func (p *runnerCard) Title() string { return "runner " + p.ref }

// Hint implements page.
func (p *runnerCard) Hint() string {
	if p.runner.err != nil {
		return "r reads it again"
	}
	switch open := openOf(p.record.v.Cases); len(open) {
	case 0:
		return "c opens a case; that changes nothing yet. y, w, h copy what is at the cursor"
	case 1:
		return "a case is open about it: c goes on with " + clean(open[0].ID)
	default:
		return fmt.Sprintf("%d cases are open about it: c asks which", len(open))
	}
}

// Mode implements page.
func (p *runnerCard) Mode() Mode { return Normal }

// Keys implements page.
func (p *runnerCard) Keys() []Binding {
	k := p.e.keys
	return append(append([]Binding{k.Contain.When(p.cannotContain)}, p.bindings()...), k.Again, k.Back, k.Down)
}

// View implements page. Ages are of now.
func (p *runnerCard) View(w, h int) string {
	p.set(p.build())
	return p.view(w, h)
}
