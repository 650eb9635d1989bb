package github

// idSet is a set of ids that are close together, as GitHub counts them: one word holds 64.
type idSet struct {
	words map[int64]uint64
	n     int
}

// add reports whether id is new.
func (s *idSet) add(id int64) bool {
	if s.words == nil {
		s.words = map[int64]uint64{}
	}
	bit := uint64(1) << (id & 63)
	if s.words[id>>6]&bit != 0 {
		return false
	}
	s.words[id>>6] |= bit
	s.n++
	return true
}
