package check

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

// sourcePlaces are settings of package tools that are no NAME=VALUE lines.
var sourcePlaces = []place{
	{func(p string) bool { return path.Base(p) == ".yarnrc.yml" }, []string{"T1195.001", "T1546"}, "yarn's settings start a program or trust another server", judgeYarn},
	{func(p string) bool { return strings.HasSuffix(p, "/.gradle/gradle.properties") }, []string{"T1195.001", "T1546"}, "every Gradle build starts with code or a proxy of these settings", judgeGradleProperties},
	{
		func(p string) bool {
			return strings.HasSuffix(p, "/.m2/settings.xml") || strings.EqualFold(path.Base(p), "nuget.config")
		},
		[]string{"T1195.001"},
		"packages come from another server", judgePackageXML,
	},
}

var yamlPair = regexp.MustCompile(`^\s*(?:- )?"?([A-Za-z][A-Za-z0-9_]*)"?:\s+"?([^"\s][^"]*?)"?\s*$`)

func judgeYarn(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		m := yamlPair.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		switch name, value := m[1], strings.Trim(m[2], `'`); name {
		case "yarnPath", "path": // yarn itself, and its plugins
			switch {
			case oddPlace(value) != "" && inTemp(value):
				why.add(High, "%s: %s: every yarn command runs it, and it %s", name, quote(value), oddPlace(value))
			case strings.HasPrefix(value, "/") || strings.HasPrefix(value, "..") || strings.HasPrefix(value, "~"):
				why.add(Medium, "%s: %s: every yarn command runs it", name, quote(value))
			case name == "yarnPath" && !strings.HasPrefix(strings.TrimPrefix(value, "./"), ".yarn/releases/"):
				why.add(Low, "%s: %s", name, quote(value))
			}
		case "npmRegistryServer", "npmPublishRegistry", "httpProxy", "httpsProxy":
			source(value, why)
		case "enableStrictSsl":
			if value == "false" {
				why.add(Medium, "%s: false: packages come from whoever answers", name)
			}
		}
	}
}

func judgeGradleProperties(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || strings.HasPrefix(name, "#"):
		case strings.HasSuffix(name, "jvmargs") && javaAgent.MatchString(value):
			why.add(High, "%s = %s: that code runs in every build", quote(name), quote(value))
		case name == "org.gradle.java.home" && (oddPlace(value) != "" || !inSystem(value)):
			why.add(Medium, "%s = %s", quote(name), quote(value))
		case strings.HasSuffix(name, ".proxyHost"):
			source("http://"+value, why)
		}
	}
}

// sourceTag finds the addresses in Maven's and NuGet's settings.
var sourceTag = regexp.MustCompile(`<url>\s*([^<\s]+)\s*</url>|<add\s[^>]*\bvalue\s*=\s*["']((?:https?|ftp|file)://[^"']*|\\\\[^"']+|/[^"']*)["']`)

func judgePackageXML(_ *view, _ string, f *snapshot.File, why *reasons) {
	for _, m := range sourceTag.FindAllStringSubmatch(string(f.Content), 200) {
		source(m[1]+m[2], why)
	}
}

// publicFeeds are where these tools fetch from by themselves.
var publicFeeds = []string{
	"repo.maven.apache.org", "repo1.maven.org", "repo.maven.org", "central.sonatype.com", "oss.sonatype.org", "s01.oss.sonatype.org", "plugins.gradle.org", "maven.google.com",
	"dl.google.com", "maven.pkg.github.com", "api.nuget.org", "www.nuget.org", "nuget.pkg.github.com", "registry.npmjs.org", "registry.yarnpkg.com", "npm.pkg.github.com",
	"pkgs.dev.azure.com",
}

// source judges one address that packages come from.
func source(address string, why *reasons) {
	u, err := url.Parse(address)
	host := ""
	if err == nil {
		host = strings.ToLower(u.Hostname())
	}
	switch {
	case err == nil && u.Scheme == "https" && slices.Contains(publicFeeds, host):
	case oddPlace(address) != "" && strings.HasPrefix(address, "/"):
		why.add(High, "packages come from %s, which %s", quote(address), oddPlace(address))
	case bareAddress.MatchString(address) && !strings.Contains(address, "//127."):
		why.add(Medium, "packages come from %s", quote(address))
	case err == nil && u.Scheme == "http" && host != "localhost" && !strings.Contains(address, "//127."):
		why.add(Medium, "packages come from %s, without TLS", quote(address))
	default: // the company's own mirror is common
		why.add(Low, "packages come from %s", quote(address))
	}
}
