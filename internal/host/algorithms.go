package host

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// allowed are the algorithms that the SSH configuration permits, such as those of a
// distribution's crypto policy, in its order; nil: whatever the library does.
type allowed struct {
	ciphers, macs, exchanges, hostKeys []string
}

func (s settings) allowed() allowed {
	list := func(key string) []string {
		if v := s.one(key); v != "" {
			return strings.Split(v, ",")
		}
		return nil
	}
	return allowed{ciphers: list("ciphers"), macs: list("macs"), exchanges: list("kexalgorithms"), hostKeys: list("hostkeyalgorithms")}
}

// apply narrows c to what is allowed and spoken here. c.HostKeyAlgorithms holds the kinds
// of the keys that are known, or nothing where none is.
func (a allowed) apply(c *ssh.ClientConfig) error {
	can := ssh.SupportedAlgorithms()
	for _, x := range []struct {
		what       string
		want, have []string
		set        *[]string
	}{
		{"Ciphers", a.ciphers, can.Ciphers, &c.Ciphers},
		{"MACs", a.macs, can.MACs, &c.MACs},
		{"KexAlgorithms", a.exchanges, can.KeyExchanges, &c.KeyExchanges},
	} {
		if x.want == nil {
			continue
		}
		if *x.set = both(x.want, x.have); len(*x.set) == 0 {
			return fmt.Errorf("none of the %s that your SSH configuration allows is spoken here: %s", x.what, strings.Join(x.want, ","))
		}
	}
	if a.hostKeys == nil {
		return nil
	}
	have := can.HostKeys
	if len(c.HostKeyAlgorithms) > 0 {
		have = c.HostKeyAlgorithms
	}
	if c.HostKeyAlgorithms = both(a.hostKeys, have); len(c.HostKeyAlgorithms) == 0 {
		return fmt.Errorf("none of the kinds of host keys that are known (%s) is allowed by your SSH configuration (HostKeyAlgorithms)", strings.Join(have, ","))
	}
	return nil
}

// both are those of want that are in have.
func both(want, have []string) []string {
	var out []string
	for _, w := range want {
		if slices.Contains(have, w) {
			out = append(out, w)
		}
	}
	return out
}
