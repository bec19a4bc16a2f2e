package timeline

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// wait is what is known of a wait in addition to the span: size bytes of data, as they are
// encoded.
type wait struct {
	g      model.GoID
	start  model.Time
	length model.Duration
	at     int
	size   int
}

// waits are the longest ones: all that take at least as long as least.
type waits struct {
	list  []wait
	data  buffer
	limit int
	least model.Duration
	byG   map[model.GoID][]int32 // set by sort: where in list
}

// Least returns where it stands how long a wait must be to be recorded. It is for
// [analyze.Options.Least].
func (r *Recorder) Least() *model.Duration { return &r.waits.least }

// Explained records a wait. It is for [analyze.Options.Explained].
func (r *Recorder) Explained(w *causes.ExplainedWait) {
	s := &w.Span
	if s.Duration() < r.waits.least {
		return
	}
	b := &r.waits.data
	at := len(b.b)
	b.put(uint64(w.Source))
	b.put(uint64(w.Grade))
	b.put(uint64(w.LastP + 1))
	b.put(uint64(w.FromP + 1))
	b.put(uint64(len(w.Cells)))
	for _, c := range w.Cells {
		b.put(uint64(c.Cause))
		b.time(c.Total)
	}
	r.waits.list = append(room(r.waits.list, r.waits.limit), wait{s.G, s.Start, s.Duration(), at, len(b.b) - at})
	if len(r.waits.list) > r.waits.limit {
		r.waits.shrink()
	}
}

// shrink leaves the shorter waits out, and of equally long ones all or none.
func (w *waits) shrink() {
	lengths := result.Each(w.list, func(x *wait) model.Duration { return x.length })
	slices.Sort(lengths)
	w.least = lengths[len(lengths)-1-w.limit*3/4] + 1
	kept, data := w.list[:0], w.data.b[:0]
	for _, x := range w.list { // they are in the order of their data
		if x.length >= w.least {
			at := len(data)
			data = append(data, w.encoded(&x)...)
			x.at = at
			kept = append(kept, x)
		}
	}
	w.list, w.data.b = kept, data
}

// encoded returns what is known of a wait, as it is encoded.
func (w *waits) encoded(x *wait) []byte { return w.data.b[x.at : x.at+x.size] }

// sort sorts waits by goroutine and start. Mostly each goroutine's are in order.
func (w *waits) sort() {
	w.byG = map[model.GoID][]int32{}
	for i := range w.list {
		g := w.list[i].g
		w.byG[g] = append(w.byG[g], int32(i))
	}
	for _, of := range w.byG {
		slices.SortFunc(of, func(a, b int32) int { return cmp.Compare(w.list[a].start, w.list[b].start) })
	}
}

// at returns that of some waits which began at start, or nil, and those that are left for later starts.
func (w *waits) at(of []int32, start model.Time) (*wait, []int32) {
	for ; len(of) > 0; of = of[1:] {
		if x := &w.list[of[0]]; x.start == start {
			return x, of
		} else if x.start > start {
			break
		}
	}
	return nil, of
}

// steals are all steals, or one of every so many.
type steals struct {
	list  []runqueue.Steal
	limit int
	every int // log 2 of how many of them one is kept
	seen  int64
}

// Queues returns what is to be among [analyze.Options.Queues].
func (r *Recorder) Queues() any { return &r.steals }

// Steal implements [runqueue.StealObserver].
func (s *steals) Steal(x *runqueue.Steal) {
	s.seen++
	if (s.seen-1)&(1<<s.every-1) != 0 {
		return
	}
	s.list = append(room(s.list, s.limit), *x)
	if len(s.list) > s.limit {
		kept := s.list[:0]
		for i := 0; i < len(s.list); i += 2 {
			kept = append(kept, s.list[i])
		}
		s.list = kept
		s.every++
	}
}

// within returns those in a window, by time.
func (s *steals) within(start, end model.Time) []runqueue.Steal {
	list := slices.DeleteFunc(slices.Clone(s.list), func(x runqueue.Steal) bool { return x.Time < start || x.Time > end })
	slices.SortStableFunc(list, func(a, b runqueue.Steal) int { return cmp.Compare(a.Time, b.Time) })
	return list
}
