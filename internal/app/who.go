package app

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/user"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/clock"
	"cordon/internal/host"
	"cordon/playbooks"
)

// actor is who writes a case, with what this machine says of him and of its clock.
func (a *App) actor() casefile.Actor {
	ssh := os.Getenv("SSH_CONNECTION")
	who := casefile.Identity{UID: os.Getuid(), SSH: ssh, Tool: a.tool(), Clock: clock.Kernel()}
	if u, err := user.Current(); err == nil {
		who.User = u.Username
	}
	if a.Simulated() {
		who.Clock.Why = strings.TrimPrefix(who.Clock.Why+"; the case runs on a lab's clock, counted from this one", "; ")
	}
	act := casefile.Actor{Name: a.principal(), Session: ssh, Identity: &who}
	if s, err := a.sign(); err == nil {
		act.Key = s.Fingerprint()
		who.Key, who.KeyKind = s.Fingerprint(), s.Kind()
	}
	return act
}

func (a *App) principal() string {
	if a.cfg.Principal != "" {
		return a.cfg.Principal
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// tool says which program and which fixed scripts act in this case.
func (a *App) tool() map[string]string {
	t := map[string]string{"cordon": a.o.Version}
	for _, sc := range host.Scripts() {
		t["script "+sc.Name] = "sha256:" + sc.SHA256
	}
	a.selfOnce.Do(func() { a.self = selfDigest() })
	if a.self != "" {
		t["binary"] = "sha256:" + a.self
	}
	return t
}

func selfDigest() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(self)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// replaced is the digest of the built-in playbook that p stands in for: one with its id
// and other bytes. Empty: there is none.
func replaced(p *playbooks.Playbook) string {
	b, err := playbooks.Find(p.ID)
	if err != nil || b.SHA256 == p.SHA256 {
		return ""
	}
	return b.SHA256
}
