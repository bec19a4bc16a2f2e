package findings_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// TestJudgePartial checks that saved reports whose blame lacks a part of what goes together
// are judged, not trusted.
func TestJudgePartial(t *testing.T) {
	for _, name := range []string{"forward.go1.26.p4.trace", "hogs.go1.26.p2.trace", "mutex.go1.26.p4.trace", "cgo.go1.26.p4.trace"} {
		for _, damage := range []func(*result.Blame){
			func(b *result.Blame) { b.Kinds = nil },
			func(b *result.Blame) { b.Rows = nil },
			func(b *result.Blame) {
				for i := range b.Rows {
					b.Rows[i].Stacks = nil
				}
			},
			func(b *result.Blame) { // 2^53 is the greatest number that is read
				var rows []result.BlameRow
				for range 1 << 11 {
					rows = append(rows, result.BlameRow{Kind: result.BlameInSlow, Function: "main.f", Total: 1 << 40, Turns: 1 << 53})
				}
				b.Rows = rows
			},
			func(b *result.Blame) {
				b.Kinds = nil
				for i := range b.Rows {
					b.Rows[i].Kind, b.Rows[i].Function = result.CauseSTW.String(), result.CollectorName
				}
			},
		} {
			v := resulttest.Read(t, name)
			damage(&v.Blame)
			findings.Judge(v)
		}
	}
}

// TestMoreProcsBySamples checks that CPU samples over the whole trace decide alone whether
// procs ran goroutines without a CPU; if so, nothing else is said of waits to run.
func TestMoreProcsBySamples(t *testing.T) {
	for _, x := range []struct {
		name string
		part float64 // of the running time, on a CPU
		want int     // the place among the diagnoses, -1: none
		one  bool    // GOMAXPROCS is 1
	}{{"manyprocs.go1.26.p64.trace", 0.9, -1, false}, {"manyprocs.go1.26.p64.trace", 0.3, 0, false}, {"hogs.go1.26.p2.trace", 0.3, 0, false}, {"hogs.go1.26.p2.trace", 0.3, 0, true}} {
		v := resulttest.Read(t, x.name)
		if x.one {
			v.Procs.Mean = 1
		}
		u := &v.Procs.Uses
		for i := range u {
			u[i] *= 100 // there are enough samples
		}
		ran := u[result.UseUser] + u[result.UseGC] + u[result.UseAssist] + u[result.UseRuntime]
		v.Blame.Samples, v.Blame.SampledSpan = int64(x.part*float64(ran))/int64(10*time.Millisecond), v.Totals.Span
		if v.Blame.Samples < 50 {
			t.Fatalf("only %d samples", v.Blame.Samples)
		}
		findings.Judge(v)
		var kinds []string
		for _, f := range v.Findings {
			if f.Title != "" {
				kinds = append(kinds, f.Kind)
				if f.Kind == "more-procs-than-cpus" && strings.Contains(f.Advice, "Set GOMAXPROCS") == x.one {
					t.Errorf("GOMAXPROCS is %v: %s", v.Procs.Mean, f.Advice)
				}
			}
		}
		if got := slices.Index(kinds, "more-procs-than-cpus"); got != x.want || got == 0 && len(kinds) > 1 {
			t.Errorf("with samples for %v of the running time: %q, want more-procs-than-cpus in place %d", x.part, kinds, x.want)
		}
	}
}

