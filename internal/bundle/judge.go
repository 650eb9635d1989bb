package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordon/internal/untrusted"
)

// verdicts of the rows are collected in their order.
type rows struct{ list []Check }

func (r *rows) add(name, bad, good string) bool {
	c := Check{Name: name, OK: bad == "", Why: good}
	if bad != "" {
		c.Why = bad
	}
	r.list = append(r.list, c)
	return c.OK
}

func (r *rows) skip(name, why string) {
	r.list = append(r.list, Check{Name: name, Unchecked: true, Why: why})
}

// judge turns what was read into rows. An archive that was refused is not judged
// further: what was read of it means nothing.
func judge(in *intake, o VerifyOptions) Report {
	rep := Report{Schema: schema, Files: len(in.sums), Bytes: in.total}
	r := &rows{}
	if !r.add(RowArchive, in.refused, fmt.Sprintf("%d files, %d bytes, one directory %s", len(in.sums), in.total, in.root)) {
		for _, name := range []string{RowFormat, RowListed, RowDigests, RowChain, RowHead, RowEvents, RowEvidence, RowCase, RowSimulated, RowHeads, RowApproved, RowSeen, RowSignature, RowSigner} {
			r.skip(name, "the archive was refused")
		}
		rep.Checks = r.list
		return rep
	}
	info, bad := in.format()
	r.add(RowFormat, bad, Format)
	rep.Status = untrusted.Clean(info["Bundle-Status"], 40)

	bad, badSum := in.lists()
	r.add(RowListed, bad, "every file is listed and every listed file is here")
	r.add(RowDigests, badSum, "every digest is right")

	if j := in.journal; j == nil {
		for _, name := range []string{RowChain, RowHead, RowEvents, RowEvidence, RowCase, RowSimulated, RowHeads, RowApproved, RowSeen} {
			r.add(name, journalName+" is missing", "")
		}
	} else {
		rep.Case, rep.Head, rep.Events, rep.Simulated = j.caseID, j.head, j.lines, j.simulated
		rep.Lost = in.journalRows(r, info)
		in.headRow(r, o)
		in.approvedRow(r, o)
		in.seenRow(r, o)
	}
	rep.Signer = in.signerRows(r, o)
	rep.Checks = r.list
	return rep
}

// format checks the bag's declaration and reads bag-info.txt.
func (in *intake) format() (map[string]string, string) {
	if string(in.keep[bagitName]) != bagit {
		return nil, bagitName + " is missing or does not say BagIt 1.0"
	}
	if in.keep[infoName] == nil || in.cut[infoName] {
		return nil, infoName + " is missing or too long"
	}
	info, err := parseInfo(in.keep[infoName])
	if err != nil {
		return nil, infoName + ": " + err.Error()
	}
	if v := info["Cordon-Format"]; v != version {
		return info, fmt.Sprintf("Cordon-Format is %q, this build reads %s", untrusted.Clean(v, 20), version)
	}
	octets, files, err := oxum(info["Payload-Oxum"])
	if err != nil {
		return info, "Payload-Oxum: " + err.Error()
	}
	if octets != in.octets || files != in.files {
		return info, fmt.Sprintf("Payload-Oxum says %d bytes in %d files, here are %d in %d", octets, files, in.octets, in.files)
	}
	if s := info["Bundle-Status"]; s != Open && s != Closed && s != Partial {
		return info, fmt.Sprintf("Bundle-Status is %q", untrusted.Clean(s, 20))
	}
	return info, ""
}

// lists compares the two manifests with what is here: the first answer is about
// names, the second about digests.
func (in *intake) lists() (listed, digests string) {
	all := map[string]string{}
	for _, name := range []string{tagName, manifestName} {
		if in.keep[name] == nil || in.cut[name] {
			return name + " is missing or too long", name + " is missing or too long"
		}
		m, err := parseManifest(in.keep[name])
		if err != nil {
			return name + ": " + err.Error(), name + ": " + err.Error()
		}
		for f, sum := range m {
			if strings.HasPrefix(f, dataDir) != (name == manifestName) {
				return fmt.Sprintf("%s lists %s, which belongs into the other list", name, f), ""
			}
			all[f] = sum
		}
	}
	for _, must := range []string{bagitName, infoName, manifestName, verifyName, journalName, caseName, gapsName, timelineName, reportName} {
		if all[must] == "" {
			return must + " is not listed", ""
		}
	}
	for _, f := range slices.Sorted(maps.Keys(in.sums)) {
		if all[f] == "" && f != tagName && !isSignature(f) {
			listed = either(listed, f+" is not listed")
		}
	}
	for _, f := range slices.Sorted(maps.Keys(all)) {
		switch sum := in.sums[f]; {
		case sum == "":
			listed = either(listed, f+" is listed and not here")
		case sum != all[f]:
			digests = either(digests, f+" was changed: it has not the digest that is listed")
		}
	}
	return listed, digests
}

