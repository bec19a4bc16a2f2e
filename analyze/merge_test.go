package analyze

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// randomRecords feeds records as a Machine might, of a trace that begins at 0.
func randomRecords(f *feed, r records, rnd *rand.Rand, n int) {
	names := []string{"main.a", "main.b", "net/http.(*conn).serve", "runtime.bgsweep"}
	reasons := []string{"", "select", "sleep", "chan receive"}
	now := model.Duration(0)
	for i := range n {
		name := names[rnd.IntN(len(names))]
		g := r.goroutine(model.GoID(rnd.IntN(50)), name)
		g.System = name == "runtime.bgsweep"
		length := model.Duration(64 * (1 + rnd.IntN(1<<(1+rnd.IntN(18)))))
		s := goSpan(g, model.GoState(2+rnd.IntN(3)), max(now-length, 0), min(length, now))
		s.Origin = model.Origin(rnd.IntN(int(model.NumOrigins)))
		s.Reason = r.str(reasons[rnd.IntN(len(reasons))])
		s.OpenEnd = rnd.IntN(50) == 0
		f.GoSpan(s)
		p := r.procSpan(model.ProcID(rnd.IntN(4)), g.ID, name, now, length)
		p.State, p.Work = model.ProcState(1+rnd.IntN(5)), model.WorkKind(rnd.IntN(int(model.NumWorkKinds)))
		f.ProcSpan(p)
		f.Counts(&model.Counts{Start: model.Time(now), End: model.Time(now + length), Procs: 4, Idle: rnd.IntN(3), Running: 1, Runnable: rnd.IntN(3), Overloaded: rnd.IntN(2)})
		now += length
		at := model.Time(now)
		switch i % 8 {
		case 0:
			f.SyscallExit(&model.SyscallExit{Func: g.Func, Start: at - 90, End: at, Blocked: model.Duration(i % 50), Path: model.SyscallExitPath(i % 5)})
		case 1:
			f.Handoff(&model.Handoff{Cause: model.HandoffCause(i % 7), Lost: at - 50, Got: at, InSyscall: 99, Open: i%3 == 0})
		case 2:
			f.Netpoll(&model.NetpollWake{Poller: model.Poller(i % 7), Time: at - 70, Started: at, Direct: i%3 == 0})
		case 3:
			f.STW(&model.STW{Reason: reasons[i%4], Start: at - 40, Stopped: at - 30, Effective: at - 20, End: at})
		case 4:
			f.Task(&model.Task{ID: model.TaskID(i), Name: s.Reason, Start: at - 500, End: at})
			f.Region(&model.Region{Name: s.Reason, G: g.ID, Start: at - 300, End: at})
		case 5:
			f.Range(&model.RangeSpan{Name: r.str("GC mark assist"), Start: at - 10, End: at})
		case 6:
			f.Metric(&model.MetricSample{Time: at, Name: metricHeap, Value: uint64(i)})
		case 7:
			g.Times[model.GoRunning] = length
			g.Block = []model.ReasonTime{{Reason: s.Reason, Count: 1, Total: length}}
			f.GoEnd(g)
		}
	}
}

