package bundle

import (
	"fmt"
	"sort"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/signing"
	"cordon/internal/untrusted"
)

const bagit = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

// tags adds the bag's own files to the payload: what it is, what is in it, how to
// check it, and the signature over all of that.
func tags(v *casefile.View, o Options, data []file) ([]file, error) {
	tag := []file{
		inMemory(bagitName, []byte(bagit)),
		inMemory(infoName, []byte(bagInfo(v, o, data))),
		inMemory(manifestName, manifest(data)),
		inMemory(verifyName, []byte(verifyText(v, o))),
	}
	sort.Slice(tag, func(i, j int) bool { return tag[i].name < tag[j].name })
	list := manifest(tag)
	sig, err := o.Signer.Sign(signing.NamespaceBundle, list)
	if err != nil {
		return nil, err
	}
	return append(append(append([]file{}, data...), tag...), inMemory(tagName, list), inMemory(sigName, sig)), nil
}

// bagInfo is RFC 8493's bag-info.txt with our labels behind.
func bagInfo(v *casefile.View, o Options, data []file) string {
	var octets int64
	for _, f := range data {
		octets += f.size
	}
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			// Clean: a line end in a value would begin another label.
			fmt.Fprintf(&b, "%s: %s\n", label, untrusted.Clean(value, 200))
		}
	}
	if v.Simulated {
		line("Cordon-Simulated", simulatedWords)
	}
	line("Source-Organization", o.Org)
	line("External-Identifier", v.ID)
	line("External-Description", v.Opening.Title)
	line("Bagging-Date", stampOf(v).Format("2006-01-02"))
	line("Payload-Oxum", fmt.Sprintf("%d.%d", octets, len(data)))
	line("Cordon-Format", version)
	line("Cordon-Version", toolVersion(v, o))
	line("Cordon-Signer", o.Principal+" "+o.Signer.Fingerprint())
	line("Journal-Head", v.Head)
	line("Journal-Events", fmt.Sprint(len(v.Lines)))
	line("Bundle-Status", o.Status)
	return b.String()
}

func toolVersion(v *casefile.View, o Options) string {
	if o.Version != "" {
		return o.Version
	}
	return v.Opening.Tool["version"]
}

// verifyText is VERIFY.txt. The indented lines are the commands and nothing else is
// indented: a test runs them as they stand.
func verifyText(v *casefile.View, o Options) string {
	sim := ""
	if v.Simulated {
		sim = simulatedWords + ".\n\n"
	}
	return sim + strings.NewReplacer("CASE", v.ID, "PRINCIPAL", o.Principal, "KEY", o.Signer.Fingerprint()).Replace(
		`How to verify this bundle with tar, sha256sum, ssh-keygen, diff and sh.
Nothing of cordon is needed. Every step must succeed.

1. Unpack it in an empty directory (put the file's own name for CASE.tar):

    tar xf CASE.tar && cd CASE

2. Compare every file with the digests:

    sha256sum -c --quiet tagmanifest-sha256.txt && sha256sum -c --quiet manifest-sha256.txt

3. Check who signed the digests. The file allowed_signers must come from somewhere
   else than this bundle (the signer's own page, your key directory, a phone call):
   a copy in here would prove nothing. Signed by PRINCIPAL with the key
   KEY, says this file; only your list can say so for sure.

    ssh-keygen -Y verify -f ~/allowed_signers -I PRINCIPAL -n cordon-bundle@v1 -s tagmanifest-sha256.txt.sig < tagmanifest-sha256.txt

4. No file is here that is not listed. This prints nothing:

    find . ! -type d | sed 's|^\./||' | LC_ALL=C sort > ../found.txt && { cut -c67- manifest-sha256.txt tagmanifest-sha256.txt; ls tagmanifest-sha256.txt*; } | LC_ALL=C sort | diff - ../found.txt

5. The journal is one chain: every line names the digest of the line before.

    p=$(printf '%064d' 0); while IFS= read -r l; do case "$l" in *"\"prev\":\"$p\""*);; *) echo BROKEN; p=; break;; esac; p=$(printf '%s\n' "$l"|sha256sum|cut -d' ' -f1); done < data/journal.jsonl; test -n "$p"

6. The chain ends where the signed file says, in the same shell:

    grep -x "Journal-Head: $p" bag-info.txt && grep -x "Journal-Events: $(grep -c '' data/journal.jsonl)" bag-info.txt

Or, with cordon: cordon bundle verify CASE.tar --allowed-signers FILE
`)
}
