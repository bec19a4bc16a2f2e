package analyze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// randomRecords feeds records as a Machine might, of a trace that begins at 0.
func randomRecords(f testFeed, r records, rnd *rand.Rand, n int) {
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

// resulter is an analysis.
type resulter interface{ Result(*result.Report) }

// resultOf returns what analyses found, of one trace.
func resultOf(list ...resulter) *result.Report {
	v := &result.Report{Traces: []result.Trace{{Name: "t"}}}
	for _, a := range list {
		a.Result(v)
	}
	return v
}

// percentile matches fields that merging knows within the width of a bucket.
var percentile = regexp.MustCompile(`\.(p50|p90|p99|p99_9|value)(_ns)?$`)

// ofOneTrace are fields of reports that merging keeps by trace, that are curves of a trace, or that say that it was done.
var ofOneTrace = []string{"traces", "per_trace", "spread", "notes", "findings", "skipped", "trace", "gomaxprocs", "thresholds", "by_goroutine", "longest", "late_system", "worst_waits", "sum", "exact"}

// sameMerged compares the merged results of two traces with the result of an analysis that
// saw both.
func sameMerged(t *testing.T, a, b, both *result.Report) {
	t.Helper()
	merged, err := result.Merge([]*result.Report{a, b})
	if err != nil {
		t.Fatal(err)
	}
	tree := func(v *result.Report) any {
		var b bytes.Buffer
		if err := result.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		var x any
		if err := json.Unmarshal(b.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		return x
	}
	differ := 0
	sameTree(tree(merged), tree(both), "", func(path string, got, want any) {
		if differ++; differ < 10 {
			t.Errorf("merged: %s is %.200v, of both: %.200v", path, got, want)
		}
	})
}

func sameTree(got, want any, path string, bad func(path string, got, want any)) {
	switch want := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for k, w := range want {
			if !slices.Contains(ofOneTrace, k) {
				sameTree(g[k], w, path+"."+k, bad)
			}
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(want) {
			bad(path, got, want)
			return
		}
		for i, w := range want {
			sameTree(g[i], w, fmt.Sprintf("%s[%d]", path, i), bad)
		}
	case float64:
		bound := 1e-9
		if percentile.MatchString(path) {
			bound = 0.004
		}
		if g, ok := got.(float64); !ok || math.Abs(g-want) > bound*math.Abs(want) {
			bad(path, got, want)
		}
	default:
		if got != want {
			bad(path, got, want)
		}
	}
}

// TestMergeEqualsBoth compares merged results of two traces with those of one report that
// saw both, where names have their IDs in another order.
func TestMergeEqualsBoth(t *testing.T) {
	const first, second = 6000, 9000
	run := func(r records, parts ...int) *result.Report {
		rep := New(r.tables, Options{})
		f := newTestFeed(rep)
		for _, n := range parts {
			randomRecords(f, r, rand.New(rand.NewPCG(1, uint64(n))), n)
		}
		rep.Finish(0, 1000*model.Time(len(parts)))
		v := rep.Result()
		v.Traces = []result.Trace{{Name: "t"}}
		return v
	}
	other := newRecords()
	for _, s := range []string{"sleep", "main.b", "else", "main.a"} {
		other.str(s)
	}
	sameMerged(t, run(newRecords(), first), run(other, second), run(newRecords(), first, second))
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
		}
	}
	run := func(parts ...int) *result.Report {
		q := newQueues()
		q.beginAt(0)
		end := 0
		for _, n := range parts {
			feed(q, 0, n)
			end += 100 * n
		}
		q.Finish(0, model.Time(end))
		return resultOf(q)
	}
	sameMerged(t, run(300), run(400), run(300, 400))

	lengths := func(sum model.Duration) *result.Report {
		return &result.Report{Traces: []result.Trace{{Name: "t"}}, Queues: result.Queues{Span: 10,
			Global: result.Length{Proc: -1, Sum: sum, Max: int(sum)}, Local: []result.Length{{Proc: model.ProcID(sum), Sum: sum}, {Proc: 9, Sum: 1}}}}
	}
	v, err := result.Merge([]*result.Report{lengths(5), lengths(3)})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "global queue", v.Queues.Global, result.Length{Proc: -1, Sum: 8, Mean: 0.4, Max: 5})
	equal(t, "local queues", len(v.Queues.Local), 3)
	equal(t, "of the same proc", v.Queues.Local[2].Sum, 2)
}

// TestQueuesInWindow checks that what is before a window does not count, but
// what stands in the queues when it begins does.
func TestQueuesInWindow(t *testing.T) {
	q := newQueues()
	q.Queue(&runqueue.Lengths{Time: 100, P: model.NoProc, Len: 7})
	q.Queue(&runqueue.Lengths{Time: 200, P: model.NoProc, Len: 3})
	q.Start(&runqueue.Start{Time: 300})
	q.beginAt(1000)
	q.Start(&runqueue.Start{Time: 999}) // told late
	q.Queue(&runqueue.Lengths{Time: 980, P: model.NoProc, Len: 9})
	q.Queue(&runqueue.Lengths{Time: 990, P: model.NoProc, Len: 3})
	q.Start(&runqueue.Start{Time: 1000})
	q.Queue(&runqueue.Lengths{Time: 1100, P: model.NoProc, Len: 5})
	q.Finish(1000, 2000)
	equal(t, "starts", q.Starts, 1)
	equal(t, "length", q.Global.Sum, 3*100+5*900)
	equal(t, "longest", q.Global.Max, 5)
	equal(t, "proc", q.Global.Proc, model.NoProc)
	equal(t, "mean", q.Global.Mean, 4.8)
}
