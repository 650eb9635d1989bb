package fleet

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/providers"
)

// join holds the indexes of one Build.
type join struct {
	in      Input
	runners []providers.Runner
	hosts   map[string]*read
	all     []*place

	machines map[string][]string // configured names of each machine, sorted
}

// read is the snapshot of one host that counts.
type read struct {
	taken time.Time
	whole bool // what is not in it was not there

	machine string // which machine it is, see machineOf
}

// place is one installation and the runner it was given to, if any.
type place struct {
	check.Installation
	claimed bool
}

func newJoin(in Input) *join {
	j := &join{in: in, hosts: map[string]*read{}, machines: map[string][]string{}}
	j.runners = slices.Clone(in.Runners)
	slices.SortStableFunc(j.runners, func(a, b providers.Runner) int { return compareRefs(a.Ref, b.Ref) })
	j.runners = slices.CompactFunc(j.runners, func(a, b providers.Runner) bool { return a.Ref == b.Ref })
	for _, r := range ReadsOf(in.Snapshots) {
		s := r.Best()
		whole := s.Seen(snapshot.SectionRunners) && s.Seen(snapshot.SectionProc) && s.Seen(snapshot.SectionDetail)
		j.hosts[r.Host] = &read{taken: s.Taken, whole: whole, machine: machineOf(s)}
		j.machines[machineOf(s)] = append(j.machines[machineOf(s)], r.Host)
		for _, i := range r.Installations() {
			j.all = append(j.all, &place{Installation: i})
		}
	}
	slices.SortStableFunc(j.all, func(a, b *place) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(string(a.Root), string(b.Root)))
	})
	return j
}

// row joins one runner with its installations.
func (j *join) row(r providers.Runner) Row {
	row := Row{Runner: r, Managers: slices.Clone(j.in.Managers[r.Ref]), SeenAt: map[string]time.Time{"provider": j.in.At}}
	maps.Copy(row.SeenAt, j.in.Read[r.Ref])
	var how []string
	for _, p := range j.all {
		if k := j.same(r, row.Managers, p.Installation); k != "" {
			p.claimed = true
			row.Installations = append(row.Installations, p.Installation)
			row.Hosts = append(row.Hosts, p.Host)
			how = append(how, p.Host+": "+k)
		}
	}
	proposed, why := HostsOf(r, row.Managers, j.in.Hosts)
	for _, h := range proposed {
		if !slices.Contains(row.Hosts, h) {
			row.Hosts = append(row.Hosts, h)
		}
	}
	if why != "" {
		how = append(how, why)
	}
	slices.Sort(row.Hosts)
	row.Hosts = slices.Compact(row.Hosts)
	if one := j.sameMachine(&row); one != "" {
		how = append(how, one)
	}
	row.Known = strings.Join(how, "; ")
	j.looked(&row)
	j.judge(&row, proposed)
	return row
}

// looked says whether the hosts of the row were read.
func (j *join) looked(row *Row) {
	row.Looked = Looked
	if len(row.Hosts) == 0 {
		row.Looked = UnknownHost
	}
	for _, h := range row.Hosts {
		switch was := j.hosts[h]; {
		case was == nil:
			row.Looked = NotAsked
		case !was.whole && row.Looked != NotAsked:
			row.Looked = CouldNot
		}
		if was := j.hosts[h]; was != nil {
			row.SeenAt["host/"+h] = was.taken
		}
	}
}

// at is the service a runner is registered with, "" where nothing says.
func (j *join) at(r providers.Runner) string {
	if u := j.in.Services[r.Ref.System]; u != "" {
		return service(u)
	}
	return service(r.Web)
}

// service is scheme, host and port of a URL, in lower case. The addresses of
// GitHub's API and of what its runners poll count as the address that people open.
func service(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if host == "api.github.com" || host == "www.github.com" || strings.HasSuffix(host, ".actions.githubusercontent.com") {
		host = "github.com"
	}
	return strings.ToLower(u.Scheme) + "://" + host
}

// unclaimed makes rows of the installations that no runner claims.
func (j *join) unclaimed() []Row {
	var out []Row
	for _, p := range j.all {
		if p.claimed {
			continue
		}
		row := Row{
			Installations: []check.Installation{p.Installation}, Hosts: []string{p.Host}, Known: "found there",
			SeenAt: map[string]time.Time{"host/" + p.Host: j.hosts[p.Host].taken}, Looked: Looked,
		}
		if !j.hosts[p.Host].whole {
			row.Looked = CouldNot
		}
		row.State, row.Why = j.stray(p.Installation)
		out = append(out, row)
	}
	return out
}

// bases are the services of the configured providers, by name.
func (j *join) bases() map[string]string {
	out := map[string]string{}
	for _, r := range j.runners {
		if s := j.at(r); s != "" {
			out[r.Ref.System] = s
		}
	}
	for name, base := range j.in.Services {
		out[name] = service(base)
	}
	return out
}

// managersRead reports whether every runner of the system was asked for its managers.
func (j *join) managersRead(system string) bool {
	for _, r := range j.runners {
		if _, ok := j.in.Managers[r.Ref]; r.Ref.System == system && !ok {
			return false
		}
	}
	return true
}