// summary tells what a report holds, as text. What belongs to single traces is
// left out.
func summary(r *Report) string {
	var b strings.Builder
	dist := func(name string, d *Dist) {
		fmt.Fprintln(&b, name, d.Count(), d.Total(), d.Min(), d.Max(), d.MaxAt(), d.Quantiles(0.1, 0.5, 0.9, 0.99))
	}
	rows := func(name string, rows []DistRow) {
		for _, row := range rows {
			dist(name+" "+row.Name, row.Dist)
		}
	}
	dist("latency", &r.Latency.All)
	dist("system latency", &r.Latency.System)
	for i := range r.Latency.ByOrigin {
		dist("origin", &r.Latency.ByOrigin[i])
	}
	rows("latency", r.Latency.ByFunc())
	fmt.Fprintln(&b, r.Latency.Censored, r.Latency.SystemCensored, r.Latency.Pseudo)
	dist("bursts", &r.Bursts.All)
	rows("bursts", r.Bursts.ByFunc())
	fmt.Fprintln(&b, r.Bursts.Long, r.Bursts.VeryLong, r.Bursts.Censored)
	dist("waits", &r.Waits.All)
	rows("waits", r.Waits.ByReason())
	dist("syscalls", &r.Syscalls.Blocked)
	dist("syscalls", &r.Syscalls.ByPath[2])
	rows("syscalls", r.Syscalls.ByFunc())
	for _, row := range r.STWs.ByReason() {
		dist("STW "+row.Reason, row.Effective)
		dist("STW "+row.Reason, row.ToStop)
	}
	dist("netpoll", &r.Netpoll.All)
	fmt.Fprintln(&b, r.Handoffs.Count(), r.Handoffs.ByCause[1].Open, r.GC.Work, r.GC.Assists, *r.Threads)
	dist("handoffs", &r.Handoffs.ByCause[1].Gap)
	dist("episodes", &r.Idle.Episodes)
	fmt.Fprintln(&b, r.Idle.Span, r.Idle.Wall, r.Idle.PerProc, r.Idle.PerGoroutine, r.Idle.MaxRunnable, r.Idle.Utilisation(), r.Idle.Saturated)
	for _, row := range r.Tasks.ByName() {
		dist("task "+row.Name, row.Whole)
	}
	for _, row := range r.Regions.ByName() {
		dist("region "+row.Name, row.Whole)
	}
	fmt.Fprintln(&b, r.Goroutines.ByFunc())
	fmt.Fprintln(&b, r.Timeline.Width(), r.Timeline.Bins())
	for col := range r.Heat.Cols() {
		fmt.Fprintln(&b, r.Heat.cells[col])
	}
	for _, w := range r.Worst.Waits() {
		fmt.Fprintln(&b, w.Start, w.End, w.Func, w.Origin)
	}
	fmt.Fprintln(&b, r.Totals.Goroutines, r.Totals.SystemGoroutines, r.Totals.Procs, r.Totals.Span)
	return b.String()
}

// TestMergeEqualsBoth compares two merged reports with one that saw both traces,
// and with the same two when names got their IDs in another order.
func TestMergeEqualsBoth(t *testing.T) {
	const first, second = 6000, 9000
	run := func(r records, parts ...int) *Report {
		rep := New(r.tables, Options{})
		f := newFeed(rep, model.NewMachine(r.tables, model.Config{}))
		rep.feed = f
		for _, n := range parts {
			randomRecords(f, r, rand.New(rand.NewPCG(1, uint64(n))), n)
		}
		rep.Finish(0, 1000*model.Time(len(parts)))
		return rep
	}
	both := run(newRecords(), first, second)
	other := newRecords()
	for _, s := range []string{"sleep", "main.b", "else", "main.a"} {
		other.str(s)
	}
	a, b := run(newRecords(), first), run(other, second)
	a.Merge(b)
	if got, want := summary(a), summary(both); got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("merged, line %d:\n%.300s\nboth:\n%.300s", i, g[i], w[i])
			}
		}
		t.Fatalf("merged has %d lines, both %d", len(g), len(w))
	}
	if n := both.Latency.All.Count(); n < 2000 {
		t.Errorf("only %d waits were made", n)
	}
}

// TestMergeCauses compares merged causes, of tables with other IDs, with those of
// both traces in one.
func TestMergeCauses(t *testing.T) {
	run := func(c *Causes, tables *model.Tables, seeds ...uint64) *Causes {
		c.bins.b.begin(0)
		for _, seed := range seeds {
			r := newReference(tables)
			r.a = newAttribution(c, tables, 10)
			p := &play{rnd: rand.New(rand.NewPCG(seed, 3)), r: r, procs: 3}
			for i, name := range []string{"main.a", "main.b", "main.c"} {
				p.names[i] = tables.AddString(name)
			}
			p.stack = tables.AddStack([]model.Frame{{Func: "main.f", Line: 7}})
			p.run(2000)
		}
		return c
	}
	first, second := model.NewTables(), model.NewTables()
	for _, name := range []string{"main.c", "main.b", "other"} {
		second.AddString(name)
	}
	second.AddStack([]model.Frame{{Func: "main.other"}})
	both := run(newCauses(first), first, 1, 2)
	a, b := run(newCauses(first), first, 1), run(newCauses(second), second, 2)
	a.Merge(b)
	if got, want := causesSummary(a), causesSummary(both); got != want {
		t.Errorf("merged:\n%s\nboth:\n%s", got, want)
	}
	if n := a.Thresholds[len(a.Thresholds)-1].Trace; n != 1 {
		t.Errorf("last threshold is of trace %d, want 1", n)
	}
	if both.Waits < 500 {
		t.Errorf("only %d waits", both.Waits)
	}
}

