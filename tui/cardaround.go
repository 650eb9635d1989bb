package tui

import (
	"fmt"

	"cordon/internal/exposure"
)

// mostAround is how many lines of each kind a card shows beside the credentials.
const mostAround = 10

// aroundLines are what came out where a runner's jobs ran, and what its provider and its
// hosts tell differently.
func aroundLines(x *exposure.List) []cardLine {
	var ls []cardLine
	for i, d := range x.Differences {
		if i == mostAround {
			ls = append(ls, cardLine{id: "differs/more", text: fmt.Sprintf("and %d more differences", len(x.Differences)-i)})
			break
		}
		ls = append(ls, cardLine{id: fmt.Sprintf("differs/%d", i), tone: "warn", text: short(string(d.Severity) + ": " + d.Title + ": " + d.Detail.String())})
	}
	for i, o := range x.Outputs {
		if i == mostAround {
			ls = append(ls, cardLine{id: "out/more", text: fmt.Sprintf("and %d more that came out in the window", len(x.Outputs)-i)})
			break
		}
		who := ""
		if o.By != "" {
			who = " by " + o.By
		}
		ls = append(ls, cardLine{id: fmt.Sprintf("out/%d", i), web: clean(o.Web), text: short("came out: " + o.Kind + " " + o.Name + " (" + o.Where + ")" + who + ": " + o.Why)})
	}
	for i, g := range x.OutputGaps {
		ls = append(ls, cardLine{id: fmt.Sprintf("out/gap/%d", i), tone: "warn", text: "came out, not known: " + short(g.Name) + ": " + short(g.Why)})
	}
	return ls
}

func ownedBy(who string) string {
	if who == "" {
		return ""
	}
	return ", owner " + who
}
