package config

import (
	"strings"
	"testing"
	"time"
)

func TestABudgetKeepsSomethingBack(t *testing.T) {
	for text, want := range map[string]Budget{
		"":                                    {},
		"budget: {calls: 300, reserve: 80}\n": {Calls: 300, Reserve: 80},
		"budget: {calls: 300}\n":              {Calls: 300, Reserve: DefaultReserve},
		"budget: {calls: 20}\n":               {Calls: 20, Reserve: 10},
		"budget: {time: 10m}\n":               {Time: 10 * time.Minute, Keep: 5 * time.Minute},
		"budget: {time: 10m, keep: 2m}\n":     {Time: 10 * time.Minute, Keep: 2 * time.Minute},
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
		"budget: {time: -1m}\n":              "less than nothing",
		"budget: {keep: 5m}\n":               "what is kept of no time",
		"budget: {time: 5m, keep: 5m}\n":     "as much kept back",
	} {
		if _, err := Parse("c.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
