package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/playbooks"
)

// Manual is the kind of a prompt for what a person does elsewhere and writes down here.
const Manual = "manual"

// Verbs of a decision at a Manual prompt, beside Skip, Again and Stop.
const (
	Did  = "done" // it was done: Fields and Attach say what
	Wait = "wait" // it goes on elsewhere: Owner, Due and Reason; the run goes on with what does not need it
	Sign = "sign" // another person says that it was done
	Redo = "redo" // another person says that it was not: Reason
)

// SamePerson is the id of the guard on a sign-off by whoever did the work.
const SamePerson = "same-person"

// ErrField means that what was written into a field cannot be taken; nothing was decided.
var ErrField = errors.New("not an answer to this field")

// ManualTask is what a Manual prompt asks for and what is on record of it so far.
type ManualTask struct {
	Text   string        // what has to be done
	Fields []ManualField // what has to be written down, in order
	Files  []string      // names of the files that were kept with it
	Attach bool          // at least one file has to be kept with it

	Now   time.Time // when this was asked
	Owner string    // who does it; the playbook's proposal until somebody named one
	Due   time.Time // zero: no date
	Late  bool      // Due has passed
	Waits string    // why it waits, "" while it does not

	SignOff bool    // another person has to sign for it
	Worked  string  // who wrote down that it was done and waits for a signature, "" before that
	Guards  []Guard // what holds back done, or sign
}

// ManualField is one question, with the answer that is on record.
type ManualField struct {
	ID       string
	Title    string
	Kind     string // one of playbooks.Field*
	Required bool
	Value    string
}

// manual shows what a person has to do. Nothing is done here.
func (r *Run) manual(ctx context.Context, t task) (Prompt, error) {
	m, err := r.manualTask(ctx, t)
	if err != nil {
		return Prompt{}, err
	}
	p := r.prompt(t, Manual, m.Text)
	p.Manual = &m
	switch {
	case r.o.Issuer == nil:
		p.CannotDo = ErrReadOnly.Error()
		return r.ask(p, Skip, Again, Stop), nil
	case m.Worked != "":
		return r.ask(p, Sign, Redo, Wait, Skip, Again, Stop), nil
	}
	return r.ask(p, Did, Wait, Skip, Again, Stop), nil
}

func (r *Run) manualTask(ctx context.Context, t task) (ManualTask, error) {
	a, rec := t.do(), r.st.people.of(t.key())
	m := ManualTask{
		Text: a.Text, Attach: a.Attach, SignOff: a.SignOff != "", Owner: a.Owner, Due: rec.Due, Waits: rec.Why,
	}
	if rec.Owner != "" {
		m.Owner = rec.Owner
	}
	if w := a.Within(); w > 0 && m.Due.IsZero() && !r.st.opened.IsZero() {
		m.Due = r.st.opened.Add(w)
	}
	m.Now = r.o.Clock.Now()
	m.Late = !m.Due.IsZero() && m.Now.After(m.Due)
	for _, f := range a.Fields {
		m.Fields = append(m.Fields, ManualField{f.ID, f.Title, f.Kind, f.Required, rec.Fields[f.ID]})
	}
	for _, f := range rec.Files {
		m.Files = append(m.Files, f.Path)
	}
	if rec.State == stateWorked {
		m.Worked = rec.by
		if g, same := r.samePerson(a, rec); same {
			m.Guards = append(m.Guards, g)
		}
		return m, nil
	}
	guards, err := r.offline(ctx, t, rec.Fields)
	m.Guards = guards
	return m, err
}

