package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"strings"
	"testing"

	"cordon/internal/signing"
)

// tampered is one thing done to a good bundle, the row that must fail, and its words.
type tampered struct {
	name, row, why string
	do             func(t *testing.T, m made, good []byte) []byte
}

func tamperings() []tampered {
	edit := func(name, from, to string) func(*testing.T, made, []byte) []byte {
		return func(t *testing.T, _ made, good []byte) []byte {
			return edited(t, good, name, func(s string) string { return strings.Replace(s, from, to, 1) })
		}
	}
	// as edit, and then the author himself makes new lists and signs them
	author := func(name, from, to string) func(*testing.T, made, []byte) []byte {
		return func(t *testing.T, m made, good []byte) []byte {
			return resealed(t, entries(t, edit(name, from, to)(t, m, good)), m.key, signing.NamespaceBundle)
		}
	}
	add := func(e one) func(*testing.T, made, []byte) []byte {
		return func(t *testing.T, _ made, good []byte) []byte { return packed(t, append(entries(t, good), e)) }
	}
	without := func(name string) func(*testing.T, made, []byte) []byte {
		return func(t *testing.T, _ made, good []byte) []byte {
			var keep []one
			for _, e := range entries(t, good) {
				if e.head.Name != "INC-2026-0142/"+name {
					keep = append(keep, e)
				}
			}
			return packed(t, keep)
		}
	}
	link := func(kind byte) one {
		return one{tar.Header{Typeflag: kind, Name: "INC-2026-0142/data/link", Linkname: "/etc/passwd"}, ""}
	}
	at := func(name string) one {
		return one{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, "x"}
	}
	dropLine := func(n int) func(*testing.T, made, []byte) []byte {
		return func(t *testing.T, _ made, good []byte) []byte {
			return edited(t, good, journalName, func(s string) string {
				l := strings.SplitAfter(s, "\n")
				return strings.Join(append(l[:n:n], l[n+1:]...), "")
			})
		}
	}
	return []tampered{
		{"a journal line is edited", RowChain, "line ", edit(journalName, "read back", "READ BACK")},
		{"a journal line is dropped", RowChain, "does not name the line before", dropLine(4)},
		{"the last journal line is dropped", RowHead, "does not end in the line", func(t *testing.T, m made, good []byte) []byte {
			return dropLine(len(m.view(t).Lines)-1)(t, m, good)
		}},
		{"a line is cut in the middle", RowChain, "has no end", func(t *testing.T, _ made, good []byte) []byte {
			return edited(t, good, journalName, func(s string) string { return s[:len(s)-9] })
		}},
		{"the author rewrites a line and signs again", RowChain, "does not name the line before", author(journalName, "read back", "READ BACK")},
		{"the author drops the last line and signs again", RowHead, "does not end in the line", func(t *testing.T, m made, good []byte) []byte {
			return resealed(t, entries(t, dropLine(len(m.view(t).Lines)-1)(t, m, good)), m.key, signing.NamespaceBundle)
		}},
		{"evidence is changed", RowDigests, "data/provider/gitlab-prod/runner.json was changed", edit("data/provider/gitlab-prod/runner.json", "42", "43")},
		{"the author changes evidence and signs again", RowEvidence, "is not what the journal recorded", author("data/provider/gitlab-prod/runner.json", "42", "43")},
		{"the report is changed", RowDigests, "report.md was changed", edit(reportName, "silent", "loud")},
		{"bag-info is changed", RowDigests, "bag-info.txt was changed", edit(infoName, "0.0.1", "0.0.2")},
		{"VERIFY.txt is changed", RowDigests, "VERIFY.txt was changed", edit(verifyName, "sha256sum", "true")},
		{"the event count is wrong", RowEvents, "lines, here are", author(infoName, "Journal-Events: ", "Journal-Events: 1")},
		{"the head is wrong", RowHead, "does not end in the line", author(infoName, "Journal-Head: ", "Journal-Head: 0")},
		{"the oxum is wrong", RowFormat, "Payload-Oxum", edit(infoName, "Payload-Oxum: ", "Payload-Oxum: 1")},
		{"a label is there twice", RowFormat, "twice", author(infoName, "Bundle-Status", "Journal-Head: x\nBundle-Status")},
		{"another format", RowFormat, "this build reads 1", author(infoName, "Cordon-Format: 1", "Cordon-Format: 2")},
		{"another BagIt", RowFormat, "BagIt 1.0", author(bagitName, "1.0", "0.97")},
		{"a file more", RowListed, "data/extra is not listed", add(file1("data/extra", "x"))},
		{"a tag file more", RowListed, "README is not listed", add(file1("README", "x"))},
		{"a file less", RowListed, "data/host/build-07/snapshot.json is listed and not here", without("data/host/build-07/snapshot.json")},
		{"no journal", RowChain, "is missing", without(journalName)},
		{"no report", RowListed, "data/report.md is listed and not here", without(reportName)},
		{"no manifest", RowListed, "manifest-sha256.txt is missing", without(manifestName)},
		{"no bag-info", RowFormat, "bag-info.txt is missing", without(infoName)},
		{"no signature", RowSignature, "missing", without(sigName)},
		{"the author adds a file the journal does not know", RowEvidence, "the journal does not speak of it", func(t *testing.T, m made, good []byte) []byte {
			return resealed(t, append(entries(t, good), file1("data/extra", "x")), m.key, signing.NamespaceBundle)
		}},
		{"the author takes evidence out", RowEvidence, "does not say why", func(t *testing.T, m made, good []byte) []byte {
			return resealed(t, entries(t, without("data/host/build-07/snapshot.json")(t, m, good)), m.key, signing.NamespaceBundle)
		}},
		{"the author hides a gap", RowEvidence, "gaps", author(gapsName, "{\n      \"name\": \"host/build-07/memory\",", "null, {\"name\": \"x\",")},
		{"case.json of another case", RowCase, "of the case", author(caseName, "INC-2026-0142", "INC-2026-0143")},
		{"case.json of another state", RowCase, "another state", author(caseName, "\"events\": ", "\"events\": 1")},
		{"case.json says another status", RowCase, "another status", author(caseName, `"status": "closed"`, `"status": "open"`)},
		{"another directory", RowCase, "of the case", func(t *testing.T, m made, good []byte) []byte {
			list := entries(t, good)
			for i := range list {
				list[i].head.Name = strings.Replace(list[i].head.Name, "INC-2026-0142", "INC-2026-0143", 1)
			}
			return resealed(t, list, m.key, signing.NamespaceBundle)
		}},
		{"the journal is put among the tags", RowListed, "belongs into the other list", func(t *testing.T, m made, good []byte) []byte {
			return edited(t, good, tagName, func(s string) string { return s + strings.Repeat("0", 64) + "  " + journalName + "\n" })
		}},
		{"a file is listed twice", RowListed, "again", func(t *testing.T, m made, good []byte) []byte {
			return edited(t, good, manifestName, func(s string) string { return s + s[:strings.Index(s, "\n")+1] })
		}},
		{"another playbook", RowCase, "playbook.yaml is not the playbook", author(playbookName, "contain", "destroy")},
		{"a head signature is swapped", RowHeads, "heads/", func(t *testing.T, m made, good []byte) []byte {
			files := entries(t, good)
			var sigs []int
			for i, e := range files {
				if strings.Contains(e.head.Name, "/heads/") {
					sigs = append(sigs, i)
				}
			}
			files[sigs[0]].body = files[sigs[1]].body
			return resealed(t, files, m.key, signing.NamespaceBundle)
		}},
		{"a real case is called a simulation", RowSimulated, "says otherwise", author(infoName, "Cordon-Format", "Cordon-Simulated: yes\nCordon-Format")},
		{"an open case is called closed", RowCase, "another status", author(infoName, "Bundle-Status: closed", "Bundle-Status: open")},
		{"a status that is none", RowFormat, "Bundle-Status", author(infoName, "Bundle-Status: closed", "Bundle-Status: fine")},
		{"somebody else signs it", RowSigner, "", func(t *testing.T, _ made, good []byte) []byte {
			return resealed(t, entries(t, good), signer(t), signing.NamespaceBundle)
		}},
		{"a signature for something else", RowSignature, "", func(t *testing.T, m made, good []byte) []byte {
			return resealed(t, entries(t, good), m.key, signing.NamespaceHead)
		}},
		{"the signature is of other bytes", RowSignature, "", edit(sigName, "A", "B")},
		{"the signed head of another case", RowHeads, "heads/", func(t *testing.T, m made, good []byte) []byte {
			other, err := m.key.Sign(signing.NamespaceHead, []byte("INC-2026-0143 6 "+m.view(t).Head+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			files := entries(t, good)
			for i, e := range files {
				if strings.Contains(e.head.Name, "/heads/") {
					files[i].body = string(other)
				}
			}
			return resealed(t, files, m.key, signing.NamespaceBundle)
		}},
		{"a link", RowArchive, "links and devices", add(link(tar.TypeSymlink))},
		{"a hard link", RowArchive, "links and devices", add(link(tar.TypeLink))},
		{"a device", RowArchive, "links and devices", add(link(tar.TypeChar))},
		{"a pipe", RowArchive, "links and devices", add(link(tar.TypeFifo))},
		{"an absolute name", RowArchive, "names are relative", add(at("/etc/x"))},
		{"a climbing name", RowArchive, "names are relative", add(at("INC-2026-0142/../x"))},
		{"an escape in a name", RowArchive, `\x1b`, add(at("INC-2026-0142/\x1b[31m"))},
		{"a name beside the directory", RowArchive, "one directory", add(at("other/x"))},
		{"a file in place of the directory", RowArchive, "where the directory should be", func(t *testing.T, _ made, _ []byte) []byte { return packed(t, []one{at("INC-2026-0142")}) }},
		{"a file twice", RowArchive, "is there twice", add(file1(reportName, "another report"))},
		{"a file twice but for case", RowArchive, "cannot lie beside", add(file1("data/REPORT.md", "another report"))},
		{"a file under a file", RowArchive, "cannot lie beside", add(file1("data/report.md/x", "x"))},
		{"a directory that is a file", RowArchive, "a file and a directory", add(one{tar.Header{Typeflag: tar.TypeDir, Name: "INC-2026-0142/data/report.md/"}, ""})},
		{"something behind the end", RowArchive, "something follows", func(_ *testing.T, _ made, good []byte) []byte { return append(bytes.Clone(good), "more"...) }},
		{"a second archive behind the first", RowArchive, "something follows", func(_ *testing.T, _ made, good []byte) []byte { return append(bytes.Clone(good), good...) }},
		{"cut in the middle", RowArchive, "not a whole tar", func(_ *testing.T, _ made, good []byte) []byte { return good[:len(good)/2+100] }},
		{"not a tar", RowArchive, "not a whole tar", func(*testing.T, made, []byte) []byte { return []byte(strings.Repeat("<html>", 200)) }},
		{"empty", RowArchive, "nothing in it", func(*testing.T, made, []byte) []byte { return nil }},
	}
}

func TestEveryTamperingFailsItsRow(t *testing.T) {
	m := fullCase(t, nil)
	good := m.export(t)
	for _, c := range tamperings() {
		t.Run(c.name, func(t *testing.T) {
			rep, err := Verify(bytes.NewReader(c.do(t, m, good)), VerifyOptions{Allowed: m.allowed(t)})
			got := row(rep, c.row)
			if !errors.Is(err, ErrIntegrity) || rep.OK() || rep.Trusted() || got.Word() != "FAILED" || !strings.Contains(got.Why, c.why) {
				t.Errorf("%v\n%+v", err, rep.Checks)
			}
			if len(rep.Checks) != 15 {
				t.Errorf("%d rows", len(rep.Checks))
			}
		})
	}
}
