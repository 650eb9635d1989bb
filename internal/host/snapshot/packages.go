package snapshot

import (
	"encoding/xml"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"
)

// What tools fetch packages with keeps credentials and other settings in one file
// (facts/host.md §2.2). Of these what decides where packages come from and what is
// started is kept, and every other value is replaced: a credential may have any name.

// packageXML reports a file of Maven's or NuGet's settings.
func packageXML(name string) bool {
	return strings.HasSuffix(name, "/.m2/settings.xml") || strings.EqualFold(path.Base(name), "nuget.config")
}

var yamlSetting = regexp.MustCompile(`^(\s*(?:- )?)("?[A-Za-z@_][A-Za-z0-9@_./:*-]*"?)(:\s+)(.*)$`)

// shownYarn are settings of .yarnrc.yml that are no credential.
var shownYarn = map[string]bool{
	"yarnPath": true, "npmRegistryServer": true, "npmPublishRegistry": true, "nodeLinker": true, "enableTelemetry": true, "enableGlobalCache": true,
	"enableScripts": true, "enableStrictSsl": true, "enableImmutableInstalls": true, "enableMirror": true, "enableColors": true, "compressionLevel": true,
	"defaultSemverRangePrefix": true, "nmMode": true, "pnpMode": true, "path": true, "spec": true, "cacheFolder": true, "globalFolder": true,
	"httpProxy": true, "httpsProxy": true, "npmAlwaysAuth": true, "initScope": true, "logFilters": true, "code": true, "level": true,
}

// javaSetting is a line of a properties file.
var javaSetting = regexp.MustCompile(`^(\s*)([A-Za-z_][A-Za-z0-9_.-]*)(\s*[=:]\s*)(.*)$`)

var shownJava = regexp.MustCompile(`^((org\.gradle|android|kotlin|ksp|kapt)\.[A-Za-z0-9.]+|systemProp\.https?\.(proxyHost|proxyPort|nonProxyHosts)|version|group)$`)

// packageSettings replaces what such a file sets beside that; ok is false where it was
// not understood, so that nothing of it may be kept.
func (p *parser) packageSettings(name, s string) (out string, n int, ok bool) {
	switch {
	case packageXML(name):
		return p.packageTags(s)
	case path.Base(name) == ".yarnrc.yml":
		out, n = p.lines(s, lineRule{re: yamlSetting, shown: func(name string) bool { return shownYarn[strings.Trim(name, `"`)] }, indents: true})
	default:
		out, n = p.lines(s, lineRule{re: javaSetting, shown: shownJava.MatchString, indents: true})
	}
	return out, n, true
}

// shownTags are elements of Maven's settings whose text is no credential, shownKeys the
// parts of NuGet's whose values are none.
var (
	shownTags = map[string]bool{
		"url": true, "id": true, "name": true, "mirrorOf": true, "blocked": true, "localRepository": true, "layout": true, "enabled": true, "updatePolicy": true,
		"checksumPolicy": true, "activeProfile": true, "activeByDefault": true, "offline": true, "interactiveMode": true, "active": true, "protocol": true,
		"host": true, "port": true, "nonProxyHosts": true, "pluginGroup": true, "jdk": true,
	}
	shownKeys = map[string]bool{
		"packageSources": true, "disabledPackageSources": true, "activePackageSource": true, "packageSourceMapping": true, "packageRestore": true, "bindingRedirects": true,
		"packageManagement": true, "fallbackPackageFolders": true, "auditSources": true,
	}
	attrValue = regexp.MustCompile(`(\s)([A-Za-z_:][A-Za-z0-9_:.-]*)(\s*=\s*)("[^"]*"|'[^']*')`)
	loginWord = regexp.MustCompile(`(?i)passw|token|secret|username|apikey`)
)

// packageTags goes through the file a tag at a time and keeps its text but for the
// values, so that what is kept still is the file that was read.
func (p *parser) packageTags(s string) (string, int, bool) {
	s = strings.TrimPrefix(s, "\ufeff")
	d := xml.NewDecoder(strings.NewReader(s))
	var b strings.Builder
	var open []string
	n := 0
	for {
		from := d.InputOffset()
		t, err := d.Token()
		if err != nil {
			return b.String(), n, errors.Is(err, io.EOF) && from == int64(len(s))
		}
		raw := s[from:d.InputOffset()]
		switch t := t.(type) {
		case xml.StartElement:
			open = append(open, t.Name.Local)
			keep := len(open) < 2 || shownKeys[open[1]]
			b.WriteString(attrValue.ReplaceAllStringFunc(raw, func(a string) string {
				m := attrValue.FindStringSubmatch(a)
				v := m[4][1 : len(m[4])-1]
				if keep || m[2] == "key" || strings.HasPrefix(m[2], "xmlns") || strings.HasPrefix(m[2], "xsi:") || !p.secret(v) {
					return a
				}
				n++
				return m[1] + m[2] + m[3] + m[4][:1] + p.hidden(v) + m[4][:1]
			}))
		case xml.EndElement:
			open = open[:max(len(open)-1, 0)]
			b.WriteString(raw)
		case xml.CharData:
			v := strings.TrimSpace(raw)
			if v == "" || len(open) > 0 && shownTags[open[len(open)-1]] || !p.secret(v) {
				b.WriteString(raw)
				continue
			}
			n++
			b.WriteString(strings.Replace(raw, v, p.hidden(v), 1))
		case xml.Comment: // an old login is often one
			if loginWord.MatchString(raw) {
				n++
				raw = "<!-- " + p.hidden(raw) + " -->"
			}
			b.WriteString(raw)
		case xml.Directive: // it may name any text
			return "", 0, false
		default:
			b.WriteString(raw)
		}
	}
}

// packageFile reports one of these files.
func packageFile(name string) bool {
	return packageXML(name) || path.Base(name) == ".yarnrc.yml" || strings.HasSuffix(name, "/.gradle/gradle.properties")
}
