package workload

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// A trace tells that the network poller woke a goroutine, not which file it read nor
// where the data came from. Data from the program itself is inferred: where
// nearly every wait of a goroutine at one place ends shortly after the last write of
// one and the same other goroutine, that goroutine's write is taken for the
// cause. For goroutines that accept connections, connects of any goroutine count
// instead. A write is the cause of one wake at most.
//
// It can be wrong where independent streams run in step, and where data was
// found late, when the writer had written again: then the wake hangs on a later
// write. What is not explained stays external.
const (
	loopbackWakes = 3   // of a reader at a place
	loopbackScan  = 128 // writes looked at before each wake
	// A write counts only if the call ended after the reader began to wait, to this
	// much: the two threads' events are not in exact order.
	loopbackSlack = 10 * 1000 * model.Duration(1)
	// loopbackGap stands for the gap of a wake without a write, and is the most that
	// counts.
	loopbackGap = 10 * 1000 * 1000 * model.Duration(1)
	anyDialer   = -2 // in place of a writer: all that connect
)

// writer sums up the writes of a goroutine.
type writer struct {
	writes      int
	first, last model.Time
}

// linker finds the writes behind network wakes.
type linker struct {
	w       *window
	places  *places
	writes  []waiting // by beginning
	claimed []bool
	dial    []bool // a connect
	by      map[int32]*writer
	scores  map[int32]*score // scratch
}

// score is how well the writes of one writer explain the wakes of a reader.
type score struct {
	writer int32
	wakes  int
	gap    model.Duration // sum
	stamp  int
	gaps   []model.Duration
}

// inferLoopback makes network waits that the program itself ends EndNetwork and puts
// an OpSend behind the writes that end them.
func (w *window) inferLoopback(p *places) {
	if len(w.nets) == 0 || len(w.writes) == 0 {
		return
	}
	l := linker{w: w, places: p, writes: w.writes, by: map[int32]*writer{}}
	slices.SortStableFunc(l.writes, func(a, b waiting) int { return cmp.Compare(a.from, b.from) })
	l.claimed, l.dial = make([]bool, len(l.writes)), make([]bool, len(l.writes))
	for i := range l.writes {
		x := &l.writes[i]
		g := &w.Goroutines[x.g]
		l.dial[i] = p.of(g.Segments[x.seg].Stack).flags&placeConnect != 0
		l.claimed[i] = int(x.seg)+1 >= len(g.Segments) // nothing behind the write to send from
		if l.dial[i] {
			continue
		}
		if l.by[x.g] == nil {
			l.by[x.g] = &writer{first: x.from}
		}
		l.by[x.g].writes++
		l.by[x.g].last = x.from
	}
	var readers []reader
	at := map[timerSite]int{}
	for i := range w.nets {
		x := &w.nets[i]
		stack := w.Goroutines[x.g].Segments[x.seg].Stack
		if p.of(stack).flags&placeRead == 0 {
			continue
		}
		site := timerSite{x.g, stack}
		k, ok := at[site]
		if !ok {
			k = len(readers)
			at[site] = k
			readers = append(readers, reader{g: x.g, accept: p.of(stack).flags&placeAccept != 0})
		}
		readers[k].waits = append(readers[k].waits, *x)
	}
	var sends []send
	for _, r := range l.ranked(readers) {
		sends = l.claim(&r, sends)
	}
	w.addSends(sends)
}

// reader is a goroutine's waiting for data at a place.
type reader struct {
	g      int32
	accept bool
	waits  []waiting
	best   float64 // share of wakes explained, less the mean gap in parts of loopbackGap
}

// ranked returns those readers that writers explain, best explained first.
func (l *linker) ranked(readers []reader) []reader {
	list := readers[:0]
	for _, r := range readers {
		if best := l.best(&r); best != nil {
			n := float64(len(r.waits))
			r.best = float64(best.wakes)/n - float64(best.gap)/n/float64(loopbackGap)
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b reader) int { return cmp.Compare(b.best, a.best) })
	return list
}

