package github

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"cordon/internal/witness"
	"cordon/internal/yamlfile"
)

// workflowFile is a path that the contents of a repository have. Runs of GitHub's own
// ("dynamic/…") and of required workflows elsewhere have others.
var workflowFile = regexp.MustCompile(`^\.github/workflows/[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.ya?ml$`)

// workflow is what a workflow file says of the permissions and environments of its jobs.
type workflow struct {
	top  witness.Tri // id-token: write for jobs without permissions of their own
	jobs []workflowJob
}

type workflowJob struct {
	key, name   string
	token       witness.Tri // unknown: it has no permissions of its own
	environment string
}

// file decodes the content that GitHub gives of a file.
func (c wireContent) file() ([]byte, error) {
	if c.Type != "file" || c.Encoding != "base64" {
		return nil, fmt.Errorf("GitHub gives no content of it") // a link, a directory, or larger than 1 MB
	}
	if len(c.Content) > 2*yamlfile.MaxBytes {
		return nil, fmt.Errorf("the file is too large")
	}
	b, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "").Replace(c.Content))
	if err != nil {
		return nil, fmt.Errorf("its content is not base64")
	}
	return b, nil
}

// readWorkflow reads permissions (docs: workflow syntax, permissions). Without any, a job
// has no id-token whatever the repository's default is.
func readWorkflow(b []byte) (workflow, error) {
	var w workflow
	n, err := yamlfile.Foreign(b)
	if err != nil {
		return w, err
	}
	root := pairs(n)
	if root == nil {
		return w, fmt.Errorf("not a workflow")
	}
	w.top = witness.No
	if p := root["permissions"]; p != nil {
		if w.top = idToken(p); w.top == witness.Unknown {
			return w, fmt.Errorf("its permissions are written in a way that is not read here")
		}
	}
	jobs := root["jobs"]
	if jobs == nil || pairs(jobs) == nil {
		return w, fmt.Errorf("it has no jobs that can be read")
	}
	for key, body := range pairs(jobs) {
		j := workflowJob{key: key}
		m := pairs(body)
		if m == nil {
			return w, fmt.Errorf("a job is written in a way that is not read here")
		}
		j.name = scalar(m["name"])
		if p := m["permissions"]; p != nil {
			if j.token = idToken(p); j.token == witness.Unknown {
				return w, fmt.Errorf("the permissions of a job are written in a way that is not read here")
			}
		}
		if e := m["environment"]; e != nil {
			if j.environment = scalar(e); j.environment == "" {
				if j.environment = scalar(pairs(e)["name"]); j.environment == "" {
					j.environment = "of a name that is worked out when it runs"
				}
			}
		}
		w.jobs = append(w.jobs, j)
	}
	return w, nil
}

// idToken is yes for id-token: write and write-all; unknown for what cannot be read.
func idToken(n ast.Node) witness.Tri {
	switch s := scalar(n); {
	case strings.EqualFold(s, "write-all"):
		return witness.Yes
	case s != "":
		return witness.No // read-all
	}
	m := pairs(n)
	if m == nil {
		if n.Type() == ast.NullType {
			return witness.No
		}
		return witness.Unknown
	}
	v := m["id-token"]
	switch {
	case v == nil:
		return witness.No
	case strings.EqualFold(scalar(v), "write"):
		return witness.Yes
	case scalar(v) == "":
		return witness.Unknown
	}
	return witness.No
}

// grants says whether a job with that name in the API may have an id-token, and which
// environment it deploys to. sure is false where the file has no job that is clearly it:
// then the answer is about any job of the file.
func (w workflow) grants(apiName string) (token witness.Tri, environment string, sure bool) {
	var fit []workflowJob
	caller, _, _ := strings.Cut(apiName, " / ") // a reusable workflow's jobs: "CALLER / CALLED"
	for _, j := range w.jobs {
		for _, n := range []string{j.name, j.key} {
			if n != "" && (n == apiName || n == caller || strings.HasPrefix(apiName, n+" (") || strings.HasPrefix(caller, n+" (")) {
				fit = append(fit, j)
				break
			}
		}
	}
	if len(fit) == 1 {
		token = fit[0].token
		if token == witness.Unknown {
			token = w.top
		}
		return token, fit[0].environment, true
	}
	token = witness.No
	for _, j := range w.jobs {
		if j.token == witness.Yes || j.token == witness.Unknown && w.top == witness.Yes {
			token = witness.Yes
		}
	}
	return token, "", false
}

// pairs is a mapping by its plain keys; nil for everything else, and for one with a merge
// key, whose content would be elsewhere.
func pairs(n ast.Node) map[string]ast.Node {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		one, ok := n.(*ast.MappingValueNode) // a mapping of one pair
		if !ok {
			return nil
		}
		m = &ast.MappingNode{Values: []*ast.MappingValueNode{one}}
	}
	out := map[string]ast.Node{}
	for _, v := range m.Values {
		if v == nil || v.Key == nil || v.Value == nil {
			return nil
		}
		if v.Key.Type() == ast.MergeKeyType {
			return nil
		}
		if k, ok := v.Key.(ast.Node); ok {
			if s := scalar(k); s != "" {
				out[s] = v.Value
			}
		}
	}
	return out
}

// scalar is a plain or quoted text, "" for everything else.
func scalar(n ast.Node) string {
	switch x := n.(type) {
	case *ast.StringNode:
		return x.Value
	case *ast.BoolNode: // "on", as a key
		return x.GetToken().Value
	case *ast.IntegerNode:
		return x.GetToken().Value
	}
	return ""
}
