package main

import "github.com/spf13/cobra"

func newCaseStandDown(e env) *cobra.Command {
	var s standingFlags
	c := &cobra.Command{
		Use: "stand-down CASE", Short: "After a false alarm, undo what can be undone", Args: exactly("CASE"),
		Long: `stand-down takes back what the case changed, last first: it resumes what was paused and
starts what was stopped, each as a plan that is confirmed and recorded like the change
itself, and only where the change was ours and is still in force. What cannot be undone
(a replaced token, a removed registration) is named at the end. It needs --reason.`,
		Example: "  cordon case stand-down INC-7 --reason 'the miner was our own benchmark'",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			lines := e.lines(a)
			decide, err := s.decider(cmd.Context(), e, lines)
			if err != nil {
				return err
			}
			session, err := a.StandDown(cmd.Context(), args[0], s.reason)
			if err != nil {
				return err
			}
			defer session.Close()
			return e.walk(cmd, session, lines, decide)
		},
	}
	s.bind(c)
	return c
}
