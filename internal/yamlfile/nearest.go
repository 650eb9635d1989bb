package yamlfile

import "strings"

// Nearest returns the known word at most two edits from s, or "" where none is
// near or s is too short for the guess to mean anything.
func Nearest(s string, known []string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "-", "_")
	best, at := "", 3
	for _, k := range known {
		if swapped(s, k) {
			return k
		}
		// Two edits turn any word of two letters into any other.
		if d := distance(s, strings.ReplaceAll(k, "-", "_")); d < at && d < max(len(k), len(s))-1 {
			best, at = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes, or 3 where it is certainly more than 2.
func distance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// swapped reports whether two neighbouring letters of a changed places in b.
func swapped(a, b string) bool {
	for i := 1; i < len(a) && len(a) == len(b); i++ {
		if a[:i-1]+string(a[i])+string(a[i-1])+a[i+1:] == b && a != b {
			return true
		}
	}
	return false
}
