package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"cordon/internal/app"
)

func newBundle(e env) *cobra.Command {
	var allowed string
	verify := &cobra.Command{
		Use: "verify FILE", Short: "Check an evidence bundle; unpacks nothing, contacts nobody", Args: exactly("FILE"),
		Long: `verify checks every hash, the chain of the journal and the signature of a bundle. Who may
sign has to come another way than the bundle: --allowed-signers; without that the signer
stays unchecked and the exit code is 4. The same can be checked with tar, sha256sum,
diff and ssh-keygen; VERIFY.txt in the bundle says how.`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := app.Verify(args[0], allowed)
			if err == nil && !r.Trusted() {
				*e.code = app.ExitCannotTell // whole, but nobody has said who may sign
			}
			if e.flags.json {
				if jerr := json.NewEncoder(e.out).Encode(r); jerr != nil {
					return jerr
				}
				return err
			}
			lines := app.Lines{W: e.out, Simulated: r.Simulated}
			for _, c := range r.Checks {
				lines.Printf("%-11s %-10s %s", c.Word(), c.Name, c.Why)
			}
			return err
		},
	}
	verify.Flags().StringVar(&allowed, "allowed-signers", "", "allowed_signers file (ssh-keygen(1)) that came another way")
	verify.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return group("bundle", "Check evidence bundles", verify)
}
