package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// The smallest screen that can be worked on.
const (
	minW = 60
	minH = 15
)

// model is the root: a stack of pages between a header and a footer.
type model struct {
	e      env
	stack  []page
	w, h   int
	said   string // one line until the next key
	filter keyFilter
	left   bool // quit was asked for
	secret *secretBox
	then   tea.Cmd // what to do first, beside the first page
	crash  string  // where the trace of a panic is
}

func newModel(e env, first page, then tea.Cmd) *model {
	return &model{e: e, stack: []page{first}, then: then}
}

func (m *model) top() page { return m.stack[len(m.stack)-1] }

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.Batch(m.top().Init(), m.then, m.e.listenForQuestions()) }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 {
			m.w, m.h = msg.Width, msg.Height
		}
		return m, nil
	case tea.KeyMsg:
		if !m.filter.pass(msg) {
			return m, nil
		}
		if m.tooSmall() && !m.e.keys.Leave.Is(msg) && !m.e.keys.Suspend.Is(msg) {
			return m, nil // nobody sees what it would do
		}
		m.said = ""
		if m.secret != nil && !m.e.keys.Leave.Is(msg) {
			if m.secret.key(m.e.keys, msg) {
				m.secret = nil
				return m, m.e.listenForQuestions()
			}
			return m, nil
		}
		var cmds []tea.Cmd
		for _, k := range keysOf(msg, m.top().Mode()) {
			// What is left of a text that is pasted as keys would go to the shell below.
			if m.e.keys.Quit.Is(k) && m.top().Mode() == Normal && (len(msg.Runes) > 1 || m.e.alone != nil && !m.e.alone()) {
				m.said = "q came together with other keys, so it does not leave: once more does"
				break
			}
			// The first key of a burst may have opened a dialog: the rest was not meant for it.
			if keysOf(k, m.top().Mode()) == nil || len(cmds) > 0 && m.top().Mode() != Normal && m.top().Mode() != Typing {
				break
			}
			cmds = append(cmds, m.key(k))
		}
		return m, tea.Batch(cmds...)
	case pushMsg:
		m.stack = append(m.stack, msg.page)
		return m, msg.page.Init()
	case popMsg:
		if len(m.stack) == 1 {
			m.said = "ctrl+c leaves cordon"
			return m, nil
		}
		m.stack = m.stack[:len(m.stack)-1]
		if s, ok := m.top().(shower); ok {
			return m, s.Shown()
		}
		return m, nil
	case sayMsg:
		m.said = clean(msg.text)
		return m, nil
	case askMsg:
		m.secret = &secretBox{q: msg.q}
		return m, nil
	case crashMsg:
		m.crash = msg.file
		return m, m.quit()
	case quitMsg:
		return m, m.quit()
	}
	return m, m.everyone(msg)
}

// everyone hands a message to every page, on the stack or kept on the desk: an answer
// may arrive while another page is on top.
func (m *model) everyone(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	seen := map[page]bool{}
	for _, p := range append(m.stack[:len(m.stack):len(m.stack)], m.e.desk.pages()...) {
		if !seen[p] {
			seen[p] = true
			cmds = append(cmds, p.Update(msg))
		}
	}
	return tea.Batch(cmds...)
}

func (m *model) quit() tea.Cmd {
	m.left = true
	return tea.Quit
}

// key handles the keys that mean the same everywhere and hands the others down.
func (m *model) key(k tea.KeyMsg) tea.Cmd {
	p, keys := m.top(), m.e.keys
	holds := p.Mode() != Normal
	if i, ok := p.(inner); ok && i.Holds() {
		holds = true
	}
	switch {
	case keys.Leave.Is(k):
		return m.quit()
	case keys.Suspend.Is(k) && !canSuspend():
		return say("there is no shell to go back to: nobody could wake cordon up again")
	case keys.Suspend.Is(k):
		return tea.Suspend
	case holds:
	case keys.Quit.Is(k):
		return m.quit()
	case keys.Back.Is(k):
		return pop
	case keys.Help.Is(k):
		return push(newHelp(m.e, p))
	}
	return p.Update(k)
}

// View implements tea.Model. The first call comes before any size is known.
func (m *model) View() string {
	th := m.e.th
	switch {
	case m.w == 0 || m.h == 0:
		return ""
	case m.tooSmall():
		text := fmt.Sprintf("%s\ntoo small: %dx%d\nneeds %dx%d\nctrl+c leaves\na case goes on", m.flags(), m.w, m.h, minW, minH)
		return bound(th, strings.TrimPrefix(text, "\n"), m.w, m.h)
	}
	body := bound(th, m.top().View(m.w, m.h-3), m.w, m.h-3)
	if m.secret != nil {
		body = over(th, strings.Split(body, "\n"), m.secret.view(th, m.w-2, m.h-4), m.w, m.h-3)
	}
	body += strings.Repeat("\n", m.h-4-strings.Count(body, "\n"))
	says := m.top().Hint()
	if m.secret != nil {
		says = "something below needs it; enter hands it over, esc refuses"
	}
	hint := th.Dim.Render(clip(th, " "+says, m.w))
	if m.said != "" {
		hint = th.Title.Render(clip(th, " "+m.said, m.w))
	}
	return strings.Join([]string{m.header(), body, hint, m.footer()}, "\n")
}

// tooSmall reports whether the page cannot be shown. Keys do nothing then, but for those
// that leave.
func (m *model) tooSmall() bool { return m.w > 0 && m.h > 0 && (m.w < minW || m.h < minH) }

// flags are the words that must be on every screen.
func (m *model) flags() string {
	var f []string
	if m.e.simulated {
		f = append(f, "SIMULATED")
	}
	if m.e.readOnly {
		f = append(f, "READ-ONLY")
	}
	return strings.Join(f, " ")
}

func (m *model) header() string {
	th, flags := m.e.th, m.flags()
	room := m.w
	if flags != "" {
		room -= len(flags) + 2
	}
	left := fit(th, " cordon  "+clean(m.top().Title()), room)
	if flags == "" {
		return th.Bar.Render(left)
	}
	return th.Bar.Render(left) + th.Alarm.Render(" "+flags+" ")
}

// footer shows as many keys as fit; ? and the way out are never dropped.
func (m *model) footer() string {
	th := m.e.th
	one := func(b Binding) string {
		if b.Off() != "" {
			return th.Off.Render("(" + b.Show + " " + b.Help + ")")
		}
		return th.Key.Render(b.Show) + " " + b.Help
	}
	tail, keys := "  "+one(m.e.keys.Help)+"  "+one(m.e.keys.Leave), m.top().Keys()
	if m.secret != nil {
		keys = m.secret.bindings(m.e.keys)
	}
	if m.secret != nil || m.top().Mode() != Normal {
		tail = "  " + one(m.e.keys.Leave)
	}
	line := ""
	for _, b := range keys {
		if s := "  " + one(b); ansi.StringWidth(line)+ansi.StringWidth(s)+ansi.StringWidth(tail) < m.w {
			line += s
		}
	}
	return clip(th, strings.TrimPrefix(line+tail, " "), m.w)
}
