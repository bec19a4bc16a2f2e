package findings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/model"
)

// lacking returns a report of 4 s in which the procs seem to run goroutines for some time.
func lacking(t *testing.T, ran model.Duration, samples int64) *result.Report {
	v := resulttest.Read(t, "hogs.go1.26.p2.trace")
	u := &v.Procs.Uses
	u[result.UseUser], u[result.UseGC], u[result.UseAssist], u[result.UseRuntime] = ran, 0, 0, 0
	v.Totals.Span = 4e9
	v.Blame.Samples, v.Blame.SampledSpan, v.Blame.KeptSpan, v.Blame.KeptSamples = samples, v.Totals.Span, 0, 0
	return v
}

// items returns the findings that are items of the verdict.
func items(v *result.Report) []result.Finding {
	return slices.DeleteFunc(slices.Clone(v.Findings), func(f result.Finding) bool { return f.Title == "" })
}

// TestLackOfCPUs checks when a lack of CPUs comes before the code that had the procs, what it is called, and what its
// remedy is.
func TestLackOfCPUs(t *testing.T) {
	const ms = model.Duration(1e6)
	const others, limit, procs = "Move what else runs there, or raise the CPU limit", "Raise the CPU limit: GOMAXPROCS is 2", "Raise the CPU limit, or set GOMAXPROCS to it, rounded up: it is 8."
	quota := func(v *result.Report) { v.Pathologies = []result.Pathology{{Name: "cpu-throttling"}} }
	unceasing := func(callee string) func(*result.Report) { // rec.Spin, in a program with requests
		return func(v *result.Report) {
			v.Goroutines, v.Requests = []result.Group{{Function: "main.loop", Count: 1, Lifetime: 4000 * ms}}, []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: result.Dist{Count: 1}}}}
			v.Goroutines[0].States[model.GoRunning] = 3900 * ms
			for i := range v.Blame.Rows {
				r := &v.Blame.Rows[i]
				r.Stacks = []result.BlameStack{{Stack: []result.Frame{{Function: callee}, {Function: r.Function}, {Function: "main.loop"}}, Total: r.Total}}
			}
		}
	}
	alone := func(callee string) func(*result.Report) { // in one without, and without its samples
		return func(v *result.Report) {
			unceasing(callee)(v)
			v.Requests = nil
			for i := range v.Blame.Rows {
				v.Blame.Rows[i].Stacks[0].Basis = "seen"
			}
		}
	}
	for name, x := range map[string]struct {
		ran                 model.Duration
		samples             int64
		change              func(*result.Report)
		kind, title, advice string
	}{
		"few samples":          {1650 * ms, 112, nil, "more-procs-than-cpus", "a busy machine, or a CPU quota: on average 0.28 threads ran and 0.13 waited for a CPU, GOMAXPROCS is 2", others},
		"ran without a CPU":    {2400 * ms, 150, nil, "more-procs-than-cpus", "a busy machine, or a CPU quota: on average 0.38 threads ran and 0.23 waited", others},
		"few where it matters": {1040 * ms, 77, func(v *result.Report) { v.Blame.KeptSpan = 67 * ms }, "more-procs-than-cpus", "a busy machine, or a CPU quota: ", others},
		"enough of them":       {1040 * ms, 77, func(v *result.Report) { v.Blame.KeptSpan, v.Blame.KeptSamples = 67*ms, 4 }, "busy-procs", "", "Bound"},
		"more than a CPU":      {4000 * ms, 190, nil, "busy-procs", "", "Bound"},
		"a quarter of a proc":  {1000 * ms, 60, func(v *result.Report) { v.Procs.Mean = 0.6 }, "busy-procs", "", "Bound"},
		"of one proc":          {1040 * ms, 77, func(v *result.Report) { v.Procs.Mean = 1 }, "busy-procs", "", "Cache"},
		"with a herd": {1650 * ms, 112, func(v *result.Report) {
			v.Procs.Peak = result.Peak{Runnable: 3000, Wakers: []result.PeakWaker{{Function: "main.publish", Count: 2990}}}
			v.Latency.ByOrigin = []result.Named{{Name: model.OriginGoroutine.String(), Dist: v.Latency.All}}
		}, "batch", "main.publish wakes very many", "Wake one"},
		"of timers": {1650 * ms, 112, func(v *result.Report) {
			v.Procs.Peak.Runnable = 3000
			v.Latency.ByOrigin = []result.Named{{Name: model.OriginCreated.String(), Dist: v.Latency.All}}
			v.Blame.Kinds = []result.BlameKind{{Kind: result.BlameCreated, Total: 90 * ms, BlameBasis: result.BlameBasis{Unknown: 60 * ms}}}
			v.Goroutines = []result.Group{{Function: "main.serve", Created: 20}, {Function: "main.expire", Created: 3000}}
		}, "batch", "timers start very many goroutines at once, most of all main.expire", "Spread timers"},
		"of who yields": {1650 * ms, 112, func(v *result.Report) {
			v.Latency.All.Count = 200_000
			v.Latency.ByOrigin = []result.Named{{Name: model.OriginGosched.String(), Dist: v.Latency.All}}
			for i := range v.Blame.Rows {
				v.Blame.Rows[i].Stacks = []result.BlameStack{{Stack: []result.Frame{{Function: "runtime.Gosched"}}}}
			}
		}, "spin", "rec.Spin spins: ", "Let it wait"},
		"of who yields while others sleep": {1650 * ms, 112, func(v *result.Report) {
			unceasing("main.hash")(v)
			v.Goroutines = append(v.Goroutines, v.Goroutines[0]) // the first computes, and takes part in none of that
			v.Goroutines[0].Function, v.Goroutines[1].States[model.GoRunning], v.Goroutines[1].States[model.GoRunnable] = "main.hash", 1500*ms, 2400*ms
			v.Latency.All.Count = 200_000
			v.Latency.ByOrigin = []result.Named{{Name: model.OriginGosched.String(), Dist: v.Latency.All}}
			v.Latency.ByFunction = []result.Named{{Name: "main.hash", Dist: result.Dist{Count: 100}}, {Name: "main.loop", Dist: result.Dist{Count: 199_900}}}
		}, "spin", "main.loop spins: it looks and calls runtime.Gosched", "Let it wait"},
		"of who never waits": {1650 * ms, 112, unceasing("runtime.selectnbrecv"), "spin", "rec.Spin spins: it looks for", "Let it wait"},
		"of who locks":       {1650 * ms, 112, unceasing("internal/sync.(*Mutex).lockSlow"), "spin", "rec.Spin spins: it looks for", "Let it wait"},
		"of a batch":         {1650 * ms, 112, alone("runtime.selectnbrecv"), "spin", "rec.Spin spins: it looks for", "Let it wait"},
		"of its atomics":     {1650 * ms, 112, alone("sync/atomic.(*Int64).Add"), "more-procs-than-cpus", "", others},
		"of who tries":       {1650 * ms, 112, alone("sync/atomic.(*Int64).Load"), "spin", "rec.Spin spins: it tries", "Let it wait"},
		"of who tries to lock and waits": {4000 * ms, 190, func(v *result.Report) {
			alone("internal/sync.(*Mutex).TryLock")(v)
			v.Goroutines = nil
		}, "spin", "rec.Spin spins: it tries", "Let it wait"},
		"of who locks and waits": {4000 * ms, 190, func(v *result.Report) {
			unceasing("sync.(*Mutex).Lock")(v)
			v.Goroutines = nil
		}, "busy-procs", "rec.Spin keeps the procs busy", "Bound"},
		"of who waits in select": {4000 * ms, 190, func(v *result.Report) {
			unceasing("runtime.selectgo")(v)
			v.Goroutines = nil
			for _, b := range slices.Clone(v.Blame.Rows) {
				v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: "select", Waiter: b.Function})
			}
		}, "busy-procs", "rec.Spin keeps the procs busy", "Bound"},
		"of who looks and waits": {4000 * ms, 190, func(v *result.Report) {
			unceasing("runtime.selectnbrecv")(v)
			v.Goroutines = nil
		}, "spin", "rec.Spin spins: it looks for", "Let it wait"},
		"of who may compute": {1650 * ms, 112, unceasing("main.hash"), "spin", "rec.Spin runs all the time", "If it looks"},
		"of who has no frame": {1650 * ms, 112, func(v *result.Report) {
			unceasing("runtime.asyncPreempt")(v)
			for i := range v.Blame.Rows {
				r := &v.Blame.Rows[i]
				r.Function, r.Line, r.Stacks[0].Stack = "main.loop", 0, r.Stacks[0].Stack[:1]
			}
		}, "spin", "main.loop runs all the time", "If it looks"},
		"of who looks up":   {1650 * ms, 112, unceasing("sync.(*Map).Load"), "spin", "rec.Spin runs all the time", "If it looks"},
		"at a quota's pace": {1650 * ms, 112, quota, "more-procs-than-cpus", "a CPU quota: on average 0.28", limit},
		"of a record": {1650 * ms, 112, func(v *result.Report) {
			v.Traces[0].Machine = &result.Machine{Disturbed: "throttled 12 times by the CPU quota"}
		}, "more-procs-than-cpus", "a CPU quota: on average 0.28", limit},
		"of a CPU":      {12000 * ms, 400, func(v *result.Report) { v.Procs.Mean = 4 }, "more-procs-than-cpus", "more procs than CPUs: on average 1.00 threads ran and 2.00 waited", "Set GOMAXPROCS"},
		"less than one": {12000 * ms, 290, func(v *result.Report) { v.Procs.Mean = 4 }, "more-procs-than-cpus", "a busy machine, or a CPU quota: on average 0.72 threads ran and 2.27 waited", others},
		"of more procs": {1650 * ms, 112, func(v *result.Report) { quota(v); v.Procs.Mean = 8 }, "more-procs-than-cpus", "a CPU quota: ", procs},
		"next to locks": {1650 * ms, 112, func(v *result.Report) {
			for range 12 {
				v.Waiting.ByReason = append(v.Waiting.ByReason, result.Named{Name: "sync", Dist: v.Latency.All})
			}
		}, "lock", "", "Hold"},
	} {
		v := lacking(t, x.ran, x.samples)
		if x.change != nil {
			x.change(v)
		}
		findings.Judge(v)
		f := items(v)[0]
		if f.Kind != x.kind || !strings.HasPrefix(f.Title, x.title) || !strings.HasPrefix(f.Advice, x.advice) {
			t.Errorf("%s: %s: %s: %s", name, f.Kind, f.Title, f.Advice)
		}
		if want := map[string]string{"more-procs-than-cpus": findings.Disturbed, "busy-procs": findings.Starved, "spin": findings.Starved, "batch": findings.Starved, "lock": findings.Slow}[x.kind]; v.Verdict.Word != want {
			t.Errorf("%s: %s", name, v.Verdict.Word)
		}
	}
}