// TestMoreProcsByBursts checks that long bursts put a lack of CPUs first, after what runs alone however many there are,
// and that the rest of the waiting is left out only where much of it is laid to that.
func TestMoreProcsByBursts(t *testing.T) {
	for _, x := range []struct {
		share model.Duration // of the waiting, in percent
		more  bool           // there is another item
		alone int64          // percent of the time
	}{{15, true, 0}, {40, false, 0}, {40, false, 30}} {
		v := resulttest.Read(t, "hogs.go1.26.p2.trace")
		v.Blame.Samples = 0
		v.Bursts.Long.Count, v.Bursts.VeryLong.Count = 20, 15
		v.Causes.Rows = slices.DeleteFunc(v.Causes.Rows, func(r result.CauseRow) bool { return r.Suspected })
		v.Causes.Rows = append(v.Causes.Rows, result.CauseRow{Cause: result.CauseOSGap.String(), Suspected: true, Total: v.Latency.All.Total * x.share / 100})
		alone := v.Totals.Span * model.Duration(x.alone) / 100
		v.Blame.Kinds = append(v.Blame.Kinds, result.BlameKind{Kind: result.BlameAlone, BlameBasis: result.BlameBasis{Seen: alone}, Total: alone})
		v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameAlone, Function: "main.parse", Total: alone, BlameBasis: result.BlameBasis{Seen: alone}})
		findings.Judge(v)
		kinds := result.Each(items(v), func(f *result.Finding) string { return f.Kind })
		if x.alone > 0 {
			if e := items(v)[0].Evidence; kinds[0] != "runs-alone" || e[0].Value != float64(alone) || e[1].Unit != "share" || e[1].Value < 0.29 {
				t.Errorf("%d %% of the time alone: %q, %+v", x.alone, kinds, e)
			}
			kinds = kinds[1:]
		}
		if len(kinds) == 0 || kinds[0] != "more-procs-than-cpus" || slices.Contains(kinds, "busy-procs") != x.more {
			t.Errorf("%d %% laid to the machine: %q", x.share, kinds)
		}
	}
}

// TestUnresolved checks that what has no cause comes after what has one, and says what recording would show it.
func TestUnresolved(t *testing.T) {
	for atStart, want := range map[int64]string{0: "Record again when load is steady, ", 7: "Leave out the beginning with --from 130ms: 7 goroutines waited already "} {
		v := resulttest.Read(t, "hogs.go1.26.p2.trace")
		v.Latency.Censored.AtStart.Count = atStart
		w := &v.WorstWaits[0]
		w.End, w.Causes = 123_000_000, []result.CauseTotal{{Cause: "unresolved", Total: w.Duration}}
		v.WorstWaits = v.WorstWaits[:1]
		v.Causes.Rows = append(v.Causes.Rows, result.CauseRow{Cause: "unresolved", Total: 2 * v.Latency.All.Total, Dominated: v.Latency.All})
		findings.Judge(v)
		var items []result.Finding
		for _, f := range v.Findings {
			if f.Title != "" {
				items = append(items, f)
			}
		}
		if n := len(items); n < 2 || items[n-1].Kind != "unresolved" || !strings.HasPrefix(items[n-1].Advice, want) || items[0].Sum >= items[n-1].Sum {
			t.Errorf("%d items, the last %+v, want it to be unresolved, with %q", n, items[n-1], want)
		}
	}
}

// TestRuledOut checks that what took much is not ruled out, also where no item names it.
func TestRuledOut(t *testing.T) {
	for _, x := range []struct {
		percent model.Duration
		want    bool
	}{{1, true}, {30, false}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.GC.Share, v.STW.Effective.Total = float64(x.percent)/100, v.Totals.Span*x.percent/100
		v.Waiting.ByReason = append(v.Waiting.ByReason, result.Named{Name: "sync.(*Mutex).Lock", Dist: result.Dist{Total: v.Totals.Span * x.percent / 100}})
		findings.Judge(v)
		text := strings.Join(v.Verdict.RuledOut, ", ")
		if strings.Contains(text, "locks (") != x.want || strings.Contains(text, "GC (") != x.want || strings.Contains(text, "STW (") != x.want {
			t.Errorf("%d %% of locks, GC and STW: ruled out %s", x.percent, text)
		}
	}
}

