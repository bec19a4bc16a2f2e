package timeline

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze"
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
	byG   map[model.GoID][]wait // see sort
}

// Explained takes a wait; it is what [analyze.Options.Explained] wants.
func (r *Recorder) Explained(w *analyze.ExplainedWait) {
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
	r.waits.list = append(r.waits.list, wait{s.G, s.Start, s.Duration(), at, len(b.b) - at})
	if len(r.waits.list) > r.waits.limit {
		r.waits.shrink()
	}
}

// shrink leaves the shorter waits out, and of equally long ones all or none.
func (w *waits) shrink() {
	lengths := make([]model.Duration, len(w.list))
	for i := range w.list {
		lengths[i] = w.list[i].length
	}
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

// sort sorts waits so that of can find them. Mostly each goroutine's are in order.
func (w *waits) sort() {
	w.byG = map[model.GoID][]wait{}
	for _, x := range w.list {
		w.byG[x.g] = append(w.byG[x.g], x)
	}
	for _, list := range w.byG {
		slices.SortFunc(list, func(a, b wait) int { return cmp.Compare(a.start, b.start) })
	}
}

// next returns the wait that began at start, or nil, and those after it. It is to be called by time.
func next(list []wait, start model.Time) (*wait, []wait) {
	for ; len(list) > 0 && list[0].start <= start; list = list[1:] {
		if list[0].start == start {
			return &list[0], list
		}
	}
	return nil, list
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
	s.list = append(s.list, *x)
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
	var list []runqueue.Steal
	for _, x := range s.list {
		if x.Time >= start && x.Time <= end {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b runqueue.Steal) int { return cmp.Compare(a.Time, b.Time) })
	return list
}
