package engine

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/playbooks"
	"cordon/providers"
)

// Longest answers, in runes.
const (
	maxText   = 2000
	maxPerson = 100
)

var numberForm = regexp.MustCompile(`^-?[0-9]{1,18}(\.[0-9]{1,9})?$`)

// CheckField returns the answer to a field as it will be kept, trimmed and with dates
// in UTC. An empty answer to a field that is not required is "". It reads nothing. The
// error wraps ErrField and says what would be an answer.
func CheckField(f ManualField, s string) (string, error) {
	s = strings.TrimSpace(s)
	no := func(want string) (string, error) { return "", fmt.Errorf("%s: %w: %s", f.Title, ErrField, want) }
	if s == "" {
		if f.Required {
			return no("it has to be answered")
		}
		return "", nil
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
		return no("plain text on one line, without control characters")
	}
	longest := maxText
	if f.Kind == playbooks.FieldPerson {
		longest = maxPerson
	}
	if utf8.RuneCountInString(s) > longest {
		return no(fmt.Sprintf("at most %d characters; keep a file with it for more", longest))
	}
	switch f.Kind {
	case playbooks.FieldDate:
		d, err := ParseDate(s)
		if err != nil {
			return no(err.Error())
		}
		return d, nil
	case playbooks.FieldURL:
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return no("write https://HOST/PATH")
		}
		if u.User != nil {
			return no("leave out the name and password before the @")
		}
	case playbooks.FieldNumber:
		if !numberForm.MatchString(s) {
			return no("write a number, such as 3")
		}
	case playbooks.FieldRunner:
		t, err := target.Parse(s)
		if err != nil || t.Kind != target.Runner {
			return no("write PROVIDER/ID of a runner, as cordon fleet has it")
		}
		return t.String(), nil
	}
	return s, nil
}

// ParseDate reads a day, or a day with a time in UTC, and returns it in one form.
func ParseDate(s string) (string, error) {
	if d, err := time.Parse("2006-01-02", s); err == nil {
		return d.Format("2006-01-02"), nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if d, err := time.Parse(layout, s); err == nil {
			return d.UTC().Format("2006-01-02 15:04Z"), nil
		}
		if d, err := time.Parse(layout, strings.TrimSuffix(s, "Z")); err == nil {
			return d.UTC().Format("2006-01-02 15:04Z"), nil
		}
	}
	return "", fmt.Errorf("write 2026-11-30, or 2026-11-30 14:00 in UTC")
}

// fields checks all answers to an act. One that is not given keeps what is on record
// nowhere: a prompt shows what is there, and an answer says all of it again.
func (r *Run) fields(a playbooks.Act, given map[string]string) (map[string]string, error) {
	return r.check(a, given, true)
}

// partial is fields for a task that is not done: what is required may still be missing.
func (r *Run) partial(a playbooks.Act, given map[string]string) (map[string]string, error) {
	return r.check(a, given, false)
}

func (r *Run) check(a playbooks.Act, given map[string]string, whole bool) (map[string]string, error) {
	out, known := map[string]string{}, map[string]bool{}
	for _, f := range a.Fields {
		known[f.ID] = true
		v, err := CheckField(ManualField{f.ID, f.Title, f.Kind, f.Required && whole, ""}, given[f.ID])
		if err != nil {
			return nil, err
		}
		if v != "" && r.o.Secret != nil && r.o.Secret(v) {
			return nil, fmt.Errorf("%s: %w: it looks like a secret; write where it is, not what it is", f.Title, ErrField)
		}
		if v != "" {
			out[f.ID] = v
		}
	}
	for id := range given {
		if !known[id] {
			return nil, fmt.Errorf("%w: this step has no field %q", ErrField, id)
		}
	}
	return out, nil
}

// offline asks the provider about every runner that was written down, and holds back
// for each that is not seen to be online.
func (r *Run) offline(ctx context.Context, t task, fields map[string]string) ([]Guard, error) {
	var out []Guard
	for _, f := range t.do().Fields {
		v := fields[f.ID]
		if f.Kind != playbooks.FieldRunner || v == "" {
			continue
		}
		why, err := r.notOnline(ctx, t, v)
		if err != nil {
			return nil, err
		}
		if why != "" {
			out = append(out, Guard{"online:" + f.ID, GuardAsk, f.Title + ": " + why})
		}
	}
	return out, nil
}

// notOnline is why a runner does not count as online, "" where its provider says it is.
func (r *Run) notOnline(ctx context.Context, t task, name string) (string, error) {
	ref, err := target.Parse(name)
	if err != nil {
		return "", err
	}
	prov, ok := r.o.Systems[ref.System].(providers.Provider)
	switch {
	case !ok:
		return fmt.Sprintf("no provider called %q is configured, so nobody knows whether %s is online", ref.System, name), nil
	case ref.Same(t.on):
		return name + " is the runner that goes away", nil
	}
	rctx, lost := r.record(ctx, t)
	x, err := prov.Runner(rctx, ref)
	switch {
	case *lost != nil:
		return "", *lost
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return fmt.Sprintf("%s could not be read: %v", name, err), nil
	case x.Online == witness.Yes && x.Paused != witness.Yes:
		return "", nil
	case x.Online == witness.Yes:
		return name + " is paused: it takes no jobs", nil
	}
	return fmt.Sprintf("%s is not online as the provider has it (%s)", name, x.Status), nil
}
