package snapshot

import (
	"fmt"
	"strings"
	"testing"
)

// Of the settings that package tools keep their logins in, what says where packages come
// from stays readable and no other value does; what is not understood is not kept.
func TestSettingsOfPackageToolsKeepSourcesAndNoLogin(t *testing.T) {
	var p planted
	for name, x := range map[string]struct {
		content string
		stays   []string
		n       int // values that were replaced; -1: described, not kept
	}{
		"/home/ci/.m2/settings.xml": {
			"<?xml version=\"1.0\"?>\n<settings xmlns=\"http://maven.apache.org/SETTINGS/1.0.0\">\n <!-- <password>" + p.opaque() + "</password> -->\n" +
				" <mirrors><mirror><id>m</id><url>http://198.51.100.7/</url></mirror></mirrors>\n <servers><server><id>s</id><username>" + p.opaque() + "</username><password>\n  " + p.opaque() +
				"\n</password><configuration><httpHeaders><property><name>Deploy-Token</name><value>" + p.opaque() + "</value></property></httpHeaders></configuration></server></servers>\n</settings>\n",
			[]string{"<url>http://198.51.100.7/</url>", "<id>s</id>", "xmlns=\"http://maven.apache.org/SETTINGS/1.0.0\""},
			4,
		},
		"/home/ci/.nuget/NuGet/NuGet.Config": {
			"\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<configuration>\n<packageSources>\n<add key=\"nuget.org\" value=\"https://api.nuget.org/v3/index.json\" protocolVersion=\"3\" />\n</packageSources>\n" +
				"<packageSourceCredentials><corp><add key=\"Username\" value=\"" + p.opaque() + "\" /><add key='ClearTextPassword' value='" + p.opaque() + "' /></corp></packageSourceCredentials>\n<apikeys><add key=\"https://x.example/\" value=\"" + p.opaque() + "\"/></apikeys></configuration>",
			[]string{`<add key="nuget.org" value="https://api.nuget.org/v3/index.json" protocolVersion="3" />`},
			3,
		},
		"/home/ci/.config/NuGet/NuGet.Config": {"<!DOCTYPE x [<!ENTITY p \"" + p.opaque() + "\">]><configuration/>", nil, -1},
		"/home/cj/.m2/settings.xml":           {"<settings><servers><server><password>" + p.opaque(), nil, -1},
		"/home/ci/.yarnrc.yml": {
			"yarnPath: .yarn/releases/yarn-4.cjs\nnpmRegistryServer: \"http://198.51.100.7/\"\nnpmAuthToken: " + p.opaque() + "\nnpmScopes:\n  acme:\n    npmAuthToken: >-\n      " + p.opaque() + "\n    npmRegistryServer: https://u:" + p.opaque() + "@npm.example.org\n",
			[]string{"yarnPath: .yarn/releases/yarn-4.cjs", `npmRegistryServer: "http://198.51.100.7/"`, "npm.example.org"},
			-2,
		},
		"/home/ci/.gradle/gradle.properties": {
			"org.gradle.jvmargs=-Xmx2g -javaagent:/opt/x.jar\norg.gradle.caching=true\nmavenUser=" + p.opaque() + "\nsigning.password = " + p.opaque() + "\\\n  " + p.opaque() + "\n",
			[]string{"org.gradle.jvmargs=-Xmx2g -javaagent:/opt/x.jar", "org.gradle.caching=true"},
			3,
		},
	} {
		s, err := parse(ProfileTriage, whole(ProfileTriage, map[string]func(*stream){SectionHomes: func(s *stream) {
			s.frame("lstat", name, fmt.Sprintf("8180 0 0 %d 1796000000 1796000000", len(x.content)))
			s.frame("data", name, x.content)
		}}))
		if err != nil {
			t.Fatal(err)
		}
		f := s.Files[0]
		for _, v := range p.values {
			if strings.Contains(string(f.Content), v) {
				t.Errorf("%s: a planted value is kept:\n%s", name, f.Content)
			}
		}
		for _, want := range x.stays {
			if !strings.Contains(string(f.Content), want) {
				t.Errorf("%s: %q is gone:\n%s", name, want, f.Content)
			}
		}
		if x.n >= 0 && f.Redacted != x.n || x.n == -1 && (!f.Described || f.Content != "") {
			t.Errorf("%s: %d values replaced, described %v:\n%s", name, f.Redacted, f.Described, f.Content)
		}
	}
}
