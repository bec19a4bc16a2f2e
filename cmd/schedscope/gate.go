package main

import "github.com/spf13/cobra"

// newGate returns the command gate with its verbs.
func newGate(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "gate",
		Short:   "Fail a change that makes scheduling latency worse",
		GroupID: groupJudge,
		Long: `One trace of one process is one sample: record at least six of each side, in turns on
one machine (gate record), and judge them by a budget (gate check). The exit code is the
verdict: 0 nothing violated, 1 violated, 2 unusable input, 3 cannot be judged.
schedscope help gate explains budgets, statistics and guards.`,
		Example: `  schedscope gate record -n 10 --base ./base.test --cand ./cand.test -o runs -- -test.run TestServe
  schedscope gate check --budget schedscope.yaml runs
  schedscope gate check --budget schedscope.yaml trace.out   # absolute limits only
  schedscope gate explain 'p99(runnable) <= baseline*1.10'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownTopic(cmd, "verb of gate", args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(newGateRecord(a))
	return cmd
}

// budgetNames are the names under which a budget is looked for.
var budgetNames = []string{"schedscope.yaml", "schedscope.budget.yaml"}