// samePerson holds a signature back where whoever signs also did the work: by the
// journal, by a name that was written down as having done it, or, as a name alone is
// quickly changed, by the account of the machine that both sat at. Where people are
// configured only they sign, and a key of their own says more than the account.
func (r *Run) samePerson(a playbooks.Act, rec manualRecord) (Guard, bool) {
	me, key := r.st.people.me, r.st.people.myKey
	hold := func(why string) (Guard, bool) { return Guard{SamePerson, GuardBlock, why}, true }
	is := r.st.people.mine(rec)
	for _, a := range r.o.Approval.By { // where people are named, all of their names and keys are theirs
		is = is || a.is(me, key) && a.is(rec.by, rec.key)
	}
	for _, f := range a.Fields {
		is = is || f.Kind == playbooks.FieldPerson && samePerson(rec.Fields[f.ID], me)
	}
	if is {
		return hold(me + " did this work: a sign-off is somebody else's")
	}
	if len(r.o.Approval.By) > 0 {
		if _, err := r.o.Approval.whoIs(me, key); err != nil {
			return hold("a sign-off is by a person under approvers: " + err.Error())
		}
		if _, err := r.o.Approval.whoIs("", key); err == nil && key != "" {
			return Guard{}, false
		}
	}
	if rec.seat != "" && rec.seat == r.st.people.seat {
		return hold(me + " sits at the account and machine where " + rec.by + " did this work: a sign-off is somebody else's")
	}
	return Guard{}, false
}

// answerManual takes a decision on a Manual prompt.
func (r *Run) answerManual(ctx context.Context, t task, p Prompt, d Decision) error {
	if r.o.Issuer == nil {
		return ErrReadOnly
	}
	switch d.Verb {
	case Did:
		return r.did(ctx, t, p, d)
	case Wait:
		return r.park(t, p, d)
	case Redo:
		if err := r.reasoned(d, "send back step "+p.Step); err != nil {
			return err
		}
		rec := r.st.people.of(t.key())
		rec.State, rec.Why = stateOpen, ""
		rec.Files = nil // they stay in the case, and are no proof of what is done anew
		r.shown = Prompt{}
		return r.note(t, rec, d.Reason)
	default:
		return r.sign(t, p, d)
	}
}

// did takes what was done. A runner that was named is looked at now: one that is not
// online holds it back, and what was written is kept for the next prompt.
func (r *Run) did(ctx context.Context, t task, p Prompt, d Decision) error {
	fields, err := r.fields(t.do(), d.Fields)
	if err != nil {
		return err
	}
	rec := r.st.people.of(t.key())
	if t.do().Attach && len(rec.Files)+len(d.Attach) == 0 {
		return fmt.Errorf("step %s: %w: a file has to be kept with it", p.Step, ErrField)
	}
	files, err := r.open(d.Attach)
	if err != nil {
		return fmt.Errorf("step %s: %w", p.Step, err)
	}
	guards, err := r.offline(ctx, t, fields)
	if err != nil {
		return err
	}
	rec.Fields = fields
	if held := unwaived(guards, d.Waive); held != nil {
		r.shown = Prompt{}
		if err := r.note(t, rec, ""); err != nil {
			return err
		}
		r.tell(r.prompt(t, Progress, "not done yet: "+held.Text))
		return nil
	}
	if err := r.waive(t, guards, d.Reason); err != nil {
		return err
	}
	kept, err := r.attach(ctx, t, files)
	if err != nil {
		return err
	}
	r.shown = Prompt{}
	rec.Files = append(slices.Clone(rec.Files), kept...)
	rec.Why, rec.State = "", stateDone
	if t.do().SignOff != "" {
		rec.State = stateWorked
	}
	if err := r.note(t, rec, d.Reason); err != nil {
		return err
	}
	if rec.State == stateWorked {
		r.tell(r.prompt(t, Progress, "written down; another person has to sign for it"))
		return nil
	}
	return r.finish(t, Done, wrote(t.do(), rec))
}

// sign takes the signature of another person.
func (r *Run) sign(t task, p Prompt, d Decision) error {
	rec := r.st.people.of(t.key())
	if g, same := r.samePerson(t.do(), rec); same {
		if unwaived([]Guard{g}, d.Waive) != nil {
			return fmt.Errorf("step %s: %w: %s", p.Step, ErrGuarded, g.Text)
		}
		if err := r.waive(t, []Guard{g}, d.Reason); err != nil {
			return err
		}
	}
	r.shown = Prompt{}
	by := rec.by
	rec.State, rec.Why = stateSigned, ""
	if err := r.note(t, rec, d.Reason); err != nil {
		return err
	}
	return r.finish(t, Done, wrote(t.do(), rec)+"; done by "+by+", signed off by "+r.st.people.me)
}

