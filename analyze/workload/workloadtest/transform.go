package workloadtest

import (
	"math/rand/v2"
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
)

// Chain returns a workload in which one goroutine runs at a time: each wakes the
// next as the last thing before it waits itself.
func Chain(seed uint64, o Options) *workload.Workload {
	b := newBuilder(rand.New(rand.NewPCG(seed, 0xcaa1)), o)
	b.with &= Timers | Network | Syscalls | Long
	b.serial = true
	list := []*prog{b.add(workload.BeginRunning, "main.main")}
	list[0].g.Proc = 0
	for range 1 + b.rnd.IntN(5) {
		p := b.add(workload.BeginWaiting, b.function())
		b.waitFor(p, awaitWake)
		list = append(list, p)
	}
	p := list[0]
	for range 1 + b.rnd.IntN(60) {
		p.cur.CPU += 512 + b.burst() // so that none is added after the wake
		if f := Feature(1) << b.rnd.IntN(numFeatures); f&b.with != 0 {
			b.pause(p, f)
			p.cur.CPU += 512 + b.burst()
		}
		q := list[b.rnd.IntN(len(list))]
		if q == p {
			continue
		}
		b.wake(p, q)
		b.waitFor(p, awaitWake)
		p = q
	}
	for {
		p.cur.CPU += 512 + b.burst()
		rest := b.waiting(awaitWake)
		if len(rest) == 0 {
			b.exit(p)
			return b.finish()
		}
		q := rest[0]
		b.wake(p, q)
		b.exit(p)
		p = q
	}
}

// Relabel returns w with other ids for the same goroutines, and for each id of w the
// new one. What orders goroutines in w stays as it is.
func Relabel(w *workload.Workload, seed uint64) (*workload.Workload, map[model.GoID]model.GoID) {
	rnd := rand.New(rand.NewPCG(seed, 0x1abe1))
	c := *w
	c.Goroutines = slices.Clone(w.Goroutines)
	ids := map[model.GoID]model.GoID{}
	for i, k := range rnd.Perm(len(w.Goroutines)) {
		ids[c.Goroutines[i].ID] = w.Goroutines[k].ID
		c.Goroutines[i].ID = w.Goroutines[k].ID
	}
	return &c, ids
}

// Scale returns w with all durations n times as long.
func Scale(w *workload.Workload, n model.Duration) *workload.Workload {
	c := *w
	c.End = w.Start + model.Time(n*w.End.Sub(w.Start))
	c.Goroutines = slices.Clone(w.Goroutines)
	for i := range c.Goroutines {
		g := &c.Goroutines[i]
		g.Segments, g.Ops = slices.Clone(g.Segments), slices.Clone(g.Ops)
		for k := range g.Segments {
			g.Segments[k].CPU *= n
			g.Segments[k].Delay *= n
		}
		for k := range g.Ops {
			g.Ops[k].At *= n
		}
	}
	c.Arrivals = slices.Clone(w.Arrivals)
	for i := range c.Arrivals {
		c.Arrivals[i].At *= n
	}
	c.Cycles = slices.Clone(w.Cycles)
	for i := range c.Cycles {
		x := &c.Cycles[i]
		x.Work, x.At, x.Sweep, x.Mark = n*x.Work, n*x.At, n*x.Sweep, n*x.Mark
	}
	c.Stops = slices.Clone(w.Stops)
	for i := range c.Stops {
		c.Stops[i].Hold *= n
	}
	return &c
}
