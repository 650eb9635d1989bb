package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"cordon/internal/casefile"
)

// broken names how the state directory of a cordon breaks: "WHAT:N" with a count of
// operations on journals.
//
//	kill-write:N   the process is killed instead of the N-th write
//	kill-torn:N    … after half of the N-th write
//	kill-sync:N    … between the N-th write and its sync
//	kill-after:N   … after the N-th sync
//	full:N         the disk is full from the N-th write of a journal on
//	nfs:0          it lies on a network file system
//
// The process that reads it is this test binary, never the shipped program.
const broken = "CORDON_TEST_BROKEN"

func brokenFS() casefile.FS {
	spec := os.Getenv(broken)
	if spec == "" {
		return nil
	}
	what, _, _ := strings.Cut(spec, ":")
	b := &breaking{FS: casefile.RealFS(), what: what}
	if _, err := fmt.Sscanf(spec, what+":%d", &b.at); err != nil {
		panic(broken + ": " + err.Error())
	}
	return b
}

// breaking is the real file system up to a point.
type breaking struct {
	casefile.FS
	what string
	at   int

	mu     sync.Mutex
	writes int
	full   bool
	room   int64 // bytes, once it is full
}

type breakingFile struct {
	casefile.File
	fs   *breaking
	name string
}

func (b *breaking) OpenFile(name string, flag int, perm fs.FileMode) (casefile.File, error) {
	f, err := b.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &breakingFile{f, b, filepath.Base(name)}, nil
}

func (b *breaking) Statfs(name string) (casefile.Volume, error) {
	v, err := b.FS.Statfs(name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		v.Free = uint64(b.room)
	}
	if b.what == "nfs" {
		v.Magic = 0x6969 // linux/magic.h
	}
	return v, err
}

func (f *breakingFile) journal() bool { return f.name == "journal.jsonl" }

func (f *breakingFile) Write(p []byte) (int, error) {
	b := f.fs
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.journal() {
		b.writes++
	}
	now := f.journal() && b.writes == b.at
	switch {
	case now && b.what == "kill-write":
		die()
	case now && b.what == "kill-torn":
		_, _ = f.File.Write(p[:len(p)/2]) // half is the point; nobody is left to hear of an error
		die()
	case now && b.what == "full":
		b.full = true
	}
	if b.full {
		if int64(len(p)) > b.room {
			return 0, &fs.PathError{Op: "write", Path: f.name, Err: syscall.ENOSPC}
		}
		b.room -= int64(len(p))
	}
	return f.File.Write(p)
}

func (f *breakingFile) Sync() error {
	b := f.fs
	b.mu.Lock()
	defer b.mu.Unlock()
	now := f.journal() && b.writes == b.at
	if now && b.what == "kill-sync" {
		die()
	}
	err := f.File.Sync()
	if now && b.what == "kill-after" {
		die()
	}
	return err
}

// Truncate gives back what a file loses, as the reserve of a case does.
func (f *breakingFile) Truncate(size int64) error {
	before, err := f.Stat()
	if err = errors.Join(err, f.File.Truncate(size)); err != nil {
		return err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.room += max(before.Size-size, 0)
	return nil
}

// die ends the process as kill -9 does: nothing of it runs on.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it cannot be refused
	select {}
}