// TestComputes checks that goroutines which wait for each other on busy procs are no fault where nobody else waits for them.
func TestComputes(t *testing.T) {
	for _, origin := range []model.Origin{model.OriginPreempted, model.OriginTimer} {
		v := lacking(t, 4e9, 400)
		v.Latency.ByOrigin = []result.Named{{Name: origin.String(), Dist: v.Latency.All}}
		findings.Judge(v)
		if want := map[model.Origin]string{model.OriginPreempted: findings.Healthy, model.OriginTimer: findings.Starved}[origin]; v.Verdict.Word != want {
			t.Errorf("after %v: %s, want %s", origin, v.Verdict.Word, want)
		} else if got := strings.Contains(v.Verdict.Text, "goroutines wait for one at a time; only more procs (GOMAXPROCS 2)"); got != (want == findings.Healthy) {
			t.Errorf("after %v: %s", origin, v.Verdict.Text)
		}
	}
	// Those of a round wait for each other.
	for woken, want := range map[model.Duration]string{1: findings.Healthy, 4: findings.Starved} {
		v := lacking(t, 2e9, 200)
		all := v.Latency.All
		v.Procs.Utilisation, v.Procs.Saturated = 0.5, 2e9
		v.Latency.ByOrigin = []result.Named{{Name: model.OriginCreated.String(), Dist: result.Dist{Total: 6 * all.Total / 20}}, {Name: model.OriginPreempted.String(), Dist: result.Dist{Total: (14 - woken) * all.Total / 20}},
			{Name: model.OriginGoroutine.String(), Dist: result.Dist{Total: woken * all.Total / 20}}}
		v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: "sync.(*WaitGroup).Wait", Function: "main.part", Waiter: "main.round", Turns: 40, Total: 3e9})
		if findings.Judge(v); v.Verdict.Word != want {
			t.Errorf("of a round, woken %v: %s %s", woken, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestLate checks that answers which come late are due to busy procs only where half as many may have been noticed late.
func TestLate(t *testing.T) {
	const ms = model.Duration(1e6)
	for n, want := range map[int]bool{3: true, 2: false} {
		v := lacking(t, 4000*ms, 190)
		v.Lateness.Network = result.Bounds{Count: int64(n), P99: 20 * ms, Sketch: distOf(slices.Repeat([]model.Duration{20 * ms}, n)...).Sketch}
		v.Requests = []result.RequestKind{{Kind: "http", Groups: []result.RequestGroup{{Name: "main.get", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{30 * ms}, 20)...), Tails: []result.RequestTail{{
			Count: 5, From: 29 * ms, Total: 150 * ms, Middle: result.RequestMiddle{Count: 10, Total: 40 * ms}, Groups: []result.RequestRow{{Kind: "network", Function: "main.ask", Slow: 140 * ms, Middle: 30 * ms, Have: 5}}}}}}}}}
		findings.Judge(v)
		if got := strings.Contains(items(v)[0].Title, "main.get waits for the network (rec.Spin keeps the procs busy)"); got != want {
			t.Errorf("%d late: %s", n, items(v)[0].Title)
		}
	}
}