// TestHealthyCollector checks that a healthy program is not said to need nothing where much of what it does is
// garbage collection without that being said.
func TestHealthyCollector(t *testing.T) {
	for share, want := range map[float64]bool{0.2: true, 0.02: false} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Procs.Utilisation, v.GC.Share = 0.4, share
		findings.Judge(v)
		if v.Verdict.Word != findings.Healthy || strings.Contains(v.Verdict.Text, "procs 40% busy, 50% of that with garbage collection.") != want {
			t.Errorf("GC takes %v: %s %s", share, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestMachine checks what is said of the machine where there is no record of it: CPU samples alone can rule it out.
func TestMachine(t *testing.T) {
	for _, x := range []struct {
		samples                    int64 // of 100 that there would be on a CPU of their own
		sampled                    model.Duration
		ruledOut, disturbed, known bool
	}{{0, 0, false, false, false}, {100, 100, true, false, true}, {150, 100, true, false, true}, {50, 50, true, false, true}, {40, 100, false, true, true}, {80, 100, false, false, false}, {5, 5, false, false, false}} {
		v := resulttest.Read(t, "hogs.go1.26.p2.trace")
		v.Traces[0].Machine = nil
		u := &v.Procs.Uses
		u[result.UseGC], u[result.UseAssist], u[result.UseRuntime] = 0, 0, 0
		u[result.UseUser] = model.Duration(time.Second)
		v.Causes.Rows = slices.DeleteFunc(v.Causes.Rows, func(r result.CauseRow) bool { return r.Suspected })
		v.Blame.Samples, v.Blame.SampledSpan = x.samples, v.Totals.Span*x.sampled/100
		findings.Judge(v)
		ruledOut := strings.Contains(strings.Join(v.Verdict.RuledOut, ", "), "the machine")
		disturbed := strings.Contains(v.Verdict.Machine, "had no CPU for")
		known := !strings.Contains(v.Verdict.Unchecked, "the machine")
		if strings.Contains(strings.Join(v.Verdict.RuledOut, ", "), "at most -") {
			t.Errorf("%+v: ruled out %v", x, v.Verdict.RuledOut)
		}
		if ruledOut != x.ruledOut || disturbed != x.disturbed || known != x.known {
			t.Errorf("%+v: ruled out %v, disturbed %q, unchecked %q", x, v.Verdict.RuledOut, v.Verdict.Machine, v.Verdict.Unchecked)
		}
	}
}

// TestSocketCalls checks that procs held by calls on sockets, which do not block, are laid to the
// machine, and those held by others to who calls, or if CPU samples show that the kernel worked.
func TestSocketCalls(t *testing.T) {
	for _, x := range []struct {
		callee, want string
		ran          model.Duration // of a second
	}{{"os.(*File).Write", "procs-held-by-system-calls", 0}, {"net.(*conn).Write", "more-procs-than-cpus", 0}, {"syscall.write", "more-procs-than-cpus", 0},
		{"net.(*conn).Write", "procs-held-by-system-calls", 600e6}, {"net.(*conn).Write", "more-procs-than-cpus", 540e6}} {
		callee, want := x.callee, x.want
		v := resulttest.Read(t, "hogs.go1.26.p2.trace")
		swap := func(cause *string) { // who computes makes system calls instead
			switch *cause {
			case result.CauseGoroutine.String():
				*cause = result.CauseSyscall.String()
			case result.CauseSyscall.String():
				*cause = result.CauseGoroutine.String()
			}
		}
		for i := range v.Causes.Rows {
			swap(&v.Causes.Rows[i].Cause)
		}
		for i := range v.Blame.Kinds {
			swap(&v.Blame.Kinds[i].Kind)
		}
		for i := range v.Blame.Rows {
			row := &v.Blame.Rows[i]
			swap(&row.Kind)
			if x.ran > 0 {
				v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameInSlow, Function: row.Function, File: row.File, Total: 1e9, Meanwhile: []result.BlameMeanwhile{{What: "running", Total: x.ran}}})
				row = &v.Blame.Rows[i]
			}
			row.Stacks = []result.BlameStack{{Total: row.Total, Stack: []result.Frame{{Function: callee}, {Function: row.Function, File: row.File}}}}
			if callee == "syscall.write" { // in net/http's own loop, without a function of the program
				row.Function, row.File = callee, ""
				row.Stacks[0].Stack[1] = result.Frame{Function: "net.(*netFD).Write"}
			}
		}
		findings.Judge(v)
		if !slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Title != "" && f.Kind == want }) {
			t.Errorf("%s: no %s among %q", callee, want, result.Each(v.Findings, func(f *result.Finding) string { return f.Kind }))
		}
	}
}

