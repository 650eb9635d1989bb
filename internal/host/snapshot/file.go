package snapshot

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

const maxFiles = 50_000

// fileSections are those that deliver files.
var fileSections = map[string]bool{
	SectionWants: true, SectionUnits: true, SectionCron: true, SectionRunners: true, SectionKeys: true, SectionProfiles: true, SectionSecrets: true, SectionJobs: true,
	SectionKernel: true, SectionSystem: true, SectionPrivileged: true, SectionHomes: true, SectionWork: true, SectionContainers: true, SectionAsked: true,
}

// files takes one frame about one path. link, data and nodata belong to the lstat
// of the same path that came just before.
func (p *parser) files(fr Frame) error {
	if !fileSections[p.section] {
		return fmt.Errorf("%w: in section %q", ErrForged, p.section)
	}
	if fr.Kind == "lstat" {
		f, err := ParseLstat(string(fr.Body))
		if err != nil || !strings.HasPrefix(fr.Name, "/") || p.section == SectionAsked && !p.wasAsked(fr.Name) {
			return fmt.Errorf("%w: lstat of %s", ErrForged, untrusted.Clean(fr.Name, 60))
		}
		p.file = nil
		into := &p.s.Files
		if p.section == SectionAsked {
			into = &p.s.AskedFiles
		}
		if len(*into) >= maxFiles {
			p.broken("more files than the cap")
			return nil
		}
		f.Path, f.Section = p.text(fr.Name, maxPath), p.section
		f.Described = p.section == SectionSecrets
		*into = append(*into, f)
		p.file = &(*into)[len(*into)-1]
		p.fileName = fr.Name
		return nil
	}
	f := p.file
	if f == nil && max(len(p.s.Files), len(p.s.AskedFiles)) >= maxFiles {
		return nil
	}
	if f == nil || fr.Name != p.fileName {
		return fmt.Errorf("%w: %s without its lstat", ErrForged, fr.Kind)
	}
	switch fr.Kind {
	case "link":
		if f.Type != "link" {
			return fmt.Errorf("%w: a target of what is no link", ErrForged)
		}
		f.Link = p.text(string(fr.Body), maxPath)
	case "sum":
		return p.sum(f, string(fr.Body))
	case "nodata":
		f.Described = true
		if p.section == SectionAsked {
			f.NoHash = p.clean(string(fr.Body), 200)
			return nil
		}
		p.gap(fr.Name, string(fr.Body))
	case "data":
		if f.Type != "file" || f.Print != "" || p.section == SectionAsked {
			return fmt.Errorf("%w: content of what is no file", ErrForged)
		}
		p.content(f, fr.Name, fr.Body)
	}
	return nil
}

// content keeps what may be kept of a file.
func (p *parser) content(f *File, name string, b []byte) {
	f.Print = p.x.Marker.Print(string(b))
	if int64(len(b)) < f.Size {
		f.Truncated = true
		p.gap(name, fmt.Sprintf("read %d of %d bytes", len(b), f.Size))
		i := strings.LastIndexByte(string(b), '\n') // the rest of the line may be half a secret
		b = b[:i+1]
	}
	if strings.IndexByte(string(b), 0) >= 0 {
		f.Described = true
		p.gap(name, "not text: described, not kept")
		return
	}
	text, n, ok := p.redactFile(f.Section, name, string(b))
	if !ok {
		f.Described = true
		p.gap(name, "not understood, so its secrets cannot be found: described, not kept")
		return
	}
	f.Content, f.Redacted = untrusted.Text(text), n
	p.s.Redacted += n
}

// redactFile takes secrets out by what the file is, and then by their shape.
func (p *parser) redactFile(section, name, s string) (out string, n int, ok bool) {
	base := path.Base(name)
	if section == SectionRunners && (strings.HasSuffix(base, ".toml") || strings.Contains(s, "[[runners]]")) { // whatever --config calls it
		return p.toml(s)
	}
	// A rule that goes by lines would take away the first line of a key, by which all of it is known.
	s, keys := p.x.Marker.Keys(s)
	defer func() { n += keys }()
	switch {
	case name == "/etc/passwd" || name == "/etc/group":
		s, n = p.passwd(s)
	case base == ".runner" || base == ".runner_migrated" || base == ".agent":
		return p.registration(s)
	case section == SectionJobs && base == "PipelineFolder.json":
		return p.mapping(s)
	case section == SectionRunners && (strings.HasSuffix(base, ".yaml") || strings.HasSuffix(base, ".yml")):
		s, n = p.envs(s)
	case section == SectionRunners && strings.HasSuffix(base, ".cfg"):
		s, n = p.buildkite(s)
	case base == ".env" || base == "environment" || strings.HasPrefix(name, "/etc/sysconfig/") || strings.HasPrefix(name, "/etc/default/") ||
		strings.Contains(name, "/environment.d/"):
		s, n = p.assignments(s)
	case section == SectionContainers && strings.HasSuffix(base, ".json"), section == SectionHomes && base == "config.json":
		return p.engine(s)
	case name == "/etc/nsswitch.conf":
		s, n = p.nsswitch(s)
		return s, n, true
	case base == ".curlrc":
		s, n = p.curlrc(s)
	case section == SectionHomes && packageFile(name):
		if s, n, ok = p.packageSettings(name, s); !ok {
			return "", 0, false
		}
	case section == SectionHomes && settingsFile(name), section == SectionWork && base == "buildkite-agent.cfg":
		s, n = p.settings(s)
	case section == SectionUnits:
		s, n = p.unitEnvironment(s)
	case strings.HasPrefix(name, "/var/spool/cron/atjobs/") || strings.HasPrefix(name, "/var/spool/at/"):
		s, n = p.assignments(s)
	}
	s, k := p.x.Marker.Text(s)
	return s, n + k, true
}

// ParseLstat reads the six numbers of an lstat frame.
func ParseLstat(s string) (File, error) {
	part := strings.Split(s, " ")
	if len(part) != 6 {
		return File{}, fmt.Errorf("%d fields", len(part))
	}
	mode, err := strconv.ParseUint(part[0], 16, 32)
	if err != nil {
		return File{}, err
	}
	var n [5]int64
	for i, v := range part[1:] {
		if n[i], err = strconv.ParseInt(v, 10, 64); err != nil {
			return File{}, err
		}
	}
	if n[0] < 0 || n[0] > 1<<32 || n[1] < 0 || n[1] > 1<<32 || n[2] < 0 {
		return File{}, fmt.Errorf("a number out of range")
	}
	f := File{Mode: uint32(mode & 0o7777), UID: int(n[0]), GID: int(n[1]), Size: n[2], Mtime: stamp(n[3]), Ctime: stamp(n[4])}
	switch mode & 0o170000 {
	case 0o100000:
		f.Type = "file"
	case 0o040000:
		f.Type = "dir"
	case 0o120000:
		f.Type = "link"
	default:
		f.Type = "other"
	}
	return f, nil
}

// stamp is a time on the host's clock; one that JSON cannot carry is left out.
func stamp(sec int64) time.Time {
	if sec <= 0 || sec > 1<<37 {
		return time.Time{}
	}
	return time.Unix(sec, 0).UTC()
}
