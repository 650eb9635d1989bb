package check

import (
	"path"
	"strings"

	"cordon/internal/host/snapshot"
)

// daemonCiphers is Red Hat's list of ciphers, in which nothing about accounts stands.
const daemonCiphers = "/etc/crypto-policies/back-ends/opensshserver.config"

// daemonElsewhere lists which of the patterns of an Include lead to what was not read
// (sshd_config(5): without a directory they begin at /etc/ssh).
func (v *view) daemonElsewhere(patterns []string) []string {
	var out []string
	for _, more := range patterns {
		more = strings.Trim(more, `"`)
		if strings.HasPrefix(more, "#") {
			break
		}
		if !path.IsAbs(more) {
			more = path.Join("/etc/ssh", more)
		}
		more = path.Clean(more)
		base := path.Base(more) // of the usual directory, *.conf is read
		read := path.Dir(more) == "/etc/ssh/sshd_config.d" && strings.HasSuffix(base, ".conf") && base[0] != '.'
		if !read && more != daemonCiphers && !(isKeyPlace(more) && wasRead(v.files[more])) {
			out = append(out, more)
		}
	}
	return out
}

// unreadDaemon names the places of sshd's settings that were not read.
func (v *view) unreadDaemon() string {
	var names []string
	v.followed(func(p string, f *snapshot.File) {
		if p != "/etc/ssh/sshd_config" && path.Dir(p) != "/etc/ssh/sshd_config.d" || f.Type != "file" {
			return
		}
		for line := range strings.Lines(string(f.Content)) {
			if fields := strings.Fields(strings.Replace(line, "=", " ", 1)); len(fields) > 1 && strings.EqualFold(fields[0], "include") {
				names = append(names, v.daemonElsewhere(fields[1:])...)
			}
		}
	})
	return notRead("settings of sshd that lie elsewhere", names)
}
