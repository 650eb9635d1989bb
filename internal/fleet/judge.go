package fleet

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/check"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// judge decides between agreed, ghost and disagreement. Clones are seen only across
// rows and come after.
func (j *join) judge(row *Row, proposed []string) {
	if len(row.Installations) == 0 {
		// Only hosts that the provider points at can be without it.
		if len(proposed) > 0 && row.Looked == Looked {
			row.State = Ghost
			row.Why = fmt.Sprintf("%s read to the end, and no installation of it is there", were(proposed))
		}
		return
	}
	for _, in := range row.Installations {
		j.differ(row, in)
	}
	if len(row.Differ) > 0 {
		row.State, row.Why = Disagreement, strings.Join(row.Differ, "; ")
	}
}

func were(hosts []string) string {
	if len(hosts) == 1 {
		return hosts[0] + " was"
	}
	return strings.Join(hosts, ", ") + " were"
}

// differ writes down where provider and host contradict each other.
func (j *join) differ(row *Row, in check.Installation) {
	add := func(format string, args ...any) { row.Differ = append(row.Differ, fmt.Sprintf(format, args...)) }
	ids := systemIDs(row)
	if in.SystemID != "" && len(ids) > 0 && !slices.Contains(ids, in.SystemID) {
		add("%s has system id %s, the provider knows %s", in.Host, in.SystemID, strings.Join(ids, ", "))
	}
	var known []string // names are not resolved here, and are no contradiction
	for _, a := range j.in.Hosts[in.Host] {
		if ip := address(a); ip != "" {
			known = append(known, ip)
		}
	}
	for _, m := range row.Managers {
		from := address(string(m.Address))
		if string(m.SystemID) != in.SystemID || in.SystemID == "" || from == "" || len(known) == 0 {
			continue
		}
		if !slices.Contains(known, from) {
			add("the provider saw %s come from %s, and %s is configured at %s",
				in.SystemID, from, in.Host, strings.Join(known, ", "))
		}
	}
	if in.Name != "" && row.Runner.Name != "" && in.Kind == check.GitHub && in.Name != row.Runner.Name {
		add("%s calls it %s, the provider %s", in.Host, untrusted.Clean(string(in.Name), 80), untrusted.Clean(string(row.Runner.Name), 80))
	}
	was := j.hosts[in.Host]
	if was.whole && len(in.PIDs) == 0 && row.Runner.Online == witness.Yes && len(row.Hosts) == 1 {
		add("the provider says it is online, and no process of it runs on %s", in.Host)
	}
}

func systemIDs(row *Row) []string {
	var out []string
	for _, m := range row.Managers {
		if id := untrusted.Clean(string(m.SystemID), 40); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// identity is something that only one machine, or one place on it, should have.
type identity struct{ kind, value string }

// contested marks rows whose agent was told that another session has its identity: a
// second place uses it, also where that one was never read.
func (j *join) contested(rows []Row) {
	for i := range rows {
		for _, in := range rows[i].Installations {
			if in.Contested.IsZero() {
				continue
			}
			why := fmt.Sprintf("the agent on %s was told at %s that another session uses its registration: a second machine has it, or the same one was started twice",
				in.Host, in.Contested.UTC().Format("2006-01-02 15:04:05Z"))
			if rows[i].Why != "" && rows[i].State != Clone {
				why += "; " + rows[i].State + ": " + rows[i].Why
			}
			rows[i].State, rows[i].Why = Clone, why
		}
	}
}

// clones marks the rows of every identity that is in two places. A token used by
// several managers is gitlab-runner's own way to scale: where the provider knows a
// manager for each of the places, it is no clone.
func (j *join) clones(rows []Row) {
	at := map[identity]map[string]bool{}
	each := func(in check.Installation, yield func(identity)) {
		host := j.names(in.Host)[0] // the same machine under another name is no second place
		where := host + ":" + untrusted.Clean(string(in.Root), 120)
		put := func(id identity, place string) {
			if at[id] == nil {
				at[id] = map[string]bool{}
			}
			at[id][place] = true
			if yield != nil {
				yield(id)
			}
		}
		if in.SystemID != "" && strings.HasPrefix(in.SystemID, "r_") {
			put(identity{"system id", in.SystemID}, where)
		} else if in.SystemID != "" { // derived from the machine's id: two roots of one host share it
			put(identity{"system id", in.SystemID}, host)
		}
		if in.TokenPrint != "" {
			put(identity{"token", in.TokenPrint}, where)
		}
		if in.Kind != check.GitLab && in.RunnerID != "" {
			put(identity{"runner", untrusted.Clean(strings.ToLower(strings.TrimRight(string(in.URL), "/")), 200) + " number " + untrusted.Clean(string(in.RunnerID), 40)}, where)
		}
	}
	for _, p := range j.all {
		each(p.Installation, nil)
	}
	for i := range rows {
		row := &rows[i]
		for _, in := range row.Installations {
			each(in, func(id identity) {
				if len(at[id]) < 2 || id.kind == "token" && managed(row) {
					return
				}
				places := sorted(at[id])
				why := fmt.Sprintf("%s %s is in %d places: %s", id.kind, id.value, len(places), strings.Join(places, ", "))
				switch {
				case row.State != Clone && row.Why != "":
					row.Why = why + "; " + row.State + ": " + row.Why
				case !strings.Contains(row.Why, why):
					row.Why = strings.TrimPrefix(row.Why+"; "+why, "; ")
				}
				row.State = Clone
			})
		}
	}
}

// managed reports whether the provider knows a manager of its own for each
// installation of the row.
func managed(row *Row) bool {
	ids, seen := systemIDs(row), map[string]bool{}
	for _, in := range row.Installations {
		if in.SystemID == "" || seen[in.SystemID] || !slices.Contains(ids, in.SystemID) {
			return false
		}
		seen[in.SystemID] = true
	}
	return len(row.Installations) > 1
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for s := range set {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}
