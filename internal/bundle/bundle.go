// Package bundle writes a case as one file that a stranger can check, and checks one.
//
// A bundle is a BagIt 1.0 bag in a plain tar, signed with SSHSIG (FORMAT.md beside
// this file): tar, sha256sum, ssh-keygen, diff and sh are enough to verify it, and
// Verify does the same without extracting anything, then looks further. The same
// case signed by the same ed25519 or RSA key gives the same bytes. It may import
// casefile, signing, redact, snapshot, check and level 0.
package bundle

import (
	"errors"
	"fmt"
	"io"

	"cordon/internal/signing"
	"cordon/internal/untrusted"
)

// Format names the layout; it is Cordon-Format in bag-info.txt.
const (
	Format  = "cordon-bundle/1"
	version = "1"
)

// Errors that callers test for.
var (
	// ErrIntegrity: a bundle, or the case it would be made from, is not whole.
	ErrIntegrity = errors.New("integrity broken")
	// ErrLost: evidence that the journal names is not there any more.
	ErrLost = errors.New("evidence is missing")
	// ErrUnsigned: no key was given; nothing is exported without a signature.
	ErrUnsigned = errors.New("a bundle needs a signing key")
	// ErrExists: the file is there already and is not overwritten.
	ErrExists = errors.New("file exists already")
	// ErrSpeaks: an option or a name that the format cannot carry.
	ErrSpeaks = errors.New("cannot be written into a bundle")
)

// States of a bundle, as Bundle-Status says them.
const (
	Open    = "open"    // the case goes on
	Closed  = "closed"  // the last run of the case ended
	Partial = "partial" // something that the journal speaks of could not be put in; gaps.json says what
)

// Options of an export. Exactly one of Out and Path is set.
type Options struct {
	Out       io.Writer
	Path      string         // the file to write: not there yet, made 0600, whole or not at all
	Signer    signing.Signer // required
	Principal string         // the signer's name in allowed_signers files, alice@example.org
	Status    string         // empty: closed if the journal ends with a run's end, else open
	Version   string         // of this program; empty: what the journal says opened the case
	Org       string         // Source-Organization; empty: none
}

// Result of an export.
type Result struct {
	Path    string `json:"path,omitempty"`
	SHA256  string `json:"sha256"` // of the tar
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"` // of the tar
	Status  string `json:"status"`
	Head    string `json:"head"`            // SHA-256 of the last journal line
	Events  int    `json:"events"`          // journal lines
	Lost    []Lost `json:"lost,omitempty"`  // why Status is partial
	Allowed string `json:"allowed_signers"` // the line that lets others check the signature; give it to them by another way than the bundle
	Key     string `json:"key"`             // fingerprint of the signing key
	Kind    string `json:"key_kind"`        // agent, file, ephemeral
	Sim     bool   `json:"simulated,omitempty"`
}

// Lost is an item that the journal names and the case no longer holds whole.
type Lost struct {
	Name    string `json:"name"`
	SHA256  string `json:"sha256"`
	Changed bool   `json:"changed,omitempty"` // its bytes are others; false: they are gone
	Why     string `json:"why"`
}

// Whole is nil where nothing was lost, else what was: ErrIntegrity where evidence was
// changed, ErrLost where it is gone.
func Whole(lost []Lost) error {
	if len(lost) == 0 {
		return nil
	}
	first := lost[0]
	for _, l := range lost {
		if l.Changed {
			first = l
			break
		}
	}
	word, kind := "gone", ErrLost
	if first.Changed {
		word, kind = "changed", ErrIntegrity
	}
	return fmt.Errorf("%w: %d items of the journal are not whole in this case; %s is %s: %s", kind, len(lost), untrusted.Clean(first.Name, 120), word, untrusted.Clean(first.Why, 200))
}

// Names inside a bundle.
const (
	bagitName    = "bagit.txt"
	infoName     = "bag-info.txt"
	manifestName = "manifest-sha256.txt"
	tagName      = "tagmanifest-sha256.txt"
	sigName      = tagName + ".sig"
	verifyName   = "VERIFY.txt"

	dataDir      = "data/"
	journalName  = dataDir + "journal.jsonl"
	tornName     = dataDir + "journal.torn"
	caseName     = dataDir + "case.json"
	playbookName = dataDir + "playbook.yaml"
	gapsName     = dataDir + "gaps.json"
	timelineName = dataDir + "timeline.jsonl"
	reportName   = dataDir + "report.md"
	headsDir     = dataDir + "heads/"
)

const simulatedWords = "SIMULATED: everything in this bundle comes from a lab; nothing real was touched"
