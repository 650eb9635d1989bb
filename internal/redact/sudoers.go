package redact

import (
	"regexp"
	"strings"
)

var (
	afterColonRE = regexp.MustCompile(`^[ \t]*:`)
	// commandsRE: what follows PASSWD: in a rule of sudo (sudoers(5)): a command, ALL,
	// another tag, or the rest on the next line. A password there would be a path.
	commandsRE = regexp.MustCompile(`^[ \t]*:[ \t]*(?:\\\r?\n|!?[ \t]*(?:/|ALL\b|sudoedit\b|sudo_list\b|sha[0-9]+:)|(?:NO)?(?:EXEC|SETENV|FOLLOW|LOG_INPUT|LOG_OUTPUT|MAIL|INTERCEPT)[ \t]*:|[A-Z][A-Z0-9_]+[ \t]*(?:,|\r?\n|$))`)
	aliasRE    = regexp.MustCompile(`(?:^|\n)[ \t]*(?:Cmnd|Cmd|User|Runas|Host)_Alias[ \t]+$`)
)

// sudoWord reports whether key is a word of sudo's rules and announces commands: the
// tags NOPASSWD and PASSWD, and the name of an alias such as
// "Cmnd_Alias PASSWD_CMDS = /usr/bin/passwd". before and rest are the text around it.
func sudoWord(before, key, rest string) bool {
	switch key {
	case "NOPASSWD":
		return afterColonRE.MatchString(rest)
	case "PASSWD":
		return !startsLine(before) && commandsRE.MatchString(rest)
	}
	line := before[max(0, len(before)-64):]
	return strings.HasSuffix(strings.TrimRight(line, " \t"), "_Alias") && aliasRE.MatchString(line)
}
