package analyze_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// read analyses a fixture, as far as it can be read. It returns nil if it is
// not a trace at all.
func read(t testing.TB, name string) *analyze.Report {
	t.Helper()
	return readWith(t, name, analyze.Options{}, ingest.Options{})
}

// readWith is read with options. A window begins as it does for the command: what is
// before is followed, not accounted for.
func readWith(t testing.TB, name string, o analyze.Options, window ingest.Options) *analyze.Report {
	t.Helper()
	f, err := os.Open(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return readFrom(t, f, o, window)
}

// readFrom is readWith on what a reader gives.
func readFrom(t testing.TB, from io.Reader, o analyze.Options, window ingest.Options) *analyze.Report {
	t.Helper()
	var empty *ingest.EmptyError
	in, err := ingest.NewReader(from, window)
	if errors.As(err, &empty) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	o.Version = in.Header().Version
	r := analyze.New(in.Tables(), o)
	r.ObserveSteps(m)
	start, _, windowed := in.Window()
	begun := false
	err = ingest.Each(in, func(ev *model.Event) error {
		if !begun && (!windowed || ev.Time >= start) {
			begun = true
			if windowed {
				m.Begin(start)
				r.Begin(start - model.Time(window.From))
			}
			r.Observe(m)
		}
		if begun {
			r.Event(ev)
		}
		// What contradicts itself is the model's business.
		_ = m.Apply(ev)
		return nil
	})
	if errors.As(err, &empty) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	r.Finish(m.Start(), m.Now())
	return r
}

// TestFixtures checks on every fixture what must hold between analyses that
// measure the same thing in different ways.
func TestFixtures(t *testing.T) {
	waits := int64(0)
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		t.Run(name, func(t *testing.T) {
			r := read(t, name)
			if r == nil {
				t.Skip("not a trace")
			}
			waits += r.Latency.All.Count()
			checkReport(t, r)
			for _, f := range findings.Verdict(r.Result()) {
				t.Logf("%s %s (%s): %s", f.Severity, f.Kind, f.Grade, f.Text)
			}
		})
	}
	if waits < 10_000 {
		t.Errorf("all fixtures together have %d waits: were they read?", waits)
	}
}

var (
	damaged    = flag.Int("damaged", 200, "number of damaged traces that TestDamaged takes")
	damageSeed = flag.Uint64("damage.seed", 1, "seed of their damage")
)

// TestDamaged checks the same on damaged traces: whatever the events, they are read to an end,
// times add up, and analyses agree.
func TestDamaged(t *testing.T) {
	var names []string
	for _, name := range fixtures.Names() {
		if info, err := os.Stat(fixtures.Path(name)); err == nil && info.Size() <= 64<<10 {
			names = append(names, name)
		}
	}
	rnd := rand.New(rand.NewPCG(*damageSeed, 0))
	read := 0
	for k := range *damaged {
		name := names[rnd.IntN(len(names))]
		whole, err := os.ReadFile(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		data := fixtures.Damage(rnd, whole)
		passed := t.Run(fmt.Sprint(k), func(t *testing.T) {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("panic: %v\n%s", v, debug.Stack())
				}
			}()
			if r := readFrom(t, bytes.NewReader(data), analyze.Options{}, ingest.Options{}); r != nil {
				read++
				checkReport(t, r)
			}
		})
		if !passed {
			saved := filepath.Join(os.TempDir(), fmt.Sprintf("damaged-%d-%d.trace", *damageSeed, k))
			if err := os.WriteFile(saved, data, 0o666); err != nil {
				t.Error(err)
			}
			t.Fatalf("variant %d of %s, saved as %s", k, name, saved)
		}
	}
	t.Logf("%d damaged traces, %d of them with events", *damaged, read)
}

func checkReport(t *testing.T, r *analyze.Report) {
	checkLatency(t, r)
	checkCauses(t, r)
	checkProcTime(t, r)
	checkBlame(t, r.Result())
}

func checkLatency(t *testing.T, r *analyze.Report) {
	t.Helper()
	l := r.Latency
	var byOrigin, byFunc dist.Dist
	for i := range l.ByOrigin {
		byOrigin.Merge(&l.ByOrigin[i])
	}
	for _, row := range l.ByFunc() {
		byFunc.Merge(row.Values())
	}
	for name, d := range map[string]*dist.Dist{"by origin": &byOrigin, "by function": &byFunc} {
		if d.Count() != l.All.Count() || d.Total() != l.All.Total() || d.Max() != l.All.Max() || d.Quantile(0.9) != l.All.Quantile(0.9) {
			t.Errorf("latency %s: count %d total %d max %d, want %d %d %d", name, d.Count(), d.Total(), d.Max(), l.All.Count(), l.All.Total(), l.All.Max())
		}
	}
	var heat int64
	for col := range r.Heat.Cols() {
		for row := range analyze.HeatRows {
			heat += int64(r.Heat.Count(col, row))
		}
	}
	if heat != l.All.Count() {
		t.Errorf("heat map holds %d waits, want %d", heat, l.All.Count())
	}
	waits := r.Worst.Waits()
	if want := min(10, l.All.Count()); int64(len(waits)) != want {
		t.Fatalf("%d worst waits, want %d", len(waits), want)
	}
	if len(waits) > 0 && (waits[0].Duration != l.All.Max() || waits[0].End != l.All.MaxAt()) {
		t.Errorf("worst wait of %d at %d, want %d at %d", waits[0].Duration, waits[0].End, l.All.Max(), l.All.MaxAt())
	}
	// By function of goroutine and over all: true waits, whole or censored.
	measured := l.All.Total() + l.System.Total() + l.Censored.AtStart.Total + l.Censored.AtEnd.Total +
		l.SystemCensored.AtStart.Total + l.SystemCensored.AtEnd.Total
	if truly := r.Goroutines.Truly; truly != measured {
		t.Errorf("goroutines waited %d ns in all, latencies are %d ns", truly, measured)
	}
}

