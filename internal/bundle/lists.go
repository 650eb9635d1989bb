package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cordon/internal/untrusted"
)

var manifestLine = regexp.MustCompile(`^([0-9a-f]{64})  (.+)$`)

// parseManifest reads a list of sha256sum. It is strict: a line that tools could
// read differently (escaped, binary, repeated) is an error.
func parseManifest(b []byte) (map[string]string, error) {
	out := map[string]string{}
	if len(b) == 0 || b[len(b)-1] != '\n' {
		return nil, errors.New("it is empty or its last line has no end")
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		m := manifestLine.FindStringSubmatch(line)
		if m == nil || !cleanName(m[2]) {
			return nil, fmt.Errorf("line %d is not a digest, two blanks and a name", i+1)
		}
		if out[m[2]] != "" {
			return nil, fmt.Errorf("line %d lists %s again", i+1, m[2])
		}
		out[m[2]] = m[1]
	}
	return out, nil
}

// info is bag-info.txt. A label that is there twice is an error: readers would
// choose differently.
func parseInfo(b []byte) (map[string]string, error) {
	out := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))), "\n"), "\n") {
		label, value, ok := strings.Cut(line, ": ")
		if !ok || label == "" || strings.ContainsAny(label, " \t") {
			return nil, fmt.Errorf("line %d is not a label and a value", i+1)
		}
		if _, twice := out[label]; twice {
			return nil, fmt.Errorf("the label %s is there twice", untrusted.Clean(label, 60))
		}
		out[label] = value
	}
	return out, nil
}

// oxum reads Payload-Oxum: bytes, dot, files.
func oxum(s string) (octets int64, files int, err error) {
	a, b, ok := strings.Cut(s, ".")
	octets, err1 := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("%q is not bytes.files", untrusted.Clean(s, 40))
	}
	return octets, n, nil
}
