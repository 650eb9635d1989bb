package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/host"
)

// hostData is what a host card reads: what is configured and what cases have kept.
type hostData interface {
	HostRecord(name string) (app.HostRecord, error)
	Command(args ...string) string
}

// checker reaches a host and reads it once. *app.App is one.
type checker interface {
	CheckHost(ctx context.Context, name, reason string) (app.HostReport, error)
}

// looker tells what reading a host would do, and contacts nobody. *app.App is one.
type looker interface {
	LookAt(ctx context.Context, names []string) ([]host.Looking, error)
}

// hostCard is the page of one host. Opening it contacts nobody; the check is an act
// that is confirmed.
type hostCard struct {
	card
	data hostData
	now  func() time.Time
	name string
	turn turn
	rec  part[app.HostRecord]
	look host.Looking // how it is reached; only its name where that could not be told

	dialog  *dialog
	checks  checker // nil: no check can be made here
	since   time.Time
	running bool
	told    *readings     // of the read that runs
	reads   *host.Reading // how far it is; nil: no answer has come yet
	failed  error
}

// newHostCard is the page of the host that is configured under a name.
func newHostCard(e env, name string) page { return newHostCardOf(e, e.app, e.now, name) }

func newHostCardOf(e env, data hostData, now func() time.Time, name string) *hostCard {
	p := &hostCard{card: card{e: e}, data: data, now: now, name: name}
	p.checks, _ = data.(checker)
	p.set(p.build())
	return p
}

// Init reads the cases.
func (p *hostCard) Init() tea.Cmd {
	t, data, name := p.turn.next(), p.data, p.name
	return p.e.safe(func(ctx context.Context) tea.Msg {
		rec, err := data.HostRecord(name)
		at, look := p.now(), host.Looking{Host: name}
		if l, ok := data.(looker); ok && err == nil && rec.Configured {
			if all, err := l.LookAt(ctx, []string{name}); err == nil && len(all) == 1 {
				look = all[0]
			}
		}
		return cardMsg{p, t, func() tea.Cmd {
			p.look = look
			p.rec = part[app.HostRecord]{rec, err, true, at}
			return nil
		}}
	})
}

// Update implements page.
func (p *hostCard) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case cardMsg:
		if msg.page != page(p) || p.turn.stale(msg.turn) {
			return nil
		}
		cmd := msg.put()
		p.set(p.build())
		return cmd
	case hostCheckedMsg:
		if msg.page != p {
			return nil
		}
		p.running, p.told, p.reads, p.failed = false, nil, nil, msg.err
		return p.Init()
	case readingMsg:
		if msg.page != p || msg.of != p.told {
			return nil
		}
		p.reads = &msg.at
		return p.follow(msg.of)
	case tea.KeyMsg:
		return p.keyed(msg)
	}
	return nil
}

func (p *hostCard) keyed(k tea.KeyMsg) tea.Cmd {
	if p.dialog != nil {
		closed, cmd := p.dialog.key(k)
		if closed {
			p.dialog = nil
		}
		return cmd
	}
	switch keys := p.e.keys; {
	case keys.Look.Is(k):
		if why := p.cannotCheck(); why != "" {
			return say(why)
		}
		p.ask()
		return nil
	case keys.Again.Is(k):
		return p.Init()
	}
	return p.key(k)
}

// hostCheckedMsg is the end of a check.
type hostCheckedMsg struct {
	page *hostCard
	err  error
}

func (p *hostCard) cannotCheck() string {
	switch {
	case p.checks == nil:
		return "no check can be made from here"
	case p.running:
		return "the host is being read"
	case !p.rec.done:
		return "the cases are being read"
	case p.rec.err == nil && !p.rec.v.Configured:
		return "this host is not configured: cordon does not know how to reach it"
	}
	return ""
}

// ask opens the confirmation: what was looked at cannot be taken back. It says through
// what the host is reached, and what looking does there.
func (p *hostCard) ask() {
	r := app.ReachOf(p.look)
	d := &dialog{
		th: p.e.th, keys: p.e.keys, wall: p.e.wall,
		title: strings.ToUpper(r.Title[:1]) + r.Title[1:],
		facts: append([]string{
			r.Does + "; it runs one fixed script that writes nothing, and is kept as a case of its own",
			r.Seen,
		}, lookFacts(p.look, true)...),
		want: p.name, why: r.Final,
		yes: func(string) tea.Cmd { return p.check() },
	}
	p.dialog = d.open()
}

// check runs outside the loop and ends with the screen.
func (p *hostCard) check() tea.Cmd {
	told := newReadings()
	p.running, p.since, p.failed, p.told, p.reads = true, p.now(), nil, told, nil
	p.set(p.build())
	checks, name := p.checks, p.name
	return tea.Batch(
		p.e.safe(func(ctx context.Context) tea.Msg {
			defer told.end()
			_, err := checks.CheckHost(host.WithReading(ctx, told.tell), name, "asked for on the host's card")
			return hostCheckedMsg{p, err}
		}),
		p.follow(told),
	)
}

// Title implements page.
func (p *hostCard) Title() string { return "host " + p.name }

// Hint implements page.
func (p *hostCard) Hint() string {
	switch {
	case p.dialog != nil:
		return p.dialog.how()
	case p.running:
		return fmt.Sprintf("reading the host since %s; it goes on while you look elsewhere, and ends with this screen", p.since.UTC().Format("15:04:05Z"))
	}
	return "nothing here contacts the host; l asks before it is read"
}

// Mode implements page.
func (p *hostCard) Mode() Mode {
	if p.dialog != nil {
		return p.dialog.mode()
	}
	return Normal
}

// Keys implements page.
func (p *hostCard) Keys() []Binding {
	k := p.e.keys
	if p.dialog != nil {
		return p.dialog.bindings()
	}
	return append(append([]Binding{k.Look.When(p.cannotCheck)}, p.bindings()...), k.Again, k.Back, k.Down)
}

// View implements page.
func (p *hostCard) View(w, h int) string {
	p.set(p.build())
	if p.dialog != nil {
		return p.dialog.view(w, h)
	}
	return p.view(w, h)
}
