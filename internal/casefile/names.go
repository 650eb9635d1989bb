package casefile

import (
	"regexp"
	"strings"
)

var (
	caseID   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	itemName = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)
)

// ValidID reports whether id can name a case: a letter or digit, then up to 63 of
// letters, digits, dot, underscore and dash.
func ValidID(id string) bool { return caseID.MatchString(id) }

// ValidItemName reports whether name can name evidence: parts of letters, digits,
// dot, underscore and dash, joined by single slashes, none of them dots alone, at
// most 255 bytes. Bundles use the names as paths.
func ValidItemName(name string) bool {
	if len(name) > 255 || !itemName.MatchString(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.Trim(part, ".") == "" || strings.Contains(part, "..") {
			return false
		}
	}
	return true
}
