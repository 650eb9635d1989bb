package host

import (
	"testing"

	"cordon/internal/host/snapshot"
)

// Of each tool that jobs find unpacked the programs that bear the names of tools are told,
// wherever they lie, and what its packages hold is not.
func TestTheProgramsOfCachedToolsAreTold(t *testing.T) {
	tr := newTree(t)
	const root = "/home/gitlab-runner/actions-runner"
	tr.file(root+"/.runner", `{"agentId": 7, "agentName": "gh-1", "gitHubUrl": "https://github.example.org/acme"}`, 0o644)
	tr.file(root+"/bin/libcoreclr.so", "\x7fELF", 0o755)
	want := map[string]bool{root + "/bin/libcoreclr.so": true}
	for p, told := range map[string]bool{
		"node/20.1.0/x64/bin/node": true, "node/20.1.0/x64/LICENSE": true, "node/20.1.0/x64.complete": true, "go/1.22.0/x64/pkg/tool/linux_amd64/compile": true,
		"Python/3.12.1/x64/bin/python3.12": true, "Java_Temurin_jdk/17/x64/bin/java": true,
		"node/20.1.0/x64/lib/node_modules/x/node": false, "node/20.1.0/x64/bin/tsc": false, "go/1.22.0/x64/src/go": false,
	} {
		for _, cache := range []string{root + "/_work/_tool/", "/opt/hostedtoolcache/"} {
			tr.file(cache+p, "x", 0o755)
			want[cache+p] = told
		}
	}
	for _, sh := range shells(t) {
		out, _ := tr.run(sh, snapshot.ProfileTriage, nil, nil)
		s := read(t, out, snapshot.ProfileTriage)
		for p, told := range want {
			if (at(s, p) != nil) != told {
				t.Errorf("%s: %s told: %v", sh.name, p, !told)
			}
		}
		if !s.Seen(snapshot.SectionWork) {
			t.Errorf("%s: %+v", sh.name, s.Section(snapshot.SectionWork))
		}
	}
}
