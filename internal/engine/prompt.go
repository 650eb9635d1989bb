package engine

import (
	"time"

	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/internal/exposure"
	"cordon/internal/target"
	"cordon/internal/witness"
)

// Kinds of prompt.
const (
	Progress = "progress" // something was done; nothing to answer, call Next again
	Choose   = "choose"   // plans: apply one, skip with a reason, look again, stop
	Doubt    = "doubt"    // an effect is unknown or not confirmed: look again, leave it with a reason, stop
	Watch    = "watch"    // begin to watch for silence: begin, skip with a reason, stop
	Finished = "finished" // the run is over; Ending is set
)

// Verbs of a decision.
const (
	Apply = "apply"
	Skip  = "skip"
	Again = "again" // plan or observe once more
	Anew  = "anew"  // plan once more although the last try may have taken effect; needs a reason
	Leave = "leave" // go on with the doubt on record
	Begin = "begin"
	Blind = "blind" // begin to watch with the provider alone: no host is logged in to
	Stop  = "stop"  // end here; the case stays open
)

// Prompt is what a person sees. Every field is safe to show as it is.
type Prompt struct {
	N       int        // carried by the decision; 0 where there is nothing to answer
	Kind    string     //
	Step    string     // step id
	Task    string     // key of the task in the journal
	Index   int        // of the step, from 1
	Of      int        // steps in the playbook
	Title   string     // of the step
	Why     string     // why the step is there
	Verb    string     // of the act: what is planned, or was refused
	Target  target.Ref // what it is about
	Text    string     // what was done or what is in doubt
	Leases  []Lease    // pauses in force that end by themselves, for prompts that wait
	Word    string     // of an alarm: Drift, LateJob, Expired, Renewed; "" for everything else
	Choices []string   // verbs that Answer takes now

	Plans    []change.Plan         // Choose
	Guards   [][]Guard             // for each plan, what holds it back
	CannotDo string                // why no plan can be applied here, "" if one can
	Outcome  *change.Outcome       // Progress, Doubt
	Seen     []witness.Observation // Progress, Doubt
	Findings []check.Result        // Progress after a host was read
	Exposed  *exposure.List        // Progress after the list was opened
	Verdicts []witness.Verdict     // Progress in a watch, Finished
	Ending   *Ending               // Finished
	Manual   *ManualTask           // Manual
}

// Decision answers a prompt.
type Decision struct {
	N      int
	Verb   string
	Plan   string   // hash of the plan on screen, for Apply
	Waive  []string // guards that are set aside; each needs Reason
	Reason string

	BreakGlass string // why one person goes on without the second one that the playbook wants

	Fields map[string]string // Did, Wait: field id → answer, all of them
	Attach []string          // Did: paths of files to keep with it
	Owner  string            // Wait
	Due    time.Time         // Wait
}

// Guard is one thing that holds a plan back.
type Guard struct {
	ID    string // "evidence:host/build-07/snapshot.json", "tips-off"
	Class string // GuardAsk, GuardGap, GuardBlock, GuardApproval
	Text  string
}

// Approval is the id of the guard that waits for a second person.
const Approval = "approval"

// Classes of guard. A reason sets any of them aside but an approval, which only a
// second person does, or Decision.BreakGlass; only Ask and Gap may be set aside by a
// standing reason (--yes --reason).
const (
	GuardAsk   = "ask"   // are you sure: the other side would notice
	GuardGap   = "gap"   // the evidence was asked for and could not be had
	GuardBlock = "block" // the evidence was never asked for

	GuardApproval = "approval" // another person has not agreed
)

// Ends of a task.
const (
	Done      = "done"
	NotNeeded = "not needed"
	Skipped   = "skipped"
	RefusedBy = "refused"
	InDoubt   = "unknown"
	Unreached = "could not be reached"
)

// NoHost is the end of a step about hosts in a case that knows of none: nothing was done.
const NoHost = "no host known"