// TestSleepsLate checks that sleeps of all requests are due to busy procs where timers are late by as much, and that those who have
// the procs are named in any case.
func TestSleepsLate(t *testing.T) {
	const ms = model.Duration(1e6)
	for late, want := range map[model.Duration]string{27 * ms: findings.Starved, 26 * ms: findings.Slow} {
		v := lacking(t, 7900*ms, 790)
		v.Procs.Utilisation, v.Lateness.Timers = 0.99, result.Bounds{Count: 40, P50: late}
		v.Requests = []result.RequestKind{{Kind: "http", Groups: []result.RequestGroup{{Name: "main.get", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{30 * ms}, 20)...), Tails: []result.RequestTail{{
			Count: 5, From: 30 * ms, Total: 150 * ms, Middle: result.RequestMiddle{Count: 10, Total: 300 * ms}, Groups: []result.RequestRow{{Kind: "sleep", Function: "main.get", Usual: 10, Middle: 300 * ms}}}}}}}}}
		findings.Judge(v)
		if f := items(v)[0]; v.Verdict.Word != want || !strings.HasPrefix(f.Advice, "The procs are 99% busy, most of all by rec.Spin: sleeps end late") {
			t.Errorf("late by %v: %s %s: %s", late, v.Verdict.Word, f.Title, f.Advice)
		}
	}
}

// TestLateToo checks that a sleep of the slowest which ends late is a part of the item about who kept the procs.
func TestLateToo(t *testing.T) {
	const ms = model.Duration(1e6)
	v := lacking(t, 7900*ms, 790)
	v.Lateness.Timers = result.Bounds{Count: 20, Sketch: distOf(slices.Repeat([]model.Duration{30 * ms}, 20)...).Sketch}
	v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{4 * ms}, 20)...), Tails: []result.RequestTail{{
		Count: 5, From: 70 * ms, Total: 350 * ms, Middle: result.RequestMiddle{Count: 10, Total: 40 * ms}, Groups: []result.RequestRow{
			{Kind: "runnable", Slow: 200 * ms, Have: 5}, {Kind: "sleep", Function: "main.get", Times: 5, Usual: 10, Slow: 145 * ms, Middle: 30 * ms, Have: 5}}}}}}}
	findings.Judge(v)
	f := items(v)
	if len(f) != 1 || f[0].Kind != "busy-procs" || f[0].Where[len(f[0].Where)-1].Role != "sleeps, and that ends late" || f[0].Gain != "the slowest 70.0ms -> about 4.00ms" {
		t.Errorf("%+v", f)
	}
}

// TestUnderLock checks that a lock which those wait for who hold it comes with how to see what they do, or where they wait with it.
func TestUnderLock(t *testing.T) {
	v := resulttest.Read(t, "mutex.go1.26.p4.trace")
	if f := items(v)[0]; !strings.HasSuffix(f.Advice, " --request 'func:main.work.func1' shows what is done with it held.") {
		t.Errorf("%s: %s", f.Title, f.Advice)
	}
	b := v.Blame.Of("sync.(*Mutex).Lock")[0]
	b.Meanwhile = []result.BlameMeanwhile{{What: "network", Total: b.Own * 3 / 4, Stack: []result.Frame{{Function: "net.(*conn).Read"}, {Function: "main.fetch", File: "get.go", Line: 7}, {Function: b.Function, File: "get.go", Line: 5}}}}
	findings.Judge(v)
	if f := items(v)[0]; f.Where[0].Function != "main.fetch" || f.Where[0].Role != "holds it and waits for the network" || !strings.HasPrefix(f.Advice, "Call main.fetch (get.go:5) outside the lock that is taken at main.go:30:") {
		t.Errorf("%s: %+v", f.Advice, f.Where)
	}
	b.Meanwhile[0].Total = b.Own / 3
	findings.Judge(v)
	if f := items(v)[0]; f.Where[0].Role != "releases it" {
		t.Errorf("for a third of the time: %+v", f.Where)
	}
	// Where it runs, by CPU samples: in one function or in what a function has called, if not by chance, and also where threads have a
	// CPU for a part of the time.
	in := func(fn string, line uint64, d model.Duration) result.BlameMeanwhile {
		return result.BlameMeanwhile{What: "running", Total: d, Stack: []result.Frame{{Function: "runtime.mallocgc"}, {Function: fn, File: "get.go", Line: line}, {Function: b.Function, File: "get.go", Line: line + 10}}}
	}
	for _, x := range []struct {
		own, had float64 // of the samples' time, and part of the running time that has samples
		samples  model.Duration
		want     string
	}{{0.9, 1, 64, "main.parse"}, {1.2, 1, 64, b.Function}, {2, 1, 64, ""}, {2, 0.7, 64, b.Function}, {1.2, 1, 4, ""}} {
		d := x.samples * result.SamplePeriod
		v.Procs.Uses, v.Blame.Samples = result.Uses{result.UseUser: 100e9}, int64(x.had*100e9)/int64(result.SamplePeriod)
		b.Own, b.Meanwhile = model.Duration(x.own*float64(d)), []result.BlameMeanwhile{in("main.parse", 7, d*9/16), in("main.join", 8, d*7/16)}
		findings.Judge(v)
		if f := items(v)[0]; f.Where[0].Function+f.Where[0].Role+f.Where[0].Basis != x.want+"holds it and runsby CPU samples" && (x.want != "" || f.Where[0].Role != "releases it") {
			t.Errorf("%+v: %+v", x, f.Where[0])
		}
	}
	v.Blame.Samples, b.Meanwhile = 0, nil
	findings.Judge(v)
	if f := items(v)[0]; !strings.HasSuffix(f.Text, "CPU samples would show what it runs.") {
		t.Error(f.Text)
	}
}

