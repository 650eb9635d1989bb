package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"cordon/internal/lab/ledger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Scripts that stand for cordon's: the lab knows them by digest alone.
const (
	collector = "cat \"$R/proc/uptime\"; cat \"$R/var/log/gitlab-runner.log\"\n"
	stopper   = "# stop\n"
	starter   = "# start\n"
)

func scripts() []Script {
	var out []Script
	for name, text := range map[string]string{"collector.sh": collector, "act-stop.sh": stopper, "act-start.sh": starter} {
		sum := sha256.Sum256([]byte(text))
		kind := "act"
		if name == "collector.sh" {
			kind = "collect"
		}
		out = append(out, Script{Name: name, SHA256: hex.EncodeToString(sum[:]), Kind: kind})
	}
	return out
}

// served is a lab that runs for the length of a test.
type served struct {
	Ready
	t      *testing.T
	client *http.Client
	end    context.CancelFunc
	done   chan error
}

// serve starts a lab and waits for its ready line.
func serve(t *testing.T, o Options) *served {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "lab")
	}
	if o.Scale == 0 {
		o.Scale = 300
	}
	o.Seed, o.Scripts = 7, scripts()
	r, w := io.Pipe()
	o.Ready = w
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{t: t, client: &http.Client{Transport: &http.Transport{}}, end: cancel, done: make(chan error, 1)}
	go func() {
		err := Serve(ctx, o)
		w.Close()
		s.done <- err
	}()
	if err := json.NewDecoder(r).Decode(&s.Ready); err != nil {
		cancel()
		t.Fatalf("no ready line: %v; Serve: %v", err, <-s.done)
	}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		cancel()
		if err := <-s.done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// ask sends a request with a token of the lab's files, or none, and returns the
// status; the answer is decoded into out, if any.
func (s *served) ask(who, method, url string, body, out any) int {
	s.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	if strings.HasPrefix(url, "/") {
		url = s.GitLab.URL + "/api/v4" + url
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(b))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if who != "" {
		token, err := os.ReadFile(filepath.Join(filepath.Dir(s.Config), who+".token"))
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("PRIVATE-TOKEN", strings.TrimSpace(string(token))) // of a GitLab
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.Header.Get("X-Cordon-Lab") != s.ID {
		s.t.Errorf("%s %s answers without the lab's id", method, url)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			s.t.Fatalf("%s %s: %v in %.200q", method, url, err, text)
		}
	}
	return resp.StatusCode
}

func (s *served) state() State {
	s.t.Helper()
	var st State
	s.ask("", "GET", s.Control+"/state", nil, &st)
	return st
}

func (s *served) effects() []string {
	s.t.Helper()
	var list []ledger.Entry
	s.ask("", "GET", s.Control+"/ledger", nil, &list)
	var out []string
	for _, e := range list {
		out = append(out, e.Effect+" "+e.Target)
	}
	return out
}

func (s *served) fault(name string) int {
	s.t.Helper()
	return s.ask("", "POST", s.Control+"/fault", map[string]string{"fault": name}, nil)
}

// until waits for what the lab does by itself. The bound is generous: it decides when
// to give up, not whether the test is right.
func (s *served) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// dial logs in as the lab's files say, host key included.
func (s *served) dial(host string) (*ssh.Client, error) {
	s.t.Helper()
	text, err := os.ReadFile(s.SSHKey)
	if err != nil {
		s.t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		s.t.Fatal(err)
	}
	known, err := knownhosts.New(s.KnownHosts)
	if err != nil {
		s.t.Fatal(err)
	}
	return ssh.Dial("tcp", s.SSH[host], &ssh.ClientConfig{
		User: "ir", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: known, Timeout: 10 * time.Second,
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
}

// run sends one script; third is the third line of the preamble.
func (s *served) run(host, script, third string) (string, int) {
	s.t.Helper()
	c, err := s.dial(host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	ses, err := c.NewSession()
	if err != nil {
		s.t.Fatal(err)
	}
	defer ses.Close()
	ses.Stdin = strings.NewReader("N=0123456789abcdef0123456789abcdef\nR=\n" + third + "\n" + script)
	out, err := ses.Output("exec /bin/sh -s")
	var ee *ssh.ExitError
	if errors.As(err, &ee) {
		return string(out), ee.ExitStatus()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out), 0
}

func (s *served) stopUnit(host string) {
	s.t.Helper()
	if out, exit := s.run(host, stopper, "U=gitlab-runner.service"); exit != 0 || !strings.Contains(out, " end =stop ") {
		s.t.Fatalf("stop: exit %d, %s", exit, out)
	}
}

func (s *served) tree(host, path string) string {
	return filepath.Join(filepath.Dir(s.Config), "hosts", host, path)
}

func (s *served) read(host, path string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.tree(host, path))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}
