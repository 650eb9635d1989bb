package check

import (
	"path"
	"slices"
	"time"

	"cordon/internal/host/snapshot"
)

// pamModules are what Debian's libpam-modules and Red Hat's pam bring together.
var pamModules = []string{
	"access", "debug", "deny", "echo", "env", "exec", "faildelay", "faillock", "filter", "ftp", "group", "issue", "keyinit", "lastlog", "limits", "listfile",
	"localuser", "loginuid", "mail", "mkhomedir", "motd", "namespace", "nologin", "permit", "pwhistory", "rhosts", "rootok", "securetty", "selinux", "sepermit",
	"setquota", "shells", "stress", "succeed_if", "time", "timestamp", "tty_audit", "umask", "unix", "userdb", "usertype", "warn", "wheel", "xauth",
}

func pamModule(name string) bool {
	return len(name) > len("pam_.so") && slices.Contains(pamModules, name[len("pam_"):len(name)-len(".so")])
}

// changedLater reports the files beside p that a package unpacked with it and that agree
// when, where p changed more than an hour after them. The time of change (ctime) is the
// kernel's: touch(1) sets the other one back, not this (facts/host.md §0.4).
func (v *view) changedLater(p string, f *snapshot.File, together func(name string) bool) (middle time.Time, late bool) {
	var times []time.Time
	dir := path.Dir(p)
	for _, at := range v.paths {
		if path.Dir(at) != dir || at == p || !together(path.Base(at)) {
			continue
		}
		if o := v.files[at]; o.Type == "file" && !o.Ctime.IsZero() {
			times = append(times, o.Ctime)
		}
	}
	if len(times) < 2 || f.Type != "file" || f.Ctime.IsZero() {
		return time.Time{}, false
	}
	slices.SortFunc(times, time.Time.Compare)
	middle = times[len(times)/2]
	return middle, f.Ctime.Sub(middle) > lateness
}

// setBack says so where the time of a file's content was set to before its change.
func setBack(f *snapshot.File) string {
	if f.Ctime.Sub(f.Mtime) > 24*time.Hour {
		return "; its own date says " + f.Mtime.Format(time.DateOnly) + ", which whoever writes it may set"
	}
	return ""
}
