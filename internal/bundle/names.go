package bundle

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"cordon/internal/evidence"
)

const maxName = 400 // bytes of a path in the archive

var namePattern = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)

// cleanName reports whether a path may stand in a bundle: the portable characters,
// relative, no part made of dots alone. Such names need no escaping in manifests, in
// shells or on any file system.
func cleanName(name string) bool {
	if len(name) > maxName || !namePattern.MatchString(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.Trim(part, ".") == "" {
			return false
		}
	}
	return true
}

// placed is where an item of evidence is in the bundle.
type placed struct {
	evidence.Item
	File string // "data/…"
}

// place gives every item its file. Items of one name get -2, -3 … in the order of
// the journal; the same name with the same bytes is one file. Names that differ only
// in case, or where one is a directory of the other, cannot lie beside each other
// everywhere and count as equal. It is a function of the journal alone, so that
// whoever verifies comes to the same names.
func place(items []evidence.Item) []placed {
	taken := newNames(journalName, tornName, caseName, playbookName, gapsName, timelineName, reportName, headsDir+"x")
	same := map[string]string{}
	out := make([]placed, 0, len(items))
	for _, it := range items {
		id := it.Name + "\x00" + it.Digest
		file, ok := same[id]
		if !ok {
			file = taken.free(dataDir + it.Name)
			same[id] = file
		}
		out = append(out, placed{it, file})
	}
	return out
}

// names knows which paths are files and which are directories.
type names struct {
	files, dirs map[string]bool
	next        map[string]int // the suffix to try, so that many items of one name cost no more than few
}

func newNames(reserved ...string) names {
	n := names{map[string]bool{}, map[string]bool{}, map[string]int{}}
	for _, r := range reserved {
		n.add(r)
	}
	return n
}

func (n names) add(name string) {
	name = strings.ToLower(name)
	n.files[name] = true
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		n.dirs[d] = true
	}
}

// collides reports whether a file cannot lie beside the others.
func (n names) collides(name string) bool {
	name = strings.ToLower(name)
	return n.files[name] || n.dirs[name] || n.underFile(name)
}

// underFile reports whether a directory on the way to name is a file.
func (n names) underFile(name string) bool {
	for d := path.Dir(strings.ToLower(name)); d != "."; d = path.Dir(d) {
		if n.files[d] {
			return true
		}
	}
	return false
}

// taken: as collides; the directory of the signed heads holds nothing else.
func (n names) taken(name string) bool { return n.collides(name) || ofHeads(name) }

func ofHeads(name string) bool { return strings.HasPrefix(strings.ToLower(name), headsDir) }

// free returns name, or the first of name-2, name-3 … that lies beside all others.
// Where a directory on the way is taken by a file, the first part is what changes.
func (n names) free(name string) string {
	try, key := name, strings.ToLower(name)
	for i := max(2, n.next[key]); n.taken(try); i++ {
		n.next[key] = i + 1
		first, rest, deep := strings.Cut(strings.TrimPrefix(name, dataDir), "/")
		if deep && (n.underFile(name) || ofHeads(name)) {
			try = fmt.Sprintf("%s%s-%d/%s", dataDir, first, i, rest)
			continue
		}
		dir, base := path.Split(name)
		ext := path.Ext(base)
		if ext == base {
			ext = "" // ".env" is a name, not an ending
		}
		try = fmt.Sprintf("%s%s-%d%s", dir, strings.TrimSuffix(base, ext), i, ext)
	}
	n.add(try)
	return try
}
