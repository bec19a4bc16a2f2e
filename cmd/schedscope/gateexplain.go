package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/report/verdict"
)

func newGateExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "explain RULE...",
		Short:   "Say in words what a rule means and how it is judged",
		Example: `  schedscope gate explain 'p99(runnable{func=*worker}) <= baseline*1.10 + 50us'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.printText(rule.Help() + "\n")
			}
			for i, text := range args {
				r, err := rule.Parse(text)
				if err != nil {
					return &usageError{err: err, hint: rulesHint}
				}
				if why := r.Vacuous(); why != "" {
					a.warn("%s: %s", r, why)
				}
				if i > 0 {
					fmt.Fprintln(a.stdout)
				}
				if err := a.write("-", func(w io.Writer) error { return verdict.Rule(w, r) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