// TestAtOnce checks that no code keeps procs busy that are idle most of the time, where many short turns make others wait.
func TestAtOnce(t *testing.T) {
	for turns, want := range map[int64]string{1: "rec.Spin keeps the procs busy", 1e6: "rec.Spin runs while others wait, although the procs are idle at other times"} {
		v := lacking(t, 1600e6, 160)
		v.Procs.Utilisation = 0.2
		for i := range v.Blame.Rows {
			v.Blame.Rows[i].Turns = turns
		}
		findings.Judge(v)
		if f := items(v)[0]; f.Title != want || strings.HasPrefix(f.Advice, "Bound") != (turns == 1) {
			t.Errorf("%d turns: %s: %s", turns, f.Title, f.Advice)
		}
	}
}

// slowest sets what five of 20 requests spend more time on than the others, 16 ms each.
func slowest(v *result.Report, rows ...result.RequestRow) {
	const ms = model.Duration(1e6)
	v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: result.Dist{Count: 20, Total: 200 * ms}, Tails: []result.RequestTail{{
		Count: 5, Total: 80 * ms, From: 12 * ms, Middle: result.RequestMiddle{Count: 10, Total: 10 * ms}, Groups: rows}}}}}
}

// TestLackOfCPUsElsewhere checks what is not laid to a lack of CPUs: stopped worlds, unless threads had none for as long as
// these take to stop, and what requests do for the collector.
func TestLackOfCPUsElsewhere(t *testing.T) {
	for _, x := range []struct {
		kind  string
		slow  model.Duration
		still model.Duration // all threads, once
		want  string
	}{{"stw", 55e6, 0, "stop-the-world"}, {"stw", 55e6, 4e6, "stop-the-world"}, {"stw", 55e6, 16e6, "more-procs-than-cpus"}, {"gc", 30e6, 0, "garbage-collection"}} {
		v := lacking(t, 1650e6, 112)
		v.STW.ToStop = distOf(20e6)
		v.Pathologies = []result.Pathology{{Name: "frozen-process", Count: 1, Total: x.still, Worst: x.still}}
		for i := range v.Causes.Rows {
			if c := &v.Causes.Rows[i].Cause; *c == result.CauseGoroutine.String() {
				*c = result.CauseSTW.String()
			}
		}
		for i := range v.Blame.Rows {
			if k := &v.Blame.Rows[i].Kind; *k == result.CauseGoroutine.String() {
				*k = result.CauseSTW.String()
			}
		}
		slowest(v, result.RequestRow{Kind: x.kind, Slow: x.slow, Have: 5})
		findings.Judge(v)
		if f := items(v); len(f) == 0 || f[0].Kind != x.want {
			t.Errorf("%s: %+v", x.kind, f)
		}
		if x.kind == "gc" { // next to a record of others, which may explain all of it
			v.Traces[0].Machine = &result.Machine{Disturbed: "others"}
			findings.Judge(v)
			if f := items(v); slices.ContainsFunc(f, func(f result.Finding) bool { return f.Gain != "" }) {
				t.Errorf("next to others: %+v", f)
			}
		}
	}
}

// TestLackNextToCollector checks that next to a lack of CPUs the collector is an item if it works all the time.
func TestLackNextToCollector(t *testing.T) {
	for share, want := range map[float64]bool{0.16: true, 0.14: false} {
		v := lacking(t, 1650e6, 112)
		v.GC.Share = share
		for i := range v.Causes.Rows {
			if c := &v.Causes.Rows[i].Cause; *c == result.CauseGoroutine.String() {
				*c = result.CauseGCDedicated.String()
			}
		}
		findings.Judge(v)
		f := items(v)
		if got := slices.ContainsFunc(f, func(f result.Finding) bool { return f.Kind == "garbage-collection" }); got != want || f[0].Kind != "more-procs-than-cpus" {
			t.Errorf("%g of the procs' time: %t: %+v", share, got, f)
		}
	}
}

