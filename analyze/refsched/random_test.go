package refsched_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/refsched/refschedtest"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
)

// author writes a random workload as some execution of it would go, so that another order of the same work can be
// carried out, too: who is woken waits already, and at last all are woken.
type author struct {
	*rand.Rand
	w       *workload.Workload
	cpu     []model.Duration // by goroutine: of its segment so far
	waiting []int32
	alive   []int32 // that do not wait
}

func (a *author) add(g workload.Goroutine) int32 {
	i := int32(len(a.w.Goroutines))
	g.ID, g.Func = model.GoID(i+1), a.w.Tables.AddString(fmt.Sprintf("main.f%d", i%3))
	a.w.Goroutines, a.cpu, a.alive = append(a.w.Goroutines, g), append(a.cpu, 0), append(a.alive, i)
	return i
}

func (a *author) op(i int32, o workload.Op) {
	o.At = a.cpu[i]
	a.w.Goroutines[i].Ops = append(a.w.Goroutines[i].Ops, o)
}

func (a *author) end(i int32, x workload.Segment) {
	g := &a.w.Goroutines[i]
	x.CPU, x.Ops, x.Object, x.Target = a.cpu[i], int32(len(g.Ops)), -1, -1
	g.Segments, g.Work, a.cpu[i] = append(g.Segments, x), g.Work+x.CPU, 0
	a.w.Recorded.Work += x.CPU
}

// leave takes the goroutine out of those that do not wait.
func (a *author) leave(i int32) {
	a.alive = slices.DeleteFunc(a.alive, func(j int32) bool { return j == i })
}

// wake has i wake the k-th that waits.
func (a *author) wake(i int32, k int) {
	j := a.waiting[k]
	a.waiting = slices.Delete(a.waiting, k, k+1)
	a.op(i, workload.Op{Kind: workload.OpWake, G: j, Seg: int32(len(a.w.Goroutines[j].Segments) - 1), Tail: a.IntN(4) == 0})
	a.alive = append(a.alive, j)
}

// random returns a random workload that can be finished.
func random(seed uint64) *workload.Workload {
	r := rand.New(rand.NewPCG(seed, 7))
	a := &author{Rand: r, w: &workload.Workload{Tables: model.NewTables(), Version: 22 + r.IntN(5), Procs: 1 + r.IntN(4), End: 10_000_000}}
	a.add(workload.Goroutine{Begin: workload.BeginRunning})
	for range 300 {
		i := a.alive[a.IntN(len(a.alive))]
		a.cpu[i] += model.Duration(a.IntN(20_000))
		if a.IntN(100) == 0 {
			a.cpu[i] += 30_000_000
		}
		switch n := a.IntN(12); {
		case n < 3 && len(a.w.Goroutines) < 40:
			a.op(i, workload.Op{Kind: workload.OpCreate, G: a.add(workload.Goroutine{Proc: model.NoProc})})
		case n < 6 && len(a.waiting) > 0:
			a.wake(i, a.IntN(len(a.waiting)))
		case n < 8 && len(a.alive) > 1:
			a.end(i, workload.Segment{End: workload.EndWait, Class: workload.ClassHandoff})
			a.leave(i)
			a.waiting = append(a.waiting, i)
		case n == 8:
			a.end(i, workload.Segment{End: workload.EndSyscall, Class: workload.ClassSyscall, Delay: model.Duration(a.IntN(300_000)), Blocking: a.IntN(3) == 0})
		case n == 9:
			ends := [...]workload.EndKind{workload.EndSleep, workload.EndExternal, workload.EndYield, workload.EndGoyield}
			a.end(i, workload.Segment{End: ends[a.IntN(len(ends))], Delay: model.Duration(a.IntN(1_000_000))})
		case n == 10 && a.IntN(4) == 0:
			a.op(i, workload.Op{Kind: workload.OpStop, G: int32(len(a.w.Stops))})
			a.w.Stops = append(a.w.Stops, workload.Stop{Hold: 20_000})
		case n == 11 && a.IntN(4) == 0:
			a.op(i, workload.Op{Kind: workload.OpCycle, G: int32(len(a.w.Cycles))})
			a.w.Cycles = append(a.w.Cycles, workload.Cycle{Work: model.Duration(a.IntN(2_000_000)), Sweep: 10_000, Mark: 10_000})
		case len(a.alive) > 1:
			a.end(i, workload.Segment{End: workload.EndExit})
			a.leave(i)
		}
	}
	for len(a.waiting) > 0 {
		a.wake(a.alive[0], 0)
	}
	for _, i := range a.alive {
		a.end(i, workload.Segment{End: workload.EndExit})
	}
	for at := model.Duration(0); a.IntN(2) == 0; at += 200_000 {
		a.w.Standstills = append(a.w.Standstills, workload.Standstill{At: at, Length: model.Duration(a.IntN(100_000))})
	}
	a.w.Recorded.Running = a.w.Recorded.Work
	return a.w
}

