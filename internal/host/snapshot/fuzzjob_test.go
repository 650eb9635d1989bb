package snapshot

import (
	"errors"
	"strings"
	"testing"
)

const workerName = "/home/ci/r/_diag/Worker_20261130-100005-utc.log"

func parserFor(section string) *parser {
	return &parser{x: expect(ProfileTriage), s: &Snapshot{}, section: section, seen: map[string]bool{}, spoil: map[string]string{}}
}

// Whatever a job writes into its message, only the context of its own depth says whose
// it is: a line that could be taken for one has to be one.
func FuzzWorkerJob(f *testing.F) {
	f.Add("    \"inputs\": {\n", "acme/web")
	f.Add("    \"github\": {\n              \"k\": \"repository\",\n", "x")
	f.Add("[2026-11-30 10:00:00Z INFO Worker] Job completed.\n    \"vars\": {\n", "forged/x")
	f.Fuzz(func(t *testing.T, before, repository string) {
		p := parserFor(SectionJobs)
		body := before + "          \"k\": \"repository\",\n          \"v\": \"" + repository + "\"\n"
		if err := p.workerJob(workerName, []byte(body)); err != nil || len(p.s.Jobs) != 1 {
			t.Fatalf("%v, %d jobs", err, len(p.s.Jobs))
		}
		j := p.s.Jobs[0]
		if j.Root != "/home/ci/r" || j.Source != JobWorkerLog || len(j.Repository) > maxJobText || strings.Trim(j.RunID, "0123456789") != "" {
			t.Errorf("%+v", j)
		}
		if j.Repository != "" && !strings.Contains(before, `"github": {`) && !strings.Contains(repository, `"github": {`) {
			t.Errorf("%q was believed outside the context: %+v", before, j)
		}
		if err := p.workerJob(workerName, nil); !errors.Is(err, ErrForged) {
			t.Errorf("the same log twice: %v", err)
		}
	})
}

// A log is the host's to write, and each line of it stays one line of that log.
func FuzzLogLines(f *testing.F) {
	f.Add("journal", `{"MESSAGE":"Checking for jobs... forbidden","__REALTIME_TIMESTAMP":"1796007605000000","_SYSTEMD_UNIT":"gitlab-runner.service"}`)
	f.Add("/home/ci/r/_diag/Runner_20261130-100005-utc.log", "[RUNNER 2026-11-30 10:00:00Z INFO Terminal] WRITE LINE: Running job: x\n[2026-99-99 10:00:00Z INFO Terminal] x")
	f.Add("/var/log/act_runner.log", `time="2026-11-30T12:00:00Z" level=error msg="failed to fetch task" error="unregistered runner"`)
	f.Add("/home/ci/r/nohup.out", "2026-11-30 12:00:00Z: Listening for Jobs\n\xff\x1b[2J")
	f.Fuzz(func(t *testing.T, name, text string) {
		p := parserFor(SectionLog)
		p.log(name, []byte(text))
		p.listenerJobs()
		if len(p.s.Log) > strings.Count(text, "\n")+1 || len(p.s.Jobs) > len(p.s.Log) {
			t.Errorf("%d lines and %d jobs of %q", len(p.s.Log), len(p.s.Jobs), text)
		}
		for _, l := range p.s.Log {
			l.Contact()
			if len(l.Text) > maxLogText || (name == "journal") != (l.From == "") && name != "" {
				t.Errorf("%+v", l)
			}
			if y := l.At.Year(); !l.At.IsZero() && (y < 1971 || y > 9000) {
				t.Errorf("year %d", y)
			}
		}
	})
}

// A setting of Buildkite's that is not known to be harmless is never kept.
func FuzzBuildkiteSettings(f *testing.F) {
	f.Add("token", "bkua_0123456789abcdef")
	f.Add("  TOKEN ", "\"quoted value here\"")
	f.Add("name", "bk")
	f.Fuzz(func(t *testing.T, key, value string) {
		if strings.ContainsAny(key+value, "\r\n") || len(value) < 8 || strings.TrimSpace(value) != value || strings.ContainsAny(value, `"' =`) || strings.Contains(key, value) {
			return
		}
		name := strings.TrimSpace(key)
		m := buildkiteLine.FindStringSubmatch(key + "=" + value)
		if m == nil || m[2] != name || buildkiteSettings[name] {
			return
		}
		p := parserFor(SectionRunners)
		if out, n := p.buildkite(key + "=" + value); n != 1 || strings.Contains(marks.ReplaceAllString(out, ""), value) {
			t.Errorf("%q=%q became %q", key, value, out)
		}
	})
}

// What a job frame may not be.
func TestAForgedJobIsRefused(t *testing.T) {
	for name, path := range map[string]string{
		"of a listener's log": "/home/ci/r/_diag/Runner_20261130-100005-utc.log",
		"of another place":    "/home/ci/r/Worker_20261130-100005-utc.log",
		"of no path":          "Worker_20261130-100005-utc.log",
		"with a step up":      "/home/ci/r/_diag/../Worker_20261130-100005-utc.log",
	} {
		if err := parserFor(SectionJobs).workerJob(path, nil); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := whole(ProfileTriage, map[string]func(*stream){SectionLog: func(s *stream) { s.frame("job", workerName, "") }})
	if s, err := parse(ProfileTriage, text); !errors.Is(err, ErrForged) || s.Complete {
		t.Errorf("in another section: %v", err)
	}
}
