package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/app"
)

// second are the commands of the second person, and of whoever asks him.
func second(e env) []*cobra.Command {
	return []*cobra.Command{newCaseRequestApproval(e), newCaseApprove(e)}
}

func newCaseRequestApproval(e env) *cobra.Command {
	var option string
	c := &cobra.Command{
		Use: "request-approval CASE", Short: "Print what a second person has to sign: eight lines", Args: exactly("CASE"),
		Long: `request-approval prints the eight lines that another person signs, for the plan that the
case was shown last at a step whose playbook says ask: second-person. Nothing is written
and no lock is taken. The other person answers on any machine, with cordon or without:

  cordon approve REQUESTFILE
  ssh-keygen -Y sign -n cordon-approval@v1 -f KEY REQUESTFILE`,
		Example: "  cordon case request-approval INC-7 > request && scp request bob@jump2:",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			q, err := a.RequestApproval(args[0], option)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(e.out, q.Text())
			return err
		},
	}
	c.Flags().StringVar(&option, "option", "", "which of several plans (default: the first)")
	return c
}

func newCaseApprove(e env) *cobra.Command {
	return &cobra.Command{
		Use: "approve CASE SIGFILE", Short: "Take in what a second person signed", Args: exactly("CASE", "SIGFILE"),
		Long: `approve checks the signature over a request of the case and writes it down. The person
behind the key has to be under approvers in the configuration and somebody else than who
asks and who acts; a second key is not a second person. An approval counts for one plan on
one target, and for a while. One that comes after the glass was broken countersigns it.
Where another process holds the case the signature is left for it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			x, err := a.Approve(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			lines := e.lines(a)
			if x.Left != "" {
				lines.Printf("%s approves %s; the case is held by another process, which takes it in when it plans next", x.Person, x.Request.What)
				return nil
			}
			lines.Printf("%s approves %s; written down", x.Person, x.Request.What)
			return nil
		},
	}
}

func newApprove(e env) *cobra.Command {
	var out string
	var yes bool
	c := &cobra.Command{
		Use: "approve REQUESTFILE", Short: "Agree, as the second person, to what a request says", Args: exactly("REQUESTFILE"),
		Long: `approve shows the eight lines of a request and signs them with the key under signing in
your configuration, after you have typed the end of the plan's hash. It contacts nobody.
The signature goes back to who asked, who takes it in with cordon case approve.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			text, err := app.ReadRequest(args[0])
			if err != nil {
				return err
			}
			if !yes {
				if err := e.agree(text); err != nil {
					return err
				}
			}
			sig, err := a.SignRequest(text)
			if err != nil {
				return err
			}
			if out == "" {
				out = args[0] + ".sig"
			}
			f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return usage(fmt.Errorf("%s is there already; name another file with --output", out))
			}
			if err == nil {
				_, err = f.Write(sig)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(e.out, out)
			return err
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file for the signature (default REQUESTFILE.sig)")
	c.Flags().BoolVar(&yes, "yes", false, "you have read the request; do not ask")
	return c
}

// agree shows a request and has its plan's hash confirmed.
func (e env) agree(text []byte) error {
	if !isTerminal(e.in) {
		return fmt.Errorf("%w: no terminal to show the request at; read it, then say --yes", app.ErrNeeds)
	}
	lines := app.Lines{W: e.out}
	lines.Printf("%s", text)
	plan, _, _ := strings.Cut(strings.TrimPrefix(strings.Split(string(text), "\n")[5], "plan "), " ")
	want := plan[max(0, len(plan)-4):]
	fmt.Fprintf(e.out, "type %s to sign: ", want)
	got, err := bufio.NewReader(e.in).ReadString('\n')
	if err != nil || strings.TrimSpace(got) != want {
		return fmt.Errorf("%w: not confirmed, nothing was signed", app.ErrNeeds)
	}
	return nil
}
