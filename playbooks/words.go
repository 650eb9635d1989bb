package playbooks

// The closed lists of the language. A word that is not in its list is a lint
// error; schema.json repeats them, and a test holds the two together.
var (
	kinds    = []string{Gather, Plan, Exposure, Confirm, Manual, Wait}
	places   = []string{OnRunner, OnHosts}
	profiles = []string{"express", "triage", "watch"}
	verifies = []string{VerifyPaused, VerifyGone, VerifyStopped}
	asks     = []string{SecondPerson}
	untils   = []string{UntilIdle}
	signOffs = []string{DifferentPerson}
	fields   = []string{FieldText, FieldDate, FieldPerson, FieldURL, FieldNumber, FieldRunner}
)

// Verbs of plan that this package treats by name; providers define the same words.
const (
	verbCollect    = "collect"
	verbStop       = "stop"
	verbRotate     = "rotate"
	verbDeregister = "deregister"
	verbOperator   = "operator"
)

// verb says where a verb makes sense and which check belongs to it.
type verb struct {
	name, on, verify string // on "": either place
	after            bool   // loses evidence by its nature: a collection comes first
}

var verbs = []verb{
	{name: "pause", on: OnRunner, verify: VerifyPaused},
	{name: "resume", on: OnRunner},
	{name: "cancel", on: OnRunner},
	{name: verbRotate, on: OnRunner},
	{name: "revoke", on: OnRunner},
	{name: "purge", on: OnRunner},
	{name: verbCollect, on: OnHosts},
	{name: verbStop, on: OnHosts, verify: VerifyStopped, after: true},
	{name: verbDeregister, on: OnRunner, verify: VerifyGone, after: true},
	{name: verbOperator},
}

func verbNames() []string {
	var names []string
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return names
}

func findVerb(name string) (verb, bool) {
	for _, v := range verbs {
		if v.name == name {
			return v, true
		}
	}
	return verb{}, false
}
