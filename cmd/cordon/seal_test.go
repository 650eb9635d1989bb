package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"
)

// scriptRecipient is recipient DIR IDENTITY: cases of the lab in DIR are opened with an
// age recipient, whose identity goes to the file IDENTITY.
func scriptRecipient(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "recipient DIR IDENTITY")
	id, err := age.GenerateX25519Identity()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(id.String()+"\n"), 0o600))
	appendTo(scriptTB{ts: ts}, ts.MkAbs(filepath.Join(args[0], "cordon.yaml")), "evidence: {recipients: ["+id.Recipient().String()+"]}\n")
}

// scriptOpens is opens IDENTITY SEALED CLEAR: the one file that the pattern SEALED names
// opens to the bytes of CLEAR.
func scriptOpens(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "opens IDENTITY SEALED CLEAR")
	ids, err := age.ParseIdentities(bytes.NewReader([]byte(ts.ReadFile(args[0]))))
	ts.Check(err)
	all, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(all) != 1 {
		ts.Fatalf("%s names %d files", args[1], len(all))
	}
	f, err := os.Open(all[0])
	ts.Check(err)
	defer f.Close()
	r, err := age.Decrypt(f, ids...)
	ts.Check(err)
	b, err := io.ReadAll(r)
	ts.Check(err)
	if string(b) != ts.ReadFile(args[2]) {
		ts.Fatalf("%s is not %s", all[0], args[2])
	}
}

// scriptClear is clear CLEAR DIR: a file below DIR holds the bytes of CLEAR; with ! none.
func scriptClear(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] clear CLEAR DIR")
	}
	needle := []byte(ts.ReadFile(args[0]))
	var in []string
	ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) { // the lab goes on
			return nil
		}
		if bytes.Contains(b, needle) {
			in = append(in, p)
		}
		return err
	}))
	if (len(in) > 0) == neg {
		ts.Fatalf("the bytes of %s are in %v", args[0], in)
	}
}
