package gitlab

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
// server for a real GitLab.
const LabHeader = "X-Cordon-Lab"

// wrap does what every answer needs: our headers, the date in lab time, a count by
// route. Agents' request ids are echoed so that their logs and ours can be joined.
func (s *Server) wrap(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set(LabHeader, s.o.ID)
		h.Set("Date", s.clock.Now().UTC().Format(http.TimeFormat))
		h.Set("X-Request-Id", requestID(r))
		h.Set("X-Gitlab-Meta", fmt.Sprintf(`{"correlation_id":%q,"version":"1"}`, h.Get("X-Request-Id")))
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		_, route := mux.Handler(r)
		if route == "" || !strings.HasPrefix(r.URL.Path, "/api/v4/") {
			route = "(no route)"
			fail(rec, http.StatusNotFound, "404 Not Found")
		} else {
			mux.ServeHTTP(rec, r)
			_, route, _ = strings.Cut(route, " ")
		}
		s.o.Ledger.Request(r.Method, route, rec.status)
	})
}

func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); len(id) == 32 {
		if _, err := hex.DecodeString(id); err == nil {
			return id
		}
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
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
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "max-age=0, private, must-revalidate")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the other side is gone: nobody to tell
}

func fail(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"message": message})
}

func missing(w http.ResponseWriter, what string) {
	fail(w, http.StatusNotFound, "404 "+what+" Not Found")
}

// badGateway is what a proxy in front of GitLab says when the answer was lost.
func badGateway(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = io.WriteString(w, "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n")
}

// params reads the query and a JSON or form body into one map of texts, as Grape does.
func params(r *http.Request) (map[string]string, error) {
	out := map[string]string{}
	kind := r.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "multipart/form-data") {
		if err := r.ParseMultipartForm(maxBody); err != nil {
			return nil, err
		}
	} else if strings.HasPrefix(kind, "application/json") {
		var raw map[string]any
		if err := json.NewDecoder(r.Body).Decode(&raw); err != nil && err != io.EOF {
			return nil, err
		}
		for k, v := range raw {
			out[k] = text(v)
		}
	} else if err := r.ParseForm(); err != nil {
		return nil, err
	}
	for k, v := range r.Form {
		out[strings.TrimSuffix(k, "[]")] = strings.Join(v, ",")
	}
	for k, v := range r.URL.Query() {
		out[strings.TrimSuffix(k, "[]")] = strings.Join(v, ",")
	}
	return out, nil
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = text(x)
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v)
}

func pathID(r *http.Request, name string) int {
	n, err := strconv.Atoi(r.PathValue(name))
	if err != nil {
		return -1
	}
	return n
}
