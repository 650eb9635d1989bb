package host

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
)

//go:embed scripts/frames.sh
var framesSh string

//go:embed scripts/open.sh
var openSh string

//go:embed scripts/files.sh
var filesSh string

//go:embed scripts/machine.sh
var machineSh string

//go:embed scripts/proc.sh
var procSh string

//go:embed scripts/log.sh
var logSh string

//go:embed scripts/places.sh
var placesSh string

//go:embed scripts/roots.sh
var rootsSh string

//go:embed scripts/runners.sh
var runnersSh string

//go:embed scripts/work.sh
var workSh string

//go:embed scripts/system.sh
var systemSh string

//go:embed scripts/owned.sh
var ownedSh string

//go:embed scripts/asked.sh
var askedSh string

//go:embed scripts/collect.sh
var collectSh string

//go:embed scripts/unit.sh
var unitSh string

//go:embed scripts/fetch.sh
var fetchSh string

//go:embed scripts/stop.sh
var stopSh string

//go:embed scripts/start.sh
var startSh string

// Kinds of scripts.
const (
	KindCollect = "collect" // reads only
	KindFetch   = "fetch"   // reads one file
	KindAct     = "act"     // changes the host; leaves only under a permit
)

// Script is one of the fixed texts that are sent to hosts, without its preamble.
type Script struct {
	Name   string // "collector.sh", "fetch.sh", "act-stop.sh", "act-start.sh"
	Kind   string
	SHA256 string // of Text, lower-case hex; what a plan approves and a lab recognises
	Text   string
}

func script(name, kind, text string) Script {
	sum := sha256.Sum256([]byte(text))
	return Script{Name: name, Kind: kind, SHA256: hex.EncodeToString(sum[:]), Text: text}
}

func collector() Script {
	return script("collector.sh", KindCollect, framesSh+openSh+filesSh+machineSh+procSh+logSh+placesSh+rootsSh+runnersSh+workSh+systemSh+ownedSh+askedSh+collectSh)
}

func fetcher() Script { return script("fetch.sh", KindFetch, framesSh+openSh+filesSh+fetchSh) }

func actStop() Script  { return script("act-stop.sh", KindAct, framesSh+unitSh+stopSh) }
func actStart() Script { return script("act-start.sh", KindAct, framesSh+unitSh+startSh) }

// Scripts lists every text that this build sends to a host.
func Scripts() []Script { return []Script{collector(), fetcher(), actStop(), actStart()} }