// park lets a task wait for somebody until a date; what was written so far is kept.
func (r *Run) park(t task, p Prompt, d Decision) error {
	if err := r.reasoned(d, "let step "+p.Step+" wait"); err != nil {
		return err
	}
	fields, err := r.partial(t.do(), d.Fields)
	if err != nil {
		return err
	}
	rec := r.st.people.of(t.key())
	if d.Owner != "" {
		if rec.Owner, err = CheckField(ManualField{Title: "owner", Kind: playbooks.FieldPerson}, d.Owner); err != nil {
			return err
		}
	}
	if rec.Owner == "" {
		rec.Owner = t.do().Owner
	}
	now := r.o.Clock.Now()
	if d.Due.IsZero() {
		d.Due = p.Manual.Due
	}
	switch {
	case rec.Owner == "":
		return fmt.Errorf("%w: say for whom it waits", ErrField)
	case !d.Due.After(now):
		return fmt.Errorf("%w: say until when it waits: a time after %s", ErrField, now.UTC().Format("2006-01-02 15:04Z"))
	}
	if len(fields) > 0 {
		rec.Fields = fields
	}
	rec.Due, rec.Why = d.Due.UTC(), d.Reason
	if rec.State == "" || rec.State == stateOpen {
		rec.State = stateWaiting
	}
	r.shown = Prompt{}
	return r.note(t, rec, d.Reason)
}

// note writes the record of a manual task.
func (r *Run) note(t task, rec manualRecord, why string) error {
	rec.Task = t.key()
	return r.append(casefile.Event{
		Kind: Manual, Step: t.step.ID, Target: t.on, OK: rec.State == stateDone || rec.State == stateSigned,
		Msg: why, Evidence: rec.Files, Data: encode(rec),
	})
}

func (r *Run) reasoned(d Decision, what string) error {
	if strings.TrimSpace(d.Reason) == "" {
		return fmt.Errorf("%s: %w", what, ErrReason)
	}
	return nil
}

// waive records guards that are set aside.
func (r *Run) waive(t task, guards []Guard, reason string) error {
	for _, g := range guards {
		if strings.TrimSpace(reason) == "" {
			return fmt.Errorf("set aside %q: %w", g.Text, ErrReason)
		}
		err := r.append(casefile.Event{Kind: "waive", Step: t.step.ID, Target: t.on, Msg: reason, Data: encode(struct {
			Guard string `json:"guard"`
		}{g.ID})})
		if err != nil {
			return err
		}
	}
	return nil
}

func unwaived(guards []Guard, waive []string) *Guard {
	for i, g := range guards {
		if !slices.Contains(waive, g.ID) {
			return &guards[i]
		}
	}
	return nil
}

// wrote is what was written down, on one line.
func wrote(a playbooks.Act, rec manualRecord) string {
	var parts []string
	for _, f := range a.Fields {
		if v := rec.Fields[f.ID]; v != "" {
			parts = append(parts, f.ID+": "+v)
		}
	}
	if n := len(rec.Files); n > 0 {
		parts = append(parts, fmt.Sprintf("%d files kept", n))
	}
	if len(parts) == 0 {
		return "done by hand"
	}
	return strings.Join(parts, "; ")
}

// taskOf finds the task that a prompt was about.
func (r *Run) taskOf(key string) (task, bool) {
	for _, t := range r.todo() {
		if t.key() == key {
			return t, true
		}
	}
	return task{}, false
}

// leftOut are the manual tasks that were skipped and that the playbook does not call
// optional: nobody says that they were done.
func (r *Run) leftOut(runner target.Ref) int {
	n := 0
	for _, t := range r.book {
		if a := t.do(); a.Do == playbooks.Manual && !a.Optional && (t.on == runner || t.on.Kind == target.Host) && r.st.end[t.key()] == Skipped {
			n++
		}
	}
	return n
}