func checkProcTime(t *testing.T, r *analyze.Report) {
	t.Helper()
	var uses result.Uses
	var covered, runnable, procs model.Duration
	for _, b := range r.Timeline.Used() {
		for u, d := range b.Uses {
			uses[u] += d
		}
		covered += b.Covered
		runnable += b.Runnable
		procs += b.Procs
		if b.Covered > r.Timeline.Width() {
			t.Errorf("bin covers %d ns of %d", b.Covered, r.Timeline.Width())
		}
	}
	x := r.Idle
	if covered != x.Span || runnable != x.Runnable || procs != x.Procs {
		t.Errorf("timeline: covered %d runnable %d procs %d, want %d %d %d", covered, runnable, procs, x.Span, x.Runnable, x.Procs)
	}
	if uses[result.UseGC]+uses[result.UseAssist] != r.GC.Total() {
		t.Errorf("timeline: GC %d, want %d", uses[result.UseGC]+uses[result.UseAssist], r.GC.Total())
	}
	running := uses[result.UseUser] + uses[result.UseGC] + uses[result.UseAssist] + uses[result.UseRuntime]
	// Intervals may reach back to the trace's start from where the trace first
	// tells a proc's state, counts do not.
	early := running + uses[result.UseSyscall] - x.Busy
	if early < 0 || early > x.Procs/10+500_000 {
		t.Errorf("procs: running %d syscall %d by intervals, %d by counts", running, uses[result.UseSyscall], x.Busy)
	}
	if x.Wall > x.Span || x.PerProc > x.PerGoroutine || x.Episodes.Total() > x.Span {
		t.Errorf("idle while runnable: wall %d per proc %d per goroutine %d episodes %d of %d", x.Wall, x.PerProc, x.PerGoroutine, x.Episodes.Total(), x.Span)
	}
}

// TestDeterministic analyses a trace twice and compares everything told.
func TestDeterministic(t *testing.T) {
	a, b := read(t, "http.trace"), read(t, "http.trace")
	for _, x := range []struct {
		name string
		a, b any
	}{
		{"worst waits", a.Worst.Waits(), b.Worst.Waits()},
		{"functions", a.Goroutines.ByFunc(), b.Goroutines.ByFunc()},
		{"goroutines", a.Latency.ByGoroutine(), b.Latency.ByGoroutine()},
		{"bursts", a.Bursts.Longest(), b.Bursts.Longest()},
		{"timeline", a.Timeline.Used(), b.Timeline.Used()},
		{"idle", a.Idle, b.Idle},
		{"causes by origin", a.Causes.ByOrigin, b.Causes.ByOrigin},
		{"causes by function", a.Causes.ByFunc(), b.Causes.ByFunc()},
		{"causes over time", a.Causes.Series(), b.Causes.Series()},
		{"code that was waited behind", a.Blame.Behind(), b.Blame.Behind()},
		{"thresholds", a.Causes.Thresholds, b.Causes.Thresholds},
		{"queues", a.Queues, b.Queues},
		{"blame", a.Result().Blame, b.Result().Blame},
		{"verdict", findings.Verdict(a.Result()), findings.Verdict(b.Result())},
	} {
		if !reflect.DeepEqual(x.a, x.b) {
			t.Errorf("%s differ between two readings", x.name)
		}
	}
}

// TestVerdictWhateverIsShown analyses fixtures with more and fewer worst waits shown: the
// verdict rests on the same ones.
func TestVerdictWhateverIsShown(t *testing.T) {
	for _, name := range []string{"gc.go1.26.p4.trace", "assist.go1.26.p4.trace", "rpc.go1.26.p4.trace", "hogs.go1.26.p2.trace", "http.trace"} {
		// Only the place to look at is one of the waits that are shown.
		verdict := func(r *analyze.Report) []result.Finding {
			list := findings.Verdict(r.Result())
			for i := range list {
				list[i].Look = nil
			}
			return list
		}
		want := verdict(readWith(t, name, analyze.Options{}, ingest.Options{}))
		for _, n := range []int{1, 3, 10, 20, 50} {
			r := readWith(t, name, analyze.Options{Worst: n}, ingest.Options{})
			if got := verdict(r); !reflect.DeepEqual(got, want) {
				t.Errorf("%s with %d worst waits: verdict\n%+v\nwant\n%+v", name, n, got, want)
			}
			if got, want := len(r.Worst.Waits()), min(n, int(r.Latency.All.Count())); got != want {
				t.Errorf("%s: %d worst waits shown, want %d", name, got, want)
			}
		}
	}
}
