package config

import (
	"strings"
	"testing"
)

func TestABudgetKeepsSomethingBack(t *testing.T) {
	for text, want := range map[string]Budget{
		"":                                    {},
		"budget: {calls: 300, reserve: 80}\n": {300, 80},
		"budget: {calls: 300}\n":              {300, DefaultReserve},
		"budget: {calls: 20}\n":               {20, 10},
	} {
		c, err := Parse("c.yaml", []byte(text))
		if err != nil || c.Budget != want {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	for text, word := range map[string]string{
		"budget: {calls: -1}\n":              "less than nothing",
		"budget: {reserve: 5}\n":             "a reserve of no number",
		"budget: {calls: 10, reserve: 10}\n": "as many kept back",
	} {
		if _, err := Parse("c.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
