package lab

import (
	"net/http"

	"cordon/internal/lab/github"
)

func (l *lab) trouble(w http.ResponseWriter, r *http.Request) {
	var in github.Trouble
	if told(w, r, &in) {
		l.github.Make(in)
		tell(w, in)
	}
}

func (l *lab) spend(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Who       string
		Remaining int
	}
	if told(w, r, &in) {
		l.github.Spend(in.Who, in.Remaining)
		tell(w, in)
	}
}

func (l *lab) crowd(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Scope string
		Count int
	}
	if !told(w, r, &in) {
		return
	}
	if err := l.github.Crowd(in.Scope, in.Count); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	tell(w, in)
}
