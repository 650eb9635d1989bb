package snapshot

import (
	"strings"
	"testing"
)

// Of curl's own file what says whom it talks to and believes is kept, and no login,
// however it is written.
func TestOfCurlsSettingsNoLoginIsKept(t *testing.T) {
	p := &planted{}
	for _, line := range []string{"user = ci:%", "-u ci:%", "-uci:%", "--user \"ci:%\"", "header = \"X-Thing: %\"", "-H: '%'", "data=%", "proxy-user ci:%", "proxy = http://ci:%@192.0.2.7:3128"} {
		v := p.opaque()
		got := keptOf(t, SectionHomes, "/root/.curlrc", strings.ReplaceAll(line, "%", v)+"\ninsecure\nproxy http://192.0.2.9:3128\n-k\n# a comment\n")
		if strings.Contains(got, v) || !strings.HasSuffix(got, "\ninsecure\nproxy http://192.0.2.9:3128\n-k\n# a comment\n") {
			t.Errorf("of %q stays\n%s", line, got)
		}
	}
}
