package snapshot

import (
	"regexp"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// secretKey names settings of config.toml that are credentials (gitlab-runner
// common/config.go, cache/cacheconfig; facts/host.md §1.2). The expiry and birth of
// a token are not.
var secretKey = regexp.MustCompile(`(?i)(token|secret|passw(or)?d|api_?key|access_?key|private_?key|account_?key|sessiontoken|bearer|authorization|credential|dsn|identity_file|image_pull_secrets|sse_?key)`)

var notSecretKey = regexp.MustCompile(`(?i)(_at|_overwrite_allowed|_address)$`)

// pluginFields of [runners.autoscaler.plugin_config] that are no credential.
var pluginFields = map[string]bool{"name": true, "profile": true, "region": true, "zone": true, "project": true, "subscription_id": true, "resource_group_name": true}

type edit struct {
	from, to int
	text     string
}

// toml replaces the values of secret settings inside their quotes, so that what is
// kept still is the file that a checker can read. Where the file is not TOML, or
// would no longer be, nothing of it may be kept.
func (p *parser) toml(s string) (string, int, bool) {
	var edits []edit
	var u unstable.Parser
	u.Reset([]byte(s))
	plugin := false
	for u.NextExpression() {
		e := u.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			plugin = strings.Contains(strings.Join(dotted(e), "."), "plugin_config")
		case unstable.KeyValue:
			edits = p.setting(edits, e, plugin)
		}
	}
	if u.Error() != nil {
		return "", 0, false
	}
	sort.Slice(edits, func(i, j int) bool { return edits[i].from < edits[j].from })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.from < at || e.to > len(s) {
			return "", 0, false
		}
		b.WriteString(s[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(s[at:])
	out, n := p.x.Marker.Text(b.String())
	u.Reset([]byte(out))
	for u.NextExpression() {
	}
	return out, n + len(edits), u.Error() == nil
}

func dotted(n *unstable.Node) []string {
	var out []string
	for it := n.Key(); it.Next(); {
		out = append(out, string(it.Node().Data))
	}
	return out
}

// setting collects the edits for one key and what is under it.
func (p *parser) setting(edits []edit, n *unstable.Node, plugin bool) []edit {
	keys := dotted(n)
	key := keys[len(keys)-1]
	v := n.Value()
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			edits = p.setting(edits, it.Node(), plugin || key == "plugin_config")
		}
	case unstable.Array:
		for it := v.Children(); it.Next(); {
			c := it.Node()
			switch {
			case c.Kind == unstable.InlineTable:
				for kv := c.Children(); kv.Next(); {
					edits = p.setting(edits, kv.Node(), plugin)
				}
			case c.Kind != unstable.String:
			case key == "environment":
				edits = p.environmentWord(edits, c)
			case hides(key, plugin):
				edits = p.replace(edits, c, "")
			}
		}
	case unstable.String:
		if hides(key, plugin) {
			edits = p.replace(edits, v, "")
		}
	}
	return edits
}

func hides(key string, plugin bool) bool {
	return secretKey.MatchString(key) && !notSecretKey.MatchString(key) || plugin && !pluginFields[key]
}

// environmentWord keeps the name of one NAME=VALUE, and the value where it is shown.
func (p *parser) environmentWord(edits []edit, n *unstable.Node) []edit {
	name, v, ok := strings.Cut(string(n.Data), "=")
	if ok && (v == "" || shown(name)) {
		return edits
	}
	if !ok {
		name = ""
	} else {
		name += "="
	}
	return p.replace(edits, n, name)
}

// reference is a value that the agent takes from its environment ("${NAME}").
var reference = regexp.MustCompile(`^\$\{?[A-Za-z_][A-Za-z0-9_]*\}?$`)

// replace puts the mark in place of a string, its quotes included, keeping front.
func (p *parser) replace(edits []edit, n *unstable.Node, front string) []edit {
	v := strings.TrimPrefix(string(n.Data), front)
	if v == "" || reference.MatchString(v) {
		return edits
	}
	front = strings.Map(func(r rune) rune { // a literal string may hold what a basic one may not
		if r < 0x20 || r == '"' || r == '\\' || r == 0x7f {
			return '?'
		}
		return r
	}, front)
	from := int(n.Raw.Offset)
	return append(edits, edit{from: from, to: from + int(n.Raw.Length), text: `"` + front + p.hidden(v) + `"`})
}
