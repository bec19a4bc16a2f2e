package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/compare"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/chart"
	"github.com/schedscope/schedscope/report/view"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	read       readFlags // of which it has some
	requests   requestFlags
	base       []string
	op, window string
	limit      time.Duration
	out        outputs
}

func newCompare(a *app) *cobra.Command {
	f := compareFlags{read: readFlags{clock: clocks[0]}, out: outputs{top: view.CompareTop}}
	cmd := &cobra.Command{
		Use:   "compare [flags] OLD NEW",
		Short: "Compare two traces, or two sets of traces",
		Long:  compareHelp(),
		Example: `  schedscope compare old.trace new.trace
  schedscope compare 'old/*.trace' 'new/*.trace'           # with medians, intervals and p
  schedscope compare --op region:request -o compare.png old/ new/
  schedscope compare --base a1.trace --base a2.trace b1.trace b2.trace
  schedscope compare key=shop%2Fv12/report.json key=shop%2Fv13/report.json`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.compare, &f),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.op, "op", "", "show totals per `OP` instead of per second: region:NAME, task:NAME, goroutine:FUNC, or count, the operations that the program counted itself")
	flags.StringVar(&f.window, "window", "", "use this `PART` of each trace: FROM..TO such as 1s..5s or 2s.., region:NAME, or all (default the region "+sample.WindowRegion+" if there is one, else all but the first tenth; next to saved reports all)")
	flags.StringArrayVar(&f.base, "base", nil, "compare with this `TRACE`, directory or quoted pattern; all operands are then the other side; may be repeated")
	flags.DurationVar(&f.limit, "limit", 0, "mark this `TIME`, such as 5ms, in pictures, with the share of longer waits")
	f.out.register(cmd, "text", "json", "markdown", "png", "svg")
	f.requests.register(cmd)
	f.read.registerSource(cmd)
	return cmd
}

func compareHelp() string {
	return `Each of two operands is a side: a trace, a directory or a quoted pattern. With more than
two, --base marks the old side. A directory with the subdirectories base and cand, as
schedscope gate record writes it, is both sides.

A side may have saved reports, of one trace or of many, such as those of schedscope-fleet:
each of their traces is a sample. The end of the text lists what such reports lack.

A trace of one process is one sample. A row can differ (p < 0.05) with at least ` + compare.EnoughText() + `;
10 per side are good. A ~ marks rows that do not differ. For a verdict with a known error
rate, use schedscope gate.

` + textui.Columns(compare.ChangeHelp, 90, "") + `
The first line says WORSE, BETTER or SAME, or UNKNOWN if too little shows a great change. It
judges the latency of requests (p50, p99, mean) by handler, task or function, and their number
per second; without requests, ops. Without either, batches: how long the program ran, if main
started and stopped the trace; else, or if that did not change, how often a function that waits
for goroutines most of the time (sync.WaitGroup) got them all. Else, and if these did not change,
the waits to run: where it is not known how long the work took, or both ran for as long, less of
them is not BETTER, nor is more WORSE if another amount of work ran, or clients wait for answers
of which none was found; and less is not BETTER if the traces became longer, or something else
ran (UNKNOWN). A different load is not judged: where latencies are the SAME, the line gives the
ratio of the loads. The rows below show which part of the time changed, and what else did.

A change counts from x1.1 and 50 µs on, of a number per second from x1.05 on. With too few traces
for a test, such as one per side (not tested), nothing is known of chance: it counts from x1.5 and
500 µs on, of a p99 from x2, of five to nine requests from x10, of handlers beyond the five with
the most time from x2.5. Requests whose handler is seen on one side only are compared with all of
no common handler on the other. What may have changed, but is of too few, or by as much as counts
untested, but perhaps by chance, is UNKNOWN, the rest SAME; WORSE goes before BETTER. If requests
hang (schedscope explain hanging-requests), that comes first: the side is worse of which a far
greater part does, and nothing is better where none ended. Then come goroutines that pile up on
one side (schedscope explain goroutine-leak), that wait for a lock where only waits to run are
compared, or before they accept connections.

The picture (-o FILE.png) overlays the latency of requests on both sides by percentile, or without
requests that of the waits to run.
`
}

