package workload

import (
	"math"
	"sort"

	"github.com/schedscope/schedscope/model"
)

// Interval is a request as it was recorded: from Start on goroutine From to End on goroutine G.
type Interval struct {
	From, G    int32
	Start, End model.Time
}

// Follow has a simulation report when requests begin and end: see [OpRequest]. It returns for each
// whether its ends were found in the work, after Finish and before Scale.
//
//  1. A request begins with its goroutine, or when the wait is over that ends the segment before,
//     or in a segment.
//  2. It ends in a segment, or with one.
func (w *Workload) Follow(list []Interval) []bool {
	w.Requests = len(list)
	found := make([]bool, len(list))
	inserts := map[int32][]insertion{}
	starts := map[int32][]model.Duration{} // of segments
	find := func(g int32, at model.Time, last bool) (*Point, model.Duration) {
		p := w.Goroutines[g].Points
		i := sort.Search(len(p), func(i int) bool { return p[i].Time >= at })
		if last && i == len(p) && i > 0 {
			end := p[i-1]
			end.Seg, end.At = int32(len(w.Goroutines[g].Segments)-1), w.Goroutines[g].Work
			return &end, w.Goroutines[g].Segments[end.Seg].CPU
		}
		if i == len(p) || p[i].Time != at || int(p[i].Seg) >= len(w.Goroutines[g].Segments) {
			return nil, 0
		}
		if starts[g] == nil {
			starts[g] = make([]model.Duration, 1, len(w.Goroutines[g].Segments)+1)
			for k, x := range w.Goroutines[g].Segments {
				starts[g] = append(starts[g], starts[g][k]+x.CPU)
			}
		}
		return &p[i], min(max(p[i].At-starts[g][p[i].Seg], 0), w.Goroutines[g].Segments[p[i].Seg].CPU)
	}
	for i, x := range list {
		begin, from := find(x.From, x.Start, false)
		end, to := find(x.G, x.End, true)
		if begin == nil || end == nil || x.From == x.G && (end.Seg < begin.Seg || end.Seg == begin.Seg && to < from) {
			continue
		}
		found[i] = true
		switch g := &w.Goroutines[x.From]; {
		case from == 0 && begin.Seg > 0:
			g.Segments[begin.Seg-1].Request = int32(i) + 1
		case from == 0 && g.Begin == BeginAbsent:
			g.Request = int32(i) + 1
		default:
			inserts[x.From] = append(inserts[x.From], insertion{begin.Seg, from, true, Op{Kind: OpRequest, G: int32(i)}})
		}
		inserts[x.G] = append(inserts[x.G], insertion{end.Seg, to, true, Op{Kind: OpRequest, G: int32(i), Seg: 1}})
	}
	for g, list := range inserts {
		w.Goroutines[g].insert(list)
	}
	return found
}

// Wait is when a goroutine waited.
type Wait struct{ From, To model.Time }

// Pin has waits for timers and for what comes from outside end when they did, not some time after
// they began: what arrives arrives whatever becomes of the requests before. Not so
//
//  1. those on the critical paths of requests from their beginning on, which own has in order of To
//     for each goroutine, unless a request begins with their end;
//  2. those at places where loops wait for as long as they do however late they begin (by a
//     regression of the time from the end of one such wait to the next of a goroutine), and for
//     about as long each time, or hardly at all: clients that send the next request when they have
//     the answer, or have thought. Where the program itself ends most waits at a place, it ends the
//     others, too, and when they end does not depend on when they begin.
func (w *Workload) Pin(own map[int32][]Wait) {
	type turn struct {
		g          int32
		x          *Segment
		begin, end model.Time // of the wait
	}
	var stacks []model.StackID
	sites := map[model.StackID][]turn{}
	inside := map[model.StackID]int{} // of waits there, what the program itself ends
	for i := range w.Goroutines {
		g, point := &w.Goroutines[i], 0
		for k := range g.Segments {
			x := &g.Segments[k]
			from := point
			for ; point < len(g.Points) && int(g.Points[point].Seg) <= k; point++ {
				if !g.Points[point].Waits {
					from = point + 1
				}
			}
			if x.End == EndNetwork {
				inside[x.Stack]++
			}
			waits := x.End == EndExternal || x.End == EndSleep
			if from >= point || point == len(g.Points) || !waits || x.Absolute {
				continue
			}
			t := turn{int32(i), x, g.Points[from].Time, g.Points[point].Time}
			if k == 0 && g.Begin == BeginWaiting {
				t.begin = w.Start // it may have been seen later
			}
			list := own[int32(i)]
			if n := sort.Search(len(list), func(n int) bool { return list[n].To > t.begin }); n < len(list) && list[n].From <= t.begin && x.Request == 0 {
				continue
			}
			if sites[x.Stack] == nil {
				stacks = append(stacks, x.Stack)
			}
			sites[x.Stack] = append(sites[x.Stack], t)
		}
	}
	for _, stack := range stacks {
		var r, length regression
		list := sites[stack]
		for i := range list[1:] {
			if a, b := &list[i], &list[i+1]; a.g == b.g {
				r.add(float64(b.begin.Sub(a.end)), float64(b.end.Sub(a.end)))
				length.add(float64(b.end.Sub(b.begin)), 0)
			}
		}
		alike := length.xx*length.n < 1.25*length.x*length.x // a coefficient of variation of up to a half
		if slope, off := r.slope(); r.n >= pacedWakes && inside[stack] < len(list) && slope-2*off > 0.5 && (alike || length.x < r.y/4) {
			continue
		}
		for _, t := range list {
			t.x.Absolute, t.x.Delay = true, max(t.begin.Sub(w.Start), 0)+t.x.Delay
		}
	}
}

// regression is a linear one.
type regression struct{ n, x, y, xx, xy, yy float64 }

func (r *regression) add(x, y float64) {
	r.n, r.x, r.y, r.xx, r.xy, r.yy = r.n+1, r.x+x, r.y+y, r.xx+x*x, r.xy+x*y, r.yy+y*y
}

// slope returns the slope and its standard error, not a number if there is too little.
func (r *regression) slope() (slope, off float64) {
	xx, xy, yy := r.xx-r.x*r.x/r.n, r.xy-r.x*r.y/r.n, r.yy-r.y*r.y/r.n
	slope = xy / xx
	return slope, math.Sqrt(max(0, yy-slope*xy) / (r.n - 2) / xx)
}
