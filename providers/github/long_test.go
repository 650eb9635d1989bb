package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/redact"
	"cordon/internal/transport"
	"cordon/providers"
)

// long is the list of one organization with n runners, made as it is asked for, below the
// transport: no socket, so that waits are on a test's own clock.
type long struct {
	mu    sync.Mutex
	n     int                                // ids 1 to n
	from  int                                // the first id that is still there, less one
	total func(page int) int                 // nil: n - from
	thin  bool                               // a page has one runner
	link  string                             // address in Link; "": of the service itself
	fault func(page, try int) *http.Response // nil, or what is answered instead
	after func(page int)                     // called when a page was answered
	tries map[int]int
	asked int
	delay time.Duration
	now   int // requests that are under way
	most  int
}

func say(status int, header map[string]string, body string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for k, v := range header {
		h.Set(k, v)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), ProtoMajor: 1, ProtoMinor: 1}
}

func (l *long) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	l.now++
	l.most = max(l.most, l.now)
	l.mu.Unlock()
	time.Sleep(l.delay) // where a test has a clock of its own: lets those that may run beside it begin
	l.mu.Lock()
	defer func() { l.now--; l.mu.Unlock() }()
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	if !strings.HasSuffix(r.URL.Path, "/actions/runners") {
		return say(404, nil, `{"message":"Not Found"}`), nil
	}
	if l.tries == nil {
		l.tries = map[int]int{}
	}
	l.asked++
	l.tries[page]++
	if l.fault != nil {
		if resp := l.fault(page, l.tries[page]); resp != nil {
			return resp, nil
		}
	}
	total := l.n - l.from
	if l.total != nil {
		total = l.total(page)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"total_count":%d,"runners":[`, total)
	first := l.from + (page-1)*perPage + 1
	for id := first; id < first+perPage && id <= l.n && (!l.thin || id == first); id++ {
		if id > first {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"build-%d","os":"linux","status":"online","busy":false,"ephemeral":true,"labels":[{"id":1,"name":"self-hosted","type":"read-only"},{"id":0,"name":"gpu","type":"custom"}]}`, id, id)
	}
	b.WriteString("]}")
	h := map[string]string{}
	if first+perPage <= l.n {
		at := l.link
		if at == "" {
			at = "https://github.example.org" + r.URL.Path
		}
		h["Link"] = fmt.Sprintf(`<%s?per_page=100&page=%d>; rel="next"`, at, page+1)
	}
	resp := say(200, h, b.String())
	if l.after != nil {
		l.after(page)
	}
	return resp, nil
}

func (l *long) provider(t testing.TB) *Provider {
	t.Helper()
	api, err := API("https://github.example.org")
	if err != nil {
		t.Fatal(err)
	}
	tr := transport.New(transport.Options{System: "gh", Base: api, Reads: Reads(), Next: l, Auth: Auth})
	p, err := New(Options{Name: "gh", URL: "https://github.example.org", Scopes: []string{"organization:acme"}, HTTP: tr, Marker: redact.NewMarker([]byte(random("")))})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// got is what a list came to.
type got struct {
	ids   idSet
	twice int
	gaps  map[string]string
}

func (p *Provider) listed(t testing.TB) got {
	t.Helper()
	g := got{gaps: map[string]string{}}
	err := p.Runners(context.Background(), func(pg providers.Page) error {
		for _, r := range pg.Runners {
			if id, _ := strconv.ParseInt(r.Ref.ID, 10, 64); !g.ids.add(id) {
				g.twice++
			}
		}
		if pg.Gap != nil {
			g.gaps[pg.Gap.Name] = pg.Gap.Why
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g got) has(from, to int64) bool {
	for id := from; id <= to; id++ {
		if g.ids.words[id>>6]&(1<<(id&63)) == 0 {
			return false
		}
	}
	return true
}
