package redact

import (
	"regexp"
	"strings"
)

// shapeRE lists values that give themselves away. Sources: the token prefix pages
// of GitLab and GitHub, gitlab-runner helpers/shorten_token.go (t1_ t2_ t3_,
// glrtr-), AWS IAM identifiers, age(1), crypt(5).
var shapeRE = regexp.MustCompile(strings.Join([]string{
	`gh[opsur]_[A-Za-z0-9_]{16,}(?:\.[A-Za-z0-9_-]{8,})*`,
	`github_pat_[A-Za-z0-9_]{16,}`,
	// GitLab: the suffix is the routable part of newer tokens (payload.length.checksum).
	`gl(?:rtr?|pat|cbt|dt|ptt|oas|agent|soat|ffct|imt|ft)-[A-Za-z0-9_=-]{12,}(?:\.[0-9A-Za-z_-]{2,}){0,3}`,
	`GR1348941[A-Za-z0-9_-]{8,}`,
	`\bt[123]_[A-Za-z0-9_-]{16,}(?:\.[0-9A-Za-z_-]{2,}){0,3}`,
	`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
	`xox[abeprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}`,
	`npm_[A-Za-z0-9]{30,}`,
	`bkua_[A-Za-z0-9]{16,}`,
	`dckr_pat_[A-Za-z0-9_-]{20,}`,
	`\bAIza[A-Za-z0-9_-]{35}`,
	`(?:AGE-SECRET-KEY-|age-secret-key-)[A-Za-z0-9-]{20,}`,
	// JSON web tokens, and long base64 of a JSON object (a GitHub JIT configuration).
	`\beyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]{4,}){1,4}`,
	`\bey[IJ][A-Za-z0-9+/_-]{60,}={0,2}`,
	`\$(?:1|2[abxy]|5|6|7|y|gy)\$[./A-Za-z0-9$=,]{8,}`,
}, "|"))

// shapeMarks: a line without one of them holds no shape. The expression is slow, and
// logs are long.
var shapeMarks = []string{
	"ghp_", "gho_", "ghs_", "ghu_", "ghr_", "_pat_", "glrt", "glpat-", "glcbt-", "gldt-", "glptt-", "gloas-", "glagent-", "glsoat-", "glffct-",
	"glimt-", "glft-", "GR1348941", "t1_", "t2_", "t3_", "AKIA", "ASIA", "xox", "npm_", "bkua_", "AIza", "eyJ", "eyI", "$",
	"AGE-SECRET-KEY-", "age-secret-key-",
}

func shapes(s string) []span {
	var out []span
	lines(s, func(at int, line string) {
		if !hasAny(line, shapeMarks) {
			return
		}
		for _, loc := range shapeRE.FindAllStringIndex(line, -1) {
			// Every one of these is random text; a run of lower-case words with the same
			// beginning ("highs_and_lows_of_queue") is a name.
			if looksRandom(line[loc[0]:loc[1]]) {
				out = append(out, span{at + loc[0], at + loc[1]})
			}
		}
	})
	return out
}

func hasAny(s string, any []string) bool {
	for _, a := range any {
		if strings.Contains(s, a) {
			return true
		}
	}
	return false
}

// lines calls f for every line with its place, without its LF.
func lines(s string, f func(at int, line string)) {
	for at := 0; at < len(s); {
		n := strings.IndexByte(s[at:], '\n')
		if n < 0 {
			n = len(s) - at
		}
		f(at, s[at:at+n])
		at += n + 1
	}
}

// looksRandom reports whether the part of a token after its prefix has a digit or
// a capital.
func looksRandom(s string) bool {
	if i := strings.IndexAny(s, "_-"); i >= 0 && i < 12 {
		return strings.ContainsAny(s[i:], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	}
	return true
}

// A PEM, OpenSSH or PGP private key: where it begins, where it ends, and what can
// still belong to it where the end is missing. Line ends may be escaped ones.
var (
	keyBeginRE = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	keyEndRE   = regexp.MustCompile(`-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	keyBodyRE  = regexp.MustCompile(`^(?:[\sA-Za-z0-9+/=:,-]|\\+[nrt])*`)
)

func privateKeys(s string) []span {
	var out []span
	end, noEnd := 0, false
	for _, loc := range keyBeginRE.FindAllStringIndex(s, -1) {
		if loc[0] < end {
			continue
		}
		var tail []int
		if !noEnd { // where none follows, none follows later either: look once
			tail = keyEndRE.FindStringIndex(s[loc[1]:])
			noEnd = tail == nil
		}
		if tail != nil {
			end = loc[1] + tail[1]
		} else {
			end = loc[1] + len(keyBodyRE.FindString(s[loc[1]:]))
		}
		end = loc[0] + len(strings.TrimRight(s[loc[0]:end], " \t\r\n"))
		out = append(out, span{loc[0], end})
	}
	return out
}

// userinfoRE is deliberately wide: which @ ends the user information is decided in
// code, because passwords with / and @ in them occur in badly written URLs.
var userinfoRE = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://([^\s"'<>\x00` + "`" + `]*)@`)

var portRE = regexp.MustCompile(`^[0-9]{1,5}(?:[/?#]|$)`)

// publicUsers stand in URLs beside a token and are no secret themselves.
var publicUsers = map[string]bool{
	"git": true, "hg": true, "root": true, "oauth2": true, "x-access-token": true,
	"gitlab-ci-token": true, "anonymous": true, "x-oauth-basic": true, "token": true,
}

func userinfo(s string) []span {
	if !strings.Contains(s, "://") {
		return nil
	}
	var out []span
	for _, loc := range userinfoRE.FindAllStringSubmatchIndex(s, -1) {
		from, to := loc[2], loc[3]
		info := s[from:to]
		user, pass, both := strings.Cut(info, ":")
		if strings.ContainsAny(user, "/?#") {
			continue // the @ is in the path
		}
		if both && portRE.MatchString(pass) && strings.ContainsAny(pass, "/?#") {
			continue // host:port/path@…
		}
		if i := strings.IndexAny(info, "/?#"); i >= 0 && !both {
			continue
		}
		colon := from + len(user)
		if !both {
			colon = to
		}
		scheme := s[loc[0]:from]
		ssh := strings.HasPrefix(scheme, "ssh:") || strings.HasPrefix(scheme, "sftp:") || strings.HasPrefix(scheme, "git+ssh:")
		if !publicUsers[user] && (both || !ssh) && user != "" {
			out = append(out, span{from, colon})
		}
		if both && colon+1 < to && !publicUsers[pass] {
			out = append(out, span{colon + 1, to})
		}
	}
	return out
}
