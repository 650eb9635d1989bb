package main

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary a cordon: called by the name "cordon" it is the
// program, on a file system that tests can break. The shipped program has neither.
func TestMain(m *testing.M) {
	testscript.Main(patient{m}, map[string]func(){"cordon": func() {
		stateFS = brokenFS()
		main()
	}})
}

// together is how many tests run at once where nobody says. They mostly wait for a
// runner to be silent long enough, so more of them than processors go along together.
const together = "12"

type patient struct{ *testing.M }

func (p patient) Run() int {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", together); err != nil {
			panic(err)
		}
	}
	return p.M.Run()
}