// computed adds up how long each goroutine ran, and notes what runs on a proc when something else does.
type computed struct {
	ran  map[model.GoID]model.Duration
	free map[model.ProcID]model.Time // when the latest interval on it ended
	err  error
}

func (c *computed) GoSpan(s *model.GoSpan) {
	if s.State != model.GoRunning {
		return
	}
	c.ran[s.G] += s.Duration()
	if s.Start < c.free[s.P] {
		c.err = errors.Join(c.err, fmt.Errorf("goroutine %d runs on proc %d from %d, which is taken until %d", s.G, s.P, s.Start, c.free[s.P]))
	}
	c.free[s.P] = s.End
}

// TestRandom checks what holds for every workload and schedule: all programs are carried out whole, no proc runs two
// goroutines at once, a Machine accepts the events, and the same seed gives the same ones. Without costs and stops,
// each goroutine runs just as long as its program computes. fixtures/validation/properties checks more, and for longer.
func TestRandom(t *testing.T) {
	const ties = 1000 // events at the same time are a nanosecond apart
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		w := random(seed)
		if err := workloadtest.Check(w); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		cfg := refsched.Config{Seed: seed, Procs: 1 + int(seed%7), AsRecorded: true, Rules: refsched.Rules{Ideal: seed%5 == 0, NoGC: seed%3 == 0}}
		exact := len(w.Stops) == 0 && len(w.Standstills) == 0 && (len(w.Cycles) == 0 || cfg.Rules.NoGC)
		if seed%2 == 0 {
			cfg.Costs, exact = refsched.DefaultCosts(), false
		}
		if seed%11 == 0 {
			cfg.Quota, exact = 20_000_000, false
		}
		var events [2]int64
		for again := range events {
			m := model.NewMachine(w.Tables, model.Config{Version: w.Version})
			c := &computed{ran: map[model.GoID]model.Duration{}, free: map[model.ProcID]model.Time{}}
			m.Observe(c)
			var bad error
			res, err := refschedtest.Run(context.Background(), w, cfg, func(e *model.Event) {
				bad = errors.Join(bad, m.Apply(e))
				events[again] = events[again]*31 + int64(e.Time) + int64(e.Kind) + e.ID
			}, nil)
			if err = errors.Join(err, bad, m.Finish(m.Now()), m.Check(), c.err); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !res.Finished {
				t.Errorf("seed %d: %+v", seed, res)
			}
			for i := range w.Goroutines {
				g := &w.Goroutines[i]
				if ran := c.ran[g.ID]; exact && ran > g.Work+ties || ran < g.Work-ties {
					t.Errorf("seed %d: goroutine %d ran %d, want %d", seed, g.ID, ran, g.Work)
				}
			}
		}
		if events[0] != events[1] {
			t.Errorf("seed %d: two simulations differ", seed)
		}
	}
}