// TestBufferedCalls checks that calls that others make on files for the program block, and those on sockets do not.
func TestBufferedCalls(t *testing.T) {
	for callee, want := range map[string]bool{"os.(*File).Write": true, "net.(*netFD).Write": false} {
		v := resulttest.Read(t, "cgo.go1.26.p4.trace")
		for _, r := range v.Blame.Of(result.BlameInSlow) {
			r.Stacks = []result.BlameStack{{Total: r.Total, Stack: []result.Frame{{Function: callee}, {Function: "bufio.(*Writer).Flush"}, {Function: r.Function, File: r.File}}}}
		}
		findings.Judge(v)
		if got := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "blocking-system-calls" }); got != want {
			t.Errorf("%s: blocks: %t", callee, got)
		}
	}
}

// TestIdleProcs checks that rare waits to run are laid to the machine if the procs were idle, and that nobody lacks procs
// where many waits are all short then, except one at the beginning of the trace.
func TestIdleProcs(t *testing.T) {
	for _, x := range []struct {
		utilisation float64
		span        model.Duration // in time that goroutines waited
		p99         model.Duration
		want        string
	}{{0.5, 5, 2_000_000, findings.Starved}, {0.05, 5, 2_000_000, findings.Disturbed}, {0.05, 1, 2_000_000, findings.Starved}, {0.05, 1, 500_000, findings.Healthy}, {0.5, 1, 500_000, findings.Starved}} {
		v := resulttest.Read(t, "hogs.go1.26.p2.trace")
		l := &v.Latency.All
		v.Procs.Utilisation, v.Totals.Span = x.utilisation, x.span*l.Total
		l.P99, l.Max, l.Count = x.p99, 4*x.p99, max(l.Count, 1000)
		v.Latency.Censored.AtStart = result.Tally{Count: 1, Max: 20_000_000}
		findings.Judge(v)
		if v.Verdict.Word != x.want {
			t.Errorf("%+v: %s (%s)", x, v.Verdict.Word, v.Verdict.Machine)
		}
	}
}

// allTails makes what the slowest requests take longer be of one kind.
func allTails(v *result.Report, kind string) {
	for i := range v.Requests {
		for _, set := range v.Requests[i].Sets() {
			for n := range set.Tails {
				t := &set.Tails[n]
				t.Rows = nil
				for g := range t.Groups {
					t.Groups[g].Kind, t.Groups[g].Middle = kind, 0
				}
			}
		}
	}
}

// TestIdleTail checks that slow requests which wait to run are laid to the machine if the procs were idle, and
// not passed over.
func TestIdleTail(t *testing.T) {
	for utilisation, want := range map[float64]string{0.5: findings.Healthy, 0.05: findings.Disturbed} {
		v := resulttest.Read(t, "http.trace")
		v.Procs.Utilisation, v.Totals.Span = utilisation, 1000*v.Latency.All.Total // rare waits
		v.Latency.All.P99 = 100_000
		allTails(v, "runnable")
		findings.Judge(v)
		if v.Verdict.Word != want || (want == findings.Disturbed) != strings.Contains(v.Verdict.Machine, "no CPU") {
			t.Errorf("procs %v busy: %s %s (%s), want %s", utilisation, v.Verdict.Word, v.Verdict.Text, v.Verdict.Machine, want)
		}
	}
}

