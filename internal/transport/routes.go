package transport

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Route is one read. Pattern is a path below Base, its segments literal or {name}: a
// name that is "id" or ends in "_id" takes decimal digits, any other takes one escaped
// segment ("acme%2Fweb"). Query lists the keys that may be present, once each; any
// other key makes the request not this read. Body is the exact body of a read by POST,
// byte for byte; empty: there must be none.
type Route struct {
	Method  string
	Pattern string
	Query   []string
	Body    string
}

// inside refuses everything that would not go to the service, and every path that
// two servers could read differently.
func (t *Transport) inside(req *http.Request) error {
	b, u := t.o.Base, req.URL
	switch {
	case b == nil || b.Host == "" || b.Scheme != "https" && b.Scheme != "http":
		return fmt.Errorf("%w: the service has no usable base address", ErrElsewhere)
	case u.User != nil:
		return fmt.Errorf("%w: user information in the address", ErrElsewhere)
	case !strings.EqualFold(u.Scheme, b.Scheme) || !strings.EqualFold(u.Host, b.Host):
		return fmt.Errorf("%w: another scheme or host", ErrElsewhere)
	case req.Host != "" && !strings.EqualFold(req.Host, b.Host):
		return fmt.Errorf("%w: another Host header", ErrElsewhere)
	case u.Fragment != "" || u.Opaque != "":
		return fmt.Errorf("%w: odd address", ErrElsewhere)
	}
	rest, ok := t.below(u)
	if !ok || !plainPath(rest) {
		return fmt.Errorf("%w: another or an ambiguous path", ErrElsewhere)
	}
	return nil
}

// below is the escaped path under Base, starting with a slash.
func (t *Transport) below(u *url.URL) (string, bool) {
	base := strings.TrimRight(t.o.Base.EscapedPath(), "/")
	rest, ok := strings.CutPrefix(u.EscapedPath(), base)
	return rest, ok && strings.HasPrefix(rest, "/")
}

// plainPath reports whether no segment, decoded, can climb, hide or be decoded again.
func plainPath(p string) bool {
	for seg := range strings.SplitSeq(p[1:], "/") {
		s, err := url.PathUnescape(seg)
		if err != nil || s == "" || strings.ContainsAny(s, `%\;`) {
			return false
		}
		for part := range strings.SplitSeq(s, "/") {
			if part == "" || part == "." || part == ".." {
				return false
			}
		}
		if strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
			return false
		}
	}
	return true
}

// onTable reports whether req with that body is a read of the table.
func (t *Transport) onTable(req *http.Request, body []byte) bool {
	path, ok := t.below(req.URL)
	if !ok {
		return false
	}
	q, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(t.o.Reads, func(r Route) bool { return r.Body == string(body) && r.matches(req.Method, path, q) })
}

func (r Route) matches(method, path string, q url.Values) bool {
	if r.Method != method || method == "" {
		return false
	}
	want, have := strings.Split(r.Pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i, w := range want {
		if !segment(w, have[i]) {
			return false
		}
	}
	for key, values := range q {
		if len(values) != 1 || !slices.Contains(r.Query, key) {
			return false
		}
	}
	return true
}

func segment(want, have string) bool {
	name, ok := strings.CutPrefix(want, "{")
	if !ok {
		return want == have
	}
	name = strings.TrimSuffix(name, "}")
	if name == "id" || strings.HasSuffix(name, "_id") {
		return have != "" && strings.Trim(have, "0123456789") == ""
	}
	return have != ""
}

// shownPath is the path for errors and records: never the query, never user information.
func shownPath(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.EscapedPath()
}

// allowedHeaders are the only ones a typed client may set. Others could change who
// asks (Sudo), what is asked (X-HTTP-Method-Override) or carry a token of its own.
var allowedHeaders = []string{"Accept", "Content-Type", "User-Agent", "X-Github-Api-Version"}

func cleanHeaders(h http.Header) http.Header {
	out := http.Header{}
	for _, k := range allowedHeaders {
		if v := h.Values(k); len(v) == 1 {
			out.Set(k, v[0])
		}
	}
	return out
}