// TestRanWithoutCPU checks that what the slowest requests run longer is laid to a lack of CPUs, if threads had none
// for as long. The lack is said whatever part of it waits for a proc.
func TestRanWithoutCPU(t *testing.T) {
	const ms = model.Duration(1e6)
	for worst, want := range map[model.Duration]int{4 * ms: 1, 3 * ms: 2} {
		v := lacking(t, 1650*ms, 112)
		v.Pathologies = []result.Pathology{{Name: "frozen-process", Count: 5, Worst: worst}}
		slowest(v, result.RequestRow{Kind: "runnable", Slow: 55 * ms, Have: 5}, result.RequestRow{Kind: "running", Function: "main.parse", Slow: 20 * ms, Have: 5})
		findings.Judge(v)
		if f := items(v); len(f) != want || f[0].Kind != "more-procs-than-cpus" {
			t.Errorf("no CPU for %v: %d items, want %d: %+v", worst, len(f), want, f)
		}
		v.Requests[0].Tails[0].Groups[0].Slow = 30 * ms
		v.Traces[0].Machine = &result.Machine{Disturbed: "others"}
		findings.Judge(v)
		if f := items(v); len(f) == 0 || f[0].Kind != "more-procs-than-cpus" {
			t.Errorf("no CPU for %v, next to others: %+v", worst, f)
		}
	}
}

// TestJob checks that what slow requests wait for behind code that had CPUs is due to that, whatever else runs, and that
// a lack of CPUs gains only what threads had none for.
func TestJob(t *testing.T) {
	const ms = model.Duration(1e6)
	for name, x := range map[string]struct {
		change       func(v *result.Report, behind *result.RequestRow)
		word, advice string
		gain         string
	}{
		"a job":          {func(*result.Report, *result.RequestRow) {}, findings.Starved, "Bound", "the slowest 16.0ms -> about 1.00ms"},
		"behind others":  {func(_ *result.Report, behind *result.RequestRow) { behind.Function = "main.others" }, findings.Disturbed, "Move", "the slowest 16.0ms -> about 11.2ms"},
		"seldom sampled": {func(v *result.Report, _ *result.RequestRow) { v.Blame.Rows[0].Sampled /= 10 }, findings.Disturbed, "Move", "the slowest 16.0ms -> about 11.2ms"},
		"requests' own":  {func(_ *result.Report, behind *result.RequestRow) { behind.Way = nil }, findings.Disturbed, "Move", "the slowest 16.0ms -> about 11.2ms"},
		"partly sampled": {func(v *result.Report, _ *result.RequestRow) { // so that long bursts show a lack
			v.Blame.SampledSpan /= 2
			v.Bursts.Long.Count, v.Bursts.VeryLong.Count = 10, 10
			for c := range result.NumCauses {
				if c.Suspected() {
					v.Causes.Rows = append(v.Causes.Rows, result.CauseRow{Cause: c.String(), Total: v.Latency.All.Total, Dominated: v.Latency.All})
				}
			}
		}, findings.Starved, "Bound", "the slowest 16.0ms -> about 1.00ms"},
		"few where it is": {func(v *result.Report, behind *result.RequestRow) {
			behind.Way, v.Blame.KeptSpan, v.Blame.KeptSamples = nil, 100*ms, 2
		}, findings.Disturbed, "Move", "the slowest 16.0ms -> about 4.00ms"},
	} {
		v := lacking(t, 1650*ms, 112)
		busy := v.Blame.Of(result.CauseGoroutine.String())[0]
		behind := result.RequestRow{Kind: "runnable", Function: busy.Function, Slow: 75 * ms, Have: 5, Way: &result.RequestWay{Callers: []result.Frame{{Function: "main.every", File: "main.go", Line: 7}}}}
		slowest(v, result.RequestRow{Kind: "runnable", Slow: 75 * ms, Have: 5})
		if v.Blame.Rows[0].Kind != busy.Kind || v.Blame.Rows[0].Function != busy.Function {
			t.Fatal("the first row is not the one that most is behind")
		}
		x.change(v, &behind)
		v.Requests[0].Tails[0].Rows = []result.RequestRow{behind, {Kind: "running", Function: busy.Function}}
		findings.Judge(v)
		f := items(v)[0]
		if v.Verdict.Word != x.word || !strings.HasPrefix(f.Advice, x.advice) || f.Gain != x.gain {
			t.Errorf("%s: %s %s, %s", name, v.Verdict.Word, f.Advice, f.Gain)
		}
		if name == "a job" && !slices.Equal(f.Where[0].Callers, []string{"main.every (main.go:7)"}) {
			t.Errorf("called by %v", f.Where[0].Callers)
		}
	}
}

// TestLackWhileCollecting checks that a lack of CPUs which comes first has its own remedy where slow requests call the collector.
func TestLackWhileCollecting(t *testing.T) {
	const ms = model.Duration(1e6)
	v := lacking(t, 12000*ms, 290)
	slowest(v, result.RequestRow{Kind: "gc", Function: "main.page", Slow: 75 * ms, Have: 5, Way: &result.RequestWay{Callee: "runtime.GC"}})
	findings.Judge(v)
	if f := items(v)[0]; f.Kind != "more-procs-than-cpus" || !strings.HasPrefix(f.Advice, "Raise the CPU limit") && !strings.HasPrefix(f.Advice, "Move") {
		t.Errorf("%s: %s: %s", f.Kind, f.Title, f.Advice)
	}
}

// TestProfileWriter checks that the goroutine that writes CPU samples is not taken for one that is held up.
func TestProfileWriter(t *testing.T) {
	of := func(change func(v *result.Report)) float64 {
		v := resulttest.Read(t, "hogs.go1.26.p2.trace")
		change(v)
		findings.Judge(v)
		return items(v)[0].Sum
	}
	none := of(func(*result.Report) {})
	for fn, same := range map[string]bool{"runtime/pprof.profileWriter": true, "main.read": false} {
		sum := of(func(v *result.Report) {
			v.Syscalls.All = v.Waiting.All
			v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameInSlow, Function: fn, Total: v.Waiting.All.Total, Turns: 1})
		})
		if (sum == none) != same {
			t.Errorf("%s: %v of what was lost, without it %v", fn, sum, none)
		}
	}
}

// TestKept checks that the stretches that others waited behind for long are known with their CPU samples: where two
// goroutines compute all the time on two procs, one per 10 ms of a CPU.
func TestKept(t *testing.T) {
	b := resulttest.Read(t, "hogs.go1.26.p2.trace").Blame
	if ran := model.Duration(b.KeptSamples) * 10_000_000; b.KeptSpan < 1_500_000_000 || b.KeptSpan > 2_440_000_000 || 10*ran < 9*b.KeptSpan || 9*ran > 10*b.KeptSpan {
		t.Errorf("%d samples in %d ns", b.KeptSamples, b.KeptSpan)
	}
	if b := resulttest.Read(t, "convoy.go1.26.p4.trace").Blame; b.KeptSpan != 0 {
		t.Errorf("without samples: %d ns", b.KeptSpan)
	}
}