// TestIdleBehind checks that what requests wait for is laid to the machine, too, if mostly that waits to run, whatever
// had the proc.
func TestIdleBehind(t *testing.T) {
	const ms = 1_000_000
	for second, want := range map[string]string{"runnable": findings.Disturbed, "sleep": findings.SlowTail} {
		v := resulttest.Read(t, "http.trace")
		v.Procs.Utilisation, v.Totals.Span = 0.05, 1000*v.Latency.All.Total // rare waits
		v.Latency.All.P99 = 100_000
		slowest(v, result.RequestRow{Kind: "channel", Function: "main.ask", Slow: 75 * ms, Have: 5})
		v.Requests[0].Tails[0].Rows = []result.RequestRow{
			{Kind: "runnable", Function: "main.a", Wait: "channel", Waiter: "main.ask", Slow: 30 * ms},
			{Kind: second, Function: "main.b", Wait: "channel", Waiter: "main.ask", Slow: 25 * ms},
			{Kind: "sleep", Function: "main.c", Wait: "channel", Waiter: "main.ask", Slow: 20 * ms},
		}
		findings.Judge(v)
		if v.Verdict.Word != want {
			t.Errorf("%s: %s %s (%s), want %s", second, v.Verdict.Word, v.Verdict.Text, v.Verdict.Machine, want)
		}
	}
}

// TestWithoutCPU checks that the slowest requests are laid to the machine if calls on sockets, which do not
// block, took as long; but not calls that wait for the disk.
func TestWithoutCPU(t *testing.T) {
	for _, c := range []struct {
		longest model.Duration
		callee  string
		machine bool
	}{{2_000_000, "", false}, {1_000_000_000, "", true}, {1_000_000_000, "os.(*File).Sync", false}} {
		v := resulttest.Read(t, "http.trace")
		v.Latency.All = result.Dist{} // nothing waits to run
		allTails(v, "syscall")
		for i := range v.Requests {
			for _, set := range v.Requests[i].Sets() {
				for _, tail := range set.Tails {
					for k := range tail.Groups {
						tail.Groups[k].Way = &result.RequestWay{Callee: c.callee}
					}
				}
			}
		}
		v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameInSlow, Function: "main.f", Turns: 1000, Longest: c.longest, Total: c.longest, BlameBasis: result.BlameBasis{Seen: c.longest},
			Stacks: []result.BlameStack{{Total: c.longest, Stack: []result.Frame{{Function: "net.(*conn).Write"}, {Function: "main.f"}}}}})
		findings.Judge(v)
		named := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return strings.Contains(f.Text, "of the slowest") })
		if named == c.machine || c.machine && v.Verdict.Machine == "" {
			t.Errorf("calls of up to %d ns, %q: %s (%s), with an item about the slowest: %t", c.longest, c.callee, v.Verdict.Word, v.Verdict.Machine, named)
		}
	}
}

// TestLongSleeps checks that sleeps of the slowest requests are laid to late timers only if threads had no CPU for as long.
func TestLongSleeps(t *testing.T) {
	for longest, machine := range map[model.Duration]bool{2_000_000: false, 1_000_000_000: true} {
		v := resulttest.Read(t, "http.trace")
		v.Procs.Utilisation, v.Totals.Span = 0.05, 1000*v.Latency.All.Total // the machine disturbed it
		allTails(v, "sleep")
		v.Blame.Rows = append(v.Blame.Rows, result.BlameRow{Kind: result.BlameInSlow, Function: "main.f", Turns: 1, Longest: longest, Total: longest, BlameBasis: result.BlameBasis{Seen: longest},
			Stacks: []result.BlameStack{{Total: longest, Stack: []result.Frame{{Function: "net.(*conn).Write"}, {Function: "main.f"}}}}})
		for i := range v.Causes.Rows {
			v.Causes.Rows[i].Dominated = result.Dist{}
		}
		findings.Judge(v)
		named := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return strings.Contains(f.Title, "sleeps") })
		if named == machine || v.Verdict.Machine == "" {
			t.Errorf("no CPU for up to %d ns: %s (%s), with an item about sleeps: %t", longest, v.Verdict.Word, v.Verdict.Machine, named)
		}
	}
}

