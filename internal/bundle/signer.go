package bundle

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"cordon/internal/casefile"
	"cordon/internal/signing"
	"cordon/internal/untrusted"
)

const askList = "signer not checked: give --allowed-signers"

// allowed is the list to go by: where somebody in particular must have signed, only
// the lines that may speak for them.
func (o VerifyOptions) allowed() []signing.Allowed {
	if o.Principal == "" {
		return o.Allowed
	}
	return slices.DeleteFunc(slices.Clone(o.Allowed), func(a signing.Allowed) bool { return !a.Matches(o.Principal) })
}

// signerRows checks the signature and every countersignature over the tag manifest.
func (in *intake) signerRows(r *rows, o VerifyOptions) Signer {
	var s Signer
	if in.keep[tagName] == nil || in.keep[sigName] == nil {
		r.add(RowSignature, tagName+" or its signature is missing: nobody stands for this bundle", "")
		r.skip(RowSigner, "there is no signature")
		return s
	}
	var bad, notAllowed string
	for _, name := range slices.Sorted(maps.Keys(in.keep)) {
		if !isSignature(name) {
			continue
		}
		allowed := o.Allowed // a countersigner may be anybody on the list, or on none
		if name == sigName {
			allowed = o.allowed()
		}
		who, key, err := in.signature(name, allowed, o)
		switch {
		case errors.Is(err, signing.ErrBadSignature):
			bad = either(bad, name+": "+untrusted.Clean(err.Error(), 200))
		case err != nil && name == sigName:
			if notAllowed = untrusted.Clean(err.Error(), 200); o.Principal != "" {
				notAllowed += fmt.Sprintf(" for %s", untrusted.Clean(o.Principal, 80))
			}
		case err != nil:
			s.Others = append(s.Others, key+" (not allowed)")
		case name != sigName:
			s.Others = append(s.Others, either(who, key))
		}
		if name == sigName {
			s.Principal, s.Key = who, key
		}
	}
	if !r.add(RowSignature, bad, fmt.Sprintf("by %s for %s", s.Key, signing.NamespaceBundle)) {
		r.skip(RowSigner, "the signature does not match")
		s.Principal = ""
		return s
	}
	if o.Allowed == nil {
		r.skip(RowSigner, askList)
		return s
	}
	r.add(RowSigner, notAllowed, strings.Join(append([]string{s.Principal}, s.Others...), ", "))
	if o.Principal != "" && s.Principal != "" {
		s.Principal = o.Principal
	}
	return s
}

func (in *intake) signature(name string, allowed []signing.Allowed, o VerifyOptions) (who, key string, err error) {
	if o.Allowed == nil {
		key, err = signing.Check(signing.NamespaceBundle, in.keep[tagName], in.keep[name])
		return "", key, err
	}
	return signing.Verify(signing.NamespaceBundle, in.keep[tagName], in.keep[name], allowed, o.At)
}

// headRow checks the signed heads: each is of a line that is here, by the key that
// the journal names, and by somebody allowed where there is a list. A right signature of
// somebody who took the case and is not on the list is no sign of tampering, and nobody
// has said that it may be believed either: then the row is not checked.
func (in *intake) headRow(r *rows, o VerifyOptions) {
	j := in.journal
	if j.broken != "" {
		r.skip(RowHeads, "the journal is broken")
		return
	}
	strangers, unlisted := []string{}, 0
	for _, h := range j.heads {
		name := headFile(h.Seq)
		if h.Seq < 1 || h.Seq >= h.at || hex.EncodeToString(j.sums[h.Seq-1][:]) != h.Head {
			r.add(RowHeads, fmt.Sprintf("line %d signs another line %d than the one that is here", h.at, h.Seq), "")
			return
		}
		msg := casefile.HeadMessage(j.caseID, h.Seq, h.Head)
		key, err := signing.Check(signing.NamespaceHead, msg, in.keep[name])
		if err == nil && key != h.Key {
			err = fmt.Errorf("%w: by %s, and the journal says %s", signing.ErrBadSignature, key, untrusted.Clean(h.Key, 80))
		}
		if err == nil && o.Allowed != nil {
			// Anybody on the list: a case can change hands between its steps.
			_, _, err = signing.Verify(signing.NamespaceHead, msg, in.keep[name], o.Allowed, o.At)
			if errors.Is(err, signing.ErrNotAllowed) && j.writers[key] && !listed(o.Allowed, key) {
				if unlisted++; !slices.Contains(strangers, key) {
					strangers = append(strangers, key)
				}
				continue
			}
		}
		if err != nil {
			r.add(RowHeads, name+": "+untrusted.Clean(err.Error(), 200), "")
			return
		}
	}
	if unlisted > 0 {
		r.skip(RowHeads, fmt.Sprintf("%d of %d are signed by %s, which is not on the list; the journal names it as a writer", unlisted, len(j.heads), strings.Join(strangers, ", ")))
		return
	}
	r.add(RowHeads, "", fmt.Sprintf("%d heads were signed on the way", len(j.heads)))
}

// listed reports whether a key is on the list at all: one that is there for something
// else, or no longer, is refused and not merely unknown.
func listed(list []signing.Allowed, key string) bool {
	return slices.ContainsFunc(list, func(a signing.Allowed) bool { return ssh.FingerprintSHA256(a.Key) == key })
}
