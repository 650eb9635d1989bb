package check

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// Match is one place where one indicator was seen.
type Match struct {
	Kind      string         `json:"kind"`      // path, sha256, address, name, key
	Indicator string         `json:"indicator"` // as the list has it
	How       string         `json:"how"`       // "is there", "is named in" what was read there, or "is led to by" a link
	Where     untrusted.Text `json:"where"`
	Evidence  []string       `json:"evidence,omitempty"`
}

// How an indicator was seen.
const (
	IsThere = "is there"
	IsNamed = "is named in"
	IsLed   = "is led to by" // whether it is there itself is not known by that
)

// maxMatches of one snapshot: a list of common words is found everywhere.
const maxMatches = 500

// Swept is what one snapshot says about a list. CouldNot says what a place without a
// match may still hide; where it is not empty, "not found" is not said.
type Swept struct {
	Matches  []Match  `json:"matches"`
	More     int      `json:"more,omitempty"` // beyond the most that are kept
	CouldNot []string `json:"could_not_look,omitempty"`
}

// Sweep looks for the indicators in a snapshot. It is a pure function of both.
func Sweep(in *Indicators, s *snapshot.Snapshot) Swept {
	w := sweeper{in: in, v: viewOf(s), seen: map[string]bool{}, found: map[string]bool{}}
	w.out.Matches = []Match{}
	w.v.each(w.file)
	for i := range s.AskedFiles {
		f := &s.AskedFiles[i]
		w.file(path.Clean(string(f.Path)), f)
	}
	for i := range s.Processes {
		w.process(&s.Processes[i])
	}
	for _, k := range s.Sockets {
		w.socket(k)
	}
	w.rest()
	w.blind()
	slices.SortStableFunc(w.out.Matches, func(a, b Match) int {
		if a.How != b.How { // what is there before what only names it
			return strings.Compare(b.How, a.How)
		}
		return strings.Compare(a.Kind+" "+a.Indicator+" "+string(a.Where), b.Kind+" "+b.Indicator+" "+string(b.Where))
	})
	return w.out
}

type sweeper struct {
	in   *Indicators
	v    *view
	out  Swept
	seen map[string]bool

	unhashed int             // files whose bytes were not kept whole
	found    map[string]bool // paths of the list that are there
	nohash   []string        // listed paths that are there and have no hash, with why
}

func (w *sweeper) add(kind, indicator, how string, where untrusted.Text, evidence []string) {
	key := kind + "\x00" + indicator + "\x00" + string(where)
	switch {
	case w.seen[key]:
	case len(w.out.Matches) >= maxMatches:
		w.out.More++
	default:
		w.out.Matches = append(w.out.Matches, Match{kind, indicator, how, where, evidence})
	}
	w.seen[key] = true
}

func (w *sweeper) file(p string, f *snapshot.File) {
	ev := evidenceFile(f)
	w.paths(p, f.Path, ev)
	if f.Link != "" {
		w.led(target(p, f), f, ev)
	}
	for _, n := range w.in.Names {
		if path.Base(p) == n {
			w.add("name", n, IsThere, f.Path, ev)
		}
	}
	content := string(f.Content)
	w.hash(f, content, ev)
	w.mentions(content, f.Path, ev)
	if len(w.in.Keys) > 0 && (strings.Contains(p, "authorized_keys") || strings.HasSuffix(p, ".pub") || strings.HasSuffix(p, "known_hosts")) {
		for _, print := range fingerprints(content) {
			if slices.Contains(w.in.Keys, print) {
				w.add("key", print, IsThere, f.Path, ev)
			}
		}
	}
}

// led holds what a link leads to against the list's paths and names.
func (w *sweeper) led(to string, f *snapshot.File, ev []string) {
	for _, want := range w.in.Paths {
		if isAt(want, to) {
			w.add("path", want, IsLed, f.Path, ev)
		}
	}
	for _, n := range w.in.Names {
		if path.Base(to) == n {
			w.add("name", n, IsLed, f.Path, ev)
		}
	}
}

// isAt reports whether p is what a path of the list means, or below it.
func isAt(want, p string) bool {
	ok, err := path.Match(want, p)
	return ok && err == nil || below(p, want)
}

// paths holds one path of the host against all of the list's.
func (w *sweeper) paths(p string, where untrusted.Text, ev []string) {
	for _, want := range w.in.Paths {
		if isAt(want, p) {
			w.found[want] = true
			w.add("path", want, IsThere, where, ev)
		}
	}
}

// hash compares bytes: only a content that was kept whole and unchanged has them.
func (w *sweeper) hash(f *snapshot.File, content string, ev []string) {
	switch {
	case len(w.in.SHA256) == 0 || f.Type != "file":
		return
	case f.SHA256 != "":
		if slices.Contains(w.in.SHA256, f.SHA256) {
			w.add("sha256", f.SHA256, IsThere, f.Path, ev)
		}
		return
	case f.Section == snapshot.SectionAsked:
		w.nohash = append(w.nohash, untrusted.Clean("no hash of "+string(f.Path)+": "+f.NoHash, 240))
		return
	case f.Size == 0:
		return
	}
	if f.Redacted > 0 || f.Truncated || f.Described || content == "" {
		w.unhashed++
		return
	}
	sum := sha256.Sum256([]byte(content))
	if h := hex.EncodeToString(sum[:]); slices.Contains(w.in.SHA256, h) {
		w.add("sha256", h, IsThere, f.Path, ev)
	}
}

