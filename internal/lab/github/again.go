package github

import "slices"

// Registered reports whether a runner of that number is on any list.
func (s *Server) Registered(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.runners, func(r *runner) bool { return r.ID == id })
}

// Mint makes a registration token for whoever has taken over more than a runner: an
// administrator's own token can always make one.
func (s *Server) Mint(in string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	where, err := scopeOf(in)
	if err != nil {
		return "", err
	}
	s.serial++
	v, _, err := s.mintAt("stolen-registration/"+itoa(s.serial), where, false, "github: answer of a token request")
	if err == nil {
		s.o.Ledger.Effect("registration.mint", "lab", where.String(), "")
	}
	return v, err
}
