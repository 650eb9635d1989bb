package github

import "context"

// one reads one thing and holds it against what was asked for: an answer about another
// one, whoever gave it, is malformed. what is its name in that error.
func one[T any](ctx context.Context, s service, path, what string, is func(T) bool) (T, answer, error) {
	var none T
	a, err := s.get(ctx, path, nil)
	if err != nil {
		return none, a, err
	}
	x, err := decode[T](a)
	if err == nil && !is(x) {
		err = malformed(a, "not the "+what+" that was asked for")
	}
	return x, a, err
}
