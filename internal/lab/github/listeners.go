package github

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// Identity is what a listener needs to be a runner: the contents of its .runner,
// .credentials and .credentials_rsaparams. Whoever has a copy is the runner.
type Identity struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Pool     int    `json:"pool"`
	Web      string `json:"web"` // of the organization or repository
	ClientID string `json:"client_id"`
	Key      string `json:"key"`
	Version  string `json:"version"`
}

// Identity of a registered runner, by the number that the scenario gives it. Base is
// where this server is reached.
func (s *Server) Identity(id int, base string) (Identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		if r.ID == id {
			return r.identity(base), nil
		}
	}
	return Identity{}, fmt.Errorf("no runner %d", id)
}

func (r *runner) identity(base string) Identity {
	return Identity{ID: r.ID, Name: r.Name, Pool: max(r.Group, 1), Web: base + "/" + r.scope.path, ClientID: r.clientID, Key: r.key, Version: r.Version}
}

// listenerRoutes are where listeners come. They are known by tokens of the token
// service, jobs by tokens of their own.
func (s *Server) listenerRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /_services/vstoken/oauth2/token", s.token)
	mux.HandleFunc("POST /_services/broker/session", s.openSession)
	mux.HandleFunc("DELETE /_services/broker/session", s.closeSession)
	mux.HandleFunc("GET /_services/broker/message", s.message)
	mux.HandleFunc("POST /_services/run/{job}/acquirejob", s.acquire)
	mux.HandleFunc("POST /_services/run/{job}/renewjob", s.renew)
	mux.HandleFunc("POST /_services/run/{job}/completejob", s.complete)
	mux.HandleFunc("POST /api/v3/actions/runners/register", s.register)
}

// token is the exchange of a listener's signed assertion for an access token. The lab's
// listeners sign with a shared key (HS256): their files hold it where a real one's
// hold the private half of an RSA key.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refused := func(why string) {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_client", "error_description": why})
	}
	if err := r.ParseForm(); err != nil {
		refused("the request has no form")
		return
	}
	var x *runner
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(r.PostForm.Get("client_assertion"), &claims, func(*jwt.Token) (any, error) {
		for _, y := range s.runners {
			if y.clientID == claims.Issuer && y.key != "" {
				x = y
				return []byte(y.key), nil
			}
		}
		return nil, fmt.Errorf("no client %q", claims.Issuer)
	})
	if err != nil {
		refused(fmt.Sprintf("The client %s was not found.", claims.Issuer))
		return
	}
	if x.access == "" {
		if x.access, err = s.o.Vault.Get("opaque", fmt.Sprintf("%s-access-%d", x.target(), s.clock.Now().Unix()), "github: token service"); err != nil {
			refused("Server Error")
			return
		}
	}
	answer(w, http.StatusOK, map[string]any{"access_token": x.access, "expires_in": 3000, "token_type": "bearer", "scope": "runner"})
}

// session is one listener that holds a runner's place at the broker.
type session struct {
	id    string
	owner string
	heard time.Time
	waits bool // a long poll is open
	told  *job // whose cancellation it was told of
}

// brokerError is how the broker refuses; listeners tell the kinds apart.
func brokerError(w http.ResponseWriter, status int, kind, message string) {
	answer(w, status, map[string]any{"source": "actions-broker-listener", "errorKind": kind, "statusCode": status, "errorMessage": message, "message": message})
}

// listener finds the runner that the request's access token is of, or answers. A
// runner that was deleted is known for what it was.
func (s *Server) listener(w http.ResponseWriter, r *http.Request) *runner {
	token := bearer(r)
	for _, x := range s.runners {
		if token != "" && x.access == token {
			return x
		}
	}
	for _, x := range s.gone {
		if token != "" && x.access == token {
			notFound(w)
			return nil
		}
	}
	brokerError(w, http.StatusUnauthorized, "Unauthorized", "The access token is not valid.")
	return nil
}

func notFound(w http.ResponseWriter) {
	brokerError(w, http.StatusNotFound, "RunnerNotFound", "Registration was not found or is not medium trust. ClientType: ServiceIdentity")
}

// register makes a runner of whoever has a registration token.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	m, ok := s.minted[token]
	if !ok || m.remove || s.clock.Now().After(m.until) {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	c := &call{s: s, w: w, r: r}
	var in struct {
		Name    string   `json:"name"`
		Version string   `json:"version"`
		Labels  []string `json:"labels"`
	}
	if !c.body(&in) {
		return
	}
	if len(s.runners) >= maxRunners || in.Name == "" {
		c.refuse("The runner cannot be registered")
		return
	}
	x := &runner{Seeded: Seeded{ID: s.data.NewRunner, Scope: m.scope.String(), Name: in.Name, Labels: in.Labels, Version: in.Version}, scope: m.scope}
	var err error
	if x.key, err = s.o.Vault.Get("rsaparam", keyName(x.Seeded), "github: runner registration"); err != nil {
		c.fail(http.StatusInternalServerError, "Server Error")
		return
	}
	s.data.NewRunner++
	s.admit(x)
	s.o.Ledger.Effect("runner.register", "registration-token", x.target(), x.Name)
	s.audit("", verbOf(x.scope, "register_self_hosted_runner"), x.scope, x.facts())
	answer(w, http.StatusCreated, x.identity(c.web()))
}
