package change

import "testing"

// Prose about a plan changes from minute to minute; what is done does not, and is what
// somebody agrees to.
func TestAPlansHashIsOverWhatIsDone(t *testing.T) {
	plan := func(edit func(*Plan)) Plan {
		p := Plan{Verb: "pause", Option: "only", Title: "t", Limits: []string{"l"}, Changes: []Change{{
			ID: "pause/1", Op: "x@1", Title: "t", Args: []byte(`{}`), Call: Call{Method: "PUT", URL: "u"}, Capacity: "3 jobs wait", Destroys: []string{"d"}, Undo: &Change{ID: "undo/1"},
		}}}
		if edit != nil {
			edit(&p)
		}
		return p
	}
	same := plan(nil).Hash()
	for name, edit := range map[string]func(*Plan){
		"capacity": func(p *Plan) { p.Changes[0].Capacity = "4 jobs wait" }, "limits": func(p *Plan) { p.Limits = nil }, "title": func(p *Plan) { p.Title = "other" },
	} {
		if p := plan(edit); p.Hash() != same || p.HashOf(HashWhole) == plan(nil).HashOf(HashWhole) {
			t.Errorf("%s makes it another plan, or did not before", name)
		}
	}
	for name, edit := range map[string]func(*Plan){
		"id": func(p *Plan) { p.Changes[0].ID = "pause/2" }, "call": func(p *Plan) { p.Changes[0].Call.Body = "b" }, "args": func(p *Plan) { p.Changes[0].Args = []byte(`{"a":1}`) },
		"before": func(p *Plan) { p.Changes[0].Before = []byte(`{}`) }, "destroys": func(p *Plan) { p.Changes[0].Destroys = nil }, "option": func(p *Plan) { p.Option = "all" },
		"one more": func(p *Plan) { p.Changes = append(p.Changes, Change{}) }, "way back": func(p *Plan) { p.Changes[0].Undo = nil }, "way back's call": func(p *Plan) { p.Changes[0].Undo.Call.URL = "v" },
	} {
		if plan(edit).Hash() == same {
			t.Errorf("%s is another plan, and has the same hash", name)
		}
	}
	if p := plan(nil); p.Hash() == "" || p.Changes[0].Capacity == "" || p.Changes[0].Undo.ID == "" {
		t.Error("hashing changed the plan")
	}
}
