package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report/chart"
	"github.com/schedscope/schedscope/report/verdict"
)

// gateCheckFlags are the flags of gate check.
type gateCheckFlags struct {
	budget         string
	base           []string
	baseline       string
	alpha          float64
	onInconclusive string
	reports        []string
	today          string
	picture        string
}

var inconclusiveModes = []string{"warn", "fail", "pass"}

func newGateCheck(a *app) *cobra.Command {
	var f gateCheckFlags
	cmd := &cobra.Command{
		Use:   "check [flags] TRACE|DIR|RUNS.json...",
		Short: "Judge traces by a budget",
		Long: `The operands are the candidate: traces, folders of them, or files of gate summarize. A
folder that gate record wrote has both sides. Without a baseline only absolute rules are
judged. The exit code is 0 if no violation is shown, 1 if one is, 2 if anything cannot be
used, and 3 if the traces do not allow a verdict; no report changes it.`,
		Example: `  schedscope gate check runs                          # what gate record -o runs wrote
  schedscope gate check --base runs/base runs/cand
  schedscope gate check --baseline main.schedscope-baseline.json runs/cand
  schedscope gate check trace.out                     # absolute rules, one process
  schedscope gate check --report text,junit=gate.xml,sarif=gate.sarif runs`,
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.gateCheck(cmd.Context(), &f, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	registerBudget(cmd, &f.budget)
	flags.StringArrayVar(&f.base, "base", nil, "compare with these `TRACES`, a folder, pattern or file of samples; may be repeated")
	flags.StringVar(&f.baseline, "baseline", "", "compare with the history in this `FILE` of gate baseline")
	flags.Float64Var(&f.alpha, "alpha", 0, "accept a false alarm with probability `P` (default the budget's)")
	flags.StringVar(&f.onInconclusive, "on-inconclusive", "warn", "what rules are that could not be decided: `MODE` warn, fail (exit code 3 also for too few traces) or pass (0 also for failed guards)")
	flags.StringArrayVar(&f.reports, "report", nil, "write reports, `FORMAT[=FILE],...`: "+strings.Join(verdictFormats(), ", ")+" (default text)")
	flags.StringVar(&f.picture, "picture", "", "draw both sides over each other into this `FILE` (.png, .svg), as schedscope compare does, with the limit of the first absolute rule on waits")
	flags.StringVar(&f.today, "today", "", "the `DAY` by which waivers expire, such as 2026-11-30 (default today)")
	complete(cmd, "on-inconclusive", inconclusiveModes)
	completeAll(cmd, "report", "=", verdictFormats())
	return cmd
}

// registerBudget adds the flag --budget.
func registerBudget(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "budget", "", "take the rules from this `FILE` (default schedscope.yaml or schedscope.budget.yaml here or above)")
}

func (a *app) gateCheck(ctx context.Context, f *gateCheckFlags, args []string) error {
	if err := f.validate(args); err != nil {
		return err
	}
	reports, err := a.planReports(f.reports)
	if err != nil {
		return err
	}
	b, _, err := readBudget(f.budget)
	if err != nil {
		return err
	}
	day, err := today(f.today)
	if err != nil {
		return err
	}
	in := gate.Input{Budget: b, Today: day, Alpha: f.alpha, OnInconclusive: f.onInconclusive}
	base, cand := sidesOf(f.base, args)
	if f.baseline != "" {
		base = nil // of a folder that has both sides, the history replaces the base
	}
	if err := a.loadSides(ctx, f, base, cand, &in); err != nil {
		return err
	}
	r, err := gate.Check(in)
	if err != nil {
		return err
	}
	if f.picture != "" {
		if err := a.drawSides(ctx, f.picture, b, base, cand); err != nil {
			return err
		}
	}
	return a.reportVerdict(r, reports, base, cand)
}

// drawSides draws a picture of both sides.
func (a *app) drawSides(ctx context.Context, path string, b *budget.Budget, base, cand []string) error {
	switch {
	case len(base) == 0:
		return usagef("schedscope analyze -o draws a trace", "--picture compares two sides, and there is one")
	case slices.ContainsFunc(slices.Concat(base, cand), isSampleFile):
		return usagef("give the traces", "--picture needs traces, and there are samples of them only")
	}
	f := compareFlags{read: readFlags{clock: clocks[0], seconds: source.DefaultSeconds}, base: base, op: b.Op, window: b.Window,
		limit: limitOf(b), outputs: []string{path}, dpi: chart.DefaultDPI}
	return a.compare(ctx, &f, cand)
}

// limitOf returns the limit of the first absolute rule on quantiles of waits, 0 if there is none.
func limitOf(b *budget.Budget) time.Duration {
	for _, r := range b.Rules {
		if q := r.Quantity; q.Metric == "runnable" && q.Agg == rule.Quantile && !r.Bound.Relative && r.Op.HigherIsWorse() {
			return time.Duration(r.Bound.Add)
		}
	}
	return 0
}

func (f *gateCheckFlags) validate(args []string) error {
	if err := needOperand(args, "trace", "give the candidate's traces, or the folder of gate record"); err != nil {
		return err
	}
	switch {
	case len(f.base) > 0 && f.baseline != "":
		return usagef("leave one out", "--base and --baseline contradict each other")
	case f.alpha < 0 || f.alpha > 0.5:
		return usagef("", "--alpha %v: want a probability up to 0.5", f.alpha)
	}
	if err := checkShellPattern(f.base, args); err != nil {
		return err
	}
	return checkChoice("on-inconclusive", f.onInconclusive, inconclusiveModes)
}

// loadSides reads the traces of both sides and the history.
func (a *app) loadSides(ctx context.Context, f *gateCheckFlags, base, cand []string, in *gate.Input) (err error) {
	spec := gate.SpecOf(in.Budget)
	if f.baseline != "" {
		if in.Baseline, err = readBaseline(f.baseline); err != nil {
			return err
		}
	}
	if len(base) > 0 {
		if in.Base, err = a.samples(ctx, base, spec); err != nil {
			return err
		}
	}
	in.Cand, err = a.samples(ctx, cand, spec)
	return err
}

func readBaseline(path string) (*baseline.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	return baseline.Read(path, data)
}

// reportFile is a report that was asked for.
type reportFile struct {
	format verdict.Format
	path   string // "-": stdout
	append bool   // to what is there: a job summary
}

func verdictFormats() []string {
	var names []string
	for _, f := range verdict.Formats {
		names = append(names, f.Name)
	}
	return names
}

// planReports understands --report. In a GitHub job annotations and the job summary are
// written without being asked for.
func (a *app) planReports(lists []string) ([]reportFile, error) {
	var out []reportFile
	for _, list := range lists {
		for part := range strings.SplitSeq(list, ",") {
			r, err := a.planReport(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		out = append(out, mustReport("text", "-"))
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		out = append(out, mustReport("gha", "-"))
		if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" {
			r := mustReport("markdown", path)
			r.append = true
			out = append(out, r)
		}
	}
	return out, nil
}

func (a *app) planReport(text string) (reportFile, error) {
	name, path, ok := strings.Cut(text, "=")
	if err := checkChoice("report", name, verdictFormats()); err != nil {
		return reportFile{}, err
	}
	r := mustReport(name, "-")
	if ok {
		r.path = path
		return r, a.checkOutput(path, false, nil)
	}
	return r, nil
}

// mustReport returns a report of a format that exists.
func mustReport(name, path string) reportFile {
	f, ok := verdict.Lookup(name)
	if !ok {
		panic("schedscope: no format " + name)
	}
	return reportFile{format: *f, path: path}
}

// reportVerdict writes all reports and turns the verdict into the exit code.
func (a *app) reportVerdict(r *gate.Result, reports []reportFile, base, cand []string) error {
	o := sources()
	o.BaseDir, o.CandDir = folder(base), folder(cand)
	for _, rep := range reports {
		fill := func(w io.Writer) error {
			o := o
			if rep.path == "-" {
				t := a.textOptions(w)
				o.Color, o.Width, o.Unicode = t.Color, t.Width, t.Unicode
			}
			return rep.format.Write(w, r, o)
		}
		if err := a.writeVerdict(rep, fill); err != nil {
			return err
		}
	}
	if r.Exit == exitOK {
		return nil
	}
	return &exitError{code: r.Exit, silent: true}
}

// folder returns the folder of a side's traces, "" if there is not one of all.
func folder(operands []string) string {
	dirs := map[string]bool{}
	for _, o := range operands {
		if isDir(o) {
			dirs[o] = true
		} else {
			dirs[filepath.Dir(o)] = true
		}
	}
	for d := range dirs {
		if len(dirs) == 1 {
			return d
		}
	}
	return ""
}

// writeVerdict writes one report. A job summary holds what other steps wrote, too.
func (a *app) writeVerdict(rep reportFile, fill func(io.Writer) error) error {
	if !rep.append {
		return a.write(rep.path, fill)
	}
	f, err := os.OpenFile(rep.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing the job summary: %w", err)
	}
	if err := fill(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
