package main

import (
	"github.com/spf13/cobra"

	"cordon/internal/app"
)

func newBundle(e env) *cobra.Command {
	var allowed string
	var heads headFlag
	verify := &cobra.Command{
		Use: "verify FILE", Short: "Check an evidence bundle; unpacks nothing, contacts nobody", Args: exactly("FILE"),
		Long: `verify checks every hash, the chain of the journal and the signature of a bundle. Who may
sign has to come another way than the bundle: --allowed-signers; without that the signer
stays unchecked and the exit code is 4. The same can be checked with tar, sha256sum,
diff and ssh-keygen; VERIFY.txt in the bundle says how.

None of that catches an author who writes the whole record anew and signs it again. One
head that left before does: --head PREFIX@TIME, as the brief or a notification showed it,
and when it was seen there.`,
		RunE: func(_ *cobra.Command, args []string) error {
			seen, err := heads.seen()
			if err != nil {
				return err
			}
			r, err := app.Verify(args[0], allowed, seen...)
			if err == nil && !r.Trusted() {
				*e.code = app.ExitCannotTell // whole, but nobody has said who may sign
			}
			if e.flags.json {
				if jerr := e.encode(r); jerr != nil {
					return jerr
				}
				return err
			}
			checks(e.out, r)
			if err == nil && r.Signer.Principal == "" {
				app.Lines{W: e.out, Simulated: r.Simulated}.Printf("integrity ok; signer NOT checked: give --allowed-signers")
			}
			return err
		},
	}
	verify.Flags().StringVar(&allowed, "allowed-signers", "", "allowed_signers file (ssh-keygen(1)) that came another way")
	heads.bind(verify)
	verify.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return group("bundle", "Check evidence bundles", verify)
}
