package workload

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// opAt is an operation, by index, that made a goroutine runnable at a time.
type opAt struct {
	at    model.Time
	g, op int32
}

// wakeLatest is how long after an operation the thread that it woke has its proc at
// most.
const wakeLatest = 200_000

// madeRunnable remembers an operation for as long as it may turn out to have woken a thread.
func (w *window) madeRunnable(o opAt) {
	if n := len(w.recent); n >= 256 {
		w.recent = append(w.recent[:0], w.recent[n/2:]...)
	}
	w.recent = append(w.recent, o)
}

// wokenUp counts a thread that had slept and got a proc that was idle since it was
// released. The first operation since then that made something runnable woke it: no
// later one does while it is on its way (runtime/proc.go: wakep).
func (w *window) wokenUp(released, now model.Time) {
	from := max(released, now-wakeLatest)
	for i, o := range w.recent {
		if o.at >= from {
			w.woke = append(w.woke, o)
			w.recent = append(w.recent[:0], w.recent[i+1:]...)
			return
		}
	}
}

// Of waking a thread: how many operations of the same place must have woken none, to tell
// what it took; how much is believed at most; and how many make a distribution.
const (
	wakeLikes    = 5
	wakeCostMost = 60_000
	wakeSamples  = 20
	wakeValues   = 64
)

// unwake takes out of the segments what waking threads took: the time from an operation that woke
// one to the next thing that its goroutine did, beyond what is usual at that place.
// It runs in the system call that wakes, on the goroutine's account, and another
// schedule wakes at other places.
func (w *window) unwake() {
	if len(w.woke) == 0 {
		return
	}
	flagged := make([][]bool, len(w.Goroutines)) // by goroutine and operation; nil: none of it
	for _, o := range w.woke {
		if flagged[o.g] == nil {
			flagged[o.g] = make([]bool, len(w.Goroutines[o.g].Ops))
		}
		if int(o.op) < len(flagged[o.g]) { // else it turned out to be none
			flagged[o.g][o.op] = true
		}
	}
	usual := map[model.StackID][]model.Duration{}
	for i := range w.Goroutines {
		g, woke := &w.Goroutines[i], flagged[i]
		g.eachGap(func(k int32, gap model.Duration) {
			if o := &g.Ops[k]; (o.Kind == OpWake || o.Kind == OpCreate) && (woke == nil || !woke[k]) {
				usual[o.Stack] = append(usual[o.Stack], gap)
			}
		})
	}
	for _, list := range usual {
		slices.Sort(list)
	}
	var samples []model.Duration
	for i := range w.Goroutines {
		g, woke := &w.Goroutines[i], flagged[i]
		if woke == nil {
			continue
		}
		costs := make([]model.Duration, len(g.Ops))
		g.eachGap(func(k int32, gap model.Duration) {
			if !woke[k] {
				return
			}
			if list := usual[g.Ops[k].Stack]; len(list) >= wakeLikes {
				costs[k] = min(max(gap-list[len(list)/2], 0), wakeCostMost)
				samples = append(samples, costs[k])
			}
		})
		w.waking += g.shorten(costs)
	}
	if len(samples) >= wakeSamples {
		slices.Sort(samples)
		for i := range wakeValues {
			w.wakers = append(w.wakers, samples[(2*i+1)*len(samples)/(2*wakeValues)])
		}
	}
}

// eachGap calls f for each operation with the CPU time from it to the next one, or to
// the segment's end.
func (g *Goroutine) eachGap(f func(k int32, gap model.Duration)) {
	k := int32(0)
	for i := range g.Segments {
		x := &g.Segments[i]
		for ; k < x.Ops; k++ {
			next := x.CPU
			if k+1 < x.Ops {
				next = g.Ops[k+1].At
			}
			f(k, next-g.Ops[k].At)
		}
	}
}

// shorten takes so much CPU time out after each operation, and returns the sum.
func (g *Goroutine) shorten(costs []model.Duration) (sum model.Duration) {
	k := int32(0)
	for i := range g.Segments {
		x := &g.Segments[i]
		before := sum
		for ; k < x.Ops; k++ {
			g.Ops[k].At -= sum - before
			sum += costs[k]
		}
		x.CPU -= sum - before
	}
	return sum
}
