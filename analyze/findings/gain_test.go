package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// TestGainOfCulprit checks that the gain of an item counts all parts of its culprit, once each, and those
// of other requests not.
func TestGainOfCulprit(t *testing.T) {
	slow := func() *question {
		return &question{RequestGroup: &result.RequestGroup{}, RequestTail: &result.RequestTail{Count: 2, Total: 50_000_000}}
	}
	part := func(cost float64, fn string) result.Finding {
		return result.Finding{Kind: SlowRequests, Where: []result.Culprit{{Function: fn}}, Evidence: []result.Evidence{{Value: cost}, {Value: cost / 25e6}}}
	}
	j, q := &judge{}, slow()
	for _, x := range []struct {
		f result.Finding
		q *question
	}{{part(10e6, "main.write"), q}, {part(12e6, "main.write"), q}, {part(1e6, "main.write"), slow()}, {part(2e6, "main.other"), q}} {
		j.add(item{Finding: x.f, q: x.q})
	}
	if want := "the slowest 25.0ms -> about 3.00ms"; len(j.items) != 2 || j.items[0].Gain != want {
		t.Errorf("%d items, gain %q, want 2 and %q", len(j.items), j.items[0].Gain, want)
	}
}

// TestAlikeItems checks that an item which would read like another of its group is not added, whatever it ends in.
func TestAlikeItems(t *testing.T) {
	part := func(group, end string) result.Finding {
		return result.Finding{Kind: SlowRequests, Group: group, Advice: askLess, Where: []result.Culprit{{Role: "waits for HTTP calls", Function: "main.ask"}, {Function: end}}, Evidence: []result.Evidence{{}, {}}}
	}
	j := &judge{}
	for _, f := range []result.Finding{part("main.quote", "main.spin"), part("main.quote", "main.load"), part("main.other", "main.wait")} {
		j.add(item{Finding: f, q: &question{RequestGroup: &result.RequestGroup{}, RequestTail: &result.RequestTail{}}})
	}
	if len(j.items) != 2 || j.items[0].Group == j.items[1].Group {
		t.Errorf("%d items, want one of each group: %+v", len(j.items), j.items)
	}
}

// TestAllocateLess checks that an item gets the advice of another one about its culprit, to allocate less, unless
// the program lacks CPUs, or leaks goroutines.
func TestAllocateLess(t *testing.T) {
	for kind, want := range map[string]string{"busy-procs": "First. And: Less.", "more-procs-than-cpus": "First.", "goroutine-leak": "First."} {
		j, where := &judge{}, []result.Culprit{{Function: "main.page"}}
		j.add(item{Finding: result.Finding{Kind: kind, Where: where, Advice: "First."}})
		j.add(item{Finding: result.Finding{Kind: "garbage-collection", Where: where, Advice: "Less."}})
		if len(j.items) != 1 || j.items[0].Advice != want {
			t.Errorf("%s: %d items: %s", kind, len(j.items), j.items[0].Advice)
		}
	}
}

