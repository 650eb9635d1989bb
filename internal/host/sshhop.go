package host

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

// hop is the server that s is about.
func (s settings) hop() (hop, error) {
	address := net.JoinHostPort(s.one("hostname"), s.one("port"))
	o := hop{host: address, address: address, known: address, user: s.one("user")}
	if n, err := strconv.Atoi(s.one("port")); err != nil || n < 1 || n > 65535 || !plainWord.MatchString(s.one("hostname")) || !plainWord.MatchString(o.user) {
		return o, fmt.Errorf("ssh -G %s: %q, port %q, user %q is not an address that can be used", s.host,
			untrusted.Clean(s.one("hostname"), 80), untrusted.Clean(s.one("port"), 20), untrusted.Clean(o.user, 40))
	}
	if a := s.one("hostkeyalias"); a != "" && a != "none" {
		o.known = net.JoinHostPort(a, "22") // an alias is looked up without a port
	}
	for _, k := range []string{"userknownhostsfile", "globalknownhostsfile"} {
		for _, p := range paths(s.one(k)) {
			if full, err := s.path(p); err == nil {
				if st, err := os.Stat(full); err == nil && st.Mode().IsRegular() {
					o.trusted = append(o.trusted, full)
				}
			}
		}
	}
	for _, f := range s.values["identityfile"] {
		if full, err := s.path(f); err == nil && f != "none" {
			o.keys.files = append(o.keys.files, full)
		}
	}
	for _, f := range s.values["certificatefile"] {
		if full, err := s.path(f); err == nil && f != "none" {
			o.keys.certs = append(o.keys.certs, full)
		}
	}
	o.allowed = s.allowed()
	o.keys.asked, o.keys.only = true, s.yes("identitiesonly")
	switch a := s.one("identityagent"); {
	case a == "none":
	case a == "" || a == "SSH_AUTH_SOCK":
		o.keys.sock = os.Getenv("SSH_AUTH_SOCK")
	case strings.HasPrefix(a, "$"):
		o.keys.sock = os.Getenv(strings.Trim(a[1:], "{}"))
	default:
		o.keys.sock, _ = s.path(a)
	}
	if n, err := strconv.Atoi(s.one("connecttimeout")); err == nil && n > 0 {
		o.connect = min(time.Duration(n)*time.Second, time.Minute)
	}
	return o, nil
}