// compareSide is one side of a command line.
type compareSide struct {
	name string
	refs []source.Ref
}

func (a *app) compare(cmd *cobra.Command, f *compareFlags, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	base, cand, err := a.sides(f, args)
	if err != nil {
		return err
	}
	if err := f.out.check(a, slices.Concat(base.refs, cand.refs)); err != nil {
		return err
	}
	if f.window == "" && slices.ContainsFunc(slices.Concat(base.refs, cand.refs), func(r source.Ref) bool { return a.isSaved(cmd.Context(), r, f) }) {
		f.window = "all" // as a saved report is of all of its traces
	}
	c := &comparison{app: a, flags: f, pictures: f.out.has(isPicture)}
	if err := c.load(cmd.Context(), base, cand); err != nil {
		return err
	}
	if err := f.requests.found(int64(len(c.RequestKind))); err != nil {
		return err
	}
	return f.out.write(a, c.write)
}

// isSaved reports whether a file is a saved report. What can be read once is not looked at.
func (a *app) isSaved(ctx context.Context, ref source.Ref, f *compareFlags) bool {
	if info, err := os.Stat(ref.Path); ref.Kind != source.File || err != nil || !info.Mode().IsRegular() {
		return false
	}
	in, err := a.openAs(ctx, ref, &f.read, true)
	if err != nil {
		return false // as it is again where it is read
	}
	defer in.Close()
	return in.JSON
}

func (f *compareFlags) validate() error {
	if err := f.out.plan(); err != nil {
		return err
	}
	if f.limit < 0 {
		return usagef("", "--limit %v must not be negative", f.limit)
	}
	if err := rule.CheckOp(f.op); err != nil && f.op != "" {
		return usagef("schedscope analyze TRACE lists the regions and tasks of a trace", "--%v", err)
	}
	if err := rule.CheckWindow(f.window); err != nil {
		return usagef("", "--%v", err)
	}
	return f.read.check()
}

const hintSides = "two operands are two sides: quote patterns ('old/*.trace'), give directories, or name the old ones with --base"