// TestGainAtMost checks what the gain of an item counts apart from its part: other waits for the same code, for a
// proc and for the collector, if it keeps the procs busy; of a lock the waits for it, and not the work that
// it is held for; of what is asked many times all except one; of a queue what comes before the request itself, as far as
// workers get procs.
func TestGainAtMost(t *testing.T) {
	const ms = 1_000_000
	lock := &result.RequestRow{Kind: "lock", Function: "main.get"}
	queue := &result.RequestRow{Kind: "channel", Function: "main.get", Slow: 5 * ms, Times: 10}
	sent := &result.RequestRow{Kind: "channel", Function: "main.get", Slow: 5 * ms, Way: &result.RequestWay{Callee: "runtime.chansend1"}}
	short := &result.RequestRow{Kind: "channel", Function: "main.get", Slow: ms}
	queued := &result.RequestRow{Kind: "queued", Function: "main.put"}
	report := &result.Report{Procs: result.Procs{Mean: 2, Utilisation: 0.75}}
	rows := []result.RequestRow{
		{Kind: "sleep", Function: "main.write", Wait: "lock", Waiter: "main.get", Slow: 10 * ms},
		{Kind: "sleep", Function: "main.write", Wait: "channel", Waiter: "main.get", Slow: 5 * ms},
		{Kind: "sleep", Function: "main.write", Wait: "sleep", Waiter: "main.write", Slow: 3 * ms},
		{Kind: "runnable", Function: "main.write", Slow: 2 * ms},
		{Kind: "gc", Function: "main.parse", Wait: "gc", Waiter: "main.parse", Slow: 1 * ms},
		{Kind: "network", Wait: "channel", Waiter: "main.other", Slow: 4 * ms},
		{Kind: "queued", Function: "main.put", Slow: 8 * ms},
	}
	of := func(length model.Duration) result.RequestPart {
		return result.RequestPart{Kind: "sleep", Function: "main.write", Wait: "channel", Waiter: "main.get", Length: length}
	}
	for _, tt := range []struct {
		kind, role string
		remedy     remedy
		culprit    string
		part       *result.RequestRow
		want       float64
	}{
		{SlowRequests, requestWords["lock"].does, otherwise, "main.write", lock, 10 * ms},
		{SlowRequests, requestWords["channel"].does, raiseLimit, "main.write", queue, 5 * ms},
		{SlowRequests, requestWords["channel"].does, otherwise, "main.write", queue, 17 * ms},
		{SlowRequests, requestWords["channel"].does, otherwise, "", queue, 5 * ms},
		{SlowRequests, requestWords["channel"].does, askOnce, "", queue, 4.5 * ms},
		{SlowRequests, requestWords["channel"].does, moreWorkers, "", queue, 3 * ms},
		{SlowRequests, requestWords["channel"].does, moreWorkers, "", sent, 5 * ms}, // it is taken up when the worker is free
		{SlowRequests, requestWords["channel"].does, moreWorkers, "", short, 0},     // those listed wait for longer
		{SlowRequests, keepsWorker, startWorkers, "", queued, 4 * ms},
		{"busy-procs", requestWords["runnable"].does, otherwise, "main.write", &result.RequestRow{Kind: "runnable"}, 18 * ms},
	} {
		q := &question{RequestGroup: &result.RequestGroup{}, RequestTail: &result.RequestTail{Count: 1, Rows: rows}}
		q.Slowest = []result.RequestPath{{Parts: []result.RequestPart{of(3 * ms), of(2 * ms), {Kind: "running", Length: ms}}}}
		x := &item{remedy: tt.remedy, Finding: result.Finding{Kind: tt.kind, Where: []result.Culprit{{Role: tt.role}, {Function: tt.culprit}}, Evidence: []result.Evidence{{}}}, q: q, parts: []*result.RequestRow{tt.part}}
		if got := q.most(report, x); got != tt.want {
			t.Errorf("%s %s %d %s: %g, want %g", tt.kind, tt.role, tt.remedy, tt.culprit, got, tt.want)
		}
	}
}

// TestCodeInTraces checks that an item is in as many traces as the row of its code that is in most, and not in those
// of another kind.
func TestCodeInTraces(t *testing.T) {
	row := func(kind, waiter string, total model.Duration, traces, reports int64, most int) result.BlameRow {
		return result.BlameRow{Kind: kind, Function: "main.put", File: "put.go", Waiter: waiter, Total: total, Traces: traces,
			In: &result.Places{Reports: reports, Most: []result.Share{{Trace: most, Total: total}, {Trace: 3, Total: 1}}}}
	}
	r := &result.Report{Reports: 3, Traces: []result.Trace{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}},
		Blame: result.Blame{Rows: []result.BlameRow{row("goroutine", "", 90, 5, 3, 0), row("lock", "main.x", 9, 2, 2, 1), row("lock", "main.y", 5, 4, 1, 2)}}}
	f := result.Finding{Where: []result.Culprit{{Function: "main.put", File: "put.go"}}}
	codeInTraces(r, &f, []string{"lock", "channel"})
	if want := "in 4 of 5 traces and 2 of 3 reports, most in b, d"; f.In != want {
		t.Errorf("it is %q, want %q", f.In, want)
	}
}

