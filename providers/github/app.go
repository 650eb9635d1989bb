package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"

	"cordon/internal/clock"
	"cordon/internal/secret"
	"cordon/internal/transport"
	"cordon/providers"
)

// App names one installation of a GitHub App.
type App struct {
	ID           int64
	Installation int64
}

// MintOptions make a Mint.
type MintOptions struct {
	System string // configured name, for records and errors
	URL    string // as in Options
	App    App
	Key    func() (secret.Secret, error) // the App's private key, PEM; asked for at first need and kept in memory
	Next   http.RoundTripper             // below the transport; nil: a plain one
	Clock  clock.Clock                   // nil: the machine's

	// ReadOnly asks for the installation's permissions lowered to reading, and for none
	// that cannot be lowered. The mint for looking always sets it.
	ReadOnly bool
}

// Mint makes an App's installation tokens, which live for an hour, and keeps the last one
// in memory. Token is a transport.Credential. What it sends goes through a transport whose
// table of reads has the installation and this one minting with its exact body, so that the
// App's key can be used for nothing else. It is safe for concurrent use.
type Mint struct {
	o    MintOptions
	turn chan struct{} // held by who mints
	held atomic.Bool   // a token was minted
	minted
}

// minted is what is known of the last token; turn guards it.
type minted struct {
	key     secret.Secret
	token   secret.Secret
	until   time.Time         // on our clock
	granted map[string]string // permissions of the installation, by name: read, write, admin
}

// early is how long before its end a token is no longer used: longer than any request, and
// enough for a clock that is off.
const early = 5 * time.Minute

// NewMint checks the options; it contacts nobody and reads no key.
func NewMint(o MintOptions) (*Mint, error) {
	if o.App.ID <= 0 || o.App.Installation <= 0 {
		return nil, errors.New("app: its id and its installation's id are numbers above 0")
	}
	if _, err := API(o.URL); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Next == nil {
		o.Next = transport.Plain()
	}
	return &Mint{o: o, turn: make(chan struct{}, 1)}, nil
}

// Check reads the key and looks whether it is one, so that what is wrong with its file is
// found before it is needed. Nobody is asked, and the key is not kept.
func (m *Mint) Check() error {
	key, err := m.o.Key()
	if err == nil {
		_, err = m.signer(key)
	}
	return err
}

// signer signs requests as the App. The library's own text may quote the key.
func (m *Mint) signer(key secret.Secret) (*ghinstallation.AppsTransport, error) {
	signed, err := ghinstallation.NewAppsTransport(m.o.Next, m.o.App.ID, []byte(key.Reveal()))
	if err != nil {
		return nil, errors.New("its private key is not an RSA key in PEM form; download it again from the App's settings")
	}
	return signed, nil
}

// is reports whether the tokens are of that installation.
func (m *Mint) is(installation int64) bool { return m != nil && m.o.App.Installation == installation }

// Token returns a token with at least some minutes left; it mints one where there is none.
func (m *Mint) Token(ctx context.Context) (secret.Secret, error) {
	if err := m.hold(ctx); err != nil {
		return secret.Secret{}, err
	}
	defer m.free()
	if !m.token.IsZero() && m.o.Clock.Now().Before(m.until.Add(-early)) {
		return m.token, nil
	}
	if err := m.mint(ctx); err != nil {
		return secret.Secret{}, fmt.Errorf("token of app %d, installation %d: %w", m.o.App.ID, m.o.App.Installation, err)
	}
	return m.token, nil
}

// Held reports whether a token was minted already. It waits for nobody, least of all for one
// that is being minted.
func (m *Mint) Held() bool { return m.held.Load() }

// known returns the permissions of the installation and when the token ends; ok is false
// before the first token.
func (m *Mint) known(ctx context.Context) (granted map[string]string, until time.Time, ok bool) {
	if m.hold(ctx) != nil {
		return nil, time.Time{}, false
	}
	defer m.free()
	return m.granted, m.until, !m.token.IsZero()
}

func (m *Mint) hold(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *Mint) free() { <-m.turn }

