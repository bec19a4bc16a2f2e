package cli

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/chart"
	"github.com/schedscope/schedscope/report/figures"
	"github.com/schedscope/schedscope/report/page"
	"github.com/schedscope/schedscope/report/view"
)

// defaultWorst is how many of the longest waits a report has in full.
const defaultWorst = 10

// analyzeFlags are the flags of analyze, of which other commands have some.
type analyzeFlags struct {
	read     readFlags
	out      outputs
	worst    int
	requests requestFlags
	slo      []result.Objective
	fail     bool
	check    bool
	// details: not just the first screen of the text.
	details  bool
	timeline bool // for an output that shows one
	// drawsWaits: an output is the picture of a wait.
	drawsWaits bool
}

func newAnalyze(a *app) *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:   "analyze [flags] TRACE|REPORT.json...",
		Short: "Report scheduling latency, slow requests, and their likely causes",
		Long: `Several traces become one report. The text is one screen: a verdict (HEALTHY, SLOW
TAIL, SLOW, STARVED, DISTURBED or UNKNOWN), where requests spend their time, at most
three culprits with the code to change, and what is ruled out. --details adds all
numbers. schedscope help metrics explains the numbers, schedscope explain the names in
the report, and schedscope help formats the outputs.

Without an objective (--slo) a program is healthy if no change would make its slowest
requests faster by two milliseconds or more. --fail turns the verdict into the exit code.

-o report.html writes one self-contained page with charts and a timeline. It works
offline, and can be sent to somebody or kept with a build.

A report saved as JSON can replace its traces, also in the same command as traces:
save one for each replica, hour or version, and merge them when a question comes up.
Counts, totals, extremes and curves are those of all traces together; percentiles are
within 0.4 %. A directory means the traces directly in it, else its saved reports. A
trace given twice counts twice, with a warning.`,
		Example: `  schedscope analyze trace.out
  schedscope analyze -o latency.png -o report.html trace.out
  schedscope analyze --slo p99=50ms,p50=5ms --fail trace.out
  schedscope analyze http://localhost:6060 --seconds 5
  schedscope analyze --json --from 2s --to 3s trace.out | jq .latency.all.p99_ns
  schedscope analyze -o all.json monday.json tuesday.json live.trace
  cat trace.out.gz | schedscope analyze -`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.analyze, &f),
	}
	flags := cmd.Flags()
	f.out.register(cmd, "text", "html", "json", "markdown", "csv", "png", "svg")
	flags.BoolVar(&f.details, "details", false, "print all numbers after the first screen")
	f.requests.registerSlow(cmd)
	flags.Func("slo", "judge latency by `OBJECTIVE`: p99=50ms, p50=5ms, or both joined by a comma; GROUP: in front limits it to one group of requests; may be repeated (default: see schedscope explain slow-tail)", func(text string) error {
		list, err := findings.ParseObjectives(text)
		f.slo = append(f.slo, list...)
		return err
	})
	flags.BoolVar(&f.fail, "fail", false, "exit with 1 if an objective is missed (without --slo: if the verdict is SLOW, SLOW TAIL or STARVED), and with 3 if the trace allows no judgment")
	flags.IntVar(&f.worst, "worst", defaultWorst, "show the `N` longest waits in full, grouped by incident")
	flags.BoolVar(&f.timeline, "timeline", true, "include a timeline in HTML pages; --timeline=false makes them smaller")
	flags.BoolVar(&f.check, "check", false, "check that all times add up exactly, and report the checks")
	f.read.register(cmd)
	return cmd
}

func (a *app) analyze(cmd *cobra.Command, f *analyzeFlags, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	refs, err := a.expandOrSuggest(cmd.Root(), args)
	if err != nil {
		return err
	}
	if err := f.out.check(a, refs); err != nil {
		return err
	}
	f.timeline = f.timeline && f.out.has(func(format string) bool { return format == "html" })
	f.drawsWaits = slices.ContainsFunc(f.out.list, func(x output) bool { return isPicture(x.format) && chart.ShowsWait(x.path) })
	l, err := a.load(cmd.Context(), refs, f)
	if err != nil {
		return err
	}
	if l.saved && f.check {
		return usagef("give the traces it was made from", "--check needs traces: an input is a saved report")
	}
	if err := f.out.write(a, func(w io.Writer, o output) error { return a.writeReport(w, l, o, f) }); err != nil {
		return err
	}
	if f.check {
		if err := a.checked(l.v); err != nil {
			return err
		}
	}
	if code := findings.ExitCode(&l.v.Verdict); f.fail && code != exitOK {
		return &exitError{code: code, silent: true}
	}
	return nil
}

// checked reports on stderr how --check of traces went, and sets the exit code.
func (a *app) checked(v *result.Report) error {
	var contradictions int64
	for _, t := range v.Traces {
		contradictions += t.Inconsistent
		if t.Violation != "" {
			a.say("check: %s: %s", t.Name, t.Violation)
			a.hint("this is a bug of schedscope: please report it with the trace")
			return &exitError{code: exitViolated, err: errors.New(t.Violation), silent: true}
		}
	}
	if contradictions > 0 {
		a.say("check: cannot judge: %s of the trace contradict what was before", textui.Plural(contradictions, "event"))
		return &exitError{code: exitUndecided, silent: true}
	}
	a.say("check: ok: the times of %s, %s and all procs add up exactly to their lifetimes",
		textui.Plural(v.Totals.Goroutines, "goroutine"), textui.Plural(v.Totals.Threads, "thread"))
	return nil
}

// writeReport writes one output.
func (a *app) writeReport(w io.Writer, l *loaded, o output, f *analyzeFlags) error {
	switch o.format {
	case "json":
		return result.Write(w, l.v)
	case "html":
		return page.Write(w, page.Input{Report: l.v, Requests: l.requests, Timeline: l.timeline, TimelineNote: l.noTimeline})
	case "markdown":
		return view.Markdown(w, l.v)
	case "csv":
		return figures.CSV(w, l.v)
	case "png", "svg":
		return f.out.draw(w, o, l.pictures())
	}
	quote(l.v)
	return view.Text(w, l.v, f.out.text(a, w, o), f.details)
}

func (f *analyzeFlags) validate() error {
	if err := f.out.plan(); err != nil {
		return err
	}
	if f.requests.slow < 0 {
		return usagef("", "--slow %v must not be negative", f.requests.slow)
	}
	if f.worst < 1 || f.worst > 1000 {
		return usagef("", "--worst %d: want 1 to 1000", f.worst)
	}
	return f.read.check()
}

// expandOrSuggest is expand for a command line that may have meant a command.
func (a *app) expandOrSuggest(root *cobra.Command, args []string) ([]source.Ref, error) {
	refs, err := a.expand(args)
	if err == nil || len(args) == 0 || strings.ContainsAny(args[0], `./\-:*`) {
		return refs, err
	}
	if _, statErr := os.Stat(args[0]); statErr == nil {
		return refs, err
	}
	names := result.Each(root.Commands(), func(c **cobra.Command) string { return (*c).Name() })
	if hint := didYouMean(args[0], names); hint != "" {
		return nil, usagef(hint, "%s is neither a command nor a trace", args[0])
	}
	return refs, err
}