// sides decides which traces belong to which side, as gate check does: those of --base and
// the operands, or two operands, or a directory that gate record wrote.
func (a *app) sides(f *compareFlags, args []string) (base, cand *compareSide, err error) {
	old, new := sidesOf(f.base, args)
	recorded := len(f.base) == 0 && len(args) == 1 && len(old) == 1
	if len(f.base) == 0 && len(args) == 2 {
		old, new = args[:1], args[1:]
	}
	if len(old) == 0 || len(new) == 0 {
		if len(args) == 1 && !exists(args[0]) {
			return nil, nil, usagef(hintSides, "%s: no such file or directory", args[0])
		}
		return nil, nil, usagef(hintSides, "compare takes two sides")
	}
	if err := oneSide(slices.Concat(old, new)...); err != nil {
		return nil, nil, err
	}
	base, cand = &compareSide{}, &compareSide{}
	if base.refs, err = a.expand(old); err != nil {
		return nil, nil, err
	}
	if cand.refs, err = a.expand(new); err != nil {
		return nil, nil, err
	}
	base.name, cand.name = sideNames(base.refs, cand.refs)
	if recorded {
		base.name, cand.name = "base", "cand"
	}
	return base, cand, checkSides(base, cand)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkSides refuses the same file on both sides, and stdin twice.
func checkSides(base, cand *compareSide) error {
	isStdin := func(r source.Ref) bool { return r.Kind == source.Stdin }
	if slices.ContainsFunc(base.refs, isStdin) && slices.ContainsFunc(cand.refs, isStdin) {
		return usagef("stdin can be read once: write one of the traces to a file", "stdin is on both sides")
	}
	seen := map[string]bool{}
	for _, ref := range base.refs {
		seen[filepath.Clean(ref.Path)] = ref.Kind == source.File
	}
	for _, ref := range cand.refs {
		if ref.Kind == source.File && seen[filepath.Clean(ref.Path)] {
			return usagef("a trace is a sample of one side", "%s is on both sides", ref.Name)
		}
	}
	return nil
}

// sideNames names two sides: by directories if there are several traces, by files if not,
// with the whole path where its last element does not distinguish them or means nothing.
func sideNames(base, cand []source.Ref) (string, string) {
	b, c := pathOf(base), pathOf(cand)
	x, y := withoutTrace(path.Base(b)), withoutTrace(path.Base(c))
	named := func(name string) bool { return strings.ContainsFunc(name, unicode.IsLetter) } // 01.trace is not
	switch {
	case x != y && named(x) && named(y):
		return x, y
	case b != c:
		return b, c
	}
	return "old", "new"
}

// pathOf returns what one side is called by.
func pathOf(refs []source.Ref) string {
	name := refs[0].Name
	if len(refs) > 1 {
		name = filepath.Dir(refs[0].Path)
		if abs, err := filepath.Abs(name); err == nil && strings.HasPrefix(name, ".") {
			name = abs
		}
	}
	name = strings.TrimSuffix(filepath.ToSlash(name), "/")
	if key, ok := strings.CutPrefix(path.Base(strings.TrimSuffix(name, "/report.json")), "key="); ok { // of schedscope-fleet
		if key, err := url.PathUnescape(key); err == nil {
			return key
		}
	}
	return name
}

// withoutTrace takes the extension of traces and reports off a name.
func withoutTrace(name string) string {
	for _, ext := range []string{".gz", ".zst", ".trace", ".out", ".json"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// comparison is a comparison while it is made.
type comparison struct {
	app      *app
	flags    *compareFlags
	pictures bool // are asked for

	*compare.Result
	skipped []result.Skipped
	drawn   [2][]*result.Report // of each trace, with what pictures need
}

// load reads all traces, one after the other. One that cannot be read is skipped as long as
// its side has another.
func (c *comparison) load(ctx context.Context, base, cand *compareSide) error {
	b, err := c.loadSide(ctx, base, &c.drawn[0])
	if err != nil {
		return err
	}
	d, err := c.loadSide(ctx, cand, &c.drawn[1])
	if err != nil {
		return err
	}
	if err := checkOps(c.flags.op, &b, &d); err != nil {
		return err
	}
	c.Result = compare.Of(b, d, c.flags.op)
	c.Skipped, c.Window = append(c.Skipped, c.skipped...), c.flags.window
	return nil
}

// checkOps refuses ops that no trace has, and says what there is instead.
func checkOps(op string, sides ...*compare.Side) error {
	counts := map[string]int64{}
	for _, s := range sides {
		for _, t := range s.Traces {
			if op == "" || t.Sample.Ops > 0 {
				return nil
			}
			for _, o := range t.Ops {
				counts[o.Op] += o.Count
			}
		}
	}
	ops := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	hint := textui.Either(len(ops) > 0, "what there is: "+textui.Clean(strings.Join(ops[:min(len(ops), 10)], ", ")),
		"the traces have no regions or tasks: leave --op out, or use goroutine:FUNC")
	if op == "count" {
		return usagef(hint, "--op count: no trace has a record of how many ops its program counted")
	}
	return usagef(hint, "--op %s: no trace has any in its window", op)
}

func (c *comparison) loadSide(ctx context.Context, s *compareSide, drawn *[]*result.Report) (compare.Side, error) {
	side := compare.Side{Name: textui.Clean(s.name)}
	spec := compare.Spec(c.flags.op, c.flags.window)
	spec.Requests = c.flags.requests.specs
	type loaded struct {
		saved    *result.Report // nil: it is a trace
		sample   *sample.Sample
		analysis *analyze.Report
	}
	skipped, err := several(ctx, c.app, s.refs, 1, func(ctx context.Context, a *app, i int) (x loaded, err error) {
		in, err := a.openAgain(ctx, s.refs[i], &c.flags.read, s.refs[i].Kind != source.URL)
		if err != nil {
			return x, err
		}
		defer in.Close()
		switch f := c.flags; {
		case in.JSON && (f.op != "" || f.window != "" && f.window != "all" || len(f.requests.specs) > 0): // what only traces can answer
			return x, usagef("give the traces it was made from", "%s is a saved report: --op, --window and --request need traces", in.Name)
		case in.JSON:
			x.saved, err = a.readSaved(in, &analyzeFlags{})
		default:
			x.sample, err = a.sample(ctx, s.refs[i], in, &c.flags.read, spec, func(finished *analyze.Report) { x.analysis = finished })
		}
		return x, err
	}, func(i int, x loaded) error {
		name, v := s.refs[i].Name, x.saved
		if v != nil {
			if err := side.AddSaved(name, v); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		} else {
			if x.sample.Loss != "" {
				c.app.warn("%s: %s", name, x.sample.Loss)
			}
			side.Traces = append(side.Traces, compare.NewTrace(name, x.sample, x.analysis))
			v = x.analysis.Result()
		}
		if c.pictures {
			*drawn = append(*drawn, &result.Report{Latency: v.Latency, Requests: v.Requests})
		}
		return nil
	})
	c.skipped = append(c.skipped, skipped...)
	return side, err
}

// readSample opens a trace and makes a sample of it.
func (a *app) readSample(ctx context.Context, ref source.Ref, f *readFlags, spec *sample.Spec) (*sample.Sample, error) {
	in, err := a.openAgain(ctx, ref, f, false)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return a.sample(ctx, ref, in, f, spec, nil)
}

// sample makes a sample of one open trace, with the environment record next to it if there
// is one. seen, if not nil, gets the analyses of the window.
func (a *app) sample(ctx context.Context, ref source.Ref, in *input, f *readFlags, spec *sample.Spec, seen func(*analyze.Report)) (x *sample.Sample, err error) {
	ctx = a.working(ctx)
	at, size := in.ReaderAt()
	input := sample.Input{Name: ref.Name}
	if ref.Kind == source.File {
		if input.Env, err = sample.ReadRun(ref.Path); err != nil {
			return nil, err
		}
	}
	a.progress.begin()
	x, err = sample.Read(ctx, at, size, input, spec, sample.Options{Workers: f.workers, Report: seen, Progress: func() {
		read, total := in.Progress()
		a.progress.update(in.Name, read, total)
	}})
	a.progress.clear()
	switch {
	case ctx.Err() != nil:
		return nil, &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	case err != nil:
		return nil, describeEmpty(in, err)
	}
	return x, nil
}

// write writes one output.
func (c *comparison) write(w io.Writer, o output) error {
	switch o.format {
	case "json":
		return savedfile.WriteJSON(w, c.Result, true)
	case "markdown":
		return view.CompareMarkdown(w, c.Result)
	case "png", "svg":
		return c.flags.out.draw(w, o, []*chart.Picture{c.picture()})
	}
	return view.CompareText(w, c.Result, c.flags.out.text(c.app, w, o))
}

// picture draws how long the requests took that the headline is about, or else waits.
func (c *comparison) picture() *chart.Picture {
	p := chart.Comparison{Base: chart.Side{Name: c.Base.Name}, Cand: chart.Side{Name: c.Cand.Name}, Limit: model.Duration(c.flags.limit)}
	if c.OfRequests() {
		p.Requests = c.Of()
	}
	for i, side := range []*chart.Side{&p.Base, &p.Cand} {
		for _, r := range c.drawn[i] {
			x := r.Latency.All.Values()
			if c.OfRequests() {
				x = c.Drawn(r)
			}
			if x != nil {
				side.Recordings = append(side.Recordings, x)
				side.Traces += len(r.Traces)
			}
		}
	}
	return p.Picture()
}
