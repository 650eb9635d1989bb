package check

import (
	"path"
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// SecretsOnDisk is the check whose findings belong on the exposure list.
const SecretsOnDisk = "secrets-on-disk"

func secretsCheck() Check {
	return Check{
		ID:     SecretsOnDisk,
		Title:  "Credentials that jobs could read",
		Why:    "What lies on a runner in reach of a job has to be counted as stolen. Places and names only: contents are not read.",
		Reads:  "places, owners and modes of credential files; never their content",
		Root:   "homes of other users",
		Needs:  []string{snapshot.SectionSecrets, snapshot.SectionRunners, snapshot.SectionKeys},
		Attack: []string{"T1552.001"},
		NIST:   []string{"IA-5", "AC-6"},
		look: func(v *view) []Finding {
			var out []Finding
			v.each(func(p string, f *snapshot.File) {
				if hit, ok := v.judgeSecret(p, f); ok {
					out = append(out, hit)
				}
			})
			return out
		},
	}
}

// secretPlace is a name under which a credential is kept.
type secretPlace struct {
	match *regexp.Regexp
	what  string
	own   bool // the runner's own credential: expected, when only its owner can read it
}

var secretPlaces = []secretPlace{
	{regexp.MustCompile(`/\.?gitlab-runner/config\.toml$`), "the runner's own token", true},
	{regexp.MustCompile(`/\.credentials(_rsaparams|_migrated)?$`), "the runner's own key", true},
	{regexp.MustCompile(`/\.(credential_store|proxycredentials)$`), "credentials of the runner's proxy", true},
	{regexp.MustCompile(`/\.npmrc$|/\.yarnrc\.yml$`), "a token to publish or fetch npm packages", false},
	{regexp.MustCompile(`/\.pypirc$`), "a token to publish Python packages", false},
	{regexp.MustCompile(`/\.gem/credentials$`), "a key to publish Ruby gems", false},
	{regexp.MustCompile(`/\.cargo/credentials(\.toml)?$`), "a token to publish Rust crates", false},
	{regexp.MustCompile(`/\.m2/settings(-security)?\.xml$|/\.gradle/gradle\.properties$`), "credentials of a Java repository", false},
	{regexp.MustCompile(`(?i)/nuget\.config$`), "a key of a NuGet feed", false},
	{regexp.MustCompile(`/\.docker/config\.json$`), "a login to container registries", false},
	{regexp.MustCompile(`/containers/auth\.json$`), "a login to container registries", false},
	{regexp.MustCompile(`/\.netrc$|/_netrc$`), "logins for hosts by name", false},
	{regexp.MustCompile(`/\.git-credentials$|/git/credentials$`), "logins to git servers", false},
	{regexp.MustCompile(`/\.aws/credentials$`), "keys of AWS", false},
	{regexp.MustCompile(`/gcloud/(application_default_credentials\.json|credentials\.db|access_tokens\.db)$`), "keys of Google Cloud", false},
	{regexp.MustCompile(`/\.azure/(accessTokens\.json|msal_token_cache\.(json|bin)|service_principal_entries\.json)$`), "keys of Azure", false},
	{regexp.MustCompile(`/\.kube/config$`), "a login to Kubernetes", false},
	{regexp.MustCompile(`/\.vault-token$`), "a token of Vault", false},
	{regexp.MustCompile(`/\.terraform\.d/credentials\.tfrc\.json$|/\.terraformrc$`), "a token of Terraform", false},
	{regexp.MustCompile(`/gh/hosts\.yml$|/glab-cli/config\.yml$`), "a login of a command-line client", false},
	{regexp.MustCompile(`/\.gnupg/(private-keys-v1\.d/.+|secring\.gpg)$`), "a key to sign with", false},
	{regexp.MustCompile(`/cosign\.key$`), "a key to sign images with", false},
	{regexp.MustCompile(`/\.ssh/id_[A-Za-z0-9_-]+$`), "a private SSH key", false},
	{regexp.MustCompile(`/\.pgpass$|/\.my\.cnf$`), "a login to a database", false},
	{regexp.MustCompile(`/\.boto$|/\.s3cfg$`), "keys of a storage service", false},
	{regexp.MustCompile(`/pip\.conf$`), "a login to a Python index", false},
	{regexp.MustCompile(`/composer/auth\.json$`), "a login to a PHP repository", false},
	{regexp.MustCompile(`/sops/age/keys\.txt$`), "a key that opens sealed files", false},
	{regexp.MustCompile(`/\.env$`), "variables of an application", false},
	{regexp.MustCompile(`/_diag/(blocks|pages)/[^/]+$`), "a page of a job's log that was left", false},
	{leftVariable, "a variable of a job that was left", false},
	{regexp.MustCompile(`\.(pem|key|p12|pfx|jks|keystore)$`), "a private key or certificate", false},
}

// public are files that the section lists and that hold no secret.
var public = regexp.MustCompile(`\.pub$|/\.runner$|/gitlab-runner/certs/|/\.aws/config$|/azureProfile\.json$|\.crt$`)

func placeOfSecret(p string) (secretPlace, bool) {
	for _, sp := range secretPlaces {
		if sp.match.MatchString(p) && !strings.HasSuffix(p, ".pub") {
			return sp, true
		}
	}
	return secretPlace{}, false
}

// OwnCredential reports whether a finding of secrets-on-disk is about the runner's own
// credential, which the rotation of the runner replaces.
func OwnCredential(f Finding) bool {
	sp, ok := placeOfSecret(string(f.Where))
	return f.Check == SecretsOnDisk && ok && sp.own
}

// judgeSecret judges a credential by who can read it.
func (v *view) judgeSecret(p string, f *snapshot.File) (Finding, bool) {
	if f.Type != "file" || f.Size == 0 {
		return Finding{}, false
	}
	sp, known := placeOfSecret(p)
	switch {
	case !known && (!f.Described || f.Section != snapshot.SectionSecrets || public.MatchString(p)):
		return Finding{}, false
	case !known:
		sp.what = "a file that holds credentials"
	case loginIn(p, f) == holdsNone:
		return Finding{}, false
	case strings.HasSuffix(p, ".tmp/CI_SERVER_TLS_CA_FILE"):
		return Finding{}, false
	case path.Base(p) == ".env" && v.roots[path.Dir(p)] && f.Redacted == 0:
		return Finding{}, false // job-hooks reads it
	case strings.HasSuffix(p, ".pem") && (below(p, "/etc/ssl/certs") || below(p, "/usr/share") || below(p, "/usr/lib")):
		return Finding{}, false // certificates everybody may read
	}
	hit := Finding{
		Title: sp.what, Where: untrusted.Text(p), Evidence: evidenceFile(f),
	}
	if loginIn(p, f) == maybeLogin {
		hit.Severity, hit.Title = Info, "settings in which a credential may stand"
		hit.Detail = text("Mode %04o, uid %d. Values under names that say nothing were not kept, or the file was not read: look whether it is %s.", f.Mode&0o7777, f.UID, sp.what)
		return hit, true
	}
	var why reasons
	name, jobs := v.runnerUID(f.UID)
	if u, ok := v.homeOwner(p); ok && v.isRunner(u) && !jobs {
		name, jobs = u.name, true
	}
	dir := v.files[path.Dir(p)]
	hidden := dir != nil && dir.Type == "dir" && dir.Mode&0o001 == 0 && dir.UID != f.UID
	switch {
	case f.Mode&0o004 != 0 && !hidden && v.reachable(p):
		why.add(High, "anybody on the host can read it (mode %04o)", f.Mode&0o7777)
	case sp.own:
		why.add(Info, "it is where the runner keeps it, mode %04o", f.Mode&0o7777)
		if f.Mode&0o040 != 0 && f.GID != 0 {
			why.add(Medium, "its group can read it")
		}
	case jobs:
		why.add(Medium, "it lies with %s, the account of the jobs, so that every job can read it (mode %04o)", quote(name), f.Mode&0o7777)
	case f.Mode&0o040 != 0 && v.runnerGroup(f.GID):
		why.add(Medium, "the group of the jobs' account can read it (mode %04o)", f.Mode&0o7777)
	default:
		why.add(Low, "only its owner (uid %d) can read it, mode %04o; jobs that run as root or in privileged containers can too", f.UID, f.Mode&0o7777)
	}
	if page := strings.Contains(p, "/_diag/"); page || leftVariable.MatchString(p) {
		switch {
		case v.mayBeOfARunningJob(f):
			why = reasons{}
			why.add(Info, "a job runs now, and it may be its own (mode %04o)", f.Mode&0o7777)
		case page && why.worst == High: // what is known of its secrets is masked there
			why.worst = Medium
		}
	}
	hit.Severity = why.worst
	hit.Detail = text("%s. Replace it at its issuer; moving the file does not undo that it could be read.", why.text())
	if sp.own {
		hit.Detail = text("%s. Rotating the runner replaces it.", why.text())
	}
	return hit, true
}

// leftVariable matches what gitlab-runner keeps of a job beside its project: its variables
// of type file. It removes them after the job; the certificate of its server is no secret.
var leftVariable = regexp.MustCompile(`[^/]\.tmp/[A-Z][A-Z0-9_]*$|[^/]\.tmp/gitlab_runner_env$`)

// mayBeOfARunningJob reports whether a job runs on the host that began before f changed.
func (v *view) mayBeOfARunningJob(f *snapshot.File) bool {
	for pid, working := range v.working {
		p := v.procs[pid]
		exe, _ := exeOf(p)
		if working && (p.Env["CI_JOB_ID"] != "" || strings.HasSuffix(exe, ".Worker")) && !f.Ctime.Before(p.Started) {
			return true
		}
	}
	return false
}

// reachable reports whether no directory above p that was seen keeps others out.
func (v *view) reachable(p string) bool {
	for dir := path.Dir(p); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if f := v.files[dir]; f != nil && f.Type == "dir" && f.Mode&0o001 == 0 {
			return false
		}
		if dir == "/root" && v.files[dir] == nil {
			return false // closed by its package; a collector of today tells its mode
		}
	}
	return true
}

// runnerGroup reports whether gid is the number of a runner account: user private groups.
func (v *view) runnerGroup(gid int) bool {
	_, ok := v.runnerUID(gid)
	return ok
}
