package app

import (
	"fmt"

	"cordon/internal/engine"
	"cordon/internal/target"
	"cordon/playbooks"
)

// CaseMatrix is where every step of a case stands for every runner.
type CaseMatrix struct {
	Schema    string      `json:"schema"` // cordon.matrix/1
	Case      string      `json:"case"`
	Simulated bool        `json:"simulated,omitempty"`
	Steps     []string    `json:"steps"`
	Rows      []MatrixRow `json:"runners"`
}

// MatrixRow is one runner of a CaseMatrix; Steps has one word for each step: how it
// ended, "waits: …", "now" or "open".
type MatrixRow struct {
	Runner target.Ref `json:"runner"`
	Steps  []string   `json:"steps"`
}

// Matrix reads where every step of a kept case stands. It takes no lock.
func (a *App) Matrix(id string) (CaseMatrix, error) {
	m := CaseMatrix{Schema: "cordon.matrix/1", Case: id}
	v, err := a.View(id)
	if err != nil {
		return m, err
	}
	p, err := playbooks.Parse(v.Opening.PlaybookName, v.Opening.Playbook)
	if err != nil {
		return m, fmt.Errorf("case %s: the playbook it was opened with is not understood by this build: %w", id, err)
	}
	g, err := engine.MatrixOf(v, p)
	if err != nil {
		return m, err
	}
	m.Simulated = v.Simulated
	for _, s := range g.Steps {
		m.Steps = append(m.Steps, s.ID)
	}
	for i, r := range g.Runners {
		row := MatrixRow{Runner: r}
		for _, c := range g.Cells[i] {
			row.Steps = append(row.Steps, cellWord(c))
		}
		m.Rows = append(m.Rows, row)
	}
	return m, nil
}

func cellWord(c engine.Cell) string {
	switch {
	case c.None:
		return "no host known"
	case c.End != "":
		return c.End
	case c.Waits != "":
		return "waits: " + c.Waits
	case c.Now:
		return "now"
	}
	return "open"
}

// Matrix writes one line for each runner and step, so that it can be searched.
func (l Lines) Matrix(m CaseMatrix) {
	for _, r := range m.Rows {
		for i, s := range r.Steps {
			l.Printf("%-24s %-12s %s", r.Runner.Short(), m.Steps[i], s)
		}
	}
}