// TestInput checks that one who reads a file most of the time waits for input, and several do not, except of pipes; and that who waits
// for the lock of a file does not.
func TestInput(t *testing.T) {
	for _, x := range []struct {
		readers model.Duration
		callee  string
		want    bool
	}{{1, "os.(*File).Read", true}, {3, "os.(*File).Read", false}, {3, "syscall.Read", true}, {3, "syscall.Flock", false}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span = model.Duration(time.Second)
		total := x.readers * v.Totals.Span * 3 / 4
		calls := new(dist.Dist)
		for range 50 {
			calls.Add(total/50, 0)
		}
		v.Syscalls.All = result.NewDist(calls)
		v.Causes = result.Causes{}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameInSlow, Function: "main.read", Total: total, BlameBasis: result.BlameBasis{Seen: total}, Turns: 50, Longest: 3_000_000,
			Stacks: []result.BlameStack{{Total: total, Stack: []result.Frame{{Function: x.callee}, {Function: "main.read"}}}}}}
		findings.Judge(v)
		input := strings.Contains(v.Verdict.Text, "the program waits for input")
		i := slices.IndexFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "blocking-system-calls" })
		if input != x.want || (i >= 0) != !x.want || i >= 0 && strings.Contains(v.Findings[i].Advice, "holds the lock of the file") != (x.callee == "syscall.Flock") {
			t.Errorf("%d readers, %s: %s %s", x.readers, x.callee, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestSemaphore checks that of a function that both sends and receives it is not said that it is slow to receive.
func TestSemaphore(t *testing.T) {
	for _, function := range []string{"main.get", "main.get.func1"} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span = model.Duration(time.Second)
		values := new(dist.Dist)
		for range 50 {
			values.Add(v.Totals.Span/10, 0)
		}
		v.Waiting.ByReason = []result.Named{{Name: "chan send", Dist: result.NewDist(values)}}
		v.Blame.Rows = []result.BlameRow{{Kind: "chan send", Function: function, Waiter: "main.get", WaiterFile: "main.go", WaiterLine: 7, Total: values.Total(),
			BlameBasis: result.BlameBasis{Seen: values.Total()}, Turns: 50}}
		findings.Judge(v)
		i := slices.IndexFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "slow-receiver" })
		if i < 0 || strings.Contains(v.Findings[i].Title, "slow") || !strings.Contains(v.Findings[i].Advice, "main.get (main.go:7), if the channel is a semaphore") {
			t.Errorf("%s: %+v", function, v.Findings)
		}
	}
}

// TestSemaphoreOfBatch checks that a limit is a fault of a program without requests only if it lets in one at a time, or as
// many as there are procs, which mostly wait; also if a place is taken out of a channel.
func TestSemaphoreOfBatch(t *testing.T) {
	const s = model.Duration(1e9)
	const one, two = "main.run.func1 lets one goroutine run at a time", "main.run.func1 lets 2 goroutines run at a time, which mostly wait"
	for _, x := range []struct {
		alive, waits model.Duration
		busy         float64
		kind         string
		want         string
	}{
		{s, 0, 0.5, "chan send", one},
		{4 * s, 4 * s, 0.1, "chan send", ""},
		{2 * s, 2 * s, 0.1, "chan send", two},
		{13 * s / 10, 13 * s / 10, 0.1, "chan send", two},
		{2 * s, s / 2, 0.1, "chan send", ""},
		{2 * s, 2 * s, 0.6, "chan send", ""},
		{2 * s, 2 * s, 0.1, "chan receive", two},
		{4 * s, 4 * s, 0.1, "chan receive", ""},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		values := new(dist.Dist)
		for range 50 {
			values.Add(s/50, 0)
		}
		v.Totals.Span, v.Requests, v.Waiting.ByReason = s, nil, []result.Named{{Name: x.kind, Dist: result.NewDist(values)}}
		v.Procs.Mean, v.Procs.Utilisation = 2, x.busy
		g := result.Group{Function: "main.run.func1", Created: 50, Lifetime: 10*s + x.alive, Waiting: []result.Reason{{Reason: x.kind, Total: 10 * s}}}
		g.States[model.GoWaiting] = 10*s + x.waits
		v.Goroutines = []result.Group{g}
		v.Blame.Rows = []result.BlameRow{{Kind: x.kind, Function: "main.run.func1.1", Waiter: "main.run.func1", Total: s, BlameBasis: result.BlameBasis{Seen: s}, Turns: 50}}
		findings.Judge(v)
		title := ""
		if i := slices.IndexFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "slow-receiver" }); i >= 0 {
			title = v.Findings[i].Title
		}
		if title != x.want {
			t.Errorf("%+v: %q", x, title)
		}
	}
}

