package analyze

import (
	"math/rand/v2"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// hotPaths feeds each analysis of the hot path one more record, in a trace that
// is under way: the i-th of an endless stream.
func hotPaths() map[string]func(i int) {
	r := newRecords()
	rnd := rand.New(rand.NewPCG(1, 1))
	const n = 1 << 12
	var spans [n]model.GoSpan
	var procs [n]model.ProcSpan
	g := []*model.Goroutine{r.goroutine(1, "main.a"), r.goroutine(2, "main.b"), r.goroutine(3, "main.c")}
	for i := range spans {
		length := model.Duration(64 * (1 + rnd.IntN(2000)))
		spans[i] = *goSpan(g[i%3], model.GoRunnable, 0, length)
		spans[i].Origin = model.Origin(1 + i%5)
		procs[i] = *r.procSpan(model.ProcID(i%4), 1, "main.a", 0, length)
	}
	// next moves a record to the place that it has in time.
	var now [4]model.Time
	goAt := func(i int, s model.GoState) *model.GoSpan {
		x := &spans[i%n]
		d := x.Duration()
		x.State, x.Start, x.End = s, model.Time(i)*1000, model.Time(i)*1000+model.Time(d)
		return x
	}
	procAt := func(i int) *model.ProcSpan {
		x := &procs[i%n]
		d := model.Time(x.Duration())
		x.Start, x.End = now[i%4], now[i%4]+d
		now[i%4] += d
		return x
	}
	l, b, w, h := NewLatency(r.tables, 20), NewBursts(r.tables, 20), NewWaits(r.tables), NewHeat()
	worst, tl, idle, gc := NewWorst(r.tables, 10), NewTimeline(), NewIdle(NewTimeline()), NewGC(r.tables, nil)
	counts := func(i int) *model.Counts {
		return &model.Counts{Start: model.Time(i) * 500, End: model.Time(i+1) * 500, Procs: 4, Idle: i & 1, Runnable: i & 3, Running: 2}
	}
	sys := NewSyscalls(r.tables)
	return map[string]func(i int){
		"Latency":           func(i int) { l.GoSpan(goAt(i, model.GoRunnable)) },
		"Heat":              func(i int) { h.GoSpan(goAt(i, model.GoRunnable)) },
		"Worst":             func(i int) { worst.GoSpan(goAt(i, model.GoRunnable)) },
		"Bursts":            func(i int) { b.GoSpan(goAt(i, model.GoRunning)) },
		"Waits":             func(i int) { w.GoSpan(goAt(i, model.GoWaiting)) },
		"Syscalls":          func(i int) { sys.SyscallExit(&model.SyscallExit{Start: 0, End: model.Time(spans[i%n].Duration())}) },
		"Timeline/ProcSpan": func(i int) { tl.ProcSpan(procAt(i)) },
		"Timeline/Counts":   func(i int) { tl.Counts(counts(i)) },
		"Idle":              func(i int) { idle.Counts(counts(i)) },
		"GC":                func(i int) { gc.ProcSpan(&procs[i%n]) },
	}
}

// TestSteadyStateAllocs checks that the hot paths do not allocate per record.
func TestSteadyStateAllocs(t *testing.T) {
	for name, feed := range hotPaths() {
		i := 0
		for ; i < 50_000; i++ {
			feed(i)
		}
		const batch = 1000
		allocs := testing.AllocsPerRun(10, func() {
			for range batch {
				feed(i)
				i++
			}
		})
		if allocs > batch/100 {
			t.Errorf("%s: %.0f allocations for %d records", name, allocs, batch)
		}
	}
}

func BenchmarkHot(b *testing.B) {
	for _, name := range []string{"Latency", "Heat", "Worst", "Bursts", "Waits", "Syscalls", "Timeline/ProcSpan", "Timeline/Counts", "Idle", "GC"} {
		b.Run(name, func(b *testing.B) {
			feed := hotPaths()[name]
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				feed(i)
				i++
			}
		})
	}
}
