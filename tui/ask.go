package tui

import (
	"context"
	"fmt"
	"sync"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/secret"
)

// Asker asks for a secret where the person is: on the screen while there is one,
// otherwise by the function it was made with. It is safe for concurrent use.
type Asker struct {
	plain func(context.Context, string) (secret.Secret, error)

	mu     sync.Mutex
	screen chan question // nil: no screen
}

type question struct {
	what string
	got  chan secret.Secret // closed without a value: refused
}

// NewAsker makes an Asker; plain is used while no screen is up.
func NewAsker(plain func(context.Context, string) (secret.Secret, error)) *Asker {
	return &Asker{plain: plain}
}

// Ask asks for one secret. It fails with app.ErrNeeds where the person refuses.
func (a *Asker) Ask(ctx context.Context, what string) (secret.Secret, error) {
	a.mu.Lock()
	screen := a.screen
	a.mu.Unlock()
	if screen == nil {
		return a.plain(ctx, what)
	}
	q := question{clean(what), make(chan secret.Secret, 1)}
	select {
	case screen <- q:
	case <-ctx.Done():
		return secret.Secret{}, ctx.Err()
	}
	select {
	case s, ok := <-q.got:
		if !ok {
			return s, fmt.Errorf("%s: %w: not given", what, app.ErrNeeds)
		}
		return s, nil
	case <-ctx.Done():
		return secret.Secret{}, ctx.Err()
	}
}

// attach turns questions to a screen until the returned function is called.
func (a *Asker) attach() (<-chan question, func()) {
	c := make(chan question)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.screen = c
	return c, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.screen = nil
	}
}

// askMsg is a question that has reached the screen.
type askMsg struct{ q question }

// secretBox is the question on the screen: it lies over every page and takes every key.
type secretBox struct {
	q    question
	text field
}

// listenForQuestions waits for the next one.
func (e env) listenForQuestions() tea.Cmd {
	if e.questions == nil {
		return nil
	}
	return e.safe(func(ctx context.Context) tea.Msg {
		select {
		case q := <-e.questions:
			return askMsg{q}
		case <-ctx.Done():
			return nil
		}
	})
}

// key takes one key; done reports that the question is answered or refused.
func (b *secretBox) key(keys KeyMap, k tea.KeyMsg) (done bool) {
	switch {
	case keys.Back.Is(k):
		close(b.q.got)
		return true
	case k.Type == tea.KeyEnter:
		if b.text.text == "" {
			return false
		}
		b.q.got <- secret.New(b.text.text)
		b.text.text = ""
		return true
	}
	b.text.max = 4096
	b.text.key(k)
	return false
}

// bindings are the keys of the question, for the footer.
func (b *secretBox) bindings(keys KeyMap) []Binding {
	open, back := keys.Open, keys.Back
	open.Help, back.Help = "hand over", "refuse"
	return []Binding{open, back, typing()}
}

// view never shows a character of it, only how many there are.
func (b *secretBox) view(th Theme, w, h int) string {
	return box(th, []string{
		th.Title.Render(b.q.what),
		fmt.Sprintf("> %d characters, hidden", utf8.RuneCountInString(b.text.text)),
		th.Dim.Render(or(b.text.why, "enter hands it over, kept in memory alone; esc refuses")),
	}, min(w, 96), h)
}
