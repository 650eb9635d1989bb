package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cordon/providers"
	"cordon/providers/providertest"
)

// soft is how many of slower say that the next request may come at once, or after the
// second that the transport waits.
const soft = 3

// slower are the ways in which GitHub says that it wants fewer requests.
var slower = []func() *http.Response{
	func() *http.Response {
		return say(429, map[string]string{"Retry-After": "0"}, `{"message":"slow down"}`)
	},
	func() *http.Response {
		return say(429, map[string]string{"Retry-After": "1"}, `{"message":"slow down"}`)
	},
	func() *http.Response {
		return say(403, map[string]string{"Retry-After": "1"}, `{"message":"You have exceeded a secondary rate limit"}`)
	},
	func() *http.Response { return say(429, nil, `{"message":"slow down"}`) },
	func() *http.Response {
		return say(403, nil, `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`)
	},
}

func TestTenThousandRunnersWithAQuarterLimitedAndAPageThatFailsThreeTimes(t *testing.T) {
	t.Parallel()
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			limited := 0
			l := &long{n: 10000, fault: func(page, try int) *http.Response {
				switch {
				case page == 37 && try <= 3:
					return say(502, nil, `{}`)
				case rnd.IntN(4) == 0:
					limited++
					return slower[rnd.IntN(soft)]()
				}
				return nil
			}}
			g := l.provider(t).listed(t)
			if limited < l.asked/6 {
				t.Fatalf("control: %d of %d answers were limited", limited, l.asked)
			}
			if g.twice != 0 {
				t.Errorf("%d came twice", g.twice)
			}
			accounted(t, g, 10000)
			t.Logf("seed %d: %d requests, %d limited, %d runners, gaps %v", seed, l.asked, limited, g.ids.n, g.gaps)
		})
	}
}

// accounted checks that every runner of n is listed or on a page that a gap names.
func accounted(t *testing.T, g got, n int) {
	t.Helper()
	gone := map[int]bool{}
	for name := range g.gaps {
		var from, to int
		if _, err := fmt.Sscanf(name, "pages %d to %d of runners of organization acme", &from, &to); err != nil {
			if _, err := fmt.Sscanf(name, "page %d of runners of organization acme", &from); err != nil {
				t.Errorf("a gap that names no page: %s", name)
			}
			to = from
		}
		for ; from <= to; from++ {
			gone[from] = true
		}
	}
	for page := 1; page <= n/perPage; page++ {
		if here := g.has(int64(page-1)*perPage+1, int64(page)*perPage); here == gone[page] {
			t.Errorf("page %d: listed %v, named as missing %v", page, here, gone[page])
		}
	}
}

func TestAPageThatStaysBrokenIsAGapWithItsNameAndTheOthersAreListed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &long{n: 1000, fault: func(page, _ int) *http.Response {
			if page == 4 {
				return say(502, nil, `{}`)
			}
			return nil
		}}
		g := l.provider(t).listed(t)
		why := g.gaps["page 4 of runners of organization acme"]
		if len(g.gaps) != 1 || !strings.Contains(why, "HTTP 502") || g.ids.n != 900 || l.tries[4] != 6 {
			t.Errorf("%d listed, gaps %v, asked %d times", g.ids.n, g.gaps, l.tries[4])
		}
		l = &long{n: 1000, fault: func(page, try int) *http.Response {
			if page == 4 && try < 6 {
				return say(502, nil, `{}`)
			}
			return nil
		}}
		if g := l.provider(t).listed(t); len(g.gaps) != 0 || g.ids.n != 1000 {
			t.Errorf("it recovers the last time: %d listed, gaps %v", g.ids.n, g.gaps)
		}
	})
}

func TestAListGivesUpWhenGitHubSaysSlowerThreeTimesInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &long{n: 10000, fault: func(page, _ int) *http.Response {
			if page > 10 {
				return slower[1]()
			}
			return nil
		}}
		g := l.provider(t).listed(t)
		accounted(t, g, 10000)
		if g.ids.n != 1000 || l.asked > 20 {
			t.Errorf("%d listed, %d requests, gaps %v", g.ids.n, l.asked, g.gaps)
		}
	})
}

