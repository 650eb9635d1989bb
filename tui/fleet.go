package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/fleet"
	"cordon/providers"
	"cordon/tui/filter"
	"cordon/tui/table"
)

// fleetData is what the page reads. *app.App is one; it contacts no host for any of it.
type fleetData interface {
	KnownFleet() (fleet.Fleet, error)
	ListFleet(ctx context.Context, o app.FleetOptions) (fleet.Fleet, error)
	Runner(ctx context.Context, ref string) (providers.Runner, error)
	OpenCases() ([]app.OpenCase, error)
}

// fleetPage lists the runners of all providers. It shows at once what was known last
// and fills in what the providers say, page by page.
type fleetPage struct {
	e    env
	data fleetData
	now  func() time.Time
	tab  *table.Table

	turn    turn        // of listings
	fleet   fleet.Fleet // what was heard last
	have    bool
	began   time.Time // of the listing; older rows are stale
	listing bool
	failed  error
	in      chan fleet.Fleet // what comes in while listing; the newest only

	list    *fleetList // made of fleet and details; nil: has to be made
	details map[string]detail
	about   []app.OpenCase // the one that was written last first
	reading int            // details that are being read
	job     int            // number of the job that runs, 0: none
	again   bool
	cancel  context.CancelFunc

	typing bool
	line   field
	expr   filter.Expr
	wrong  *filter.Error
	sort   table.Sort
}

type (
	// fleetPartMsg is what a listing has so far; more: there will be another.
	fleetPartMsg struct {
		page  *fleetPage
		turn  turn
		fleet fleet.Fleet
		more  bool
	}
	fleetKnownMsg struct {
		page  *fleetPage
		turn  turn
		fleet fleet.Fleet
	}
	fleetDoneMsg struct {
		page  *fleetPage
		turn  turn
		fleet fleet.Fleet
		err   error
	}
	fleetOrderMsg struct {
		page  *fleetPage
		order table.Order
		err   error
	}
	fleetCasesMsg struct {
		page *fleetPage
		open []app.OpenCase
	}
	fleetDetailMsg struct {
		page    *fleetPage
		details map[string]detail
		failed  int
		err     error
	}
)

// newFleet is the page of all runners.
func newFleet(e env) page { return newFleetOf(e, e.app, e.now) }

func newFleetOf(e env, data fleetData, now func() time.Time) *fleetPage {
	p := &fleetPage{e: e, data: data, now: now, details: map[string]detail{}}
	p.tab = table.New(fleetColumns(), p.paint, e.th.ASCII)
	return p
}

func (p *fleetPage) paint(part, s string) string {
	switch part {
	case "head":
		return p.e.th.Title.Render(s)
	case "cursor":
		return p.e.th.Cursor.Render(s)
	case "open":
		return s
	}
	return p.e.th.Tone(part).Render(s)
}

// Init lists, unless that was done before: the page may be shown again.
func (p *fleetPage) Init() tea.Cmd {
	if p.listing || p.have {
		return nil
	}
	return p.read()
}

// read lists again. What is on screen stays, and is stale until it comes in.
func (p *fleetPage) read() tea.Cmd {
	t := p.turn.next()
	in := make(chan fleet.Fleet, 1)
	p.listing, p.failed, p.began, p.in = true, nil, p.now(), in
	data := p.data
	return tea.Batch(
		p.e.safe(func(ctx context.Context) tea.Msg {
			f, err := data.ListFleet(ctx, app.FleetOptions{Partly: func(f fleet.Fleet) { newest(in, f) }})
			close(in)
			return fleetDoneMsg{p, t, f, err}
		}),
		p.wait(t, in),
		p.cases(),
	)
}

// Shown joins what is known once more: a host may have been checked meanwhile. Nobody
// is asked.
func (p *fleetPage) Shown() tea.Cmd {
	if p.listing || !p.have {
		return nil
	}
	t, data := p.turn, p.data
	return tea.Batch(p.cases(), p.e.safe(func(context.Context) tea.Msg {
		f, err := data.KnownFleet()
		if err != nil {
			return nil // what is on screen stays
		}
		return fleetKnownMsg{p, t, f}
	}))
}