// mentions looks for names, paths and addresses as words of a text.
func (w *sweeper) mentions(text string, where untrusted.Text, ev []string) {
	if text == "" {
		return
	}
	look := func(kind string, list []string) {
		for _, x := range list {
			if re := w.in.words[x]; re != nil && strings.Contains(text, x) && re.MatchString(text) {
				w.add(kind, x, IsNamed, where, ev)
			}
		}
	}
	look("path", w.in.Paths)
	look("address", w.in.Addresses)
	look("name", w.in.Names)
}

func (w *sweeper) process(p *snapshot.Process) {
	where, ev := text("process %d (%s)", p.PID, quote(string(p.Comm))), evidenceProc(p)
	exe, _ := exeOf(p)
	w.paths(path.Clean(exe), where, ev)
	if p.Cwd != "" {
		w.paths(path.Clean(string(p.Cwd)), where, ev)
	}
	for _, n := range w.in.Names {
		if string(p.Comm) == n || path.Base(exe) == n {
			w.add("name", n, IsThere, where, ev)
		}
	}
	w.mentions(commandLine(p), where, ev)
}

func (w *sweeper) socket(k snapshot.Socket) {
	for _, side := range []string{k.Remote, k.Local} {
		host, _, _ := cutPort(side)
		ip, err := netip.ParseAddr(host)
		if err != nil || ip.IsUnspecified() {
			continue
		}
		for i, p := range w.in.prefixes {
			if p.Contains(ip.Unmap()) {
				w.add("address", w.in.Addresses[i], IsThere, untrusted.Text(k.Local+" to "+k.Remote), []string{"sockets:" + untrusted.Clean(k.Proto+" "+k.Local+" "+k.Remote, 160)})
			}
		}
	}
}

// rest are names that stand in no file of their own, and the agents' logs.
func (w *sweeper) rest() {
	s := w.v.s
	for _, n := range w.in.Names {
		if s.Host == n || string(s.Ident.Hostname) == n {
			w.add("name", n, IsThere, "the host's own name", nil)
		}
		for _, in := range w.v.found {
			if string(in.Name) == n || in.SystemID == n {
				w.add("name", n, IsThere, in.Root, w.v.rootEvidence(in))
			}
		}
		for _, u := range w.v.users {
			if u.name == n {
				w.add("name", n, IsThere, "/etc/passwd", nil)
			}
		}
	}
	for i, l := range s.Log {
		w.mentions(string(l.Text), text("log of %s, %s", quote(string(l.Unit)), l.At.Format("2006-01-02 15:04:05")), []string{fmt.Sprintf("log:%d", i)})
	}
	for _, f := range s.Facts {
		w.mentions(string(f.Text), text("%s", f.Name), []string{"facts:" + f.Name})
	}
}

// blind says what this snapshot cannot say.
func (w *sweeper) blind() {
	s := w.v.s
	if !s.Complete {
		w.out.CouldNot = append(w.out.CouldNot, "the read of the host did not reach its end")
	}
	for _, sec := range s.Sections {
		if sec.End != snapshot.EndOK && sec.End != snapshot.EndNotAsked {
			w.out.CouldNot = append(w.out.CouldNot, untrusted.Clean(sec.Name+" "+sec.End+" "+sec.Why, 160))
		}
	}
	if n := len(w.nohash); n > maxUnread {
		w.nohash = append(w.nohash[:maxUnread:maxUnread], fmt.Sprintf("and no hash of %d more listed paths", n-maxUnread))
	}
	w.out.CouldNot = append(w.out.CouldNot, w.nohash...)
	if len(w.in.SHA256) > 0 {
		w.out.CouldNot = append(w.out.CouldNot, fmt.Sprintf("hashes: %d files have no hash here (their content is not kept, or not as it was), and none that lies outside the places that are read", w.unhashed))
	}
	w.unread()
}

// maxUnread is how many paths are named that lie where nobody looked.
const maxUnread = 20

// unread names the paths of the list that this snapshot says nothing of: those that the
// host was asked for and could not show, and those that nobody looked for.
func (w *sweeper) unread() {
	n := 0
	for _, want := range w.in.Paths {
		a := w.v.s.AskedFor(want)
		var why string
		switch {
		case a != nil && a.State == snapshot.AskedUnseen && !w.found[want]:
			why = "could not be looked at: " + a.Why
		case a != nil && a.State == snapshot.AskedUnseen, a != nil && a.Why != "":
			why = "there may be more of it: " + a.Why
		case a != nil || w.found[want] || w.v.isTold(want):
			continue
		default:
			why = "was never looked for here: it is not among the places that are read; name the host to ask it, or look on the host itself"
		}
		if n++; n <= maxUnread {
			w.out.CouldNot = append(w.out.CouldNot, untrusted.Clean(want, 120)+" "+untrusted.Clean(why, 240))
		}
	}
	if n > maxUnread {
		w.out.CouldNot = append(w.out.CouldNot, fmt.Sprintf("and %d more paths that were not looked for, or not to the end", n-maxUnread))
	}
}

// fingerprints of all keys in the lines of authorized_keys, known_hosts and .pub files:
// whatever decodes to a key's own length and type.
func fingerprints(content string) []string {
	var out []string
	for line := range strings.Lines(content) {
		for word := range strings.FieldsSeq(line) {
			if !strings.HasPrefix(word, "AAAA") {
				continue
			}
			blob, err := base64.StdEncoding.DecodeString(word)
			if err != nil || len(blob) < 20 {
				continue
			}
			sum := sha256.Sum256(blob)
			out = append(out, "SHA256:"+base64.RawStdEncoding.EncodeToString(sum[:]))
		}
	}
	return out
}
