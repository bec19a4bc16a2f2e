package chart

import (
	"cmp"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// synthetic describes a report made up of random waits.
type synthetic struct {
	waits, procs int
	span         model.Duration
	name         string // of the functions; "" for ordinary ones
}

// input returns what pictures of the report are made of.
func (s synthetic) input() *Input {
	r := s.report()
	v := r.Result()
	v.Traces = []result.Trace{{Name: cmp.Or(s.name, "x.trace")}}
	if s.waits > 0 {
		v.Requests = []result.RequestKind{someRequests(cmp.Or(s.name, "main.serve"))}
	}
	v.WorstWaits = v.WorstWaits[:min(len(v.WorstWaits), 3)]
	h := NewHistories(v)
	h.tables = model.NewTables()
	s.feedProcs(s.rand(), s.functions(h.tables), h.ProcSpan, analyze.NewTimeline())
	return &Input{Report: v, Histories: h}
}

// someRequests are thirty requests, of which the slowest waited for a lock.
func someRequests(name string) result.RequestKind {
	const ms = model.Duration(1e6)
	var d analyze.Dist
	for i := range 30 {
		d.Add(ms+ms*model.Duration(i/28), model.Time(i))
	}
	held := result.RequestPart{Length: ms, Kind: "running", Goroutine: 2, Depth: 1, Function: name, Wait: "lock", Waiter: name}
	own := result.RequestPart{Length: ms, Kind: "running", Goroutine: 1}
	return result.RequestKind{Kind: "http", Handlers: []result.RequestHandler{}, RequestSet: result.RequestSet{Dist: result.NewDist(&d), Slowest: []result.RequestPath{{Name: name, Goroutine: 1, Duration: 2 * ms, Parts: []result.RequestPart{held, own}}},
		Typical: &result.RequestPath{Name: name, Goroutine: 1, Duration: ms, Parts: []result.RequestPart{own}},
		Own:     []result.RequestTime{}, Path: []result.RequestTime{},
		Tails: []result.RequestTail{{Count: 2, Total: 4 * ms, Middle: result.RequestMiddle{Count: 1, Total: ms},
			Rows:   []result.RequestRow{{Kind: "running", Function: name, Wait: "lock", Waiter: name, Slow: 2 * ms, Have: 2}, {Kind: "running", Slow: 2 * ms, Middle: ms, Have: 2}},
			Groups: []result.RequestRow{{Kind: "lock", Function: name, Slow: 2 * ms, Have: 2}, {Kind: "running", Slow: 2 * ms, Middle: ms, Have: 2}}}}}}
}

// TestRequests looks for what the picture of requests says.
func TestRequests(t *testing.T) {
	w := words(t, (&Input{Report: &result.Report{Requests: []result.RequestKind{someRequests("main.get")}}}).requests())
	for _, want := range []string{"30 http requests", "The slowest 2 (from 0 on) take 1.00ms longer on average", "lock main.get\n", "+1.00ms, 2 of 2 have it", "The slowest: 2.00ms, at 0, G1", "G2 main.get\n", "A typical one: 1.00ms", "makes runnable"} {
		if !strings.Contains(w, want) {
			t.Errorf("%q is not in %q", want, w)
		}
	}
}

// TestRequestsOf checks whose requests the picture shows.
func TestRequestsOf(t *testing.T) {
	few := result.RequestGroup{Name: "main.few"} // of which nothing is known
	unknown := result.RequestGroup{Name: result.NoName, RequestSet: someRequests("main.a").RequestSet}
	first, second := result.RequestGroup{Name: "x/y/main.first", RequestSet: someRequests("main.a").RequestSet}, result.RequestGroup{Name: "main.second", RequestSet: someRequests("main.b").RequestSet}
	for _, tt := range []struct {
		groups []result.RequestGroup
		of     []string // findings
		want   string
	}{
		{nil, nil, "slow\n"},
		{[]result.RequestGroup{few, first, second}, nil, "slow: main.first\n"},
		{[]result.RequestGroup{few, first, second}, []string{"", "main.second", "x/y/main.first"}, "slow: main.second\n"},
		{[]result.RequestGroup{few, first, second}, []string{"main.few"}, "slow: main.first\n"},
		{[]result.RequestGroup{few}, nil, "slow\n"},
		{[]result.RequestGroup{unknown, first}, nil, "slow\n"},
	} {
		k := someRequests("main.get")
		k.Groups = tt.groups
		r := &result.Report{Requests: []result.RequestKind{k}}
		for _, group := range tt.of {
			r.Findings = append(r.Findings, result.Finding{Group: group})
		}
		w := words(t, (&Input{Report: r}).requests())
		if !strings.Contains(w, "Why the slowest requests are "+tt.want) || strings.Contains(w, "30 http requests") != (tt.want == "slow\n") ||
			strings.Contains(w, "of unknown handlers") != (len(tt.groups) == 2) {
			t.Errorf("%v: want %q in %q", tt.of, tt.want, w)
		}
	}
	http, task := someRequests("main.a"), someRequests("main.b")
	http.Groups, task.Groups, task.Kind = []result.RequestGroup{first}, []result.RequestGroup{second}, "task"
	r := &result.Report{Requests: []result.RequestKind{http, task}, Findings: []result.Finding{{Group: "main.second"}}}
	if w := words(t, (&Input{Report: r}).requests()); !strings.Contains(w, "slow: main.second\n") {
		t.Errorf("of two kinds: %q", w)
	}
}

// report feeds the analyses that pictures read, as a Machine would.
func (s synthetic) report() *analyze.Report {
	t := model.NewTables()
	r := analyze.New(t, analyze.Options{})
	rnd, funcs := s.rand(), s.functions(t)
	s.feedProcs(rnd, funcs, r.Timeline.ProcSpan, r.Timeline)
	s.feedWaits(r, rnd, funcs)
	r.Totals.Procs = s.procs
	r.Finish(0, model.Time(s.span))
	return r
}

func (s synthetic) rand() *rand.Rand { return rand.New(rand.NewPCG(1, uint64(s.waits))) }

// functions returns the names of the functions.
func (s synthetic) functions(t *model.Tables) []model.StringID {
	names := []string{"main.worker", "net/http.(*conn).serve", "github.com/x/y/pool.(*Pool[...]).run.func1"}
	if s.name != "" {
		names = []string{s.name}
	}
	funcs := make([]model.StringID, len(names))
	for i, n := range names {
		funcs[i] = t.AddString(n)
	}
	return funcs
}

// feedProcs fills the span of each proc with a hundred intervals, which observe takes, and gives a
// timeline the counts that go with them.
func (s synthetic) feedProcs(rnd *rand.Rand, funcs []model.StringID, observe func(*model.ProcSpan), tl *analyze.Timeline) {
	states := []model.ProcState{model.ProcRunning, model.ProcRunning, model.ProcRunning, model.ProcIdle, model.ProcSyscall, model.ProcSearching}
	const parts = 100
	at := func(i int) model.Time { return model.Time(int64(s.span) * int64(i) / parts) }
	for i := range parts {
		idle := 0
		for p := range s.procs {
			x := &model.ProcSpan{P: model.ProcID(p), State: states[rnd.IntN(len(states))], G: model.NoGoroutine, Start: at(i), End: at(i + 1)}
			if x.State == model.ProcIdle {
				idle++
			}
			if x.State == model.ProcRunning || x.State == model.ProcSyscall {
				x.G, x.Func = model.GoID(100+rnd.IntN(5)), funcs[rnd.IntN(len(funcs))]
			}
			if x.State == model.ProcRunning && i%25 > 20 {
				x.Work = model.WorkGCDedicated
			}
			if x.End > x.Start {
				observe(x)
			}
		}
		if at(i+1) > at(i) {
			tl.Counts(&model.Counts{Start: at(i), End: at(i + 1), Procs: s.procs, Idle: idle, Runnable: rnd.IntN(40)})
		}
	}
	for i := range 10 {
		tl.Metric(&model.MetricSample{Time: at(10 * i), Name: "/memory/classes/heap/objects:bytes", Value: uint64(3+i%4) << 20})
		tl.Metric(&model.MetricSample{Time: at(10 * i), Name: "/gc/heap/goal:bytes", Value: 8 << 20})
	}
}

// feedWaits spreads the waits over the span, log-normal with a few long ones.
func (s synthetic) feedWaits(r *analyze.Report, rnd *rand.Rand, funcs []model.StringID) {
	by := []model.Origin{model.OriginGoroutine, model.OriginGoroutine, model.OriginNetpoll, model.OriginTimer, model.OriginPreempted}
	for i := range s.waits {
		f := funcs[rnd.IntN(len(funcs))]
		d := model.Time(math.Exp(rnd.NormFloat64()) * 8e3)
		if rnd.IntN(100) == 0 {
			d += model.Time(rnd.ExpFloat64() * 1e6)
		}
		end := model.Time((float64(i) + 0.5) / float64(s.waits) * float64(s.span))
		x := &model.GoSpan{
			G: model.GoID(10 + i%50), Func: f, State: model.GoRunnable,
			Start: max(0, end-d), End: end, Origin: by[rnd.IntN(len(by))], Waker: 3,
			WakerProc: model.ProcID(rnd.IntN(s.procs)), P: model.ProcID(rnd.IntN(s.procs)), Next: model.GoRunning,
		}
		r.Latency.GoSpan(x)
		r.Heat.GoSpan(x)
		r.Worst.GoSpan(x)
	}
}