// TestServed checks that exchanges over TCP and messages are not certain to be requests.
func TestServed(t *testing.T) {
	for kind, want := range map[string]bool{"tcp": false, "message": false, "http": true} {
		if got := (&judge{questions: []*question{{kind: kind}}}).served(); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

// TestCandidate checks that goroutines of the runtime, of rounds, and those that wait to be stopped are not offered as
// requests, and that who reads for others is named.
func TestCandidate(t *testing.T) {
	lives := func(name string, waiting ...result.Reason) result.Group {
		return result.Group{Function: name, Created: manyLives, Ended: manyLives, Lifetime: 100, Waiting: waiting}
	}
	j := &judge{r: &result.Report{Goroutines: []result.Group{
		{Function: "runtime.gcBgMarkWorker", System: true, Created: 2 * manyLives, Ended: 2 * manyLives}, lives("main.part"),
		lives("main.watch", result.Reason{Reason: "select", Total: 95}), lives("main.handle", result.Reason{Reason: "select", Total: 60})}}}
	j.r.Blame.Rows = []result.BlameRow{{Kind: "sync.(*WaitGroup).Wait", Function: "main.part"}}
	rows := []result.BlameRow{{Kind: result.BlameInShort, Function: "main.read", Turns: fewHeld, Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "net.(*netFD).Read"}, {Function: "main.read"}, {Function: "main.serve"}}}}},
		{Kind: "chan receive", Function: "main.serve", Waiter: "main.worker"}}
	if got := handsOn(&result.Report{Blame: result.Blame{Rows: rows}}); !strings.HasPrefix(got, "what main.serve reads for main.worker while that is busy") {
		t.Errorf("who reads for others: %q", got)
	}
	if rows[1].Function = "main.tick"; handsOn(&result.Report{Blame: result.Blame{Rows: rows}}) != "" {
		t.Error("who does not read hands on what it reads")
	}
	// Workers that write answers: those that wait for more, or read themselves, can be followed.
	for waits, want := range map[model.Duration]bool{5: true, 6: false} {
		r := &result.Report{Goroutines: []result.Group{{Function: "main.worker", Count: 2, Lifetime: 200, Waiting: []result.Reason{{Reason: "sleep", Total: 190}, {Reason: "chan receive", Total: 2 * waits}}}}}
		r.Totals.Span = 100
		r.Blame.Rows = []result.BlameRow{{Kind: result.BlameInShort, Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "net.(*netFD).Write"}, {Function: "main.worker"}}}}}}
		if got := handsOn(r); strings.HasPrefix(got, "main.worker writes to connections that others read, and hardly waits for more to do (95% of its time: sleep).") != want {
			t.Errorf("who writes, and waits for %d: %q", waits, got)
		}
		r.Blame.Rows[0].Stacks = append(r.Blame.Rows[0].Stacks, result.BlameStack{Stack: []result.Frame{{Function: "net.(*netFD).Read"}, {Function: "main.worker"}}})
		if got := handsOn(r); got != "" {
			t.Errorf("who reads, too: %q", got)
		}
	}
	if got, want := j.candidate(), "--request 'goroutine:main.handle' "; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLocked checks that requests which wait in a queue for what is done with a lock get its advice, if others wait for it all the time.
