package github

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// budget is how many requests a credential has in an hour of lab time.
const budget = 5000

// Trouble is what the control API asks for: the next Times requests (or every Every-th
// of them) that fit Who and Path are not served. Kind is primary, secondary or empty
// for a plain Status.
type Trouble struct {
	Who        string `json:"who"`    // kind of credential; "" means all
	Path       string `json:"path"`   // part of the path; "" means all
	Method     string `json:"method"` // "" means all
	Kind       string `json:"kind"`
	Status     int    `json:"status"`
	Times      int    `json:"times"`
	Every      int    `json:"every"`
	RetryAfter int    `json:"retry_after"` // seconds; 0: the header is left out
	seen       int
}

// Make adds one; without Times and Every it takes all of them away.
func (s *Server) Make(t Trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Times == 0 && t.Every == 0 {
		s.trouble = nil
		return
	}
	s.trouble = append(s.trouble, &t)
}

// Spend leaves a credential with so many requests until its hour is over.
func (s *Server) Spend(who string, remaining int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.creds {
		if c.kind == who {
			s.turn(c)
			c.used = budget - remaining
		}
	}
}

// turn starts a credential's new hour where one is due.
func (s *Server) turn(c *cred) {
	if now := s.clock.Now(); now.Sub(c.hour) >= time.Hour {
		c.hour, c.used = now, 0
	}
}

// limited counts the request and answers where it is one too many, or where trouble
// was asked for. What costs nothing is counted as nothing.
func (s *Server) limited(w http.ResponseWriter, r *http.Request, c *cred, free bool) bool {
	s.turn(c)
	if !free && c.used < budget {
		c.used++
	} else if !free {
		s.rateHeaders(w.Header(), c, 0)
		s.exceeded(w, c, http.StatusForbidden)
		return true
	}
	s.rateHeaders(w.Header(), c, budget-c.used)
	for _, t := range s.trouble {
		if t.strikes(r, c) {
			s.strike(w, c, t)
			return true
		}
	}
	return false
}

func (t *Trouble) strikes(r *http.Request, c *cred) bool {
	if t.Who != "" && t.Who != c.kind || t.Method != "" && t.Method != r.Method || !strings.Contains(r.URL.RequestURI(), t.Path) {
		return false
	}
	t.seen++
	if t.Every > 0 {
		return t.seen%t.Every == 0
	}
	return t.seen <= t.Times
}

func (s *Server) strike(w http.ResponseWriter, c *cred, t *Trouble) {
	status := t.Status
	if status == 0 {
		status = http.StatusForbidden
	}
	if t.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(t.RetryAfter))
	}
	switch t.Kind {
	case "primary":
		s.rateHeaders(w.Header(), c, 0)
		s.exceeded(w, c, status)
	case "secondary":
		answer(w, status, map[string]string{
			"message":           "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
			"documentation_url": "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits",
			"status":            strconv.Itoa(status),
		})
	default:
		fail(w, status, http.StatusText(status))
	}
}

func (s *Server) exceeded(w http.ResponseWriter, c *cred, status int) {
	answer(w, status, map[string]string{
		"message":           "API rate limit exceeded for user ID " + strconv.Itoa(accountID(c.login)) + ".",
		"documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api", "status": strconv.Itoa(status),
	})
}

func (s *Server) rateHeaders(h http.Header, c *cred, remaining int) {
	h.Set("X-Ratelimit-Limit", strconv.Itoa(budget))
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(remaining))
	h.Set("X-Ratelimit-Used", strconv.Itoa(budget-remaining))
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(c.hour.Add(time.Hour).Unix(), 10))
	h.Set("X-Ratelimit-Resource", "core")
}

// rateLimit answers GET /rate_limit, which costs nothing.
func (s *Server) rateLimit(c *call) {
	core := map[string]any{"limit": budget, "remaining": budget - c.who.used, "used": c.who.used, "reset": c.who.hour.Add(time.Hour).Unix()}
	search := map[string]any{"limit": 30, "remaining": 30, "used": 0, "reset": c.who.hour.Add(time.Hour).Unix()}
	c.json(http.StatusOK, map[string]any{"resources": map[string]any{"core": core, "search": search}, "rate": core})
}
