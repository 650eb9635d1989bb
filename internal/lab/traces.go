package lab

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/lab/ghrunner"
)

func itoa(n int) string { return strconv.Itoa(n) }

// guid is an id that follows from a text.
func guid(text string) string {
	b := sha256.Sum256([]byte(text))
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}

// modulus stands for the public half of a listener's key.
func modulus(text string) string {
	b := sha512.Sum512([]byte("modulus " + text))
	return base64.StdEncoding.EncodeToString(append(b[:], b[:]...))
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// traces writes what the jobs of a runner left on its host before the lab began: those
// that the API tells of, and those that only the logs do.
func (h *host) traces(spec listenerSpec, name string) error {
	past := slices.Clone(spec.Hidden)
	for _, r := range h.lab.scenario.GitHub.Runs {
		for _, j := range r.Jobs {
			if j.Runner == spec.Runner && r.Conclusion != "" {
				past = append(past, pastJob{
					Repo: r.Repo, Name: j.Name, Run: itoa(r.ID), Ref: r.Branch, Actor: r.Actor, Event: r.Event, Ago: r.Ago - j.After - 12*time.Second, Takes: j.Takes,
				})
			}
		}
	}
	slices.SortStableFunc(past, func(a, b pastJob) int { return int((b.Ago - a.Ago) / time.Second) })
	var lines []string
	say := func(at time.Time, from, text string) {
		lines = append(lines, "["+at.UTC().Format("2006-01-02 15:04:05Z")+" INFO "+from+"] "+text)
	}
	var begun time.Time
	for i, p := range past {
		at := h.lab.clock.Start.Add(-p.Ago)
		if i == 0 {
			begun = at.Add(-time.Hour)
			say(begun, "Listener", "Version: "+spec.Version)
			say(begun, "Terminal", "WRITE LINE: "+begun.UTC().Format("2006-01-02 15:04:05Z")+": Listening for Jobs")
		}
		end := at.Add(p.Takes)
		say(at, "Terminal", "WRITE LINE: "+at.UTC().Format("2006-01-02 15:04:05Z")+": Running job: "+p.Name)
		say(end, "Terminal", "WRITE LINE: "+end.UTC().Format("2006-01-02 15:04:05Z")+": Job "+p.Name+" completed with result: Succeeded")
		j := ghrunner.Job{
			ID: guid(name + p.Run + p.Name), Name: p.Name, Repository: p.Repo, RunID: p.Run, Ref: "refs/heads/" + p.Ref, Actor: p.Actor, Event: p.Event, Began: at,
		}
		log := append(ghrunner.WorkerLog(j, at), "["+end.UTC().Format("2006-01-02 15:04:05Z")+" INFO Worker] Job completed.")
		if err := h.m.Put(path.Join(spec.Root, "_diag", ghrunner.LogName("Worker", at)), strings.Join(log, "\n")+"\n", 0o644, end); err != nil {
			return err
		}
		if err := h.mapped(spec.Root, j.Repository, at); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		return nil
	}
	last := h.lab.clock.Start.Add(-past[len(past)-1].Ago)
	return h.m.Put(path.Join(spec.Root, "_diag", ghrunner.LogName("Runner", begun)), strings.Join(lines, "\n")+"\n", 0o644, last)
}
