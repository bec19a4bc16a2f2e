package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/textui"
)

// gateCheckFlags are the flags of gate check.
type gateCheckFlags struct {
	budget         string
	base           []string
	onInconclusive string
	reports        []string
	today          string
	commit         string
	absolute       bool
}

var inconclusiveModes = []string{"warn", "fail", "pass"}

func newGateCheck(a *app) *cobra.Command {
	var f gateCheckFlags
	cmd := &cobra.Command{
		Use:   "check [flags] TRACE|DIR...",
		Short: "Judge traces by a budget",
		Long: `The operands are the candidate: traces, or folders of them. A folder written by gate
record has both sides. If both ran the same program, the report says how much its traces vary,
and a violation is a false alarm. Where only one side can be recorded, set limits: @ 95% judges
the median trace, @ point each trace. Without a baseline, rules that compare make the check
unusable, in case the baseline was forgotten; --absolute skips them. The exit code is 0 without
a violation, 1 with one, 2 if an input is unusable, and 3 if the traces allow no verdict.
Reports do not change it.`,
		Example: `  schedscope gate check runs                          # what gate record -o runs wrote
  schedscope gate check --base runs/base runs/cand
  schedscope gate check --absolute --budget limits.yaml trace.out   # absolute rules, one process
  schedscope gate check --report text,junit=gate.xml,sarif=gate.sarif runs`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.gateCheck, &f),
	}
	flags := cmd.Flags()
	registerBudget(cmd, &f.budget)
	flags.StringArrayVar(&f.base, "base", nil, "compare with these `TRACES`, a folder or pattern; may be repeated")
	flags.BoolVar(&f.absolute, "absolute", false, "judge only rules with absolute limits, which need no baseline")
	flags.StringVar(&f.onInconclusive, "on-inconclusive", "warn", "treat undecided rules by `MODE`: warn, fail (exit code 3 also where more traces would decide) or pass (exit code 0 also for failed guards)")
	flags.StringArrayVar(&f.reports, "report", nil, "write reports, `FORMAT[=FILE],...`: "+strings.Join(verdictFormats(), ", ")+" (default text)")
	flags.StringVar(&f.today, "today", "", "judge waivers as of this `DAY`, such as 2026-11-30 (default today)")
	flags.StringVar(&f.commit, "commit", "", "name the candidate's `COMMIT` (default that of the recordings, else GITHUB_SHA or CI_COMMIT_SHA)")
	complete(cmd, "on-inconclusive", inconclusiveModes)
	complete(cmd, "report", verdictFormats())
	return cmd
}

// registerBudget adds the flag --budget.
func registerBudget(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "budget", "", "read the rules from `FILE` (default schedscope.yaml or schedscope.budget.yaml in this directory or a parent)")
}

// gateCheck refuses what would fail later on (1), reads both sides (2), judges (3) and reports.
func (a *app) gateCheck(cmd *cobra.Command, f *gateCheckFlags, args []string) error {
	if err := f.validate(args); err != nil { // 1
		return err
	}
	b, err := readBudget(f.budget)
	if err != nil {
		return err
	}
	base, cand := sidesOf(f.base, args)
	reports, err := a.planReports(f.reports, filesOf(slices.Concat(base, cand), b.File))
	if err != nil {
		return err
	}
	in := gate.Input{Budget: b, OnInconclusive: f.onInconclusive}
	if in.Today, err = today(f.today); err != nil {
		return err
	}
	if f.absolute {
		base = nil // of a folder that has both sides
	}
	if err := oneSide(slices.Concat(base, cand)...); err != nil {
		return err
	}
	left := 0 // rules that need a baseline
	for i := range b.Rules {
		if r := &b.Rules[i]; r.Bound.Relative && r.Level != budget.Off {
			left++
			if f.absolute {
				r.Level = budget.Off
			}
		}
	}

	spec := gate.SpecOf(b) // 2
	if len(base) > 0 {
		if in.Base, err = samplesOf(cmd.Context(), a, base, spec); err != nil {
			return err
		}
		if dir := filepath.Dir(cand[0]); len(f.base) == 0 {
			o, err := interleave.Read(filepath.Join(dir, interleave.OrderFile))
			in.SameProgram = err == nil && o.SameProgram()
		}
	}
	if in.Cand, err = samplesOf(cmd.Context(), a, cand, spec); err != nil {
		return err
	}

	r := gate.Check(in) // 3
	r.Cand.Commit = cmp.Or(f.commit, r.Cand.Commit, os.Getenv("GITHUB_SHA"), os.Getenv("CI_COMMIT_SHA"))
	if f.absolute && left > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("--absolute: %s with a baseline not judged", textui.Plural(left, "rule")))
	}
	o := sources()
	pointTo(&o, b)
	o.BaseDir, o.CandDir = folder(base), folder(cand)
	err = a.reportVerdict(r, reports, o)
	if in.Base == nil && !f.absolute && left > 0 {
		a.hint("--base OLD gives a baseline; --absolute judges without")
	}
	return err
}

func (f *gateCheckFlags) validate(args []string) error {
	switch {
	case len(args) == 0:
		return usagef("give the candidate's traces, or the folder of gate record", "no trace given")
	case f.absolute && len(f.base) > 0:
		return usagef("leave one out", "--absolute and --base contradict each other")
	}
	// What a shell makes of --base old/*.trace new/*.trace: the first of the base's traces as
	// the base, and the others as the candidate's.
	for _, b := range f.base {
		for _, o := range args {
			if filepath.Dir(b) == filepath.Dir(o) && !isDir(b) && !isDir(o) {
				return usagef("name the folder, or quote the pattern: --base 'old/*.trace'",
					"%s and %s are in one folder, and on different sides", b, o)
			}
		}
	}
	return checkChoice("on-inconclusive", f.onInconclusive, inconclusiveModes)
}