func TestLocked(t *testing.T) {
	for name, x := range map[string]struct {
		caller string
		sum    model.Duration
		want   bool
	}{
		"with its line": {"main.put (main.go:35)", 100, true}, "without": {"main.put", 100, true}, "another": {"main.puts (main.go:35)", 100, false}, "at times": {"main.put", 99, false},
	} {
		j := &judge{r: &result.Report{Totals: result.Totals{Span: 100}}, items: []item{{Finding: result.Finding{Kind: SlowRequests, Title: "it waits", Where: []result.Culprit{{Function: "main.reply"}, {Function: "main.sync", Callers: []string{x.caller}}}}}}}
		got := j.locked(&diagnosis{Finding: result.Finding{Kind: "lock", Title: "main.put holds a lock", Advice: "Hold it", Where: []result.Culprit{{Function: "main.put"}}}, loss: loss{sum: x.sum}})
		if f := j.items[0]; got != x.want || got != (f.Title == "it waits (main.put holds a lock)" && f.Advice == "Hold it") {
			t.Errorf("%s: %t: %s: %s", name, got, f.Title, f.Advice)
		}
	}
}

// TestCollectorOnce checks that two items about the collector are one, whoever works for it.
func TestCollectorOnce(t *testing.T) {
	f := func(kind, fn string) *result.Finding {
		return &result.Finding{Kind: kind, Where: []result.Culprit{{Function: fn}}}
	}
	if !same(f("garbage-collection", "main.a"), f("garbage-collection", "main.b")) || same(f("busy-procs", "main.a"), f("busy-procs", "main.b")) {
		t.Error("of two functions: the collector is not one culprit, or busy procs are")
	}
}

// TestOftenSampled checks that more CPU samples than the runtime takes by itself do not rule out that CPUs were taken.
func TestOftenSampled(t *testing.T) {
	r := &result.Report{Totals: result.Totals{Span: 1e9}, Blame: result.Blame{SampledSpan: 1e9}}
	r.Procs.Uses[result.UseUser] = 1e9
	for n, want := range map[int64]float64{100: 0.11, 250: 1} {
		r.Blame.Samples = n
		if _, most := taken(r); math.Abs(most-want) > 0.02 {
			t.Errorf("%d samples: at most %v, want %v", n, most, want)
		}
	}
}

// TestFewSamples checks that too few CPU samples say nothing of what was taken.
func TestFewSamples(t *testing.T) {
	for ran, known := range map[model.Duration]bool{fewSamples * samplePeriod: true, fewSamples*samplePeriod - 1: false} {
		r := &result.Report{Totals: result.Totals{Span: 1e9}, Blame: result.Blame{Samples: 2, SampledSpan: 1e9}}
		r.Procs.Uses[result.UseUser] = ran
		if least, most := taken(r); (least > 0) != known {
			t.Errorf("ran %v: %v to %v", ran, least, most)
		}
	}
}

// TestTypical checks that the typical request of a group that others may belong to is the middle of those that are seen.
func TestTypical(t *testing.T) {
	for others, want := range map[int64]string{0: "the typical request", 1: "a request of the middle fifth"} {
		q := &question{RequestGroup: &result.RequestGroup{RequestSet: result.RequestSet{Dist: result.Dist{Count: 10, P50: 100}}},
			RequestTail: &result.RequestTail{Middle: result.RequestMiddle{Count: 2, Total: 202}}, others: others}
		if _, who, _ := q.typical(); who != want {
			t.Errorf("%d others: %s, want %s", others, who, want)
		}
	}
}

// TestMissedFirst checks that an item about a missed objective comes before one about the slowest of a group of which none
// is missed, also if it is about what all spend outside of the program.
func TestMissedFirst(t *testing.T) {
	for _, x := range []struct {
		all, slowest model.Duration // that are missed
		want         int
	}{{0, 0, 1}, {5, 0, -1}, {5, 5, 1}} {
		of := func(kind string, all bool, limit model.Duration) item {
			return item{Finding: result.Finding{Where: []result.Culprit{{Role: requestWords[kind].does}}}, q: &question{RequestGroup: &result.RequestGroup{}, all: all, limit: limit}}
		}
		j := &judge{items: []item{of("network", true, x.all), of("lock", false, x.slowest)}}
		if got := j.yields(&j.items[0]); got != x.want {
			t.Errorf("%+v: %d", x, got)
		}
	}
}

