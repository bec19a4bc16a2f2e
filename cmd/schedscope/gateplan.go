package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/report/verdict"
)

// gatePlanFlags are the flags of gate plan.
type gatePlanFlags struct {
	budget, baseline string
	detect           float64
	traces           int
}

func newGatePlan(a *app) *cobra.Command {
	var f gatePlanFlags
	cmd := &cobra.Command{
		Use:   "plan [flags] [TRACE|DIR|RUNS.json...]",
		Short: "Say how many traces a budget needs to see what it should",
		Long: `From recordings of one program, or the sessions of a history, plan takes how far traces
differ, and says for each rule how many per side show the ratio that it wants to detect with
a probability of 80 %, and what a given number can see.`,
		Example: `  schedscope gate plan runs/base
  schedscope gate plan --detect 1.3 --baseline main.schedscope-baseline.json`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.gatePlan(cmd.Context(), &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	registerBudget(cmd, &f.budget)
	flags.StringVar(&f.baseline, "baseline", "", "plan with the sessions in this `FILE` of gate baseline")
	flags.Float64Var(&f.detect, "detect", 0, "see this `RATIO` to the baseline (default what the rules say)")
	flags.IntVarP(&f.traces, "rounds", "n", 0, "say what `N` traces per side can see (default as many as are needed)")
	return cmd
}

func (a *app) gatePlan(ctx context.Context, f *gatePlanFlags, args []string) error {
	switch {
	case len(args) == 0 && f.baseline == "":
		return usagef("give recordings of the program, or --baseline FILE", "nothing to plan with")
	case f.detect != 0 && !(f.detect > 1) || math.IsInf(f.detect, 1):
		return usagef("", "--detect %v: want a ratio above 1", f.detect)
	case f.traces < 0:
		return usagef("", "-n %d: want a positive number", f.traces)
	}
	b, _, err := readBudget(f.budget)
	if err != nil {
		return err
	}
	in := gate.PlanInput{Budget: b, Traces: f.traces, Detect: f.detect}
	if f.baseline != "" {
		if in.Sets, err = a.sessions(f.baseline, b); err != nil {
			return err
		}
	}
	for _, operand := range eachSide(args) {
		set, err := a.samples(ctx, []string{operand}, gate.SpecOf(b))
		if err != nil {
			return err
		}
		if d := gate.Differs(b, set.Spec); d != "" {
			return usagef("schedscope gate summarize the traces again", "%s is not summarized for this budget: %s", operand, d)
		}
		in.Sets = append(in.Sets, set)
	}
	p, err := gate.Plan(in)
	if err != nil {
		return err
	}
	return a.write("-", func(w io.Writer) error { return verdict.Plan(w, p, a.verdictOptions(w)) })
}

// sessions returns the samples of a history that are of what the budget asks for.
func (a *app) sessions(path string, b *budget.Budget) ([]*sample.Set, error) {
	file, err := readBaseline(path)
	if err != nil {
		return nil, err
	}
	var sets []*sample.Set
	for i := range file.Sessions {
		s := &file.Sessions[i]
		if d := gate.Differs(b, s.Spec); d != "" {
			a.warn("session %s left out: it is not summarized for this budget: %s", s.ID, d)
			continue
		}
		sets = append(sets, &sample.Set{Schema: sample.Schema, Spec: s.Spec, Samples: s.Samples})
	}
	return sets, nil
}

// eachSide replaces folders of gate record by those of their sides.
func eachSide(operands []string) (out []string) {
	for _, o := range operands {
		if both := recorded(o); both != nil {
			out = append(out, both...)
			continue
		}
		out = append(out, alone(o))
	}
	return out
}

// verdictOptions says how texts of package verdict are laid out on w.
func (a *app) verdictOptions(w io.Writer) verdict.Options {
	o, t := sources(), a.textOptions(w)
	o.Color, o.Width, o.Unicode = t.Color, t.Width, t.Unicode
	return o
}

func newGateSelftest(a *app) *cobra.Command {
	var budgetFile, day string
	cmd := &cobra.Command{
		Use:   "selftest [flags] TRACE|DIR|RUNS.json...",
		Short: "Show that every rule of a budget can fail",
		Long: `A gate that cannot fire guards nothing. The recordings, of one program, are judged against
themselves, which no rule may fail, and with each rule's figure half as much again beyond
its bound, which every rule of level error must fail. The exit code is 1 if one does not do so.`,
		Example:           "  schedscope gate selftest runs/base",
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := needOperand(args, "trace", "give recordings of one program"); err != nil {
				return err
			}
			if err := oneSide(args); err != nil {
				return err
			}
			return a.gateSelftest(cmd.Context(), budgetFile, day, args)
		},
	}
	registerBudget(cmd, &budgetFile)
	cmd.Flags().StringVar(&day, "today", "", "the `DAY` by which waivers expire, such as 2026-11-30 (default today)")
	return cmd
}

func (a *app) gateSelftest(ctx context.Context, budgetFile, day string, args []string) error {
	b, _, err := readBudget(budgetFile)
	if err != nil {
		return err
	}
	now, err := today(day)
	if err != nil {
		return err
	}
	set, err := a.samples(ctx, args, gate.SpecOf(b))
	if err != nil {
		return err
	}
	r, err := gate.Selftest(b, set, now)
	if err != nil {
		return err
	}
	if err := unlessLeft(a.write("-", func(w io.Writer) error { return verdict.Selftest(w, r, a.verdictOptions(w)) })); err != nil {
		return err
	}
	if !r.OK {
		return &exitError{code: exitViolated, silent: true}
	}
	return nil
}

// gateCalibrateFlags are the flags of gate calibrate.
type gateCalibrateFlags struct {
	budget, keep string
	runs, traces int
}

func newGateCalibrate(a *app) *cobra.Command {
	var f gateCalibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate [flags] DIR | calibrate [flags] -- COMMAND...",
		Short: "Measure how often the gate fails a program against itself here",
		Long: `Records the command on both sides, in turns, for so many gate runs, or takes what gate record
wrote to DIR (both sides the same program), and judges: false alarms with the 95 % bound of
their rate, how far traces differ by rule, what disturbed them, and why runs were not judged.
The exit code is 1 if any run failed, and 3 if none could be judged.`,
		Example: `  schedscope gate calibrate --runs 40 -- ./cand.test -test.run TestServe
  schedscope gate calibrate runs`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.gateCalibrate(cmd.Context(), &f, args, cmd.ArgsLenAtDash())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	registerBudget(cmd, &f.budget)
	flags.IntVar(&f.runs, "runs", 4, "record `N` gate runs; 40 bound the rate of false alarms by 7 %")
	flags.IntVarP(&f.traces, "rounds", "n", 10, "of `N` traces per side each")
	flags.StringVarP(&f.keep, "output", "o", "", "keep the recordings in this `DIR`, which must be new or empty (default they are removed)")
	return cmd
}

func (a *app) gateCalibrate(ctx context.Context, f *gateCalibrateFlags, args []string, dash int) error {
	switch {
	case f.runs < 1 || f.traces < 2 || f.runs*f.traces > interleave.MaxRounds:
		return usagef("", "--runs %d of %d traces: want at least one of two, and at most %d rounds in all", f.runs, f.traces, interleave.MaxRounds)
	case len(args) == 0:
		return usagef("schedscope gate calibrate -- COMMAND", "neither a folder of recordings nor a command given")
	}
	b, _, err := readBudget(f.budget)
	if err != nil {
		return err
	}
	dir := args[0]
	if dash == 0 {
		done, err := a.recordSame(ctx, f, b.Guards.Limits(), args, &dir)
		defer done()
		if err != nil {
			return err
		}
	} else if len(args) != 1 || recorded(dir) == nil {
		return usagef("record one: schedscope gate record -o DIR -base COMMAND -cand COMMAND; or put -- before a command", "want one folder of gate record with both sides")
	}
	if err := a.warnUnlike(dir); err != nil {
		return err
	}
	r, err := a.calibration(ctx, b, f.traces, dir)
	if err != nil {
		return err
	}
	if err := unlessLeft(a.write("-", func(w io.Writer) error { return verdict.Calibration(w, r, a.verdictOptions(w)) })); err != nil {
		return err
	}
	switch {
	case r.Failed > 0:
		return &exitError{code: exitViolated, silent: true}
	case r.Undecided+r.Unusable == r.Runs:
		return &exitError{code: exitUndecided, silent: true}
	}
	return nil
}

// recordSame records the command on both sides into the folder that it sets. What it
// returns removes it, unless it is to be kept.
func (a *app) recordSame(ctx context.Context, f *gateCalibrateFlags, limits env.Limits, command []string, dir *string) (done func(), err error) {
	done = func() {}
	resume := "schedscope gate calibrate " + f.keep + " judges what is there"
	if *dir = f.keep; f.keep == "" {
		resume = ""
		tmp, err := os.MkdirTemp("", "schedscope")
		if err != nil {
			return done, err
		}
		*dir, done = tmp, func() { os.RemoveAll(tmp) }
	}
	o := recordOptions{dir: *dir, n: f.runs * f.traces, policy: interleave.Random, seed: rand.Uint32(), canary: true, timeout: defaultTimeout, limits: limits, resume: resume}
	for _, side := range []interleave.Side{interleave.Base, interleave.Cand} {
		s, err := newRecordSide(side, command, "")
		if err != nil {
			return done, err
		}
		o.sides = append(o.sides, s)
	}
	return done, a.recordSides(ctx, o)
}

// warnUnlike warns of recordings of two programs: a difference between them is no false
// alarm. Two names may be of one program.
func (a *app) warnUnlike(dir string) error {
	o, err := interleave.Read(filepath.Join(dir, interleave.OrderFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if s := o.Unlike(); s != nil {
		a.warn("the sides of %s ran different commands, and figures of false alarms are worth something only if these are of the same program:\n  base: %s\n  cand: %s",
			dir, quoteCommand(s.Base), quoteCommand(s.Cand))
	}
	return nil
}

// calibration judges the recordings of a folder.
func (a *app) calibration(ctx context.Context, b *budget.Budget, n int, dir string) (*gate.CalibrateResult, error) {
	both := recorded(dir)
	if both == nil {
		return nil, fmt.Errorf("%s has not both sides", dir)
	}
	base, err := a.samples(ctx, both[:1], gate.SpecOf(b))
	if err != nil {
		return nil, err
	}
	cand, err := a.samples(ctx, both[1:], gate.SpecOf(b))
	if err != nil {
		return nil, err
	}
	day, err := today("")
	if err != nil {
		return nil, err
	}
	pairs := gate.Pairs(base, cand, n)
	if have := min(len(base.Samples), len(cand.Samples)); len(pairs) == 0 {
		hint := fmt.Sprintf("-n %d makes a run of all", have)
		if have < 2 {
			hint = "record more: schedscope gate record --add -n N"
		}
		return nil, usagef(hint, "%s has %d traces per side, and a gate run takes %d", dir, have, n)
	}
	return gate.Calibrate(gate.CalibrateInput{Budget: b, Pairs: pairs, Today: day})
}
