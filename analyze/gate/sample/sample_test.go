package sample

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// specOf makes a Spec of quantities as rules write them.
func specOf(t *testing.T, window, op string, quantities ...string) *Spec {
	t.Helper()
	s := &Spec{Window: window, Op: op}
	for _, text := range quantities {
		q, err := rule.ParseQuantity(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Quantities = append(s.Quantities, q)
	}
	return s
}

func readBytes(data []byte, in Input, spec *Spec, o Options) (*Sample, error) {
	return Read(context.Background(), bytes.NewReader(data), int64(len(data)), in, spec, o)
}

func mustRead(t *testing.T, data []byte, in Input, spec *Spec, o Options) *Sample {
	t.Helper()
	x, err := readBytes(data, in, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// fixtures returns the names of some traces, in short tests fewer.
func fixtures(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "fixtures", "*.trace"))
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	step, names := 3, []string(nil)
	if testing.Short() {
		step = 7
	}
	for i := 0; i < len(paths); i += step {
		names = append(names, filepath.Base(paths[i]))
	}
	return names
}

// val returns a value that must be there.
func val(t *testing.T, x *Sample, quantity string) Value {
	t.Helper()
	q, err := rule.ParseQuantity(quantity)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := x.Values[q.String()]
	if !ok {
		t.Fatalf("%s: no %s: %s", x.Name, quantity, x.Missing[q.String()])
	}
	return v
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func totalOf(list []Class) (total model.Duration, count int64) {
	for i := range list {
		total += list[i].Total
		count += list[i].Count
	}
	return total, count
}

// sums are quantities that add up to each other.
func sumsOf() []string {
	list := []string{"sum(runnable)", "sum(wait)", "sum(blocked)", "sum(run)", "sum(running)", "sum(wakes)", "sum(starts)", "sum(syscall)", "sum(stw)"}
	for o := range model.NumOrigins {
		list = append(list, fmt.Sprintf("sum(wait{origin=%s})", exact(result.OriginName(o))))
	}
	for c := range result.NumCauses {
		list = append(list, fmt.Sprintf("sum(runnable{cause=%s})", exact(c.String())))
	}
	return list
}

// exact returns a pattern for one origin or cause alone: one without * takes those that
// begin with it, too.
func exact(name string) string { return `"` + rule.SlugOf(name) + `"` }

// TestConserved checks on fixtures that parts add up to wholes.
func TestConserved(t *testing.T) {
	for _, name := range fixtures(t) {
		var r *analyze.Report
		x := mustRead(t, fixture(t, name), Input{Name: name}, specOf(t, "", "", sumsOf()...), Options{Report: func(got *analyze.Report) { r = got }})
		of := func(q string) model.Duration { return model.Duration(val(t, x, q).X) }

		waits, n := totalOf(x.Waits)
		equal(t, name+": classes of waits", waits, of("sum(wait)"))
		equal(t, name+": number of waits", n, val(t, x, "sum(wait)").N)
		blocked, _ := totalOf(x.Blocked)
		equal(t, name+": classes of blocking", blocked, of("sum(blocked)"))
		runs, _ := totalOf(x.Runs)
		equal(t, name+": classes of runs", runs, of("sum(run)"))
		equal(t, name+": cut off waits", of("sum(wait)")-of("sum(runnable)"), r.Latency.Censored.AtStart.Total+r.Latency.Censored.AtEnd.Total)

		equal(t, name+": stopped world", of("sum(stw)"), r.STWs.Effective.Total())

		var origins model.Duration
		for o := range model.NumOrigins {
			origins += of(fmt.Sprintf("sum(wait{origin=%s})", exact(result.OriginName(o))))
		}
		equal(t, name+": waits by origin", origins, of("sum(wait)"))
		checkCauses(t, name, x, r, of)
		for _, list := range [][]Class{x.Waits, x.Blocked, x.Runs, x.Blame} {
			if len(list) > MaxClasses {
				t.Errorf("%s: %d classes", name, len(list))
			}
		}
	}
}

func checkCauses(t *testing.T, name string, x *Sample, r *analyze.Report, of func(string) model.Duration) {
	t.Helper()
	var causes, named, blamed, behindSum, behindCauses model.Duration
	for c := range result.NumCauses {
		d := r.Causes.ByCause[c].Total
		causes += d
		if c.Behind() {
			behindCauses += d
		}
	}
	for _, n := range x.Causes {
		named += n.Total
	}
	for _, row := range r.Blame.Behind() {
		blamed += row.Total
		if row.Kind != result.CauseSTW.String() {
			behindSum += row.Total
		}
	}
	classes, _ := totalOf(x.Blame)
	equal(t, name+": code that waits were behind", classes, blamed)
	equal(t, name+": causes", causes, of("sum(runnable)"))
	equal(t, name+": causes by name", named, of("sum(runnable)"))
	equal(t, name+": what waits were behind", behindSum, behindCauses)
	if d := of("sum(runnable{cause=behind-a-goroutine})"); d != r.Causes.ByCause[result.CauseGoroutine].Total {
		t.Errorf("%s: behind a goroutine %d", name, d)
	}
}

// analyzed analyses a window of a trace as the command analyze does.
func analyzed(t *testing.T, data []byte, from, to model.Duration) *analyze.Report {
	t.Helper()
	in, err := ingest.NewReaderAt(bytes.NewReader(data), int64(len(data)), ingest.Options{From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	r := analyze.New(in.Tables(), analyze.Options{Version: in.Header().Version})
	r.ObserveSteps(m)
	start, _, _ := in.Window()
	begun := false
	err = ingest.Each(in, func(ev *model.Event) error {
		if !begun && ev.Time >= start {
			begun = true
			m.Begin(start)
			r.Observe(m)
		}
		return m.Apply(ev)
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Finish(start + model.Time(to-from))
	r.Finish(m.Start(), m.Now())
	return r
}

// TestEqualToAnalyze checks that samples say the same as reports of the same window.
func TestEqualToAnalyze(t *testing.T) {
	for _, name := range fixtures(t) {
		data := fixture(t, name)
		x := mustRead(t, data, Input{Name: name}, specOf(t, "1ms..20ms", "", "sum(runnable)", "p0(runnable)", "p50(runnable)",
			"p99(runnable)", "p99.9(runnable)", "max(runnable)", "mean(runnable)", "p90(running)", "p90(blocked)", "p90(syscall)", "sum(steals)", "sum(handoffs)"), Options{})
		r := analyzed(t, data, model.Duration(x.From), model.Duration(x.To))
		all := &r.Latency.All
		equal(t, name+": waits", val(t, x, "sum(runnable)").N, all.Count())
		if all.Count() == 0 {
			continue
		}
		for q, text := range map[float64]string{0: "p0(runnable)", 0.5: "p50(runnable)", 0.99: "p99(runnable)", 0.999: "p99.9(runnable)"} {
			equal(t, name+": "+text, val(t, x, text).X, float64(all.Quantile(q)))
		}
		equal(t, name+": max", val(t, x, "max(runnable)").X, float64(all.Max()))
		equal(t, name+": mean", val(t, x, "mean(runnable)").X, float64(all.Total())/float64(all.Count()))
		equal(t, name+": running", val(t, x, "p90(running)").X, float64(r.Bursts.All.Quantile(0.9)))
		if r.Syscalls.All.Count() > 0 {
			equal(t, name+": syscalls", val(t, x, "p90(syscall)").X, float64(r.Syscalls.All.Quantile(0.9)))
		}
		equal(t, name+": steals", val(t, x, "sum(steals)").N, r.Queues.Steals)
		handoffs := int64(0)
		for c := range r.Handoffs.ByCause {
			handoffs += r.Handoffs.ByCause[c].Count
		}
		equal(t, name+": handoffs", val(t, x, "sum(handoffs)").N, handoffs)
		equal(t, name+": causes", r.Causes.Total, all.Total())
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	quantities := append(sumsOf(), "p99(runnable)", "share(runnable{cause=behind-gc})")
	for _, name := range []string{"generations.go1.26.p4.trace", "gc.go1.26.p4.trace"} {
		spec := specOf(t, "", "", quantities...)
		var texts []string
		for _, workers := range []int{1, 3, 1} {
			x := mustRead(t, fixture(t, name), Input{Name: name}, spec, Options{Workers: workers})
			b, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(b))
		}
		if texts[0] != texts[1] || texts[0] != texts[2] {
			t.Errorf("%s: samples depend on the number of workers or differ from time to time", name)
		}
	}
}

// TestBlame checks that waiting behind functions adds up to that behind all code, except what
// is unknown, and that of a function behind which nobody waited is 0.
func TestBlame(t *testing.T) {
	const nobody = "sum(wait{behind=main.main})"
	for _, tt := range []struct {
		name      string
		estimated bool
	}{{"hogs.go1.26.p2.trace", true}, {"http.trace", true}, {"mixed.go1.26.p2.trace", false}} {
		data := fixture(t, tt.name)
		var rows []result.BlameRow
		x := mustRead(t, data, Input{}, specOf(t, "", "", nobody), Options{Report: func(r *analyze.Report) { rows = r.Blame.Behind() }})
		if v, ok := x.Values[nobody]; !ok || v.X != 0 || v.N != 0 {
			t.Errorf("%s: behind main.main: %+v, missing %q", tt.name, v, x.Missing[nobody])
		}
		byFunc := map[string]model.Duration{}
		var known, unknown model.Duration
		for _, r := range rows {
			byFunc[r.Function] += r.Total - r.Unknown
			known, unknown = known+r.Total-r.Unknown, unknown+r.Unknown
		}
		list := []string{"sum(wait{behind=*})", "sum(wait{behind=*,cause=behind-a-goroutine})", "sum(wait{behind=*,cause=proc-held-by-syscall})",
			"share(behind=*)", "mean(runnable{behind=*}/s)", "sum(runnable)"}
		for fn, d := range byFunc {
			if d > 0 {
				list = append(list, fmt.Sprintf("sum(wait{behind=%q})", fn))
			}
		}
		x = mustRead(t, data, Input{}, specOf(t, "", "", list...), Options{})
		all := val(t, x, list[0])
		equal(t, tt.name+": behind all code", model.Duration(all.X), known)
		if want := float64(unknown) / float64(known+unknown); all.Unknown != want || (all.Estimated > 0) != tt.estimated {
			t.Errorf("%s: %+v, want %g unknown", tt.name, all, want)
		}
		if share, total := val(t, x, list[3]).X, val(t, x, list[5]).X; math.Abs(share*total-all.X) > 1 {
			t.Errorf("%s: share %g of %g, want %g", tt.name, share, total, all.X)
		}
		if rate := val(t, x, list[4]).X * float64(x.To-x.From) / 1e9; math.Abs(rate-all.X) > 1 {
			t.Errorf("%s: %g from the rate, want %g", tt.name, rate, all.X)
		}
		for fn, d := range byFunc {
			if q := fmt.Sprintf("sum(wait{behind=%q})", fn); d > 0 {
				equal(t, tt.name+": behind "+fn, model.Duration(val(t, x, q).X), d)
			}
		}
		for i, cause := range []result.Cause{result.CauseGoroutine, result.CauseSyscall} {
			sum := model.Duration(0)
			for _, r := range rows {
				if r.Kind == cause.String() || r.Kind == result.BlameShortSyscall && cause == result.CauseSyscall {
					sum += r.Total - r.Unknown
				}
			}
			equal(t, tt.name+": "+cause.String(), model.Duration(val(t, x, list[1+i]).X), sum)
		}
	}
}

func TestMissing(t *testing.T) {
	data := fixture(t, "mutex.go1.26.p4.trace")
	tests := []struct{ quantity, why string }{
		{"p99(runnable{func=main.nosuch})", "nothing matches func=main.nosuch"},
		{"sum(runnable{func=main.nosuch})", "nothing matches func=main.nosuch"},
		{"sum(wakes{origin=nosuch})", "nothing matches origin=nosuch"},
		{"sum(runnable{cause=nosuch})", "nothing matches cause=nosuch"},
		{"sum(blocked{reason=synch})", "nothing matches reason=synch"},
		{"share(blocked{reason=synch})", "nothing matches reason=synch"},
		{"sum(region{name=nosuch})", "nothing matches name=nosuch"},
		{"p50(region)", "no value of region"},
		{"mean(wait/op)", "does not say what an op is"},
		{"p50(op)", "only if they are regions or tasks"},
		{"sum(ops)", "does not say what an op is"},
		{"mean(cpu/s)", "no environment record"},
		{"share(runnable{func=*,origin=*,cause=*})", "not by both"},
		{"sum(wait{behind=main.nosuch})", "nothing matches behind=main.nosuch"},
	}
	var quantities []string
	for _, tt := range tests {
		quantities = append(quantities, tt.quantity)
	}
	x := mustRead(t, data, Input{}, specOf(t, "", "", quantities...), Options{})
	for _, tt := range tests {
		q, _ := rule.ParseQuantity(tt.quantity)
		if why := x.Missing[q.String()]; !strings.Contains(why, tt.why) {
			t.Errorf("%s: %q, want %q; value %v", tt.quantity, why, tt.why, x.Values[q.String()])
		}
	}
	if len(x.Values) > 0 {
		t.Errorf("values %v", x.Values)
	}
}

// TestZero checks that what really did not happen is 0, not missing.
func TestZero(t *testing.T) {
	list := []string{"sum(gc)", "sum(blocked{reason=chan-send})", "sum(stw{reason=read-mem-stats})", "sum(handoffs{cause=unknown})",
		"sum(runnable{cause=behind-gc})", "share(runnable{cause=behind-gc})", "sum(preemptions{func=main.main*})", "mean(region/s)"}
	x := mustRead(t, fixture(t, "mutex.go1.26.p4.trace"), Input{}, specOf(t, "", "", list...), Options{})
	for _, q := range list {
		if v := val(t, x, q); v != (Value{}) {
			t.Errorf("%s = %v, want 0 of nothing", q, v)
		}
	}
}

func TestOps(t *testing.T) {
	data := fixture(t, "tasks.go1.26.p4.trace")
	tests := []struct {
		op  string
		has bool // lengths
	}{{"region:*", true}, {"task:*", true}, {"goroutine:main.*", false}}
	for _, tt := range tests {
		x := mustRead(t, data, Input{}, specOf(t, "all", tt.op, "sum(ops)", "mean(ops/s)", "mean(op)", "mean(wait/op)", "sum(wait)", "sum(region)", "sum(task)"), Options{})
		ops := val(t, x, "sum(ops)").X
		if ops == 0 || float64(x.Ops) != ops {
			t.Errorf("%s: %v ops, sample %d", tt.op, ops, x.Ops)
		}
		equal(t, tt.op+": wait/op", val(t, x, "mean(wait/op)").X, val(t, x, "sum(wait)").X/ops)
		equal(t, tt.op+": ops/s", val(t, x, "mean(ops/s)").X, ops/(float64(x.To-x.From)/1e9))
		if !tt.has {
			if why := x.Missing["mean(op)"]; !strings.Contains(why, "only if they are regions or tasks") {
				t.Errorf("%s: %q", tt.op, why)
			}
			continue
		}
		kind, _, _ := strings.Cut(tt.op, ":")
		equal(t, tt.op+": lengths", val(t, x, "mean(op)").N, val(t, x, "sum("+kind+")").N)
	}
	for op, why := range map[string]string{"region:nosuch": "no op ended", "count": "no environment record", "request": "is none of"} {
		x := mustRead(t, data, Input{}, specOf(t, "", op, "mean(wait/op)"), Options{})
		if got := x.Missing["mean(wait/op)"]; !strings.Contains(got, why) {
			t.Errorf("%s: %q, want %q", op, got, why)
		}
	}
}

func TestWindows(t *testing.T) {
	data := fixture(t, "mixed.go1.26.p2.trace")
	all := mustRead(t, data, Input{}, specOf(t, "all", "", "sum(wait)"), Options{})
	tests := []struct {
		window   string
		from, to model.Duration
	}{
		{"", all.To / 10, all.To},
		{"10ms..20ms", 10_000_000, 20_000_000},
		{"..20ms", all.From, 20_000_000},
		{"10ms..", 10_000_000, all.To},
	}
	for _, tt := range tests {
		x := mustRead(t, data, Input{}, specOf(t, tt.window, "", "sum(wait)"), Options{})
		if abs(x.From-tt.from) > 1 || x.To != tt.to {
			t.Errorf("%q: %d..%d, want %d..%d", tt.window, x.From, x.To, tt.from, tt.to)
		}
	}
	// A trace that ends long before its window is not whole: it is of less than was asked.
	for window, whole := range map[string]bool{"10ms..20ms": true, "10ms..": true, fmt.Sprintf("..%dns", all.To+5_000_000): true, fmt.Sprintf("..%dns", all.To+20_000_000): false, "10ms..10s": false} {
		x := mustRead(t, data, Input{}, specOf(t, window, "", "sum(wait)"), Options{})
		if x.Whole != whole || !whole && !strings.Contains(x.Loss, "the window ends at") {
			t.Errorf("%q: whole %v (%s), want %v", window, x.Whole, x.Loss, whole)
		}
	}
	// What happened belongs to one of two windows, not to both.
	sums := []string{"sum(wait)", "sum(wakes)", "sum(starts)", "sum(preemptions)", "sum(created)", "sum(run)"}
	early, late := mustRead(t, data, Input{}, specOf(t, "..20ms", "", sums...), Options{}), mustRead(t, data, Input{}, specOf(t, "20ms..", "", sums...), Options{})
	both := mustRead(t, data, Input{}, specOf(t, "all", "", sums...), Options{})
	for _, q := range sums {
		equal(t, q+" of two windows", val(t, early, q).X+val(t, late, q).X, val(t, both, q).X)
	}
	for window, why := range map[string]string{
		"region:nosuch": "no region nosuch", "10s..": "no length", "5ms..4ms": "not after", "later": "want region:NAME", "-1s..": "want region:NAME",
		"..1ns": "no event in the window",
	} {
		if _, err := readBytes(data, Input{}, specOf(t, window, ""), Options{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", window, err, why)
		}
	}
}

func abs(d model.Duration) model.Duration { return max(d, -d) }

// TestOldFormat checks that a window of a trace without generations is one, and that
// what such a trace does not tell is missing.
func TestOldFormat(t *testing.T) {
	data := fixture(t, "foreign/fgprof.go1.21.trace")
	all := mustRead(t, data, Input{}, specOf(t, "all", "", "sum(wait)"), Options{})
	x := mustRead(t, data, Input{}, specOf(t, "100ms..200ms", "", "sum(wait)", "sum(steals)", "sum(runnable{cause=*})"), Options{})
	if x.From != 100_000_000 || x.To != 200_000_000 || x.Events == 0 || x.Events >= all.Events {
		t.Errorf("%d..%d, %d of %d events", x.From, x.To, x.Events, all.Events)
	}
	if len(x.Missing) != 2 {
		t.Errorf("missing %v", x.Missing)
	}
}

func TestDamaged(t *testing.T) {
	data := fixture(t, "generations.go1.26.p4.trace")
	index, err := ingest.NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(index.Generations) < 2 {
		t.Fatal(index, err)
	}
	last := index.Generations[len(index.Generations)-1]
	cut := data[:last.Offset+last.Length/2]
	x := mustRead(t, cut, Input{}, specOf(t, "", "", "p50(runnable)"), Options{})
	if x.Whole || !strings.Contains(x.Loss, "lost") {
		t.Errorf("whole %v, loss %q", x.Whole, x.Loss)
	}
	// What is lost counts although the window ends before.
	x = mustRead(t, cut, Input{}, specOf(t, "..100ms", "", "p50(runnable)"), Options{})
	if x.Whole {
		t.Error("a trace that is cut off is whole, of a window before")
	}
	whole := mustRead(t, data, Input{}, specOf(t, "..100ms", "", "p50(runnable)"), Options{})
	if !whole.Whole || whole.Values["p50(runnable)"] != x.Values["p50(runnable)"] {
		t.Errorf("whole %v %q, %v and %v", whole.Whole, whole.Loss, whole.Values, x.Values)
	}
	for _, bad := range [][]byte{nil, []byte("hello"), data[:16], data[:64]} {
		if x, err := readBytes(bad, Input{}, specOf(t, "", ""), Options{}); err == nil {
			t.Errorf("%d bytes: sample %+v", len(bad), x)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	data := fixture(t, "mutex.go1.26.p4.trace")
	if _, err := Read(ctx, bytes.NewReader(data), int64(len(data)), Input{}, specOf(t, "", ""), Options{}); err != context.Canceled {
		t.Error(err)
	}
}

// failing is a file that cannot be read beyond its beginning.
type failing struct{ data []byte }

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off > int64(len(f.data))/2 {
		return 0, io.ErrNoProgress
	}
	return bytes.NewReader(f.data).ReadAt(p, off)
}

func TestReadError(t *testing.T) {
	data := fixture(t, "generations.go1.26.p4.trace")
	x, err := Read(context.Background(), failing{data}, int64(len(data)), Input{}, specOf(t, "", ""), Options{})
	if err == nil && x.Whole {
		t.Error("a file that cannot be read is whole")
	}
}

// TestRecordNextTo checks what the environment record in the file next to a trace gives.
func TestRecordNextTo(t *testing.T) {
	run := &env.Run{
		Begin: env.Record{Schema: env.Schema, Point: env.Begin, Workload: "w", OS: "linux", Arch: "amd64", NumCPU: 4, MonoNS: 1, Process: &env.Process{}, CanaryNS: 5},
		End:   env.Record{Schema: env.Schema, Point: env.End, MonoNS: 1e9 + 1, Process: &env.Process{UserNS: 3e8, SystemNS: 1e8, Nivcsw: 80}},
	}
	spec := specOf(t, "..20ms", "task:*", "mean(cpu/op)", "mean(cpu/s)", "sum(cpu)", "sum(ops)")
	x := mustRead(t, fixture(t, "tasks.go1.26.p4.trace"), Input{Env: run}, spec, Options{})
	all := mustRead(t, fixture(t, "tasks.go1.26.p4.trace"), Input{Env: run}, specOf(t, "all", "task:*", "sum(ops)"), Options{})
	if x.Ops >= all.Ops {
		t.Fatalf("%d of %d ops in the window", x.Ops, all.Ops)
	}
	equal(t, "cpu", val(t, x, "sum(cpu)").X, 4e8)
	equal(t, "cpu/s", val(t, x, "mean(cpu/s)").X, 4e8)
	equal(t, "cpu/op: of the whole trace", val(t, x, "mean(cpu/op)").X, 4e8/float64(all.Ops))
	equal(t, "cpu of the window", x.CPU, 0)
	equal(t, "nivcsw", *x.Noise.Nivcsw, 20)
	equal(t, "canary", *x.Noise.Canary, 5)
	equal(t, "workload", x.Identity.Workload, "w")
	equal(t, "go", x.Identity.Go, "go1.26")
}

// TestSampled checks what is known of CPU samples: those in the trace, else what the record says.
func TestSampled(t *testing.T) {
	beside := func(samples *bool) *env.Run {
		return &env.Run{Begin: env.Record{Schema: env.Schema, Point: env.Begin, MonoNS: 1, Samples: samples}, End: env.Record{Schema: env.Schema, Point: env.End, MonoNS: 2}}
	}
	for _, tt := range []struct {
		name string
		env  *env.Run
		want string
	}{
		{"hogs.go1.26.p2.trace", nil, "yes"},
		{"hogs.go1.26.p2.trace", beside(new(false)), "yes"}, // of a profile that the recorder knew nothing of
		{"quiet.go1.26.p4.trace", nil, ""},
		{"quiet.go1.26.p4.trace", beside(nil), ""},
		{"quiet.go1.26.p4.trace", beside(new(true)), "yes"},
		{"quiet.go1.26.p4.trace", beside(new(false)), "no"},
	} {
		x := mustRead(t, fixture(t, tt.name), Input{Env: tt.env}, specOf(t, "all", "", "sum(gc)"), Options{})
		equal(t, tt.name, x.Identity.Samples, tt.want)
	}
}

func TestKeysAreCanonical(t *testing.T) {
	spec := specOf(t, "all", "", `p99(runnable{origin="*",func="*"})`, "p99(runnable)")
	x := mustRead(t, fixture(t, "mutex.go1.26.p4.trace"), Input{}, spec, Options{})
	for _, key := range slices.Sorted(maps.Keys(x.Values)) {
		q, err := rule.ParseQuantity(key)
		if err != nil || q.String() != key {
			t.Errorf("key %s: %v", key, err)
		}
	}
	a, b := val(t, x, "p99(runnable{func=*,origin=*})"), val(t, x, "p99(runnable)")
	if a != b {
		t.Errorf("%v, all selected %v", b, a)
	}
}

// becoming counts the steps of a trace by which goroutines of the program become runnable
// that were blocked or not there, and those by which they begin to run.
type becoming struct{ wakes, starts, preemptions int64 }

func (b *becoming) Step(s *model.Step) {
	if s.Kind != model.StepGo || s.Flags&(model.StepStatus|model.StepSystem) != 0 {
		return
	}
	from, to := model.GoState(s.From), model.GoState(s.To)
	switch {
	case to == model.GoRunnable && (from == model.GoWaiting || from == model.GoNotExist):
		b.wakes++
	case to == model.GoRunning && s.Pseudo == model.PseudoCoroutine:
		b.wakes-- // it was switched to, which is known only now
	case to == model.GoRunnable && s.Origin == model.OriginPreempted:
		b.preemptions++
	case to == model.GoRunning && from == model.GoRunnable && s.Pseudo == model.NotPseudo:
		b.starts++
	}
}

// TestCounts checks counts against the steps of the model.
func TestCounts(t *testing.T) {
	for _, name := range fixtures(t) {
		data := fixture(t, name)
		x := mustRead(t, data, Input{Name: name}, specOf(t, "all", "", "sum(wakes)", "sum(starts)", "sum(preemptions)"), Options{})
		in, err := ingest.NewReaderAt(bytes.NewReader(data), int64(len(data)), ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, b := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version}), &becoming{}
		m.Observe(b)
		if err := ingest.Each(in, m.Apply); err != nil {
			t.Fatal(err)
		}
		equal(t, name+": wakes", val(t, x, "sum(wakes)").N, b.wakes)
		equal(t, name+": starts", val(t, x, "sum(starts)").N, b.starts)
		equal(t, name+": preemptions", val(t, x, "sum(preemptions)").N, b.preemptions)
	}
}

// TestCorrupt checks that damaged traces end in an error, or in a sample that says whether
// it is whole; never in a panic.
func TestCorrupt(t *testing.T) {
	data := fixture(t, "syscalls.go1.26.p4.trace")
	rnd := rand.New(rand.NewPCG(5, 6))
	runs, spec := 30, specOf(t, "", "region:*", append(sumsOf(), "p99(runnable)", "mean(wait/op)")...)
	if testing.Short() {
		runs = 8
	}
	for range runs {
		bad := bytes.Clone(data)
		for range 1 + rnd.IntN(4) {
			bad[16+rnd.IntN(len(bad)-16)] = byte(rnd.IntN(256))
		}
		x, err := readBytes(bad, Input{}, spec, Options{})
		if err == nil && x.Whole != (x.Loss == "") {
			t.Errorf("whole %v, loss %q", x.Whole, x.Loss)
		}
	}
}

// TestDamagedMiddle checks that of a trace with damage in its middle just as much is measured as
// is known: about the same as of the sound trace up to there.
func TestDamagedMiddle(t *testing.T) {
	data := fixture(t, "echo.go1.26.p4.trace")
	rnd, found := rand.New(rand.NewPCG(7, 8)), 0
	for range 60 {
		bad := bytes.Clone(data)
		bad[len(bad)/4+rnd.IntN(len(bad)*3/4)] ^= byte(1 + rnd.IntN(255))
		rd, err := scanTrace(t.Context(), session.File(bytes.NewReader(bad), int64(len(bad))), bytes.NewReader(bad), specOf(t, "all", ""), Options{Workers: 1})
		if err != nil || !rd.scan.cut {
			continue
		}
		s := rd.scan
		found++
		quantities := []string{"sum(wait)", "sum(runnable)", "sum(run)", "sum(blocked)", "sum(wakes)", "max(runnable)"}
		got := mustRead(t, bad, Input{}, specOf(t, "all", "", quantities...), Options{})
		want := mustRead(t, data, Input{}, specOf(t, fmt.Sprintf("..%dns", s.length()), "", quantities...), Options{})
		if got.Whole || !strings.Contains(got.Loss, "used up to") || got.To != s.length() {
			t.Errorf("up to %v of %v, whole %v: %s", got.To, s.length(), got.Whole, got.Loss)
		}
		for _, q := range quantities {
			// A flipped byte is an event or a time as well.
			if a, b := got.Values[q], want.Values[q]; math.Abs(a.X-b.X) > 0.06*b.X || a.N < b.N*9/10 || a.N > b.N*11/10+2 {
				t.Errorf("used up to %v: %s is %v of %d, of the sound trace %v of %d", got.To, q, a.X, a.N, b.X, b.N)
			}
		}
	}
	if found < 3 {
		t.Errorf("%d traces with damage in the middle, want some", found)
	}
}

// onceWhole is a file that is truncated when it is read again after all of its generations
// were: for the third time, since the first is for the index.
type onceWhole struct {
	mu    sync.Mutex
	data  []byte
	first int64 // where the first generation begins
	left  int64 // how long it is from then on
	size  int64
	ended bool // it was read up to its end
	times int  // that it was, before it was read from its beginning
}

func (f *onceWhole) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if off == f.first && f.ended {
		f.ended = false
		if f.times++; f.times == 2 {
			f.size = f.left
		}
	}
	n, err := bytes.NewReader(f.data[:f.size]).ReadAt(p, off)
	f.ended = f.ended || off+int64(n) == f.size
	return n, err
}

// TestTruncatedBetween: a trace that is truncated after the first look at it is not whole.
func TestTruncatedBetween(t *testing.T) {
	data := fixture(t, "generations.go1.26.p4.trace")
	x, err := ingest.NewIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f := &onceWhole{data: data, first: x.Generations[0].Offset, left: x.Generations[2].Offset, size: x.Size}
	s, err := Read(t.Context(), f, x.Size, Input{Name: "x.trace"}, specOf(t, "", "", "p99(runnable)"), Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if f.size != f.left {
		t.Fatal("not truncated")
	}
	if s.Whole || !strings.Contains(s.Loss, ingest.ErrChanged.Error()) {
		t.Errorf("whole %t, loss %q", s.Whole, s.Loss)
	}
}

// TestReadOnce: what is measured while the window is looked for is what a second reading measures.
func TestReadOnce(t *testing.T) {
	traces := map[string][]byte{"recorded": recorded(t, 50, takeAndLog)}
	traces["between records"] = bytes.ReplaceAll(traces["recorded"], []byte(WindowRegion), []byte("schedscope.wonder"))
	if !testing.Short() {
		for _, name := range fixtures(t) {
			traces[name] = fixture(t, name)
		}
	}
	traces["generations"] = fixture(t, "generations.go1.26.p4.trace")
	once := map[string]int{}
	for name, data := range traces {
		for _, window := range []string{"", "all", "1ms..20ms", "5ms..", "1200ms..1500ms", "2500ms..", "region:*"} {
			spec := specOf(t, window, "", append(sumsOf(), "p99(runnable)", "p99(blocked)", "sum(requests)", "sum(steals)")...)
			r := bytes.NewReader(data)
			f := session.File(r, r.Size())
			rd, err := scanTrace(t.Context(), f, r, spec, Options{})
			if err != nil {
				t.Fatal(name, err)
			}
			s := rd.scan
			w, err := s.windowOf(spec)
			if err != nil || !rd.is(w) {
				rd.Close()
				continue
			}
			once[window]++
			var got [2][]byte
			again, err := s.measure(t.Context(), f, w, spec, Options{})
			if err != nil {
				t.Fatalf("%s, %q: %v", name, window, err)
			}
			for i, x := range []*reading{rd, again} {
				x.window = w
				if err = x.finish(t.Context()); err == nil {
					got[i], err = json.Marshal(x.sample(s.environment(nil)))
				}
				x.Close()
				if err != nil {
					t.Errorf("%s, %q: %v", name, window, err)
				}
			}
			equal(t, fmt.Sprintf("%s, %q", name, window), string(got[0]), string(got[1]))
		}
	}
	if once[""] != 2 || once["all"] < len(traces)/2 || once["1ms..20ms"] < len(traces)/2 || once["region:*"] == 0 {
		t.Errorf("read once: %v of %d", once, len(traces))
	}
}
