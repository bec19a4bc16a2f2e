package cli

import (
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/report/verdict"
)

// gatePlanFlags are the flags of gate plan.
type gatePlanFlags struct {
	budget string
	detect float64
	traces int
}

func newGatePlan(a *app) *cobra.Command {
	var f gatePlanFlags
	cmd := &cobra.Command{
		Use:   "plan [flags] TRACE|DIR...",
		Short: "Compute how many traces a budget needs",
		Long: `plan measures how much recordings of one program vary. For each rule it reports how many
traces per side detect the rule's ratio with a probability of 80 %, and what ratio a given
number of traces detects.`,
		Example: `  schedscope gate plan runs/base
  schedscope gate plan --detect 1.3 runs/base`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.gatePlan, &f),
	}
	flags := cmd.Flags()
	registerBudget(cmd, &f.budget)
	flags.Float64Var(&f.detect, "detect", 0, "detect this `RATIO` to the baseline (default that of the rules)")
	flags.IntVarP(&f.traces, "rounds", "n", 0, "report what `N` traces per side can detect (default as many as are needed)")
	return cmd
}

func (a *app) gatePlan(cmd *cobra.Command, f *gatePlanFlags, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("give recordings of the program", "nothing to plan with")
	case f.detect != 0 && !(f.detect > 1) || math.IsInf(f.detect, 1):
		return usagef("", "--detect %v: want a ratio above 1", f.detect)
	case f.traces < 0:
		return usagef("", "-n %d: want a positive number", f.traces)
	}
	b, err := readBudget(f.budget)
	if err != nil {
		return err
	}
	in := gate.PlanInput{Budget: b, Traces: f.traces, Detect: f.detect}
	for _, operand := range args {
		for _, side := range sidesIn(operand) { // what traces differ by is measured within a side
			set, err := samplesOf(cmd.Context(), a, []string{side}, gate.SpecOf(b))
			if err != nil {
				return err
			}
			in.Sets = append(in.Sets, set)
		}
	}
	p := gate.Plan(in)
	return a.write("-", func(w io.Writer) error { return verdict.Plan(w, p, a.textOptions(w)) })
}
