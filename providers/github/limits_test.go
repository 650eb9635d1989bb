package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	gh "github.com/google/go-github/v66/github"

	"cordon/internal/redact"
	"cordon/internal/transport"
	"cordon/providers"
)

// counting answers everything with the same and counts.
type counting struct {
	answer func() *http.Response
	asked  int
}

func (c *counting) RoundTrip(*http.Request) (*http.Response, error) {
	c.asked++
	return c.answer(), nil
}

// limitedTo says that of limit calls left remain until an hour from now, by a clock of
// GitHub's that is a day slow.
func limitedTo(status, limit, left int, body string) func() *http.Response {
	return limitedBy(-24*time.Hour, status, limit, left, body)
}

// limitedBy does so by a clock that is off by skew.
func limitedBy(skew time.Duration, status, limit, left int, body string) func() *http.Response {
	return func() *http.Response {
		now := time.Now().Add(skew)
		return say(status, map[string]string{
			"Date": now.UTC().Format(http.TimeFormat), "X-RateLimit-Limit": strconv.Itoa(limit), "X-RateLimit-Remaining": strconv.Itoa(left),
			"X-RateLimit-Reset": strconv.FormatInt(now.Add(time.Hour).Unix(), 10), "X-RateLimit-Resource": "core",
		}, body)
	}
}

const emptyList = `{"total_count":0,"runners":[]}`

