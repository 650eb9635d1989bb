package providertest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Sent is one request that reached the service.
type Sent struct {
	Method, URI, Body string
	Changing          bool
}

// Wire stands before a fake service, records what arrives and what is answered, and
// answers in its place when it is told to. It is safe for concurrent use.
type Wire struct {
	Service http.Handler
	// Changing says which requests are changes; nil: every method but GET.
	Changing func(*http.Request) bool

	mu       sync.Mutex
	sent     []Sent
	answered bytes.Buffer
	arrival  chan struct{}
	answer   *Answer
	only     func(Sent) bool
}

// Answer is a hostile one.
type Answer struct {
	Name   string
	Status int
	Media  string
	Body   string
	Huge   bool // a body without an end
	Silent bool // none at all
	Late   bool // the service does its work first, and the answer is lost
}

// Hostile makes the wire answer a to every request that only selects; nil heals it.
func (w *Wire) Hostile(a *Answer, only func(Sent) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer, w.only = a, only
}

// Everything and Changes select requests for Hostile.
func Everything(Sent) bool { return true }

// Changes selects changes.
func Changes(s Sent) bool { return s.Changing }

// Sent returns what arrived so far.
func (w *Wire) Sent() []Sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Sent(nil), w.sent...)
}

// Changes returns the changes among what arrived.
func (w *Wire) Changes() []Sent {
	var out []Sent
	for _, s := range w.Sent() {
		if s.Changing {
			out = append(out, s)
		}
	}
	return out
}

// Arrival is closed when the next request arrives.
func (w *Wire) Arrival() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.arrival == nil {
		w.arrival = make(chan struct{})
	}
	return w.arrival
}

// Answered returns every byte that was answered so far.
func (w *Wire) Answered() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answered.String()
}

// ServeHTTP implements http.Handler.
func (w *Wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	s := Sent{Method: r.Method, URI: r.URL.RequestURI(), Body: string(body), Changing: r.Method != http.MethodGet}
	if w.Changing != nil {
		s.Changing = w.Changing(r)
	}
	w.mu.Lock()
	w.sent = append(w.sent, s)
	if w.arrival != nil {
		close(w.arrival)
		w.arrival = nil
	}
	a := w.answer
	if a != nil && !w.only(s) {
		a = nil
	}
	w.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case a == nil:
		w.Service.ServeHTTP(&tee{rw, w}, r)
		return
	case a.Late:
		w.Service.ServeHTTP(&nowhere{header: http.Header{}}, r)
	case a.Silent:
		<-r.Context().Done()
		return
	}
	a.write(&tee{rw, w}, r)
}

func (a *Answer) write(rw http.ResponseWriter, r *http.Request) {
	if a.Media != "" {
		rw.Header().Set("Content-Type", a.Media)
	}
	rw.WriteHeader(a.Status)
	if !a.Huge {
		_, _ = io.WriteString(rw, a.Body)
		return
	}
	chunk := []byte(strings.Repeat(" ", 32<<10))
	for r.Context().Err() == nil {
		if _, err := rw.(*tee).ResponseWriter.Write(chunk); err != nil {
			return
		}
	}
}

// tee keeps what is answered.
type tee struct {
	http.ResponseWriter
	w *Wire
}

func (t *tee) Write(b []byte) (int, error) {
	t.w.mu.Lock()
	t.w.answered.Write(b)
	t.w.mu.Unlock()
	return t.ResponseWriter.Write(b)
}

// nowhere takes an answer that is lost.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n *nowhere) WriteHeader(int)             {}
