package workload

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestLongArrivals checks that waits of which the sum overflows are not found to end at times of their own.
func TestLongArrivals(t *testing.T) {
	w := &window{Workload: Workload{Goroutines: []Goroutine{{Segments: []Segment{{End: EndExternal, Delay: 1}}}}}}
	w.nets = slices.Repeat([]waiting{{to: math.MaxInt64 / 2}}, arrivalsLeast+1)
	w.inferArrivals()
	if s := w.Goroutines[0].Segments[0]; s.Absolute || s.Delay != 1 {
		t.Errorf("%+v of %d, lead %g", s, len(w.nets), openLead(w.nets))
	}
}

// TestPushed checks that messages which come whether or not those before were answered come at times of their own, although
// nearly all connections wait for the next one most of the time, unless the program itself sends some.
func TestPushed(t *testing.T) {
	const conns, messages, apart, long = 20, 600, 100_000_000, 30_000_000
	rnd := rand.New(rand.NewPCG(1, 2))
	var next, since [conns]model.Time
	at := func(after model.Time) model.Time { return after + model.Time(apart*rnd.ExpFloat64()) }
	for i := range next {
		next[i] = at(0)
	}
	w := &window{Workload: Workload{Goroutines: make([]Goroutine, conns)}}
	free := model.Time(0) // the server, which takes long for each 80th
	for n := range messages {
		i := slices.Index(next[:], slices.Min(next[:]))
		g := &w.Goroutines[i]
		if to := max(next[i], free); next[i] > since[i] {
			w.nets = append(w.nets, waiting{g: int32(i), seg: int32(len(g.Segments)), from: since[i], to: to})
			g.Segments = append(g.Segments, Segment{End: EndExternal})
		}
		free = max(next[i], free) + 50_000
		if n%80 == 79 {
			free += long
		}
		since[i], next[i] = free, at(next[i])
	}
	slices.SortStableFunc(w.nets, func(a, b waiting) int { return cmp.Compare(a.to, b.to) })
	last := w.nets[len(w.nets)-1]
	for _, own := range []bool{true, false} {
		if s := &w.Goroutines[last.g].Segments[last.seg]; own {
			s.End, s.Class = EndNetwork, ClassLoopback
		} else {
			s.End, s.Class = EndExternal, ClassNone
		}
		w.inferArrivals()
		for _, x := range w.nets {
			if s := w.Goroutines[x.g].Segments[x.seg]; s.Absolute == own || !own && s.Delay != model.Duration(x.to) {
				t.Fatalf("own %v: %+v: %+v, lead %g", own, x, s, openLead(w.nets))
			}
		}
	}
}

// TestTracers checks which goroutines do nothing for the program.
func TestTracers(t *testing.T) {
	for fn, want := range map[string]bool{"runtime/trace.Start.func1": true, "runtime.traceStartReadCPU.func1": true, "runtime/pprof.profileWriter": true,
		"runtime/pprof.Do": false, "main.main": false} {
		if isTracer(fn) != want {
			t.Errorf("%s: want %v", fn, want)
		}
	}
}