// TestGainOfSlowest checks that the slowest get no faster than the others, and that the typical one keeps as much as those
// of the middle, however long it takes.
func TestGainOfSlowest(t *testing.T) {
	q := &question{RequestGroup: &result.RequestGroup{}, RequestTail: &result.RequestTail{Count: 2, Total: 50_000_000, Middle: result.RequestMiddle{Count: 10, Total: 30_000_000}}}
	if got, want := q.gain(24e6), "the slowest 25.0ms -> about 3.00ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	q.all, q.P50 = true, 2_800_000
	if got, want := q.gain(2.85e6), "the typical request 2.80ms -> about 140µs"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLimited checks that a wait is for a place among a number of them if a request of another group ends it that waits
// at the same place, as for a connection that it gives back at its end, and not if a worker does.
func TestLimited(t *testing.T) {
	waits := func(fn string) result.RequestGroup {
		return result.RequestGroup{Name: "y.list", RequestSet: result.RequestSet{Tails: []result.RequestTail{{Groups: []result.RequestRow{{Kind: "channel", Function: fn}}}}}}
	}
	g := &result.RequestRow{Kind: "channel", Function: "y.(*pool).get"}
	for _, tt := range []struct {
		by, at string
		want   bool
	}{{"y.list", "y.(*pool).get", true}, {"y.list", "y.submit", false}, {"y.work", "y.(*pool).get", false}} {
		q := &question{RequestGroup: &result.RequestGroup{Name: "y.read"}, sets: []result.RequestGroup{waits(tt.at)}}
		x := &result.RequestRow{Kind: "sleep", Way: &result.RequestWay{Between: []result.Frame{{Function: "y.stamp"}, {Function: tt.by}}}}
		if got := q.limited(g, x); got != tt.want {
			t.Errorf("y.list waits at %s, %s ends the wait: %t, want %t", tt.at, tt.by, got, tt.want)
		}
	}
}

// TestBoundsInBuckets checks that bounds of values of which only the buckets are known are those of the buckets.
func TestBoundsInBuckets(t *testing.T) {
	const us = model.Duration(1000)
	exact := func(v model.Duration, n int) *dist.Dist {
		d := &dist.Dist{}
		for range n {
			d.Add(v, 0)
		}
		return d
	}
	bucketed := func(d *dist.Dist) *dist.Dist {
		return dist.Of(d.Histogram(), d.Total(), d.Min(), d.Max(), 0)
	}
	for v := 10_000 * us; v < 10_100*us; v += us {
		seen, others := exact(v, 1000), exact(v, 1001)
		others.Add(us, 0)
		others.Add(50_000*us, 0)
		for i, s := range []*dist.Dist{seen, bucketed(seen)} {
			low, high := bounds(s, bucketed(others), 0.99)
			if near := func(x model.Duration) bool { return max(x-v, v-x) < v/200 }; !near(low) || !near(high) {
				t.Fatalf("%d: %v to %v of %v", i, low, high, v)
			}
		}
	}
}

// TestStartedIn checks that fewer at once are no remedy for a request that waits for goroutines which it has started itself.
func TestStartedIn(t *testing.T) {
	for name, x := range map[string]struct {
		row  result.RequestRow
		want remedy
	}{
		"there":    {result.RequestRow{Kind: "waitgroup", Function: "main.rank"}, shareLess},
		"below":    {result.RequestRow{Kind: "waitgroup", Function: "main.wait", Way: &result.RequestWay{Callers: []result.Frame{{Function: "main.rank"}}}}, shareLess},
		"by other": {result.RequestRow{Kind: "waitgroup", Function: "main.get"}, otherwise},
	} {
		f := &item{Finding: result.Finding{Where: []result.Culprit{{Function: x.row.Function}}}}
		list := []diagnosis{{Finding: result.Finding{Kind: "batch", Advice: "Bound", Where: []result.Culprit{{Function: "main.rank"}}}}}
		q := &question{RequestGroup: &result.RequestGroup{}, RequestTail: &result.RequestTail{}}
		if j := (&judge{r: &result.Report{}}); !j.due(f, q, &x.row, &list) || f.remedy != x.want || strings.HasPrefix(f.Advice, "Bound") != (x.want == otherwise) {
			t.Errorf("%s: remedy %d: %s", name, f.remedy, f.Advice)
		}
	}
}

// TestStopping checks that an item about where requests stop the world says so.
func TestStopping(t *testing.T) {
	for at, want := range map[string]bool{"22 stops the world": true, "23 stops the world": false, "22 runs on": false} {
		var line uint64
		fmt.Sscan(at, &line)
		j := &judge{items: []item{{Finding: result.Finding{Kind: SlowRequests, Title: "a", Where: []result.Culprit{{Function: "main.api"}, {Function: "main.debug", Line: line}}}}}}
		d := &diagnosis{Finding: result.Finding{Kind: "stop-the-world", Advice: "Less often.", Where: []result.Culprit{{Role: at[3:], Function: "main.debug", Line: 22}}}}
		if got := j.stopping(d); got != want || (j.items[0].Title == "a (that stops the world, for all)") != want || (j.items[0].Advice == "Less often.") != want {
			t.Errorf("%s: %t: %+v", at, got, j.items[0])
		}
	}
}

// TestHolder checks how who holds a lock is named: by where it calls what ran, if that is known, else by where it releases it.
func TestHolder(t *testing.T) {
	const lock = "sync.(*Mutex).Lock"
	g := &result.RequestRow{Kind: "lock", Function: "main.get"}
	ran := func(fn string, line int, slow model.Duration, callers ...result.Frame) result.RequestRow {
		return result.RequestRow{Kind: "running", Function: fn, File: "a.go", Line: line, Wait: "lock", Waiter: "main.get", Slow: slow, Way: &result.RequestWay{Callers: callers}}
	}
	call := result.Frame{Function: "main.put", File: "put.go", Line: 7}
	for name, x := range map[string]struct {
		rows []result.RequestRow
		fn   string
		line int
		ran  string
	}{
		"calls what ran":           {[]result.RequestRow{ran("main.hash", 3, 10, call)}, "main.put", 7, " main.hash (a.go:3)"},
		"nothing shows the call":   {[]result.RequestRow{ran("main.hash", 3, 10)}, "main.put", 9, " main.hash (a.go:3)"},
		"is not on the way":        {[]result.RequestRow{ran("main.hash", 3, 10, result.Frame{Function: "main.del"})}, "main.hash", 3, ""},
		"has no line":              {[]result.RequestRow{ran("main.put", 0, 10), ran("main.hash", 3, 2, call)}, "main.put", 7, " main.hash (a.go:3)"},
		"has no line, rarely seen": {[]result.RequestRow{ran("main.put", 0, 11), ran("main.hash", 3, 2, call)}, "main.put", 0, ""},
	} {
		r := &result.Report{Waiting: result.Waiting{ByReason: []result.Named{{Name: lock}}}}
		r.Blame.Rows = []result.BlameRow{{Kind: lock, Waiter: "main.get", Function: "main.put", File: "put.go", Line: 9, Total: 5}}
		q := &question{RequestGroup: &result.RequestGroup{}, RequestTail: &result.RequestTail{Count: 1, Rows: x.rows}}
		of, code := q.holder(r, g, slices.Collect(result.Refs(x.rows)))
		if of.Function != x.fn || of.Line != x.line || code != x.ran {
			t.Errorf("%s: %s:%d runs%s", name, of.Function, of.Line, code)
		}
	}
}
