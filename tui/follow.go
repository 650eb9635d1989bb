package tui

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/casefile"
)

// followed is one line of a journal that somebody else writes.
type followed struct {
	text, who string // who is set by a line that says who writes from there on
}

// follower shows a case that another writes, line by line as it grows. It takes no lock
// and writes nothing.
type follower struct {
	e     env
	id    string
	lines []string
	who   string // who writes it
	over  bool   // no line comes any more
	err   error

	off, last int
	stay      bool // the person scrolled up: new lines do not move the view
	coming    chan followed
	done      chan error
}

type followMsg struct {
	page  *follower
	lines []followed
	over  bool
	err   error
}

// mostLines is how many lines are taken at once.
const mostLines = 500

func newFollow(e env, id string) page {
	return &follower{e: e, id: id, coming: make(chan followed), done: make(chan error, 1)}
}

// Init begins to read. Where the page is gone, nobody takes the next line, and the
// reading stands until the screen ends.
func (p *follower) Init() tea.Cmd {
	a, ctx := p.e.app, p.e.ctx
	go func() {
		p.done <- a.Follow(ctx, p.id, func(v *casefile.View, l casefile.Line) error {
			f := followed{text: caseLine(l)}
			if l.Kind == "take" {
				f.who = fmt.Sprintf("%s on %s since %s", clean(l.Actor), clean(l.Host), l.T.UTC().Format("15:04:05Z"))
			}
			select {
			case p.coming <- f:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return p.listen()
}

// caseLine is a line as case show has it, "" for what that leaves out.
func caseLine(l casefile.Line) string {
	var b bytes.Buffer
	app.Lines{W: &b}.CaseLine(l)
	return strings.TrimRight(b.String(), "\n")
}

func (p *follower) listen() tea.Cmd {
	return p.e.safe(func(ctx context.Context) tea.Msg {
		msg := followMsg{page: p}
		select {
		case f := <-p.coming:
			msg.lines = append(msg.lines, f)
		case msg.err = <-p.done:
			msg.over = true
			return msg
		case <-ctx.Done():
			return nil
		}
		for len(msg.lines) < mostLines {
			select {
			case f := <-p.coming:
				msg.lines = append(msg.lines, f)
				continue
			default:
			}
			break
		}
		return msg
	})
}

func (p *follower) Title() string { return "watching  " + p.id }
func (p *follower) Mode() Mode    { return Normal }

func (p *follower) Hint() string {
	switch {
	case p.err != nil:
		return "it cannot be read any more: " + clean(app.Hint(p.err))
	case p.over:
		return "no line comes any more: it has ended, was handed over or purged"
	case p.who == "":
		return "reading the record; nothing is taken and nothing is written"
	}
	return "written by " + p.who + "; you only look"
}

func (p *follower) Keys() []Binding {
	k := p.e.keys
	return []Binding{k.TakeOver.When(p.e.mayTake), k.Down, k.Up, k.Bottom, k.Back}
}

// mayTake says why no case can be taken over here.
func (e env) mayTake() string {
	if e.readOnly {
		return "read-only: nothing is taken over"
	}
	return ""
}

func (p *follower) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case followMsg:
		if msg.page != p {
			return nil
		}
		for _, f := range msg.lines {
			if f.who != "" {
				p.who = f.who
			}
			if f.text != "" {
				p.lines = append(p.lines, f.text)
			}
		}
		if p.over, p.err = msg.over, msg.err; !msg.over {
			return p.listen()
		}
	case tea.KeyMsg:
		if p.e.keys.TakeOver.Is(msg) {
			if why := p.e.mayTake(); why != "" {
				return say(why)
			}
			return push(newTakeOver(p.e, p.id, "it is written by "+p.who))
		}
		p.off = scroll(p.e.keys, msg, p.off, p.last)
		p.stay = p.off < p.last
	}
	return nil
}

func (p *follower) View(w, h int) string {
	var out []string
	for _, l := range p.lines {
		for i, s := range wrap(l, w-3) {
			if i > 0 {
				s = "  " + s
			}
			out = append(out, " "+s)
		}
	}
	p.last = max(0, len(out)-h)
	if !p.stay {
		p.off = p.last
	}
	p.off = min(p.off, p.last)
	return strings.Join(out[p.off:], "\n")
}
