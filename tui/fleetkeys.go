package tui

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/target"
	"cordon/tui/table"
)

// Mode implements page.
func (p *fleetPage) Mode() Mode {
	if p.typing {
		return Typing
	}
	return Normal
}

// Holds keeps esc while there is a filter or a selection to give up first.
func (p *fleetPage) Holds() bool { return p.line.text != "" || len(p.tab.Selected()) > 0 }

// Keys implements page.
func (p *fleetPage) Keys() []Binding {
	k := p.e.keys
	if p.typing {
		open := k.Open
		open.Help = "keep"
		back := k.Back
		back.Help = "no filter"
		return []Binding{open, back, typing()}
	}
	back := k.Back
	switch {
	case p.line.text != "":
		back.Help = "no filter"
	case len(p.tab.Selected()) > 0:
		back.Help = "unselect"
	}
	return []Binding{
		k.Open.When(p.noRow), k.Contain.When(p.cannotContain), k.Filter, k.Sort, k.Select.When(p.noRow),
		k.Details.When(p.noDetails), k.Again.When(p.isListing), back, k.Copy.When(p.noRow), k.Down,
	}
}

// item is the row under the cursor, nil on an empty list.
func (p *fleetPage) item() *fleetItem {
	i := p.tab.Row()
	if i < 0 {
		return nil
	}
	return &p.tab.Source().(*fleetList).items[i]
}

func (p *fleetPage) noRow() string {
	if p.tab.Len() == 0 {
		return "there is no row here"
	}
	return ""
}

func (p *fleetPage) isListing() string {
	if p.listing {
		return "the providers are being read"
	}
	return ""
}

func (p *fleetPage) cannotContain() string {
	it := p.item()
	switch {
	case it == nil:
		return "there is no row here"
	case it.Runner.Ref.IsZero():
		return "no provider lists a runner for this installation: enter opens its host"
	case len(p.tab.Selected()) > 1:
		return fmt.Sprintf("a case is about one runner and %d are selected: esc gives the selection back", len(p.tab.Selected()))
	}
	return ""
}

func (p *fleetPage) key(k tea.KeyMsg) tea.Cmd {
	if p.typing {
		return p.filterKey(k)
	}
	keys := p.e.keys
	unless := func(why string, do func() tea.Cmd) tea.Cmd {
		if why != "" {
			return say(why)
		}
		return do()
	}
	switch {
	case keys.Back.Is(k):
		return p.back()
	case keys.Quit.Is(k): // comes here while the page holds
		return quit
	case keys.Help.Is(k):
		return push(newHelp(p.e, p))
	case keys.Filter.Is(k):
		p.typing = true
	case keys.Sort.Is(k):
		p.sort = p.tab.NextSort(p.sort)
		return p.arrange(true)
	case keys.SortBack.Is(k):
		p.sort.Desc = !p.sort.Desc
		return p.arrange(true)
	case keys.Select.Is(k):
		p.tab.Toggle()
	case keys.SelectAll.Is(k):
		p.tab.ToggleAll()
	case keys.Columns.Is(k):
		return say(p.columns())
	case keys.Details.Is(k):
		return unless(p.noDetails(), p.readDetails)
	case keys.Again.Is(k):
		return unless(p.isListing(), p.read)
	case keys.Open.Is(k):
		return unless(p.noRow(), p.open)
	case keys.Contain.Is(k):
		return unless(p.cannotContain(), func() tea.Cmd { return contain(p.e, p.item().Runner.Ref) })
	case keys.Copy.Is(k):
		return unless(p.noRow(), p.copyRefs)
	case keys.Web.Is(k):
		return unless(p.noRow(), p.copyWeb)
	default:
		move(p.tab, keys, k)
	}
	return nil
}

// move moves the cursor of a table by the keys of lists.
func move(t *table.Table, keys KeyMap, k tea.KeyMsg) {
	switch {
	case keys.Down.Is(k):
		t.Move(1)
	case keys.Up.Is(k):
		t.Move(-1)
	case keys.HalfDown.Is(k):
		t.HalfPage(1)
	case keys.HalfUp.Is(k):
		t.HalfPage(-1)
	case keys.Top.Is(k):
		t.Top()
	case keys.Bottom.Is(k):
		t.Bottom()
	}
}

// back gives up the filter, then the selection, then the page.
func (p *fleetPage) back() tea.Cmd {
	switch {
	case p.line.text != "":
		p.line.text = ""
		return p.refilter()
	case len(p.tab.Selected()) > 0:
		p.tab.Clear()
		return nil
	}
	return pop
}

func (p *fleetPage) columns() string {
	hid := p.tab.HiddenColumns()
	if len(hid) == 0 {
		return "every column is shown"
	}
	return "no room at this width for: " + strings.Join(hid, ", ") + "; a card has them all"
}

func (p *fleetPage) open() tea.Cmd {
	it := p.item()
	if it.Runner.Ref.IsZero() {
		return push(newHostCard(p.e, it.Installations[0].Host))
	}
	return push(newCard(p.e, it.Runner.Ref.String()))
}

// contain goes to the runner's open case, or opens one; where several are open it asks
// which. Nothing outside is changed by it. The hosts are those that its provider does not
// name; the tour knows that of its alert.
func contain(e env, ref target.Ref, hosts ...string) tea.Cmd {
	if e.demo != nil && e.demo.Ref == ref.String() && len(hosts) == 0 {
		hosts = e.demo.Hosts
	}
	return e.safe(func(context.Context) tea.Msg {
		open, err := e.aboutOf(ref)
		if err != nil {
			return sayMsg{app.Hint(err)}
		}
		begin := openCase(e, ref.String(), app.CaseSpec{Dry: e.readOnly, Hosts: hosts})
		switch len(open) {
		case 0:
			return begin()
		case 1:
			return resumeCase(e, open[0].ID)()
		}
		return pushMsg{newAlready(e, ref.String(), open, begin)}
	})
}

func (p *fleetPage) copyRefs() tea.Cmd {
	if ids := p.tab.Selected(); len(ids) > 0 {
		return p.e.copy(strings.Join(ids, "\n"))
	}
	return p.e.copy(p.item().id)
}

func (p *fleetPage) copyWeb() tea.Cmd {
	w := p.item().Runner.Web
	if w == "" {
		return say("its page is not known from the list: enter reads the runner")
	}
	return p.e.copy(clean(w))
}