// cases reads which cases are open. Where that cannot be read, what is on screen stays,
// and whoever opens a case is told.
func (p *fleetPage) cases() tea.Cmd {
	data := p.data
	return p.e.safe(func(context.Context) tea.Msg {
		open, err := data.OpenCases()
		if err != nil {
			return nil
		}
		return fleetCasesMsg{p, open}
	})
}

// newest puts f in the channel in place of one that nobody has taken yet.
func newest(in chan fleet.Fleet, f fleet.Fleet) {
	for {
		select {
		case in <- f:
			return
		default:
		}
		select {
		case <-in:
		default:
		}
	}
}

func (p *fleetPage) wait(t turn, in chan fleet.Fleet) tea.Cmd {
	return p.e.safe(func(ctx context.Context) tea.Msg {
		select {
		case f, more := <-in:
			return fleetPartMsg{p, t, f, more}
		case <-ctx.Done():
			return fleetPartMsg{p, t, fleet.Fleet{}, false}
		}
	})
}

// Update implements page. A message is for one page: there may be several fleets.
func (p *fleetPage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case fleetPartMsg:
		if msg.page != p || p.turn.stale(msg.turn) || !p.listing || !msg.more {
			return nil
		}
		p.fleet, p.have, p.list = msg.fleet, true, nil
		return tea.Batch(p.arrange(false), p.wait(msg.turn, p.in))
	case fleetDoneMsg:
		if msg.page != p || p.turn.stale(msg.turn) {
			return nil
		}
		p.listing, p.failed = false, msg.err
		if msg.err != nil {
			return nil
		}
		p.fleet, p.have, p.list = msg.fleet, true, nil
		return p.arrange(false)
	case fleetKnownMsg:
		if msg.page != p || p.turn.stale(msg.turn) || p.listing {
			return nil
		}
		msg.fleet.Gaps = p.fleet.Gaps // of the listing; what is known has none
		p.fleet, p.list = msg.fleet, nil
		return p.arrange(false)
	case fleetOrderMsg:
		return p.ordered(msg)
	case fleetCasesMsg:
		if msg.page != p {
			return nil
		}
		if p.about, p.list = msg.open, nil; p.have {
			return p.arrange(false)
		}
	case fleetDetailMsg:
		return p.detailed(msg)
	case tea.KeyMsg:
		return p.key(msg)
	}
	return nil
}

// arrange filters and sorts outside the loop. What a person asked for goes first; what
// only came in waits for the job that runs, so that a long list is not rearranged for
// ever without being shown.
func (p *fleetPage) arrange(asked bool) tea.Cmd {
	if p.job != 0 && !asked {
		p.again = true
		return nil
	}
	if p.cancel != nil {
		p.cancel()
	}
	job := p.tab.Job(nil, nil, p.sort)
	p.job, p.again = job.Gen, false
	list, f, details, open, began, expr := p.list, p.fleet, p.details, p.about, p.began, p.expr
	th, now := p.e.th, p.now
	ctx, cancel := context.WithCancel(p.e.ctx)
	p.cancel = cancel
	return p.e.safe(func(context.Context) tea.Msg {
		if list == nil {
			list = newFleetList(f, details, open, began, th, now)
		}
		job.Src = list
		job.Keep = func(i int) (bool, bool) {
			a := expr.Match(&list.items[i])
			return a == filter.Yes, a == filter.Unknown
		}
		o, err := job.Run(ctx)
		return fleetOrderMsg{p, o, err}
	})
}

func (p *fleetPage) ordered(msg fleetOrderMsg) tea.Cmd {
	if msg.page != p || msg.order.Gen != p.job {
		return nil
	}
	p.job = 0
	if msg.err == nil && p.tab.Swap(msg.order) && p.list == nil && !p.again {
		p.list = msg.order.Src.(*fleetList)
	}
	if p.again {
		return p.arrange(false)
	}
	return nil
}