// each calls f with the writes that may have ended a wait, latest first, until f
// returns false.
func (l *linker) each(r *reader, x *waiting, f func(i int, by int32, gap model.Duration) bool) {
	i, _ := slices.BinarySearchFunc(l.writes, x.to, func(w waiting, t model.Time) int {
		if w.from <= t {
			return -1
		}
		return 1
	})
	for n := 0; i > 0 && n < loopbackScan; n++ {
		i--
		w := &l.writes[i]
		if w.from.Sub(x.from) < -loopbackGap {
			return
		}
		if l.claimed[i] || w.g == r.g || l.dial[i] != r.accept || w.to.Sub(x.from) < -loopbackSlack {
			continue
		}
		by := w.g
		if r.accept {
			by = anyDialer
		}
		if !f(i, by, min(x.to.Sub(w.from), loopbackGap)) {
			return
		}
	}
}

// best returns the writer that explains a reader's wakes best, nil if none does well
// enough.
func (l *linker) best(r *reader) *score {
	if len(r.waits) < loopbackWakes && !r.accept {
		return nil
	}
	l.scores = map[int32]*score{}
	var order []*score
	for k := range r.waits {
		l.each(r, &r.waits[k], func(i int, by int32, gap model.Duration) bool {
			s := l.scores[by]
			if s == nil {
				s = &score{writer: by, stamp: -1}
				l.scores[by] = s
				order = append(order, s)
			}
			if s.stamp != k {
				s.stamp = k
				s.wakes++
				s.gap += gap
				s.gaps = append(s.gaps, gap)
			}
			return by != anyDialer
		})
	}
	var best *score
	for _, s := range order {
		if s.wakes*10 < len(r.waits)*9 || !l.plausible(r, s) {
			continue
		}
		s.gap += loopbackGap * model.Duration(len(r.waits)-s.wakes)
		if best == nil || s.gap < best.gap {
			best = s
		}
	}
	return best
}

// plausible reports whether the writes come closer before the wakes than those of
// somebody independent would: the median gap to the last of them would be 0.7 of
// the mean time between writes.
func (l *linker) plausible(r *reader, s *score) bool {
	x := l.by[s.writer]
	if x == nil || x.writes <= 2*len(r.waits) {
		return true // about one write for each wake
	}
	slices.Sort(s.gaps)
	every := x.last.Sub(x.first) / model.Duration(x.writes-1)
	return s.gaps[len(s.gaps)/2]*100 <= every*35
}

// send is an OpSend to be put at the beginning of segment seg of goroutine g.
type send struct {
	g, seg int32
	op     Op
}

// claim ties the wakes of a reader to writes, as long as those that are left explain
// them.
func (l *linker) claim(r *reader, sends []send) []send {
	best := l.best(r)
	if best == nil {
		return sends
	}
	for k := range r.waits {
		x := &r.waits[k]
		l.each(r, x, func(i int, by int32, _ model.Duration) bool {
			if by != best.writer {
				return true
			}
			l.claimed[i] = true
			w := &l.writes[i]
			stack := l.w.Goroutines[w.g].Segments[w.seg].Stack
			sends = append(sends, send{w.g, w.seg + 1, Op{Kind: OpSend, G: x.g, Seg: x.seg, Stack: stack}})
			s := &l.w.Goroutines[x.g].Segments[x.seg]
			s.End, s.Class, s.Delay = EndNetwork, ClassLoopback, 0
			return false
		})
	}
	return sends
}

// addSends puts operations at the beginnings of segments.
func (w *window) addSends(sends []send) {
	slices.SortStableFunc(sends, func(a, b send) int { return cmp.Or(cmp.Compare(a.g, b.g), cmp.Compare(a.seg, b.seg)) })
	for len(sends) > 0 {
		n := 1
		for n < len(sends) && sends[n].g == sends[0].g {
			n++
		}
		w.Goroutines[sends[0].g].insert(sends[:n])
		sends = sends[n:]
	}
}

// insert puts operations at the beginnings of segments of g, in order.
func (g *Goroutine) insert(sends []send) {
	ops := make([]Op, 0, len(g.Ops)+len(sends))
	first := int32(0)
	for k := range g.Segments {
		for len(sends) > 0 && int(sends[0].seg) == k {
			ops = append(ops, sends[0].op)
			sends = sends[1:]
		}
		x := &g.Segments[k]
		ops = append(ops, g.Ops[first:x.Ops]...)
		first, x.Ops = x.Ops, int32(len(ops))
	}
	g.Ops = ops
}
