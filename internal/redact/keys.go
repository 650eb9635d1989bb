package redact

import (
	"regexp"
	"strings"
	"unicode"
)

// stems are the beginnings of telling words. A name without any of them is looked at
// no further; which words really tell is for sensitive to say.
var stems = []string{"token", "secret", "passw", "passphrase", "passcode", "key", "bearer", "authorization", "credential", "jit", "dsn", "cookie", "rsaparam"}

// names finds the runs of name characters that hold a stem.
func names(s string) []span {
	var out []span
	for i := 0; i < len(s); i++ {
		if !nameByte(s[i]) {
			continue
		}
		from := i
		for i < len(s) && nameByte(s[i]) {
			i++
		}
		if i-from >= 3 && hasStem(s[from:i]) {
			out = append(out, span{from, i})
		}
	}
	return out
}

func nameByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-'
}

func hasStem(run string) bool {
	run = strings.ToLower(run)
	for _, stem := range stems {
		if strings.Contains(run, stem) {
			return true
		}
	}
	return false
}

// innocentEnds are last words that turn a telling name into one about the secret:
// token_expires_at, secret_detection, password_file.
var innocentEnds = map[string]bool{
	"at": true, "expires": true, "expiry": true, "expiration": true, "expired": true, "ttl": true,
	"lifetime": true, "age": true, "time": true, "date": true, "until": true, "days": true, "seconds": true,
	"count": true, "total": true, "limit": true, "size": true, "length": true, "len": true, "type": true,
	"kind": true, "name": true, "names": true, "id": true, "ids": true, "path": true, "paths": true,
	"file": true, "files": true, "dir": true, "url": true, "uri": true, "endpoint": true, "enabled": true,
	"disabled": true, "detection": true, "scanning": true, "scope": true, "scopes": true, "policy": true,
	"rotation": true, "status": true, "state": true, "interval": true, "version": true, "header": true,
	"authentication": true, "required": true, "allowed": true, "supported": true, "present": true,
	"fingerprint": true, "access": true, "permissions": true, "web": true, "git": true, "helper": true,
	"manager": true, "provider": true, "env": true, "system": true, "print": true, "md": true, "go": true,
}

// sensitive reports whether a name announces a secret as its value.
func sensitive(key string) bool {
	if !hasStem(key) {
		return false
	}
	w := words(key)
	if len(w) == 0 || len(w) > 1 && innocentEnds[w[len(w)-1]] {
		return false
	}
	for _, x := range w {
		switch {
		case x == "dsn", x == "authorization":
			return true
		case strings.HasPrefix(x, "tokeniz"), strings.HasPrefix(x, "secretar"), strings.HasPrefix(x, "passwordless"):
		case strings.Contains(x, "token"), strings.Contains(x, "secret"), strings.Contains(x, "passw"),
			strings.Contains(x, "passphrase"), strings.Contains(x, "passcode"), strings.Contains(x, "apikey"),
			strings.Contains(x, "accesskey"), strings.Contains(x, "privatekey"), strings.Contains(x, "bearer"),
			strings.Contains(x, "credential"), strings.Contains(x, "jitconfig"), strings.Contains(x, "cookie"),
			strings.Contains(x, "rsaparam"):
			return true
		}
	}
	for i := range len(w) - 1 {
		switch w[i] + w[i+1] {
		case "apikey", "accesskey", "privatekey", "jitconfig", "apikeys", "accesskeys", "privatekeys":
			return true
		}
	}
	return false
}

// words splits a name at its separators and at the humps of camel case, in lower case.
func words(key string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			out = append(out, strings.ToLower(string(cur)))
			cur = cur[:0]
		}
	}
	lower := false
	for _, r := range key {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && lower:
			flush()
			cur = append(cur, r)
		default:
			cur = append(cur, r)
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	flush()
	return out
}

var (
	numberRE = regexp.MustCompile(`^[+-]?[0-9]+(?:\.[0-9]+)?$`)
	timeRE   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?$`)
	// A reference to a variable tells where a secret comes from, not what it is.
	variableRE = regexp.MustCompile(`^(?:\$\{\{?[^{}]*\}?\}|\$[A-Z_][A-Z0-9_]*|\$\([^()]*\)|\{\{[^{}]*\}\}|%[sdvq]|<[^<>]*>|\*+|x{3,})$`)
	pathRE     = regexp.MustCompile(`^(?:/|\./|\.\./|~/)[A-Za-z0-9._/-]+$`)
)

var databasesRE = regexp.MustCompile(`^(?:(?:files|compat|db|nis|nisplus|ldap|sss|systemd|winbind|extrausers|altfiles|hesiod|dns|cache|mymachines|\[[A-Za-z!]+=[a-z]+\])[ \t]*)+$`)

// plainWords are values that name no secret.
var plainWords = map[string]bool{
	"": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "null": true,
	"nil": true, "none": true, "undefined": true, "unset": true, "secret": true, "masked": true, "filtered": true,
	"redacted": true, "[secret]": true, "[masked]": true, "[filtered]": true, "[redacted]": true,
	"bearer": true, "basic": true, "digest": true, "negotiate": true, "token": true,
}

// plain reports whether a value under a telling name is still no secret.
func plain(key, value string) bool {
	v := strings.TrimSpace(value)
	if plainWords[strings.ToLower(v)] || timeRE.MatchString(v) || variableRE.MatchString(v) {
		return true
	}
	k := strings.ToLower(key)
	if k == "passwd" && databasesRE.MatchString(v) {
		return true // nsswitch.conf: where accounts are looked up
	}
	if numberRE.MatchString(v) {
		// Numbers are counts and identifiers, except where people choose them as passwords.
		return len(v) < 4 || !(strings.HasSuffix(k, "password") || strings.HasSuffix(k, "passwd") ||
			strings.HasSuffix(k, "passphrase") || strings.HasSuffix(k, "passcode"))
	}
	return pathRE.MatchString(v) && (strings.Contains(k, "private") || strings.Contains(k, "credential") || strings.Contains(k, "cookie"))
}