// TestQuotaAlone checks that a quota is named where nothing else is.
func TestQuotaAlone(t *testing.T) {
	for quota, want := range map[bool]string{true: "but a CPU quota held it up: raise the limit", false: "but the machine disturbed it: "} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Traces[0].Machine = &result.Machine{Disturbed: "others"}
		if quota {
			v.Traces[0].Machine.Disturbed = "throttled 3 times by the CPU quota"
		}
		slowest(v, result.RequestRow{Kind: "gc", Slow: 30e6, Have: 5})
		findings.Judge(v)
		if v.Verdict.Word != findings.Disturbed || !strings.Contains(v.Verdict.Text, want) {
			t.Errorf("quota %v: %s %s", quota, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestAnswersWithoutCPU checks that late answers are not laid to the other end alone where threads had no CPU for most of
// the time.
func TestAnswersWithoutCPU(t *testing.T) {
	const ms = model.Duration(1e6)
	for samples, want := range map[int64]bool{40: true, 110: false} {
		v := lacking(t, 1650*ms, samples)
		slowest(v, result.RequestRow{Kind: "network", Function: "main.ask", Slow: 75 * ms, Have: 5})
		findings.Judge(v)
		if f := items(v)[0]; f.Kind != findings.SlowRequests || strings.HasPrefix(f.Advice, "Record again with CPUs") != want {
			t.Errorf("%d samples: %s %s: %s", samples, v.Verdict.Word, f.Kind, f.Advice)
		}
	}
}

// TestOverdue checks that answers which take the slowest longer than others are laid to the machine, where threads had no
// CPU and were seen to stand still for half as long, as often; and not else.
func TestOverdue(t *testing.T) {
	const ms = model.Duration(1e6)
	still := func(d model.Duration) []model.Duration { return slices.Repeat([]model.Duration{d}, 5) }
	for name, tt := range map[string]struct {
		noCPU    []model.Duration
		together []model.Duration
		middle   model.Duration // of ten others
		kind     string
		word     string
	}{
		"as long":           {still(8 * ms), nil, 20 * ms, "network", findings.Disturbed},
		"woken together":    {still(2 * ms), still(8 * ms), 20 * ms, "network", findings.Disturbed},
		"once":              {still(2 * ms)[:1], still(8 * ms), 20 * ms, "network", findings.SlowTail},
		"too short":         {still(2 * ms), still(5 * ms), 20 * ms, "network", findings.SlowTail},
		"too few":           {still(8 * ms)[:2], nil, 20 * ms, "network", findings.SlowTail},
		"quiet":             {nil, still(8 * ms), 20 * ms, "network", findings.SlowTail},
		"others do not":     {still(8 * ms), nil, 0, "network", findings.SlowTail},
		"not the machine's": {still(8 * ms), nil, 20 * ms, "lock", findings.SlowTail},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Causes.Rows, v.Procs.Utilisation = []result.CauseRow{{Suspected: true, Dominated: distOf(tt.noCPU...)}}, 0.05
		v.Lateness.Together = result.Bounds{Sketch: distOf(tt.together...).Sketch}
		slowest(v, result.RequestRow{Kind: tt.kind, Function: "main.ask", Slow: 70 * ms, Middle: tt.middle, Have: 5, Times: 5, Usual: 10})
		findings.Judge(v)
		if v.Verdict.Word != tt.word || (v.Verdict.Machine != "") != (tt.word == findings.Disturbed) {
			t.Errorf("%s: %s, %q, want %s", name, v.Verdict.Word, v.Verdict.Machine, tt.word)
		}
	}
}

// TestBatch checks what is said of programs without requests: that goroutines run one after the other, and that it marks for
// the collector; and of those whose requests do not end.
func TestBatch(t *testing.T) {
	const ms = model.Duration(1e6)
	open := func(ended int64) []result.RequestKind { // and so many that ended
		all := result.Dist{Count: ended, Total: model.Duration(ended) * 5 * ms, P50: 5 * ms, P99: 10 * ms, Max: 10 * ms}
		k := result.RequestKind{Kind: "http", RequestSet: result.RequestSet{Dist: all, Censored: result.Tally{Count: 16, Total: 16000 * ms, Max: 1000 * ms, MaxAt: model.Time(1000 * ms)}}}
		k.Handlers = []result.RequestHandler{{Named: result.Named{Name: "main.quote", Dist: all}, Censored: k.Censored}}
		return []result.RequestKind{k}
	}
	for name, x := range map[string]struct {
		change       func(*result.Report)
		word, text   string
		kind, advice string
	}{
		"in turn": {func(v *result.Report) {
			v.Waiting.ByReason = []result.Named{{Name: "chan send", Dist: result.Dist{Count: 100, Total: 990 * ms}}}
			v.Blame.Rows = []result.BlameRow{
				{Kind: result.BlameAlone, Function: "main.convert", Total: 900 * ms, Turns: 100, BlameBasis: result.BlameBasis{Seen: 900 * ms}},
				{Kind: "chan send", Function: "main.convert", Waiter: "main.start", WaiterFile: "x/main.go", WaiterLine: 7, Total: 990 * ms, Turns: 100}}
			v.Blame.SumUp()
		}, findings.Slow, "For 900ms of 1.00s", "runs-alone", "Start the next before main.start (main.go:7) waits"},
		"stage of a pipeline": {func(v *result.Report) {
			v.Waiting.ByReason = []result.Named{{Name: "chan receive", Dist: result.Dist{Count: 100, Total: 990 * ms}}, {Name: "chan send", Dist: result.Dist{Count: 100, Total: 990 * ms}}}
			v.Blame.Rows = []result.BlameRow{
				{Kind: result.BlameAlone, Function: "main.pack", Total: 900 * ms, Turns: 100, BlameBasis: result.BlameBasis{Seen: 900 * ms}},
				{Kind: "chan receive", Function: "main.pack", Waiter: "main.store", WaiterFile: "x/main.go", WaiterLine: 7, Total: 990 * ms, Turns: 100},
				{Kind: "chan send", Function: "main.pack", Waiter: "main.read", WaiterFile: "x/main.go", WaiterLine: 9, Total: 900 * ms, Turns: 100}}
			v.Blame.SumUp()
		}, findings.Slow, "For 900ms of 1.00s", "runs-alone", "Receive with more goroutines"},
		"in turn at a limit": {func(v *result.Report) {
			v.Waiting.ByReason = []result.Named{{Name: "chan send", Dist: result.Dist{Count: 100, Total: 990 * ms, P99: 20 * ms, Max: 20 * ms}}}
			v.Goroutines = []result.Group{{Function: "main.main.start.func1", Count: 100, Created: 100, Lifetime: 950 * ms}}
			v.Blame.Rows = []result.BlameRow{
				{Kind: result.BlameAlone, Function: "main.convert", Total: 900 * ms, Turns: 100, BlameBasis: result.BlameBasis{Seen: 900 * ms}},
				{Kind: "chan send", Function: "main.main.start.func1", Waiter: "main.start", WaiterFile: "x/main.go", WaiterLine: 7, Total: 990 * ms, Turns: 100, BlameBasis: result.BlameBasis{Seen: 990 * ms}}}
			v.Blame.SumUp()
		}, findings.Slow, "For 900ms of 1.00s", "runs-alone", "Start the next before main.start (main.go:7) waits"},
		"marks": {func(v *result.Report) {
			v.Procs.Uses[result.UseAssist], v.Procs.Uses[result.UseUser] = 400*ms, 600*ms
			v.Traces = append(v.Traces, v.Traces...)
			grow := result.Frame{Function: "main.grow"}
			v.Blame.Rows = []result.BlameRow{ // which ran alone in one of two traces
				{Kind: result.CauseSTW.String(), Function: result.CollectorName, Total: ms, Stacks: []result.BlameStack{{Total: ms, Stack: []result.Frame{grow}}}},
				{Kind: result.BlameAlone, Function: grow.Function, Total: ms, In: &result.Places{}}}
		}, findings.Slow, "For 40% of the time", "gc-assists", "Allocate less"},
		"does not end": {func(v *result.Report) { v.Requests = open(0) }, findings.Unknown, "16 requests of main.quote did not end for up to 1.00s: streams or long polls,", "", ""},
		"deadlock": {func(v *result.Report) {
			v.Requests = open(0)
			v.Goroutines = []result.Group{{Function: "net/http.(*conn).serve", Count: 16, Waiting: []result.Reason{{Reason: "sync.(*Mutex).Lock", Count: 16, Total: 15900 * ms}}}}
		}, findings.Slow, "16 requests of main.quote did not end for up to 1.00s: they wait for a lock", "", ""},
		"waits for a lock from before": {func(v *result.Report) {
			v.Requests = open(0)
			v.Requests[0].Unended = slices.Repeat([]result.RequestPath{{Name: "main.quote", Duration: 1000 * ms, Parts: []result.RequestPart{
				{Length: 1000 * ms, Kind: "lock", Wait: "lock", Function: "main.move", File: "x/main.go", Line: 7}}}}, 3)
		}, findings.Slow, "3 requests of main.quote did not end for up to 1.00s: they wait for a lock in main.move (main.go:7) that nobody releases", findings.HangingRequests, "Release the lock"},
		"holds a lock, and waits": {func(v *result.Report) {
			v.Requests = open(0)
			v.Totals.Span *= 2 // of two traces
			v.Requests[0].Unended = slices.Repeat([]result.RequestPath{{Name: "main.quote", Duration: 1000 * ms, Parts: []result.RequestPart{
				{Length: 1000 * ms, Kind: "lock", Function: "main.move", File: "x/main.go", Line: 7}}}}, 3)
			v.Requests[0].Unended[0].Parts = []result.RequestPart{{Length: 1000 * ms, Kind: "channel", Function: "main.audit", File: "x/main.go", Line: 9}}
		}, findings.Slow, "3 requests of main.quote did not end for up to 1.00s: the longest waits for a channel in main.audit (main.go:9); most wait for a lock in main.move (main.go:7).", findings.HangingRequests, "Do not wait in main.audit (main.go:9) while it is held. Or: Look for the path"},
		"holds a lock, and sleeps": {func(v *result.Report) {
			v.Requests = open(0)
			v.Requests[0].Unended = slices.Repeat([]result.RequestPath{{Name: "main.quote", Duration: 1000 * ms, Parts: []result.RequestPart{
				{Length: 1000 * ms, Kind: "lock", Function: "main.move", File: "x/main.go", Line: 7}}}}, 3)
			v.Requests[0].Unended[0].Parts = []result.RequestPart{{Length: 1000 * ms, Kind: "sleep", Function: "main.audit", File: "x/main.go", Line: 9}}
		}, findings.Slow, "3 requests of main.quote did not end for up to 1.00s: the longest sleeps in main.audit (main.go:9)", findings.HangingRequests, "Do not wait in main.audit (main.go:9) while it is held. Or: Release the lock"},
		"another route holds a lock, and waits": {func(v *result.Report) {
			v.Requests = open(0)
			k := &v.Requests[0]
			k.Unended = slices.Repeat([]result.RequestPath{{Name: "main.quote", Duration: 1000 * ms, Parts: []result.RequestPart{
				{Length: 1000 * ms, Kind: "lock", Function: "main.move", File: "x/main.go", Line: 7}}}}, 4)
			for _, p := range []*result.RequestPath{&k.Unended[2], &k.Unended[3]} {
				p.Name = "main.fill"
			}
			k.Unended[3].Parts = []result.RequestPart{{Length: 1000 * ms, Kind: "channel", Function: "main.audit", File: "x/main.go", Line: 9}}
			k.Handlers = append(k.Handlers, k.Handlers[0])
			k.Handlers[1].Name = "main.fill"
		}, findings.Slow, "2 requests of main.quote did not end for up to 1.00s: they wait for a lock in main.move (main.go:7) that nobody releases.", findings.HangingRequests, "Do not wait in main.audit (main.go:9) while it is held. Or: Look for the path"},
		"waits for a lock at no place": {func(v *result.Report) {
			v.Requests = open(0)
			v.Requests[0].Unended = slices.Repeat([]result.RequestPath{{Name: "main.quote", Duration: 1000 * ms, Parts: []result.RequestPart{{Length: 1000 * ms, Kind: "lock"}}}}, 3)
			v.Requests[0].Unended[1].Parts = []result.RequestPart{{Length: 1000 * ms, Kind: "channel", Function: "main.audit", File: "x/main.go", Line: 9}}
		}, findings.Slow, "3 requests of main.quote did not end for up to 1.00s: the longest waits for a channel in main.audit (main.go:9); most wait for a lock.", "", ""},
		"waits for channels, others for locks": {func(v *result.Report) {
			v.Requests = open(100)
			v.Requests[0].Unended = []result.RequestPath{{Name: "main.quote", Duration: 1000 * ms, Parts: []result.RequestPart{
				{Length: 1000 * ms, Kind: "channel", Function: "main.audit", File: "x/main.go", Line: 9}}}}
			v.Goroutines = []result.Group{{Function: "main.other", Count: 16, Waiting: []result.Reason{{Reason: "sync.(*Mutex).Lock", Count: 16, Total: 15900 * ms}}}}
		}, findings.Slow, "1 request of main.quote did not end for up to 1.00s: the longest waits for a channel in main.audit (main.go:9); the slowest of 100 that ended took 10.0ms", findings.HangingRequests, "Look for the path"},
		"several for less": {func(v *result.Report) {
			v.Requests = open(100)
			v.Requests[0].Handlers[0].Censored = result.Tally{Count: 16, Total: 4000 * ms, Max: 400 * ms, MaxAt: model.Time(1000 * ms)}
		}, findings.Slow, "16 requests of main.quote did not end for up to 400ms: the slowest of 100 that ended took 10.0ms", "", ""},
		"one for less": {func(v *result.Report) {
			v.Requests = open(100)
			v.Requests[0].Handlers[0].Censored = result.Tally{Count: 1, Total: 400 * ms, Max: 400 * ms, MaxAt: model.Time(1000 * ms)}
		}, findings.Healthy, "", "", ""},
		"ended before": {func(v *result.Report) { v.Requests = open(100) }, findings.Slow, "16 requests of main.quote did not end for up to 1.00s: the slowest of 100 that ended took 10.0ms", "", ""},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests, v.Blame, v.Findings, v.Totals.Span = nil, result.Blame{}, nil, 1000*ms
		v.Procs.Uses = result.Uses{result.UseUser: 100 * ms}
		x.change(v)
		findings.Judge(v)
		f := append(items(v), result.Finding{})[0]
		if v.Verdict.Word != x.word || !strings.HasPrefix(v.Verdict.Text, x.text) || f.Kind != x.kind || !strings.HasPrefix(f.Advice, x.advice) || f.In != "" {
			t.Errorf("%s: %s %s; %s %s: %s", name, v.Verdict.Word, v.Verdict.Text, f.Kind, f.In, f.Advice)
		}
	}
}

// TestRestless checks who is named that never waits: in a program without requests not the main function, nor several, nor one
// next to which little happens, or that may have woken the others.
func TestRestless(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*result.Report)
		want   bool
	}{
		"alone": {nil, true},
		"waits": {func(v *result.Report) { v.Goroutines[0].Lifetime++ }, false},
		"two":   {func(v *result.Report) { v.Goroutines[0].Count = 2 }, false},
		"main":  {func(v *result.Report) { v.Goroutines[0].Function = "main.main" }, false},
		"stopped": {func(v *result.Report) {
			v.Goroutines[0].Waiting = []result.Reason{{Reason: "preempted", Total: 5}}
			v.Goroutines[0].Lifetime += 5
		}, true},
		"little":      {func(v *result.Report) { v.Latency.ByOrigin[0].Count = 100 }, false},
		"others wake": {func(v *result.Report) { v.Latency.ByOrigin[1].Count = 400 }, false},
		"preempted": {func(v *result.Report) {
			v.Latency.ByFunction = []result.Named{{Name: "main.watch", Dist: result.Dist{Count: 400}}}
		}, false},
		"a part":      {func(v *result.Report) { v.Totals.Span, v.Blame.SampledSpan = 8e9, 8e9 }, false},
		"of a server": {func(v *result.Report) { v.Requests = []result.RequestKind{{Kind: "http"}} }, false},
	} {
		v := lacking(t, 5000e6, 150)
		v.Goroutines = []result.Group{{Function: "main.watch", Count: 1, Lifetime: v.Totals.Span}}
		v.Goroutines[0].States[model.GoRunning] = v.Totals.Span
		v.Latency.ByOrigin = []result.Named{{Name: model.OriginTimer.String(), Dist: result.Dist{Count: 300}}, {Name: model.OriginGoroutine.String()}}
		if x.change != nil {
			x.change(v)
		}
		findings.Judge(v)
		if got := strings.Contains(items(v)[0].Text, "main.watch runs all the time and never waits"); got != x.want {
			t.Errorf("%s: %t: %+v", name, got, items(v)[0])
		}
	}
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	v.Goroutines = []result.Group{{Function: "main.main", Count: 1, Waiting: []result.Reason{{Reason: "sleep", Total: v.Totals.Span}}}, {Function: "main.watch", Count: 1, Lifetime: v.Totals.Span}}
	v.Goroutines[1].States[model.GoRunning] = v.Totals.Span
	findings.Judge(v)
	if v.Verdict.Word != findings.Unknown || !strings.HasPrefix(v.Verdict.Text, "main.watch runs all the time and never waits: it computes, or it spins. If it computes,") {
		t.Errorf("while main sleeps: %s %s", v.Verdict.Word, v.Verdict.Text)
	}
}
