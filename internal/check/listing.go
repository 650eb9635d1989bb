package check

import "strings"

// ListSchema names the JSON form of a List.
const ListSchema = "cordon.checks/1"

// Listed is what a person or a policy may know of a check without a host.
type Listed struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Why       string   `json:"why"`
	Reads     string   `json:"reads"`
	Sections  []string `json:"sections"`
	Privilege string   `json:"privilege"` // what an ordinary account does not see; "any account" where it sees all
	Attack    []string `json:"attack"`
	NIST      []string `json:"nist"`
}

// List tells all checks in the order in which they are shown.
func List() []Listed {
	var out []Listed
	for _, c := range All() {
		l := Listed{ID: c.ID, Title: c.Title, Why: c.Why, Reads: c.Reads, Sections: c.Needs, Privilege: "any account", Attack: c.Attack, NIST: c.NIST}
		if c.Root != "" {
			l.Privilege = "root for " + c.Root
		}
		out = append(out, l)
	}
	return out
}

// NotCovered is what no check looks at, for a person who is told "nothing found".
func NotCovered() []string {
	return []string{
		"the bytes of programs and libraries (of some thirty well-known programs only whether they are scripts; a replaced ELF needs a disk image and the packages' checksums)",
		"~/.local/share/bash-completion", "/etc/inetd.conf and xinetd", "/etc/ssl/openssl.cnf", "/etc/hosts and resolv.conf",
		"added certificate authorities", "~/.aws/config (credential_process)", "commands in ~/.kube/config", "mail and web servers' settings, databases",
		"file attributes", "firmware and boot sectors", "contents of containers and images", "the runner's caches and artefacts",
	}
}

// Markdown is the table of all checks for a README.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| id | question | reads | privilege | ATT&CK | NIST |\n|---|---|---|---|---|---|\n")
	for _, l := range List() {
		cells := []string{"`" + l.ID + "`", l.Title, l.Reads, l.Privilege, strings.Join(l.Attack, " "), strings.Join(l.NIST, " ")}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteString("\nNot looked at: " + strings.Join(NotCovered(), "; ") + ".\n")
	return b.String()
}
