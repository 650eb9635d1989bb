package config

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/signing"
)

func aKey(t *testing.T) string {
	t.Helper()
	s, err := signing.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	return s.PublicKey()
}

func TestApproversArePeopleWithKeysOfTheirOwn(t *testing.T) {
	bob, carol := aKey(t), aKey(t)
	good := "approval: {valid: 90m}\napprovers:\n  bob@example.org: {signers: [\"bob@example.org " + bob + "\"]}\n  carol: {signers: [\"carol " + carol + "\"]}\n"
	c, err := Parse("c.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if c.Approval.For != 90*time.Minute || len(c.Approvers["bob@example.org"].Lines) != 1 {
		t.Errorf("read as %v, %+v", c.Approval.For, c.Approvers)
	}
	if c, err = Parse("c.yaml", nil); err != nil || c.Approval.For != DefaultApproval {
		t.Errorf("without a word an approval counts %v, %v", c.Approval.For, err)
	}
	for name, bad := range map[string]string{
		"a key that another person has": strings.ReplaceAll(good, carol, bob),
		"no line that says":             "approvers: {bob: {}}\n",
		"not one line":                  "approvers: {bob: {signers: [\"bob\"]}}\n",
		"not a person's name":           "approvers: {\"b b\": {signers: [\"bob " + bob + "\"]}}\n",
		"not a time for which":          "approval: {valid: 1s}\n",
	} {
		if _, err := Parse("c.yaml", []byte(bad)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
