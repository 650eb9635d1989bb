package engine

import "fmt"

// trace prints what a failed life looked like.
func (m *model) trace() {
	v := m.view()
	for _, l := range v.Lines {
		if l.Kind == "evidence" || l.Kind == "plan" {
			continue
		}
		fmt.Printf("%3d %-11s %-10s %s %.200s | %.160s\n", l.Seq, l.Kind, l.Step, l.Target, l.Msg, l.Data)
	}
	for _, e := range m.w.Ledger() {
		fmt.Printf("LEDGER %+v\n", e)
	}
}
