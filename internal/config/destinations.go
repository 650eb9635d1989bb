package config

import (
	"fmt"
	"net/netip"
)

// Allow is Destinations as prefixes; nil where the file names none, for "nobody said".
func (c *Config) Allow() ([]netip.Prefix, error) {
	if c.Destinations == nil {
		return nil, nil
	}
	out := []netip.Prefix{}
	for i, d := range c.Destinations {
		p, err := netip.ParsePrefix(d)
		if a, aerr := netip.ParseAddr(d); aerr == nil {
			p, err = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d is neither an address nor a prefix", i+1)
		}
		out = append(out, p)
	}
	return out, nil
}