type wireMinted struct {
	Token       string            `json:"token"`
	Expires     time.Time         `json:"expires_at"`
	Permissions map[string]string `json:"permissions"`
}

type wireGranted struct {
	Permissions map[string]string `json:"permissions"`
	Suspended   *time.Time        `json:"suspended_at"`
}

func (m *Mint) mint(ctx context.Context) error {
	if m.key.IsZero() {
		key, err := m.o.Key()
		if err != nil {
			return err
		}
		m.key = key
	}
	where := "app/installations/" + strconv.FormatInt(m.o.App.Installation, 10)
	var granted map[string]string
	body := ""
	if m.o.ReadOnly {
		a, err := m.ask(ctx, transport.Route{Method: http.MethodGet, Pattern: "/" + where})
		if err != nil {
			return err
		}
		w, err := decode[wireGranted](a)
		switch {
		case err != nil:
			return err
		case w.Suspended != nil:
			return errors.New("the installation is suspended")
		}
		granted = w.Permissions
		if body, err = readOnly(granted); err != nil {
			return err
		}
	}
	a, err := m.ask(ctx, transport.Route{Method: http.MethodPost, Pattern: "/" + where + "/access_tokens", Body: body})
	if err != nil {
		return err
	}
	w, err := decode[wireMinted](a)
	if err != nil {
		return err
	}
	if w.Token == "" || len(w.Token) > 1024 || strings.ContainsFunc(w.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || w.Expires.IsZero() {
		return malformed(a, "no token, or no time at which it ends")
	}
	if m.o.ReadOnly {
		for _, level := range w.Permissions {
			if level != "read" {
				return fmt.Errorf("%w: the token that was made for reading may write; it was thrown away", providers.ErrMalformed)
			}
		}
	} else {
		granted = w.Permissions
	}
	m.token, m.granted, m.until = secret.New(w.Token), granted, w.Expires
	m.held.Store(true)
	if !a.Date.IsZero() { // by GitHub's clock; ours may be off
		m.until = m.o.Clock.Now().Add(w.Expires.Sub(a.Date))
	}
	return nil
}

// ask makes the one request that its own table of reads has, signed with the App's key.
func (m *Mint) ask(ctx context.Context, only transport.Route) (answer, error) {
	api, err := API(m.o.URL)
	if err != nil {
		return answer{}, err
	}
	signed, err := m.signer(m.key)
	if err != nil {
		return answer{}, err
	}
	c := connect(api, transport.New(transport.Options{System: m.o.System, Base: api, Reads: []transport.Route{only}, Next: signed, Clock: m.o.Clock}))
	var body any
	if only.Body != "" {
		body = json.RawMessage(only.Body)
	}
	req, err := c.NewRequest(only.Method, only.Pattern[1:], body)
	if err != nil {
		return answer{}, fmt.Errorf("build a request: %w", err)
	}
	a, err := send(ctx, c, req, only.Method+" "+only.Pattern[1:])
	switch {
	case errors.Is(err, providers.ErrUnauthorized):
		return a, fmt.Errorf("%w; the key may be deleted or another App's, or this machine's clock is wrong", err)
	case errors.Is(err, providers.ErrNotFound):
		return a, fmt.Errorf("%w; the App has no installation with that number", err)
	}
	return a, err
}

var (
	permissionForm   = regexp.MustCompile(`^[a-z_]{1,60}$`)
	permissionLevels = map[string]bool{"read": true, "write": true, "admin": true}
)

// writeOnly are the permissions that cannot be lowered (API description, app-permissions).
var writeOnly = map[string]bool{"workflows": true, "profile": true}

// readOnly is the body that asks for what was granted, lowered to reading, as go-github
// puts it on the wire.
func readOnly(granted map[string]string) (string, error) {
	ask := map[string]string{}
	for name := range granted {
		if permissionForm.MatchString(name) && !writeOnly[name] && len(ask) < 200 {
			ask[name] = "read"
		}
	}
	if len(ask) == 0 {
		return "", errors.New("the installation has no permission that is of use for reading")
	}
	b, err := json.Marshal(struct {
		Permissions map[string]string `json:"permissions"`
	}{ask})
	return string(b) + "\n", err
}