// TestConnections checks that a limit of connections is found, and not where calls that find none dial one.
func TestConnections(t *testing.T) {
	const second = model.Duration(1e9)
	for _, x := range []struct {
		conns model.Duration
		dials string // who has dialled for each call, "" if nobody
		want  string
	}{
		{2, "", "10 wait at a time on average for 2 connections,"},
		{1, "", "for 1 connection,"},
		{2, "startDialConnForLocked.func1", ""},
		{2, "dialConnFor", ""}, // Go 1.21
		{20, "", ""},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span, v.Procs.Utilisation = second, 0.1
		v.Goroutines = []result.Group{{Function: "net/http.(*persistConn).readLoop", Lifetime: x.conns * second}, {Function: "net/http.(*Transport)." + x.dials, Created: 50}}
		v.Blame.Rows = []result.BlameRow{{Kind: "select", Function: "net/http.(*persistConn).readLoop", Waiter: "main.call", Total: 10 * second, Turns: 50,
			Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "net/http.(*Transport).tryPutIdleConn"}}}}}}
		findings.Judge(v)
		text := ""
		if i := slices.IndexFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "slow-receiver" }); i >= 0 {
			text = v.Findings[i].Text
		}
		if (text != "") != (x.want != "") || !strings.Contains(text, x.want) {
			t.Errorf("%+v: %q", x, text)
		}
	}
}

// TestHeadOfLine checks that receivers are found that wait for a sender while it waits for one of them, and
// that those of a pool are not, none of which waits while the sender is held up.
func TestHeadOfLine(t *testing.T) {
	for _, tt := range []struct {
		waiting model.Duration // a tenth at a time on average
		traces  int
		other   string // whose goroutines wait
		want    bool
	}{{40, 1, "main.receive", true}, {30, 1, "main.receive", false}, {32, 1, "main.receive", false}, {70, 1, "main.receive", false}, {20, 2, "main.receive", true}, {10, 2, "main.receive", false}, {40, 1, "main.listen", true}} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Traces = slices.Repeat(v.Traces, tt.traces)
		const span = model.Duration(time.Second)
		v.Totals.Span = span
		values := new(dist.Dist)
		for range 50 {
			values.Add(span/100, 0)
		}
		held := result.Named{Name: "chan send", Dist: result.NewDist(values)}
		v.Waiting.ByReason = []result.Named{held}
		row := func(kind, waker, waiter string, d model.Duration) result.BlameRow {
			return result.BlameRow{Kind: kind, Function: waker, Waiter: waiter, Total: d, BlameBasis: result.BlameBasis{Seen: d}, Turns: 50}
		}
		v.Blame.Rows = []result.BlameRow{row("chan send", "main.receive", "main.send", span/2), row("chan receive", "main.send", tt.other, tt.waiting*span/10)}
		v.Goroutines = append(v.Goroutines, result.Group{Function: tt.other, Count: 6})
		findings.Judge(v)
		got := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "slow-receiver" })
		if tt.want && strings.Contains(v.Findings[0].Advice, "semaphore") {
			t.Errorf("main.receive receives what main.send sends: %s", v.Findings[0].Advice)
		}
		if got != tt.want {
			t.Errorf("%d tenths of 6 in %d traces wait on average: %t, want %t", tt.waiting, tt.traces, got, tt.want)
		}
	}
}
