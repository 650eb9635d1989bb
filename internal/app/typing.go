package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// typing reads what a person types, one line at each call and nothing ahead of it, so
// that a secret can be asked for in between.
type typing struct{ r *bufio.Reader }

// line reads one line, or fails with the error of ctx when that ends first. A read
// cannot be called off: the one that is left behind goes with the process.
func (t typing) line(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	type got struct {
		s   string
		err error
	}
	ch := make(chan got, 1)
	go func() {
		s, err := t.r.ReadString('\n')
		ch <- got{s, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case g := <-ch:
		if errors.Is(g.err, io.EOF) {
			return "", fmt.Errorf("%w: the terminal is gone; the case stays open", ErrNeeds)
		}
		return strings.TrimSpace(g.s), g.err
	}
}
