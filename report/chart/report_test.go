package chart

import (
	"cmp"
	"math"
	"math/rand/v2"

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
	return &Input{Report: v, Waits: r.Worst.Waits()}
}

// report feeds the analyses that pictures read, as a Machine would.
func (s synthetic) report() *analyze.Report {
	t := model.NewTables()
	r := analyze.New(t, analyze.Options{Worst: 3})
	rnd := rand.New(rand.NewPCG(1, uint64(s.waits)))
	names := []string{"main.worker", "net/http.(*conn).serve", "github.com/x/y/pool.(*Pool[...]).run.func1"}
	if s.name != "" {
		names = []string{s.name}
	}
	funcs := make([]model.StringID, len(names))
	for i, n := range names {
		funcs[i] = t.AddString(n)
	}
	s.feedProcs(r, rnd, funcs)
	s.feedWaits(r, rnd, funcs)
	r.Totals.Procs = s.procs
	r.Finish(0, model.Time(s.span))
	return r
}

// feedProcs fills the span of each proc with a hundred intervals and tells the
// counts that go with them.
func (s synthetic) feedProcs(r *analyze.Report, rnd *rand.Rand, funcs []model.StringID) {
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
				r.Timeline.ProcSpan(x)
				r.Worst.ProcSpan(x)
			}
		}
		if at(i+1) > at(i) {
			r.Timeline.Counts(&model.Counts{Start: at(i), End: at(i + 1), Procs: s.procs, Idle: idle, Runnable: rnd.IntN(40)})
		}
	}
	for i := range 10 {
		r.Timeline.Metric(&model.MetricSample{Time: at(10 * i), Name: "/memory/classes/heap/objects:bytes", Value: uint64(3+i%4) << 20})
		r.Timeline.Metric(&model.MetricSample{Time: at(10 * i), Name: "/gc/heap/goal:bytes", Value: 8 << 20})
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
