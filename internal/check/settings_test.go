package check_test

import (
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// A file of settings holds a credential where one stands in it, not by its name; one
// whose content is not here may hold one.
func TestSettingsWithoutALoginAreNoCredential(t *testing.T) {
	for _, c := range []struct {
		path, text string
		secret     bool
	}{
		{"/etc/pip.conf", "[global]\ncert = /etc/ssl/certs/ca.pem\n", false},
		{"/etc/pip.conf", "[global]\nindex-url = https://ci:[redacted hmac:0011223344556677 len:20]@pypi.example.org/simple\n", true},
		{"/etc/pip.conf", "", true},
		{"/home/ir/.terraformrc", "provider_installation {\n  dev_overrides {\n    \"acme/x\" = \"/home/ir/go/bin\"\n  }\n  direct {}\n}\n", false},
		{"/home/ir/.terraformrc", "credentials \"app.example.org\" {\n  token = \"[redacted hmac:0011223344556677 len:40]\"\n}\n", true},
		{"/home/ir/.terraformrc", "", true},
		{"/home/ir/.npmrc", "fund=false\n", false},
		{"/home/ir/.npmrc", "//registry.npmjs.org/:_authToken=[redacted hmac:0011223344556677 len:40]\n", true},
		{"/home/ir/.docker/config.json", "{\"detachKeys\":\"ctrl-q\"}\n", false},
		{"/home/ir/.docker/config.json", "{\"auths\":{\"r.example.org\":{\"auth\":\"x\"}}}\n", true},
	} {
		s := cleanHost()
		f := file(snapshot.SectionHomes, c.path, 0o644, 0, c.text)
		f.Size = 40
		plantFile(f)(s)
		if got := at(s, "secrets-on-disk", c.path); (len(got) == 1) != c.secret {
			t.Errorf("%s with %q: %+v", c.path, c.text, got)
		}
	}
	cut := file(snapshot.SectionHomes, "/etc/pip.conf", 0o644, 0, "[global]\n")
	cut.Truncated = true
	s := cleanHost()
	plantFile(cut)(s)
	if len(at(s, "secrets-on-disk", "/etc/pip.conf")) != 1 {
		t.Error("the rest of a cut file is taken for harmless")
	}
}

// What dotnet, Gradle, Maven and yarn write for everybody is none, whoever may read it;
// where a login stands in it, it is one, and where that cannot be told it says so.
func TestWhatPackageToolsWriteForEverybodyIsNoCredential(t *testing.T) {
	for _, c := range []struct {
		path, text string
		least      check.Severity // "": no finding
	}{
		{".nuget/NuGet/NuGet.Config", "<configuration>\n  <packageSources>\n    <add key=\"nuget.org\" value=\"https://api.nuget.org/v3/index.json\" protocolVersion=\"3\" />\n  </packageSources>\n</configuration>\n", ""},
		{".nuget/NuGet/NuGet.Config", "<add key=\"https://x.example.org\" value=\"[redacted hmac:0011223344556677 len:20]\" />\n", check.High},
		{".nuget/NuGet/NuGet.Config", "", check.Info},
		{".gradle/gradle.properties", "org.gradle.jvmargs=-Xmx2g\norg.gradle.caching=true\n", ""},
		{".gradle/gradle.properties", "libVersion=[redacted hmac:0011223344556677 len:5]\n", check.Info},
		{".gradle/gradle.properties", "signing.keyId=[redacted hmac:0011223344556677 len:8]\n", check.High},
		{".m2/settings.xml", "<settings><mirrors><mirror><id>m</id><url>https://repo.example.org/maven</url></mirror></mirrors></settings>", ""},
		{".m2/settings.xml", "<password>[redacted hmac:0011223344556677 len:8]</password>", check.High},
		{".yarnrc.yml", "nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.1.0.cjs\n", ""},
		{".yarnrc.yml", "npmAuthToken: [redacted hmac:0011223344556677 len:40]\n", check.High},
		{".m2/settings-security.xml", "", check.High},
	} {
		s := cleanHost()
		f := file(snapshot.SectionHomes, "/home/ir/"+c.path, 0o644, 1001, c.text)
		f.Size = 40
		plantFile(f)(s)
		plantFile(described("/home/ir/"+c.path, 0o644, 1001))(s)
		got := at(s, "secrets-on-disk", "/home/ir/"+c.path)
		if len(got) > 1 || (len(got) == 1) != (c.least != "") || len(got) == 1 && got[0].Severity != c.least {
			t.Errorf("%s with %q: %+v, want %q", c.path, c.text, got, c.least)
		}
		if c.least == "" && len(at(s, "developer-tools", "/home/ir/"+c.path)) == 1 && at(s, "developer-tools", "/home/ir/"+c.path)[0].Severity.AtLeast(check.Medium) {
			t.Errorf("%s: %+v", c.path, at(s, "developer-tools", "/home/ir/"+c.path))
		}
	}
}
