package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/internal/dist"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/fixtures/truth"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// fake is a simulator under which each goroutine of the program waits once, for 1 us
// times the seed, or 2 us on more than 8 procs.
func fake(_ context.Context, w *workload.Workload, cfg refsched.Config) (*refsched.Result, error) {
	at := w.Start
	span := func(g int, state model.GoState, d model.Time) {
		cfg.Span.GoSpan(&model.GoSpan{G: model.GoID(g), State: state, Origin: model.OriginCreated, Start: at, End: at + d})
		at += d
	}
	wait := model.Time(1000 * cfg.Seed)
	if cfg.Procs > 8 {
		wait = 2000
	}
	var res refsched.Result
	for i := range w.Goroutines {
		at += 20_000
		span(i+1, model.GoRunnable, wait)
		span(i+1, model.GoRunning, 500)
		res.Starts++
	}
	res.Finished = true
	res.Span = at.Sub(w.Start)
	return &res, nil
}

// replayed replays a fixture.
func replayed(t *testing.T, ctx context.Context, name string, o Options) (*Result, error) {
	t.Helper()
	data, err := truth.Read(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	rd, err := ingest.NewReader(bytes.NewReader(data), ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(rd.Tables(), model.Config{Version: rd.Header().Version})
	r, err := New(ctx, rd.Tables(), rd.Header().Version, o)
	if err != nil {
		return nil, err
	}
	r.Observe(m)
	begun := false
	err = ingest.Each(rd, func(ev *model.Event) error {
		if !begun {
			begun = true
			r.Begin(ev.Time)
		}
		err := m.Apply(ev)
		r.Event(ev)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Finish(m.Now())
	return r.Finish(m.Now())
}

func variants(t *testing.T, lists ...string) []Variant {
	t.Helper()
	var out []Variant
	for _, l := range lists {
		vs, err := ParseVariants(l)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, vs...)
	}
	return out
}

// figuresOf are the numbers of a result, without what it keeps to make them.
func figuresOf(r *Result) string {
	var b strings.Builder
	row := func(x *Row) {
		fmt.Fprintln(&b, x.Name, x.Measured.Count, x.Measured.Total, x.Count, x.Mean, x.W1)
	}
	row(&r.All)
	fmt.Fprintln(&b, r.Windows, r.Length, r.Warmup, r.LeftOut, r.Measured.Starts, r.Wakes, r.Outcomes)
	return b.String()
}

// TestWorkers checks that a result does not depend on how many simulations run at
// the same time.
func TestWorkers(t *testing.T) {
	var want string
	for _, workers := range []int{1, 3, 16} {
		r, err := replayed(t, t.Context(), "http.trace", Options{Seeds: 3, Workers: workers, Starts: 2000, Variants: variants(t, "procs=8..9"), simulate: fake})
		if err != nil {
			t.Fatal(err)
		}
		if got := figuresOf(r); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%d workers: got\n%s\nwant\n%s", workers, got, want)
		}
		if r.Windows < 2 {
			t.Errorf("%d windows, want several", r.Windows)
		}
	}
}

// TestSteps checks that system calls fill a window, too.
func TestSteps(t *testing.T) {
	const starts = 15
	r, err := replayed(t, t.Context(), "syscalls.go1.26.p4.trace", Options{Seeds: 1, Starts: starts, simulate: fake})
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(r.Windows) * starts; n <= r.Measured.Starts+starts {
		t.Errorf("%d windows for %d starts: none has fewer than %d", r.Windows, r.Measured.Starts, starts)
	}
}

// TestLeap checks that windows are of a minute at most, and that one with a leap of time in it is
// refused.
func TestLeap(t *testing.T) {
	const second = 1_000_000_000
	for _, tt := range []struct {
		times   []model.Time
		windows int
	}{
		{[]model.Time{0, 30 * second, 59 * second}, 1},
		{[]model.Time{0, 30 * second, 61 * second, 121 * second, 122 * second}, 2},
		{[]model.Time{0, 3600 * second, 3601 * second}, 0},
	} {
		tables := model.NewTables()
		m := model.NewMachine(tables, model.Config{Version: 26})
		r, err := New(t.Context(), tables, 26, Options{Seeds: 1, simulate: fake})
		if err != nil {
			t.Fatal(err)
		}
		r.Observe(m)
		r.Begin(0)
		for _, at := range tt.times {
			ev := model.Event{Kind: model.EventSync, Time: at, G: model.NoGoroutine, M: model.NoThread, P: model.NoProc}
			if err := m.Apply(&ev); err != nil {
				t.Fatal(err)
			}
			r.Event(&ev)
		}
		last := tt.times[len(tt.times)-1]
		m.Finish(last)
		result, err := r.Finish(last)
		switch {
		case tt.windows == 0 && (err == nil || !strings.Contains(err.Error(), "leaps by up to 1h")):
			t.Errorf("%d: got %v, want an error about the leap", tt.times, err)
		case tt.windows > 0 && (err != nil || result.Windows != tt.windows):
			t.Errorf("%d: got %+v, %v; want %d windows", tt.times, result, err, tt.windows)
		}
	}
}

// TestFakeFigures checks the numbers that are known of the fake's schedules.
func TestFakeFigures(t *testing.T) {
	r, err := replayed(t, t.Context(), "http.trace", Options{Seeds: 3, Variants: variants(t, "procs=9"), simulate: fake})
	if err != nil {
		t.Fatal(err)
	}
	// Rounded to the clock's 64 ns.
	if want := (Lengths{1984, 1024, 3008}); r.All.Mean != want {
		t.Errorf("mean %v, want %v", r.All.Mean, want)
	}
	if len(r.Outcomes) != 1 || r.Outcomes[0].Name != "procs=9" || r.Outcomes[0].Runs != 3 {
		t.Fatalf("outcomes %+v", r.Outcomes)
	}
	o := r.Outcomes[0]
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	measured := r.MeasuredFigures()
	if s := r.SimulatedFigures(); !near(s[FigureMean], float64(r.All.Mean.Mid)) || s[FigureP90] != 1984 || s[FigureP99] != 1984 || s[FigureLong] != 0 || s[FigureSpan] <= 0 {
		t.Errorf("simulated %v, of which the mean is %v", s, r.All.Mean)
	}
	for _, k := range []FigureKind{FigureMean, FigureP90, FigureP99} {
		f := o.Figures[k]
		if f.Change.Mid != 0 || !near(f.Change.Low, 1984.0/3008-1) || !near(f.Change.High, 0.9375) {
			t.Errorf("%v of procs=9: %+v", k, f)
		}
		if !near(f.Value.Mid, measured[k]) || !near(f.Value.High, 1.9375*measured[k]) {
			t.Errorf("%v of procs=9: value %v, want the measured %g changed", k, f.Value, measured[k])
		}
	}
	// Nobody waits for longer than 10 us, under no seed.
	if f := o.Figures[FigureLong]; measured[FigureLong] == 0 || f.Value.Mid != measured[FigureLong] || f.Change != (Range{}) {
		t.Errorf("part of long waits: %+v", f)
	}
	if f := o.Figures[FigureSpan]; f.Change.Mid != 0 || f.Change.Low >= 0 || f.Change.High <= 0 {
		t.Errorf("run time of procs=9: %+v", f)
	}
	if r.Measured.Starts == 0 || r.runs[0].Starts == 0 {
		t.Errorf("starts %d and %d", r.Measured.Starts, r.runs[0].Starts)
	}
}

// TestMerge checks that two replays of a trace are together what they are alone, and that
// no noise is between them.
func TestMerge(t *testing.T) {
	o := Options{Seeds: 2, Variants: variants(t, "procs=9"), simulate: fake}
	a, err := replayed(t, t.Context(), "http.trace", o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := replayed(t, t.Context(), "http.trace", o)
	if err != nil {
		t.Fatal(err)
	}
	before := figuresOf(a)
	sum := Merge([]*Result{a, b})
	if figuresOf(a) != before {
		t.Error("merging changes a result")
	}
	if sum.All.Measured.Count != 2*a.All.Measured.Count || *sum.All.W1 != *a.All.W1 || sum.Windows != 2*a.Windows {
		t.Errorf("got %+v, want twice %+v", sum.All, a.All)
	}
	for k, f := range sum.Outcomes[0].Figures {
		if f.Change != a.Outcomes[0].Figures[k].Change {
			t.Errorf("%v: got %+v, want %+v", FigureKind(k), f, a.Outcomes[0].Figures[k])
		}
	}
	if n := sum.Noise; n == nil || n.Pairs != 1 || n.W1.Mid != 0 {
		t.Errorf("noise %+v", n)
	}
	if a.Noise != nil {
		t.Error("noise of one recording")
	}
}

func TestReplayErrors(t *testing.T) {
	boom := errors.New("boom")
	_, err := replayed(t, t.Context(), "http.trace", Options{Seeds: 2, simulate: func(context.Context, *workload.Workload, refsched.Config) (*refsched.Result, error) {
		return nil, boom
	}})
	if !errors.Is(err, boom) {
		t.Errorf("got %v, want the simulator's error", err)
	}
	_, err = replayed(t, t.Context(), "http.trace", Options{Seeds: 2, simulate: func(context.Context, *workload.Workload, refsched.Config) (*refsched.Result, error) {
		panic("broken")
	}})
	if err == nil || !strings.Contains(err.Error(), "a bug of schedscope: broken") {
		t.Errorf("got %v, want what the simulator panicked with", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = replayed(t, ctx, "http.trace", Options{Seeds: 2, simulate: func(ctx context.Context, _ *workload.Workload, _ refsched.Config) (*refsched.Result, error) {
		cancel()
		return nil, ctx.Err()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	_, err = replayed(t, t.Context(), "foreign/trace.go1.19.trace", Options{})
	var old *runqueue.OldFormatError
	if !errors.As(err, &old) {
		t.Errorf("got %v, want an OldFormatError", err)
	}
}

func TestTrust(t *testing.T) {
	few := &Result{All: NewRow("all", distOf(1), nil), Measured: &Schedule{}}
	if few.Trust().Refused == "" {
		t.Error("one wait is enough")
	}
	many := distOf()
	for range 1000 {
		many.Add(1000, 0)
	}
	result := func(simulated int, wakes map[workload.Class]int64) *Result {
		r := &Result{Measured: &Schedule{Starts: 1000}}
		d := distOf()
		for range 1000 {
			d.Add(model.Duration(simulated), 0)
		}
		r.All = NewRow("all", many, []*dist.Dist{d})
		for c, n := range wakes {
			r.Wakes[c] = n
		}
		return r
	}
	good := result(1010, map[workload.Class]int64{workload.ClassHandoff: 100})
	if tr := good.Trust(); tr != (Trust{}) || good.Fit(nil) != FitClose {
		t.Errorf("hand-offs, W1 of 1 %%: %+v, %v", tr, good.Fit(nil))
	}
	if tr := result(1010, map[workload.Class]int64{workload.ClassExternal: 100}).Trust(); tr.Refused != "" || tr.NoSpan == "" {
		t.Errorf("external: %+v", tr)
	}
	poor := result(2000, nil)
	if tr := poor.Trust(); !strings.Contains(tr.Refused, "off by 100%") || poor.Fit(nil) != FitPoor {
		t.Errorf("twice as long: %+v, %v", tr, poor.Fit(nil))
	}
	for what, refused := range map[string]bool{"quiet": false, "procs=1": true, "quiet,gc=off": true} {
		half := result(1400, nil)
		half.MinProcs, half.MaxProcs, half.options.Variants = 2, 2, variants(t, what)
		if tr := half.Trust(); (tr.Refused != "") != refused {
			t.Errorf("off by 40 %%, %s: %+v", what, tr)
		}
		if half.MinProcs, half.MaxProcs = 4, 4; half.Trust().Refused == "" {
			t.Errorf("off by 40 %%, %s of four procs, which has no intervals", what)
		}
	}
	if tr := result(1400, nil).Trust(); tr.Refused == "" {
		t.Error("off by 40 %, and nothing is asked")
	}
	if f := poor.Fit(&Noise{W1: Lengths{Mid: 600}}); f != FitClose {
		t.Errorf("as noisy: %v", f)
	}
	if f := result(1200, nil).Fit(nil); f != FitRough {
		t.Errorf("20 %%: %v", f)
	}
	good.Inconsistent = 500
	if good.Trust().Refused == "" {
		t.Error("a contradicting trace is trusted")
	}
}

// TestRequests checks that the simulation of a recording has its requests, that they take about as long, and that a second
// proc is worth something to them. Of groups of which some requests may not be seen nothing is said.
func TestRequests(t *testing.T) {
	r, err := replayed(t, t.Context(), "http.trace", Options{Seeds: 1, Variants: variants(t, "procs=1")})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Requests) == 0 {
		t.Fatal("no requests")
	}
	x := &r.Requests[0]
	if n := x.All.Measured.Count; x.Kind != "http" || n < 100 || x.All.Count.Mid != float64(n) || r.Refuses(x) != "" {
		t.Errorf("%+v: %d requests, simulated %v, refused because of %q", x.Group, n, x.All.Count.Mid, r.Refuses(x))
	}
	if f := x.Outcomes[0]; f[RequestMean].Value.Mid < 1.2*x.Figures[RequestMean] || f[RequestRate].Value.Mid > x.Figures[RequestRate] {
		t.Errorf("with one proc: %+v, recorded with two: %v", f, x.Figures)
	}
	sum := int64(0)
	for g, d := range r.Measured.Requests {
		sum += d.Count()
		if g.Kind != "http" {
			t.Errorf("%+v", g)
		}
	}
	if x.Name != AllNames || x.All.Measured.Count != sum {
		t.Errorf("%+v: %d requests, %d in groups", x.Group, x.All.Measured.Count, sum)
	}
	for i := range r.Requests[1:] {
		g := &r.Requests[1+i]
		if g.All.Measured.Count = fewRequests; g.Name == "" || !strings.Contains(r.Refuses(g), "show no handler") {
			t.Errorf("%+v: refused because of %q", g.Group, r.Refuses(g))
		}
		g.All.Measured.Count = r.Measured.Requests[g.Group].Count()
	}
	few := r.Requests[len(r.Requests)-1]
	if few.All.Measured.Count >= fewRequests || r.Refuses(&few) == "" {
		t.Errorf("%+v: of %d requests something is said", few.Group, few.All.Measured.Count)
	}
}

// TestUnhandled checks that requests without a handler matter to a group if they take as long as those of it.
func TestUnhandled(t *testing.T) {
	for _, tt := range []struct {
		without []model.Duration // how long those take that show none, 50 each
		name    string
		want    int64
	}{
		{[]model.Duration{100, 900}, "main.slow", 0},
		{[]model.Duration{100, 1100}, "main.slow", 50},
		{[]model.Duration{100}, "main.fast", 50},
		{[]model.Duration{100, 1100}, AllNames, 0},
		{[]model.Duration{100, 1100}, "", 100},
	} {
		r := &Result{Measured: newSchedule()}
		for range 100 {
			r.Measured.group(Group{"http", "main.slow"}).Add(1000, 0)
			r.Measured.group(Group{"http", "main.fast"}).Add(50, 0)
		}
		for _, d := range tt.without {
			for range 50 {
				r.Measured.group(Group{"http", ""}).Add(d, 0)
			}
		}
		if n := r.unhandled(&Requests{Group: Group{"http", tt.name}}); n != tt.want {
			t.Errorf("%+v: got %d", tt, n)
		}
	}
}