func overCounting(t *testing.T, c *counting) *Provider {
	t.Helper()
	api, err := API("https://github.com")
	if err != nil {
		t.Fatal(err)
	}
	tr := transport.New(transport.Options{System: "gh", Base: api, Reads: Reads(), Next: c, Auth: Auth})
	p, err := New(Options{Name: "gh", URL: "https://github.com", Scopes: []string{"organization:acme"}, HTTP: tr, Marker: redact.NewMarker([]byte(random("")))})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestListsStopAtTheReserveAndContainmentDoesNot(t *testing.T) {
	ctx := context.Background()
	for left, stops := range map[int]bool{Reserve + 1: false, Reserve: true, 1: true, 0: true} {
		c := &counting{answer: limitedTo(200, 5000, left, emptyList)}
		p := overCounting(t, c)
		if _, err := p.look.get(ctx, "orgs/acme/actions/runners", nil); err != nil || c.asked != 1 {
			t.Fatalf("before anything is known: %v", err)
		}
		_, err := p.look.get(ctx, "orgs/acme/actions/runners", nil)
		if stops != errors.Is(err, providers.ErrLimited) || stops != (c.asked == 1) {
			t.Errorf("%d left: %v, %d on the wire", left, err, c.asked)
		}
		before := c.asked
		if _, err := p.act.get(ctx, "orgs/acme/actions/runners/23", nil); err != nil || c.asked != before+1 {
			t.Errorf("%d left, containment: %v", left, err)
		}
	}
}

// The credential for acting is asked who it is; its own limit is not the reserve's.
func TestTheCountOfAnotherTokenSaysNothingOfTheReserve(t *testing.T) {
	ctx := context.Background()
	c := &counting{answer: limitedTo(200, 5000, Reserve-50, `{"total_count":0,"runners":[],"login":"x"}`)}
	p := overCounting(t, c)
	held := func() bool { return errors.Is(p.limits.spare("GET x", "core"), providers.ErrLimited) }
	if _, err := p.look.get(ctx, "orgs/acme/actions/runners", nil); err != nil || !held() {
		t.Fatalf("control: the reserve is kept: %v, %v", err, held())
	}
	c.answer = limitedBy(-23*time.Hour, 200, 5000, 4990, `{"login":"x"}`)
	if _, err := p.act.get(transport.AsActing(ctx), "user", nil); err != nil || !held() {
		t.Errorf("an answer to another token frees the reserve: %v", err)
	}
	if _, err := p.act.get(ctx, "user", nil); err != nil || held() {
		t.Errorf("control: the same token's answer in another hour counts: %v", err)
	}
}

func TestTheGapOfAListThatStoppedSaysWhenTheLimitEnds(t *testing.T) {
	c := &counting{answer: limitedTo(200, 5000, 7, `{"total_count":900,"runners":[{"id":1,"name":"x","os":"linux","status":"online","busy":false,"labels":[]}]}`)}
	g := overCounting(t, c).listed(t)
	reset := time.Now().Add(-23 * time.Hour).UTC()
	why := g.gaps["pages 2 to 9 of runners of organization acme"]
	if c.asked != 1 || len(g.gaps) != 1 || !strings.Contains(why, "7 of 5000 calls are left until "+reset.Format("15:04 MST")) ||
		!strings.Contains(why, fmt.Sprintf("the last %d are kept for containment", Reserve)) {
		t.Errorf("%d on the wire, gaps %v", c.asked, g.gaps)
	}
}

func TestASmallLimitKeepsAFifthAndAnotherHourIsAnotherLimit(t *testing.T) {
	ctx := context.Background()
	c := &counting{answer: limitedTo(200, 60, 13, emptyList)}
	p := overCounting(t, c)
	for range 2 {
		if _, err := p.look.get(ctx, "user", nil); err != nil {
			t.Errorf("13 of 60 left: %v", err)
		}
	}
	c.answer = limitedTo(200, 60, 12, emptyList)
	_, _ = p.look.get(ctx, "user", nil)
	if _, err := p.look.get(ctx, "user", nil); !errors.Is(err, errKept) {
		t.Errorf("12 of 60 left: %v", err)
	}
	p.limits.by["core"] = known{rate: p.limits.by["core"].rate, until: p.clock.Now().Add(-time.Second)}
	if _, err := p.look.get(ctx, "user", nil); err != nil {
		t.Errorf("after the reset: %v", err)
	}
}

func TestEveryWayToSaySlowerIsTheLimitAndARefusalIsNot(t *testing.T) {
	used := `{"message":"API rate limit exceeded for user ID 1."}`
	for name, c := range map[string]struct {
		resp func() *http.Response
		kind error
		says string
	}{
		"primary as 403":             {limitedTo(403, 5000, 0, used), providers.ErrLimited, "the 5000 calls of this hour are used up"},
		"primary as 429":             {limitedTo(429, 5000, 0, used), providers.ErrLimited, "the 5000 calls of this hour are used up"},
		"secondary as 403, by words": {slower[4], providers.ErrLimited, "wait a minute"},
		"secondary as 429":           {slower[3], providers.ErrLimited, "wait a minute"},
		"secondary with a wait": {
			func() *http.Response { return say(403, map[string]string{"Retry-After": "90"}, `{}`) }, providers.ErrLimited, "asks to wait 1m30s",
		},
		"a permission": {
			func() *http.Response {
				return say(403, map[string]string{"X-Accepted-GitHub-Permissions": "organization_self_hosted_runners=read"}, `{"message":"Resource not accessible by personal access token"}`)
			}, providers.ErrForbidden, "the token lacks a permission; it needs organization_self_hosted_runners=read",
		},
		"a scope": {
			func() *http.Response {
				return say(403, map[string]string{"X-OAuth-Scopes": "repo, read:org", "X-Accepted-OAuth-Scopes": "admin:org"}, `{"message":"Must have admin rights to Repository."}`)
			}, providers.ErrForbidden, "only somebody with admin rights there may do this; it needs the scope admin:org",
		},
		"hidden for want of a scope": {
			func() *http.Response {
				return say(404, map[string]string{"X-OAuth-Scopes": "repo", "X-Accepted-OAuth-Scopes": "admin:org, manage_runners:org"}, `{"message":"Not Found"}`)
			}, providers.ErrNotFound, "it needs the scope admin:org or manage_runners:org",
		},
		"single sign-on": {
			func() *http.Response {
				return say(403, map[string]string{"X-GitHub-SSO": "required; url=https://elsewhere.invalid/sso"}, `{"message":"Resource protected by organization SAML enforcement."}`)
			}, providers.ErrForbidden, "authorize this token",
		},
		"a permission with calls left": {limitedTo(403, 5000, 4000, `{"message":"Resource not accessible by integration"}`), providers.ErrForbidden, "lacks a permission"},
	} {
		_, err := overCounting(t, &counting{answer: c.resp}).act.get(context.Background(), "orgs/acme/actions/runners", nil)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "elsewhere.invalid") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// go-github v66 refuses calls by itself after an answer that said that none are left, and
// after a secondary limit; no client of this package may.
func TestTheLibrarysOwnBlockDoesNotReachAnyClient(t *testing.T) {
	for name, resp := range map[string]func() *http.Response{
		"primary":             limitedBy(0, 403, 5000, 0, `{"message":"API rate limit exceeded"}`),
		"none left, answered": limitedBy(0, 200, 5000, 0, emptyList),
		"secondary": func() *http.Response {
			return say(403, map[string]string{"Retry-After": "3600"}, `{"message":"slow","documentation_url":"https://docs.github.com/rest#secondary-rate-limits"}`)
		},
	} {
		c := &counting{answer: resp}
		p := overCounting(t, c)
		stock := gh.NewClient(&http.Client{Transport: c})
		for range 2 {
			_, _ = stock.Actions.RemoveOrganizationRunner(context.Background(), "acme", 23)
		}
		if c.asked != 1 {
			t.Fatalf("control, %s: the library asks %d times, so it does not block itself", name, c.asked)
		}
		c.asked = 0
		for range 3 {
			_, _ = p.act.get(context.Background(), "orgs/acme/actions/runners/23", nil)
			_, _, _ = p.changes.Actions.GetOrganizationRunner(context.Background(), "acme", 23)
		}
		if c.asked != 6 {
			t.Errorf("%s: %d of 6 reached the wire", name, c.asked)
		}
	}
}