func TestPagesAreReadFourAtATimeAndNeverMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &long{n: 3000, delay: time.Second}
		began := time.Now()
		g := l.provider(t).listed(t)
		if g.ids.n != 3000 || l.most != 4 || l.asked != 30 || time.Since(began) != 9*time.Second {
			t.Errorf("%d listed, %d at a time, %d requests in %s", g.ids.n, l.most, l.asked, time.Since(began))
		}
	})
}

func TestLinkIsNeverFollowedToAnotherHost(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached++
		_, _ = io.WriteString(w, `{"total_count":1,"runners":[{"id":666,"name":"planted","labels":[]}]}`)
	}))
	defer other.Close()
	for _, link := range []string{other.URL + "/orgs/acme/actions/runners", other.URL + "/api/v3/orgs/acme/actions/runners", "//" + strings.TrimPrefix(other.URL, "http://") + "/x"} {
		l := &long{n: 450, link: link}
		if g := l.provider(t).listed(t); g.ids.n != 450 || len(g.gaps) != 0 || !g.has(1, 450) {
			t.Errorf("%d listed, gaps %v", g.ids.n, g.gaps)
		}
	}
	resp, err := http.Get(other.URL)
	if err != nil || reached != 1 {
		t.Fatalf("control: the other host counts %d, %v", reached, err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

func TestAListThatShiftsWhileItIsReadIsReadAgain(t *testing.T) {
	t.Parallel()
	once := true
	l := &long{n: 950}
	l.after = func(page int) { // runner 1 goes away after page 1: what was 101 is now on page 1, which was read
		if page == 1 && once {
			once, l.from = false, 1
		}
	}
	g := l.provider(t).listed(t)
	if len(g.gaps) != 0 || !g.has(1, 950) || g.twice != 0 {
		t.Errorf("%d listed, 101 among them: %v, gaps %v", g.ids.n, g.has(101, 101), g.gaps)
	}

	l = &long{n: 950} // it goes on shifting
	l.after = func(page int) {
		if page == 1 {
			l.from++
		}
	}
	g = l.provider(t).listed(t)
	if len(g.gaps) != 1 { // it moved, or is too short, by which page was first
		t.Errorf("gaps %v", g.gaps)
	}

	l = &long{n: 5000} // too long to be read twice
	l.after = func(page int) {
		if page == 1 {
			l.from = 1
		}
	}
	g = l.provider(t).listed(t)
	if why := g.gaps["runners of organization acme that moved between pages"]; !strings.Contains(why, "changed while it was read") || l.asked > 51 {
		t.Errorf("gaps %v after %d requests", g.gaps, l.asked)
	}
}

func TestACountThatIsNotWhatIsListedIsAGap(t *testing.T) {
	t.Parallel()
	always := func(n int) func(int) int { return func(int) int { return n } }
	l := &long{n: 300, total: always(500)}
	g := l.provider(t).listed(t)
	if why := g.gaps["200 of the runners of organization acme"]; !strings.Contains(why, "counts 500") || g.ids.n != 300 {
		t.Errorf("more than there are: %d listed, gaps %v", g.ids.n, g.gaps)
	}
	l = &long{n: 300, total: always(100)}
	g = l.provider(t).listed(t)
	if why := g.gaps["runners of organization acme beside the 100 that are counted"]; !strings.Contains(why, "listed 300") || g.ids.n != 300 {
		t.Errorf("less than there are: %d listed, gaps %v", g.ids.n, g.gaps)
	}
	l = &long{n: 300, total: always(1 << 30)}
	if g = l.provider(t).listed(t); g.ids.n != 300 || len(g.gaps) != 1 || l.asked > 8 {
		t.Errorf("absurd: %d listed, %d requests, gaps %v", g.ids.n, l.asked, g.gaps)
	}
	l = &long{n: 300, total: always(-1)}
	if g = l.provider(t).listed(t); g.ids.n != 0 || len(g.gaps) != 1 {
		t.Errorf("below nothing: %d listed, gaps %v", g.ids.n, g.gaps)
	}
	l = &long{n: 1 << 30, total: always(1 << 30), thin: true} // never ends
	g = l.provider(t).listed(t)
	if why := g.gaps["the rest of the runners of organization acme"]; !strings.Contains(why, "there are more") || l.asked != maxPages {
		t.Errorf("%d requests, gaps %v", l.asked, g.gaps)
	}
}

func TestARunnerTwiceInAListComesOnce(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"organization:acme", "organization:ACME"} })
	if g := l.listed(t); g.ids.n != 3 || g.twice != 0 || len(g.gaps) != 0 {
		t.Errorf("%+v", g)
	}
}

