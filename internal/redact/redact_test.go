package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// planted makes a random value, so that no token of anybody stands in this file. It
// starts with a digit and a capital, as half of all tokens have both early.
func planted(r *rand.Rand, n int) string {
	b := []byte("7Q")
	for len(b) < n {
		b = append(b, alnum[r.IntN(len(alnum))])
	}
	return string(b[:n])
}

func testRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

var testMarker = NewMarker([]byte("a key for tests"))

// tokens makes one value of every shape that is recognised anywhere in a text.
func tokens(r *rand.Rand) map[string]string {
	up := func(n int) string { return strings.ToUpper(planted(r, n)) }
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`)) + "." + planted(r, 40) + "." + planted(r, 43)
	jit := base64.StdEncoding.EncodeToString([]byte(`{".runner":"` + planted(r, 90) + `"}`))
	m := map[string]string{
		"github fine":   "github_pat_" + planted(r, 22) + "_" + planted(r, 59),
		"registration":  "GR1348941" + planted(r, 20),
		"legacy runner": "t1_" + planted(r, 20),
		"legacy group":  "t2_" + planted(r, 20),
		"aws":           "AKIA" + up(16),
		"aws session":   "ASIA" + up(16),
		"npm":           "npm_" + planted(r, 36),
		"buildkite":     "bkua_" + planted(r, 40),
		"age":           "AGE-SECRET-KEY-1" + up(58),
		"jwt":           jwt,
		"jit":           jit,
		"crypt":         "$6$" + planted(r, 12) + "$" + planted(r, 60),
		"routable":      "glrt-" + planted(r, 27) + ".01." + planted(r, 9),
	}
	for _, p := range []string{"ghp_", "gho_", "ghs_", "ghu_", "ghr_"} {
		m[p] = p + planted(r, 36)
	}
	for _, p := range []string{"glrt-", "glrt-t1_", "glrt-t2_", "glrt-t3_", "glrtr-", "glpat-", "glcbt-", "gldt-", "glptt-", "gloas-", "glagent-"} {
		m[p] = p + planted(r, 20)
	}
	for _, p := range []string{"xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-"} {
		m[p] = p + "123456789012-" + planted(r, 24)
	}
	return m
}

func TestEveryTokenShapeIsFoundInTheMiddleOfAnything(t *testing.T) {
	for name, tok := range tokens(testRand()) {
		for _, around := range []string{"%s", "a log line with %s in it", `{"note":"%s"}`, "(%s)", "GET /x?%s&y HTTP/1.1", "a\x00%s\x00b", "first\n%s\nlast"} {
			in := fmt.Sprintf(around, tok)
			out, n := testMarker.Text(in)
			if strings.Contains(out, tok) || n != 1 {
				t.Errorf("%s in %q: %d replaced: %q", name, around, n, out)
				continue
			}
			if want := fmt.Sprintf(around, testMarker.replacement(tok)); out != want {
				t.Errorf("%s: %q, want %q", name, out, want)
			}
		}
	}
}

func TestValuesAreFoundByTheNameBeforeThem(t *testing.T) {
	pw := "hunter" + "-two" // no shape of its own
	for _, in := range []string{
		"PASSWORD=%s", "DB_PASSWORD=%s ./run", "export API_KEY=%s", "api_key: %s", "apikey=%s&x=1", "?private_token=%s&page=2",
		`"token":"%s"`, `"token" : "%s",`, `{\"secret\":\"%s\"}`, `{\\\"secret\\\":\\\"%s\\\"}`, `token = "%s"`, "token = '%s'",
		"clientSecret: %s", "AWS_SECRET_ACCESS_KEY=%s", "secret_key: %s", "private-key=%s", "X-Api-Key: %s", "PRIVATE-TOKEN: %s",
		"JOB-TOKEN: %s", `-H "Authorization: Bearer %s"`, "Authorization: Basic %s", "authorization: %s", "Bearer %s9", "Cookie: %s",
		"--token %s", "--token=%s", "-secret %s", "--jitconfig %s", "-credentials %s", "--registration-token %s --url x",
		"--token\x00%s\x00--url", "jitconfig=%s", "SENTRY_DSN=%s", "dsn: %s", "password => %s", "pass: x\npassword: %s",
		"sshpass -p %s ssh x", "curl -u me:%s https://x", "gitlab-runner register -n -t %s", "machine h login u password %s",
		"<password>%s</password>", "map[Private-Token:[%s]]", `"tokens":["%s"]`, "token:\t%s", "password: |\n  %s\nnext: 1",
		"password = \"\"\"\n%s\n\"\"\"", "https://u:%s@host/p", "postgres://u:a/%s@host/db", "https://%s@host/p",
		"    password: two words %s # why",
	} {
		out, n := testMarker.Text(fmt.Sprintf(in, pw))
		if strings.Contains(out, pw) || n == 0 {
			t.Errorf("%q: %d replaced: %q", in, n, out)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, in := range []string{
		"token_expires_at = 2026-11-30T12:00:00Z", "token_obtained_at: 0001-01-01T00:00:00Z", "token_expires_at: null",
		"secret_detection: enabled", "password_authentication_enabled_for_web: true", "max_tokens=4096", "token: ", `token: ""`,
		`{"token":""}`, `"secret": null`, "secret = false", "TOKEN=$CI_JOB_TOKEN", "TOKEN=${CI_JOB_TOKEN}", "token: ${{ secrets.NPM }}",
		"password_file=/etc/x", "/etc/passwd: No such file", "token_id=17", "tokenizer: bert", "secretary: bob",
		"the token is not valid here", "bearer authentication failed", "highs_and_lows_of_the_queue_depth", "t1_some_column_name_here",
		"runner=abcd12345 status=403", "glrt-abc", "https://host:8080/a@b", "https://host/a?mail=a@b", "ssh://git@host/x.git",
		"git@host:x.git", "--token-file /run/x", "--private-key /root/.ssh/id_ed25519", "loadsnapshot=abc", "[secret]", "token=[secret]", "token=***",
		"CREDENTIAL_HELPER=store", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
	} {
		if out, n := testMarker.Text(in); out != in || n != 0 {
			t.Errorf("%q became %q (%d)", in, out, n)
		}
	}
}

func TestPrivateKeysGoWhole(t *testing.T) {
	r := testRand()
	body := strings.Join([]string{planted(r, 64), planted(r, 64), planted(r, 20) + "=="}, "\n")
	for _, in := range []string{
		"-----BEGIN OPENSSH PRIVATE KEY-----\n" + body + "\n-----END OPENSSH PRIVATE KEY-----",
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + body + "\n-----END RSA PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\r\n" + strings.ReplaceAll(body, "\n", "\r\n") + "\r\n-----END PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\n" + body, // cut off
		`-----BEGIN EC PRIVATE KEY-----\n` + strings.ReplaceAll(body, "\n", `\n`) + `\n-----END EC PRIVATE KEY-----`,
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + body + "\n-----END PGP PRIVATE KEY BLOCK-----",
	} {
		out, n := testMarker.Text("before\n" + in + "\n")
		if want := "before\n" + testMarker.replacement(in) + "\n"; out != want || n != 1 {
			t.Errorf("%q (%d)", out, n)
		}
	}
}

func TestTheSameSecretHasTheSamePrintEverywhereAndAnotherUnderAnotherKey(t *testing.T) {
	pw := planted(testRand(), 14)
	print := testMarker.Print(pw)
	for _, in := range []string{"PASSWORD=%s", `"password": "%s"`, "https://oauth2:%s@h/", "--password %s", "Authorization: Bearer %s"} {
		if out, _ := testMarker.Text(fmt.Sprintf(in, pw)); !strings.Contains(out, print) {
			t.Errorf("%q: %s", in, out)
		}
	}
	if testMarker.Derive("case-1").Print(pw) == print || testMarker.Derive("case-1").Print(pw) == testMarker.Derive("case-2").Print(pw) {
		t.Error("a derived key gives the same print")
	}
	if first, second := testMarker.Derive("case-1").Print(pw), testMarker.Derive("case-1").Print(pw); first != second {
		t.Error("deriving is not stable")
	}
	if NewMarker(nil).Print(pw) != (Marker{}).Print(pw) || (Marker{}).Print(pw) == NewMarker([]byte{0}).Print(pw) {
		t.Error("an empty key must be the process's random key")
	}
}

func TestRedactingTwiceChangesNothing(t *testing.T) {
	for _, tok := range tokens(testRand()) {
		in := "token=" + tok + ", Authorization: Bearer " + tok + "\nurl https://u:" + tok + "@h/p --token " + tok
		once, _ := testMarker.Text(in)
		if twice, n := testMarker.Text(once); twice != once || n != 0 {
			t.Errorf("%q\nbecame %q", once, twice)
		}
	}
	// What is replaced late can make what is before it readable.
	for _, in := range []string{"[--token ${Bearer }@password{&abc7Q", "curl -u a:'sshpass -p /,curl -u a:}", "sshpass -p /==>[https://Bearer xAuthorization: ]"} {
		once, _ := testMarker.Text(in)
		if twice, n := testMarker.Text(once); twice != once || n != 0 {
			t.Errorf("%q\nbecame %q", once, twice)
		}
	}
}

// Text from a host may be made to be slow to read: a rule that reads the rest of the
// text once for every beginning takes minutes for these. Every one is found all the same.
func TestEveryOneOfVeryManyIsFound(t *testing.T) {
	for in, each := range map[string]int{
		"token=a ": 1, "token=a,": 1, "token=[a] ": 1, "token=\"a\" ": 1, "https://a:b@c ": 2, "curl -u a:b ": 1, "--token a ": 1, "token\x00": 0,
		"token: |\n  a\n": 1, "gitlab-runner -t a\n": 1, "<token>a</token>": 1, "xAuthorization: Bearer a\n": 1, " export ": 0, "token=${A} ": 0,
	} {
		n := 20000 / len(in)
		if _, got := testMarker.Text(strings.Repeat(in, n)); got != n*each {
			t.Errorf("%q: %d of %d", in, got, n*each)
		}
	}
	for _, in := range []string{"-----BEGIN PRIVATE KEY----- % ", "token=[", "token=${a ", "token=$(", "https://a:", "login a password ", "password = \"\"\" ", "token=\\", "eyJ"} {
		once, _ := testMarker.Text(strings.Repeat(in, 5000/len(in)))
		if twice, n := testMarker.Text(once); n != 0 || twice != once {
			t.Errorf("%q: %d more the second time", in, n)
		}
	}
}
