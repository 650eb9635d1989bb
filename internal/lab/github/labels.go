package github

import (
	"net/http"
	"slices"
	"strings"
)

const labelsMost = 100

func (c *call) tellLabels(r *runner) {
	l := labelShapes(r)
	c.json(http.StatusOK, map[string]any{"total_count": len(l), "labels": l})
}

func (c *call) listLabels() {
	if r := c.theRunner(); r != nil {
		c.tellLabels(r)
	}
}

// asked reads the labels of a request, or answers.
func (c *call) asked(least int) (list []string, ok bool) {
	var in struct {
		Labels *[]string `json:"labels"`
	}
	if !c.body(&in) {
		return nil, false
	}
	if in.Labels == nil || len(*in.Labels) < least || len(*in.Labels) > labelsMost {
		c.refuse("Invalid request.\n\n\"labels\" wasn't supplied or is not a list of %d to %d", least, labelsMost)
		return nil, false
	}
	for _, l := range *in.Labels {
		if strings.TrimSpace(l) == "" || len(l) > 256 {
			c.refuse("Label %q is not valid", l)
			return nil, false
		}
	}
	return *in.Labels, true
}

func (r *runner) has(list []string, name string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, name) })
}

// relabel gives the runner other custom labels; read-only ones are never touched.
func (c *call) relabel(r *runner, to []string) {
	var custom []string
	for _, l := range to {
		if !r.has(r.fixed, l) && !r.has(custom, l) {
			custom = append(custom, l)
		}
	}
	if !slices.Equal(custom, r.Labels) {
		from := strings.Join(r.Labels, " ")
		r.Labels = custom
		c.effect("runner.labels", r.target(), "["+from+"] to ["+strings.Join(custom, " ")+"]")
		c.s.wake()
	}
	c.tellLabels(r)
}

func (c *call) setLabels() {
	r := c.theRunner()
	if r == nil {
		return
	}
	if list, ok := c.asked(0); ok {
		c.relabel(r, list)
	}
}

func (c *call) addLabels() {
	r := c.theRunner()
	if r == nil {
		return
	}
	if list, ok := c.asked(1); ok {
		c.relabel(r, append(slices.Clone(r.Labels), list...))
	}
}

func (c *call) clearLabels() {
	if r := c.theRunner(); r != nil {
		c.relabel(r, nil)
	}
}

func (c *call) deleteLabel() {
	r := c.theRunner()
	if r == nil {
		return
	}
	name := c.r.PathValue("name")
	switch {
	case r.has(r.fixed, name):
		c.refuse("Label %q is read-only and cannot be removed", name)
	case !r.has(r.Labels, name):
		c.missing()
	default:
		c.relabel(r, slices.DeleteFunc(slices.Clone(r.Labels), func(l string) bool { return strings.EqualFold(l, name) }))
	}
}
