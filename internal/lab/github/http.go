package github

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxBody is how much of a request's body is read, in bytes.
const maxBody = 1 << 20

// LabHeader carries the lab's id in every answer, so that nobody can take this
// server for a real GitHub.
const LabHeader = "X-Cordon-Lab"

const docs = "https://docs.github.com/enterprise-server@3.19/rest"

// call is one request of a known person or App, with what its path names.
type call struct {
	s     *Server
	w     http.ResponseWriter
	r     *http.Request
	who   *cred
	scope scope
	owner *Owner
	repo  *Repo
}

// wrap does what every answer needs: our headers, the date in lab time, a count by route.
func (s *Server) wrap(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set(LabHeader, s.o.ID)
		h.Set("Date", s.clock.Now().UTC().Format(http.TimeFormat))
		h.Set("X-Github-Request-Id", requestID())
		h.Set("X-Github-Enterprise-Version", s.data.Version)
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		_, route := mux.Handler(r)
		if route == "" {
			route = "(no route)"
			fail(rec, http.StatusNotFound, "Not Found")
		} else {
			mux.ServeHTTP(rec, r)
			_, route, _ = strings.Cut(route, " ")
		}
		s.o.Ledger.Request(r.Method, route, rec.status)
	})
}

// requestID has the form of GitHub's: five groups of hexadecimal digits.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	h := strings.ToUpper(hex.EncodeToString(b[:]))
	return strings.Join([]string{h[:4], h[4:9], h[9:16], h[16:23], h[23:31]}, ":")
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(code int) {
	r.status = code
	r.ResponseWriter.WriteHeader(code)
}

func answer(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the other side is gone: nobody to tell
}

func fail(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"message": message, "documentation_url": docs, "status": strconv.Itoa(status)})
}

func (c *call) json(status int, v any)          { answer(c.w, status, v) }
func (c *call) none()                           { c.w.WriteHeader(http.StatusNoContent) }
func (c *call) fail(status int, message string) { fail(c.w, status, message) }
func (c *call) missing()                        { fail(c.w, http.StatusNotFound, "Not Found") }
func (c *call) refuse(format string, a ...any) {
	fail(c.w, http.StatusUnprocessableEntity, fmt.Sprintf(format, a...))
}

func (c *call) effect(what, target, more string) { c.s.o.Ledger.Effect(what, c.who.kind, target, more) }

// id is a number of the path, -1 where it is none.
func (c *call) id(name string) int {
	n, err := strconv.Atoi(c.r.PathValue(name))
	if err != nil {
		return -1
	}
	return n
}

// body reads JSON into v, or answers. No body leaves v as it is.
func (c *call) body(v any) bool {
	err := json.NewDecoder(c.r.Body).Decode(v)
	if err != nil && err != io.EOF {
		c.fail(http.StatusBadRequest, "Problems parsing JSON")
		return false
	}
	return true
}

// api is the base of URLs in answers.
func (c *call) api() string { return "http://" + c.r.Host + "/api/v3" }

func (c *call) web() string { return "http://" + c.r.Host }
