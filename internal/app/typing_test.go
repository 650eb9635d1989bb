package app

import (
	"context"
	"errors"
	"io"
	"testing"

	"cordon/internal/engine"
)

func TestWhatIsAskedEndsWithTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, keyboard := io.Pipe()
	t.Cleanup(func() { _ = keyboard.Close() })
	p := &Person{Ctx: ctx, In: in, Out: Lines{W: io.Discard}}
	type answer struct {
		d   engine.Decision
		err error
	}
	got := make(chan answer)
	ask := func() {
		d, err := p.Decide(engine.Prompt{N: 1, Kind: engine.Watch, Choices: []string{engine.Begin, engine.Stop}})
		got <- answer{d, err}
	}
	go ask()
	if _, err := io.WriteString(keyboard, "begin\n"); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.err != nil || a.d.Verb != engine.Begin {
		t.Fatalf("control: an answer is taken: %+v", a)
	}
	go ask()
	cancel()
	if a := <-got; !errors.Is(a.err, context.Canceled) {
		t.Errorf("interrupted at a prompt: %+v", a)
	}
}