func TestTheListStopsWithYieldsErrorAndWithItsContext(t *testing.T) {
	l := &long{n: 10000}
	p := l.provider(t)
	enough := errors.New("enough")
	if err := p.Runners(context.Background(), func(providers.Page) error { return enough }); !errors.Is(err, enough) || l.asked != 1 {
		t.Errorf("%v after %d requests", err, l.asked)
	}
	ctx, cancel := context.WithCancel(context.Background())
	pages := 0
	err := p.Runners(ctx, func(providers.Page) error {
		if pages++; pages == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || pages > 3+parallel {
		t.Errorf("%v after %d pages", err, pages)
	}
}

// peak is the largest heap while a list of n is read by somebody who keeps nothing.
func peak(t *testing.T, n int) uint64 {
	l := &long{n: n}
	p := l.provider(t)
	var most uint64
	pages := 0
	err := p.Runners(context.Background(), func(pg providers.Page) error {
		if pages++; pages%10 == 0 || pages == n/perPage {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		return nil
	})
	if err != nil || pages != n/perPage {
		t.Fatalf("%d pages, %v", pages, err)
	}
	return most
}

func TestTenTimesTheRunnersNeedNotMuchMoreMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement, which the other passes make")
	}
	peak(t, 1000) // what is made once
	small, large := peak(t, 2000), peak(t, 20000)
	if large > small*13/10 {
		t.Errorf("%d bytes at 2,000 runners, %d at 20,000", small, large)
	}
	t.Logf("%d KiB at 2,000 runners, %d KiB at 20,000", small>>10, large>>10)
}

func TestWaitsOfAListAreThoseOfTheTransportAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &long{n: 1000, fault: func(page, try int) *http.Response {
			if page == 5 {
				return say(429, map[string]string{"Retry-After": "60"}, `{}`)
			}
			return nil
		}}
		began := time.Now()
		g := l.provider(t).listed(t)
		if d := time.Since(began); d != 0 || len(g.gaps) == 0 || l.tries[5] != 1 {
			t.Errorf("waited %s, gaps %v, page 5 was asked for %d times", d, g.gaps, l.tries[5])
		}
	})
}

// Going on while GitHub asks for a pause may get the credential blocked, for containment
// too: what is under way ends, nothing more is sent by any list, and later all of it is.
func TestNothingIsSentWhileGitHubAsksForAPause(t *testing.T) {
	for name, pause := range map[string]func() *http.Response{
		"a named time": func() *http.Response { return say(429, map[string]string{"Retry-After": "60"}, `{}`) },
		"no time":      slower[3],
		"by words":     slower[4],
	} {
		synctest.Test(t, func(t *testing.T) {
			over := false
			l := &long{n: 5000, fault: func(page, _ int) *http.Response {
				if page == 3 && !over {
					return pause()
				}
				return nil
			}}
			p := l.provider(t)
			g := p.listed(t)
			accounted(t, g, 5000)
			asked := l.asked
			if asked > 1+parallel {
				t.Errorf("%s: %d requests went on after it", name, asked)
			}
			if again := p.listed(t); l.asked != asked || len(again.gaps) == 0 {
				t.Errorf("%s: another list sent %d requests", name, l.asked-asked)
			}
			over = true
			time.Sleep(61 * time.Second)
			if g := p.listed(t); len(g.gaps) != 0 || g.ids.n != 5000 {
				t.Errorf("%s: after the pause %d came, gaps %v", name, g.ids.n, g.gaps)
			}
		})
	}
}