// journalRows checks the journal against the tags, and the files against the journal. It
// returns the evidence that the bundle itself says is not in it.
func (in *intake) journalRows(r *rows, info map[string]string) []Lost {
	j := in.journal
	whole := r.add(RowChain, j.broken, fmt.Sprintf("%d lines of the case %s", j.lines, j.caseID))
	if info == nil {
		r.skip(RowHead, infoName+" could not be read")
		r.skip(RowEvents, infoName+" could not be read")
	} else {
		bad := ""
		if !whole || info["Journal-Head"] != j.head {
			bad = "the journal does not end in the line that " + infoName + " names"
		}
		r.add(RowHead, bad, j.head)
		bad = ""
		if info["Journal-Events"] != fmt.Sprint(j.lines) {
			bad = fmt.Sprintf("%s says %s lines, here are %d", infoName, untrusted.Clean(info["Journal-Events"], 20), j.lines)
		}
		r.add(RowEvents, bad, fmt.Sprint(j.lines))
	}
	if !whole {
		for _, name := range []string{RowEvidence, RowCase, RowSimulated} {
			r.skip(name, "the journal is broken")
		}
		return nil
	}
	bad, good, lost := in.evidence(info["Bundle-Status"])
	r.add(RowEvidence, bad, good)
	r.list[len(r.list)-1].Partial = bad == "" && len(lost) > 0
	var d caseDoc
	derr := json.Unmarshal(in.keep[caseName], &d)
	r.add(RowCase, in.caseBad(d, derr, info), j.caseID)
	bad = ""
	if (d.Simulated != "") != j.simulated || (info["Cordon-Simulated"] != "") != j.simulated {
		bad = fmt.Sprintf("the journal says simulated: %v, and %s or %s says otherwise", j.simulated, caseName, infoName)
	}
	good = "nothing is simulated"
	if j.simulated {
		good = "SIMULATED, and everything says so"
	}
	r.add(RowSimulated, bad, good)
	return lost
}

func (in *intake) caseBad(d caseDoc, derr error, info map[string]string) string {
	j := in.journal
	switch {
	case derr != nil:
		return caseName + " cannot be read"
	case d.Case != j.caseID || in.root != j.caseID || info != nil && info["External-Identifier"] != j.caseID:
		return fmt.Sprintf("the journal is of the case %s, and %s, %s or the directory name another", j.caseID, caseName, infoName)
	case d.Journal != journalDoc{j.head, j.lines}:
		return caseName + " is of another state of the journal"
	case info != nil && d.Status != info["Bundle-Status"]:
		return caseName + " has another status than " + infoName
	case in.sums[playbookName] != j.playbook:
		return playbookName + " is not the playbook that the journal opened with"
	}
	return ""
}

// evidence compares the files under data/ with the items of the journal, both ways.
func (in *intake) evidence(status string) (bad, good string, missing []Lost) {
	var gaps gapsDoc
	if err := json.Unmarshal(in.keep[gapsName], &gaps); err != nil {
		return gapsName + " cannot be read", "", nil
	}
	lost := map[string]Lost{}
	for _, l := range gaps.Lost {
		lost[l.Name+"\x00"+l.SHA256] = l
	}
	expected := map[string]bool{
		journalName: true, tornName: true, caseName: true, playbookName: true, gapsName: true, timelineName: true, reportName: true,
	}
	for _, h := range in.journal.heads {
		expected[headFile(h.Seq)] = true
	}
	for _, it := range place(in.journal.items) {
		expected[it.File] = true
		l, told := lost[it.Name+"\x00"+it.Digest]
		switch sum := in.sums[it.File]; {
		case sum == it.Digest:
		case sum == "" && told:
			missing = append(missing, l)
		case sum == "":
			return fmt.Sprintf("%s is missing, and %s does not say why", it.File, gapsName), "", nil
		default:
			return it.File + " is not what the journal recorded", "", nil
		}
	}
	for _, f := range slices.Sorted(maps.Keys(in.sums)) {
		if strings.HasPrefix(f, dataDir) && !expected[f] {
			return f + " is listed, and the journal does not speak of it", "", nil
		}
	}
	if len(gaps.Gaps) != in.journal.gaps {
		return fmt.Sprintf("%s has %d gaps, the journal %d", gapsName, len(gaps.Gaps), in.journal.gaps), "", nil
	}
	good = fmt.Sprintf("%d items, %d gaps", len(in.journal.items), in.journal.gaps)
	if n := len(missing); n > 0 {
		if status != Partial {
			return fmt.Sprintf("%d items were lost, and the bundle does not say it is partial", n), "", nil
		}
		good += fmt.Sprintf("; partial: %d items were lost before the export", n)
	}
	return "", good, missing
}