func causesSummary(c *Causes) string {
	var b strings.Builder
	fmt.Fprintln(&b, c.Waits, c.Total)
	for i := range c.ByCause {
		x := &c.ByCause[i]
		fmt.Fprintln(&b, Cause(i), x.Total, x.Waits, x.Dominated.Count(), x.Dominated.Quantiles(0.5, 0.99), x.Dominated.MaxAt())
	}
	fmt.Fprintln(&b, c.ByOrigin)
	fmt.Fprintln(&b, c.ByFunc())
	for _, a := range c.Antagonists() {
		fmt.Fprintln(&b, a)
	}
	fmt.Fprintln(&b, c.Series())
	return b.String()
}

// TestMergeQueues compares merged queues with those that saw both traces.
func TestMergeQueues(t *testing.T) {
	feed := func(q *Queues, from, n int) {
		rnd := rand.New(rand.NewPCG(uint64(n), 1))
		for i := range n {
			at := model.Time(from + 100*i)
			q.Start(&runqueue.Start{Time: at, Source: runqueue.Source(rnd.IntN(5)), Via: runqueue.Via(rnd.IntN(3)), Grade: runqueue.Grade(rnd.IntN(3))})
			q.Steal(&runqueue.Steal{Time: at, Size: 1 + rnd.IntN(9), Runnext: rnd.IntN(3) == 0})
			q.Overflow(&runqueue.Overflow{Time: at})
			q.Fairness(&runqueue.Fairness{Time: at})
			q.Injection(&runqueue.Injection{Time: at, Global: rnd.IntN(3), Local: rnd.IntN(3)})
			q.Wakeup(&runqueue.Wakeup{Caused: rnd.IntN(3) > 0, Trigger: at - model.Time(rnd.IntN(90)), Got: at, Found: rnd.IntN(2) == 0})
			q.Lengths(&runqueue.Lengths{Time: at, P: model.ProcID(rnd.IntN(4) - 1), Len: rnd.IntN(50)})
		}
	}
	run := func(n int) *Queues {
		q := &Queues{}
		q.beginAt(0)
		feed(q, 0, n)
		q.Finish(0, model.Time(100*n))
		return q
	}
	a, b := run(300), run(400)
	total := a.Global.Sum + b.Global.Sum
	starts, steals := a.Starts+b.Starts, a.StealSizes.Total()+b.StealSizes.Total()
	a.Merge(b)
	equal(t, "starts", a.Starts, starts)
	equal(t, "stolen", a.StealSizes.Total(), steals)
	equal(t, "span", a.Span, 70_000)
	equal(t, "global queue", a.Global.Sum, total)
	equal(t, "local queues", len(a.Local()), 3)
	equal(t, "first local queue", a.Local()[0].P, 0)
}

// TestQueuesInWindow checks that what is before a window does not count, but
// what stands in the queues when it begins does.
func TestQueuesInWindow(t *testing.T) {
	q := &Queues{}
	q.Lengths(&runqueue.Lengths{Time: 100, P: model.NoProc, Len: 7})
	q.Lengths(&runqueue.Lengths{Time: 200, P: model.NoProc, Len: 3})
	q.Start(&runqueue.Start{Time: 300})
	q.beginAt(1000)
	q.Start(&runqueue.Start{Time: 999}) // told late
	q.Lengths(&runqueue.Lengths{Time: 980, P: model.NoProc, Len: 9})
	q.Lengths(&runqueue.Lengths{Time: 990, P: model.NoProc, Len: 3})
	q.Start(&runqueue.Start{Time: 1000})
	q.Lengths(&runqueue.Lengths{Time: 1100, P: model.NoProc, Len: 5})
	q.Finish(1000, 2000)
	equal(t, "starts", q.Starts, 1)
	equal(t, "length", q.Global.Sum, 3*100+5*900)
	equal(t, "longest", q.Global.Max, 5)
	equal(t, "proc", q.Global.P, model.NoProc)
	equal(t, "mean", q.Global.Mean(q.Span), 4.8)
}
