package testenv

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// module is the import path of this repository.
const module = "cordon"

// listed is one package of `go list -json`.
type listed struct {
	ImportPath, Doc  string
	Imports, GoFiles []string
}

// room is one package pattern of the level table: "a/b" or "a/b/...".
type room struct {
	pattern string
	level   int
	levels  [2]int   // may import rooms of these levels, first to last; -1: none
	also    []string // and these packages by name; at level 0 also third parties
}

// ban is one row of the second table.
type ban struct{ from, never []string }

type table struct {
	rooms []room
	bans  []ban
}

var (
	code  = regexp.MustCompile("`([^`]+)`")
	digit = regexp.MustCompile(`^([0-9])$`)
	span  = regexp.MustCompile(`\b([0-9])(?:–([0-9]))?\b`)
)

// readTable reads the two tables of ARCHITECTURE.md: rows that begin with a level,
// and rows that begin with package patterns.
func readTable(doc string) (table, error) {
	var t table
	for line := range strings.Lines(doc) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) < 3 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case digit.MatchString(cells[0]):
			r := room{levels: [2]int{-1, -1}, also: names(cells[2])}
			r.level, _ = strconv.Atoi(cells[0])
			if m := span.FindStringSubmatch(code.ReplaceAllString(cells[2], "")); m != nil {
				r.levels[0], _ = strconv.Atoi(m[1])
				r.levels[1] = r.levels[0]
				if m[2] != "" {
					r.levels[1], _ = strconv.Atoi(m[2])
				}
				if r.levels[1] >= r.level {
					return t, fmt.Errorf("level %d may import level %d: %s", r.level, r.levels[1], line)
				}
			}
			for _, p := range names(cells[1]) {
				r.pattern = p
				t.rooms = append(t.rooms, r)
			}
		case strings.HasPrefix(cells[0], "`"):
			t.bans = append(t.bans, ban{names(cells[0]), names(cells[1])})
		}
	}
	if len(t.rooms) == 0 || len(t.bans) == 0 {
		return t, fmt.Errorf("a table is missing: %d rooms, %d bans", len(t.rooms), len(t.bans))
	}
	return t, nil
}

func names(cell string) []string {
	var all []string
	for _, m := range code.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// matches: "a/b" is that package, "a/..." is a and all below it, "a/*" is all below it.
func matches(pattern, pkg string) bool {
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(pkg, base+"/")
	}
	base, deep := strings.CutSuffix(pattern, "/...")
	return pkg == base || deep && strings.HasPrefix(pkg, base+"/")
}

// room finds the most specific row.
func (t table) room(pkg string) *room {
	var best *room
	for i, r := range t.rooms {
		if matches(r.pattern, pkg) && (best == nil || len(r.pattern) > len(best.pattern)) {
			best = &t.rooms[i]
		}
	}
	return best
}

// violations checks every import of every package; each is one line.
func (t table) violations(pkgs []listed) []string {
	var found []string
	for _, p := range pkgs {
		name := inside(p.ImportPath)
		r := t.room(name)
		if r == nil {
			found = append(found, name+" is not in the level table")
			continue
		}
		for _, imp := range p.Imports {
			if why := t.refuses(name, r, imp); why != "" {
				found = append(found, fmt.Sprintf("%s imports %s: %s", name, inside(imp), why))
			}
		}
	}
	return found
}

func (t table) refuses(name string, r *room, imp string) string {
	for _, b := range t.bans {
		if slices.ContainsFunc(b.from, func(p string) bool { return p == "..." || matches(p, name) }) &&
			!slices.Contains(b.from, "!"+name) && slices.ContainsFunc(b.never, func(p string) bool { return matches(p, inside(imp)) }) {
			return "the second table forbids it"
		}
	}
	if slices.Contains(r.also, inside(imp)) {
		return ""
	}
	if !strings.HasPrefix(imp, module+"/") {
		if first, _, _ := strings.Cut(imp, "/"); r.level == 0 && strings.Contains(first, ".") {
			return "level 0 has the standard library only"
		}
		return ""
	}
	to := t.room(inside(imp))
	switch {
	case to == nil, to == r: // reported for itself; one room
		return ""
	case to.level < r.levels[0] || to.level > r.levels[1]:
		return fmt.Sprintf("level %d may not import it (level %d)", r.level, to.level)
	}
	return ""
}

func inside(path string) string { return strings.TrimPrefix(path, module+"/") }
