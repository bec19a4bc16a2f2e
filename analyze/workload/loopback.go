package workload

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// A trace tells that the network poller woke a goroutine, not which file it read nor
// where the data came from. Data from the program itself is inferred in three
// rounds:
//
//  1. Where nearly every wait of a goroutine at one place ends shortly after the last
//     write of one and the same other goroutine, that write is taken for the cause.
//  2. Of what is left: where nearly every wait at one place, of any goroutine, ends
//     shortly after a write from one place, by whichever goroutine. This finds
//     connections that do not last.
//  3. The same for writes of goroutines with one start function.
//
// For goroutines that accept connections connects count, of any goroutine. A
// write is the cause of one wake at most.
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
	anyDialer   = -1 // in place of a writer: all that connect
	// acceptGap is how long after a connect it is accepted at most, typically.
	acceptGap = 1000 * 1000 * model.Duration(1)
)

// linker finds the writes behind network wakes.
type linker struct {
	w       *window
	places  *places
	writes  []netWrite // by beginning
	waits   []netWait
	writers []writer // of the present round
	scores  []score  // by writer
	sends   []send
	linked  map[[2]int32]bool // writer and reader, from wakes explained so far
	links   map[int32]int     // how many links a goroutine has
}

// netWrite is a write or connect.
type netWrite struct {
	waiting
	writer  int32 // index of whose it is in the present round
	dial    bool
	claimed bool
}

// netWait is a wait for data.
type netWait struct {
	waiting
	stack     model.StackID
	explained bool
}

// reader is whoever waits for data in the present round: a goroutine at a place, or
// all goroutines there.
type reader struct {
	accept bool
	waits  []int32 // in order of time
	best   float64 // share of wakes explained, less the mean gap in parts of loopbackGap
}

// writer sums up the writes of a writer.
type writer struct {
	writes      int
	first, last model.Time
}

// inferLoopback makes network waits that the program itself ends EndNetwork and puts
// an OpSend behind the writes that end them. A few writes return long after they
// have sent, because the reader's thread took the processor from the writer's: where the
// wake came before, the OpSend stands in front of the write.
func (w *window) inferLoopback(p *places) {
	if len(w.nets) == 0 || len(w.writes) == 0 {
		return
	}
	l := linker{w: w, places: p, linked: map[[2]int32]bool{}, links: map[int32]int{}}
	for _, x := range w.writes {
		g := &w.Goroutines[x.g]
		dial := p.of(g.Segments[x.seg].Stack).flags&placeConnect != 0
		// Behind the last segment there is nothing to send from.
		l.writes = append(l.writes, netWrite{waiting: x, dial: dial, claimed: int(x.seg)+1 >= len(g.Segments)})
	}
	slices.SortStableFunc(l.writes, func(a, b netWrite) int { return cmp.Compare(a.from, b.from) })
	for _, x := range w.nets {
		if stack := w.Goroutines[x.g].Segments[x.seg].Stack; p.of(stack).flags&placeRead != 0 {
			l.waits = append(l.waits, netWait{waiting: x, stack: stack})
		}
	}
	l.round(true, func(x *netWrite) int32 { return x.g })
	l.round(false, func(x *netWrite) int32 { return int32(w.Goroutines[x.g].Segments[x.seg].Stack) })
	l.round(false, func(x *netWrite) int32 { return int32(w.Goroutines[x.g].Func) })
	w.addSends(l.sends)
}

// round explains what is left, for each reader by one writer, best explained first.
func (l *linker) round(single bool, writerOf func(*netWrite) int32) {
	l.writers = l.writers[:0]
	number := map[int32]int32{}
	for i := range l.writes {
		x := &l.writes[i]
		key := writerOf(x)
		if x.dial {
			key = anyDialer
		}
		n, ok := number[key]
		if !ok {
			n = int32(len(l.writers))
			number[key] = n
			l.writers = append(l.writers, writer{})
		}
		x.writer = n
		if x.claimed {
			continue
		}
		if l.writers[n].writes == 0 {
			l.writers[n].first = x.from
		}
		l.writers[n].writes++
		l.writers[n].last = x.from
	}
	l.scores = make([]score, len(l.writers))
	list := l.group(single)
	ranked := list[:0]
	for _, r := range list {
		if best := l.best(&r); best != nil {
			n := float64(len(r.waits))
			r.best = float64(best.wakes)/n - float64(best.gap)/n/float64(loopbackGap)
			ranked = append(ranked, r)
		}
	}
	slices.SortStableFunc(ranked, func(a, b reader) int { return cmp.Compare(b.best, a.best) })
	for i := range ranked {
		l.claim(&ranked[i])
	}
}

// group sorts the waits that are not explained yet by place, and by goroutine if single.
func (l *linker) group(single bool) (list []reader) {
	at := map[timerSite]int{}
	for i := range l.waits {
		x := &l.waits[i]
		if x.explained {
			continue
		}
		site := timerSite{-1, x.stack}
		if single {
			site.g = x.g
		}
		k, ok := at[site]
		if !ok {
			k = len(list)
			at[site] = k
			list = append(list, reader{accept: l.places.of(x.stack).flags&placeAccept != 0})
		}
		list[k].waits = append(list[k].waits, int32(i))
	}
	return list
}

// each calls f with the writes that may have ended a wait, latest first, until f
// returns false.
func (l *linker) each(accept bool, x *netWait, f func(*netWrite) bool) {
	i, _ := slices.BinarySearchFunc(l.writes, x.to, func(w netWrite, t model.Time) int {
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
		if w.claimed || w.g == x.g || w.dial != accept || w.to.Sub(x.from) < -loopbackSlack {
			continue
		}
		if !f(w) {
			return
		}
	}
}

// score is how well the writes of one writer explain the wakes of a reader.
type score struct {
	writer int32
	wakes  int
	gap    model.Duration // sum
	stamp  int
	gaps   []model.Duration
}

// best returns the writer that explains a reader's wakes best, nil if none does well
// enough.
func (l *linker) best(r *reader) *score {
	if len(r.waits) < loopbackWakes && !r.accept {
		return nil
	}
	var order []*score
	for k, i := range r.waits {
		x := &l.waits[i]
		l.each(r.accept, x, func(w *netWrite) bool {
			s := &l.scores[w.writer]
			if s.wakes == 0 {
				*s = score{writer: w.writer, stamp: -1, gaps: s.gaps[:0]}
				order = append(order, s)
			}
			if s.stamp != k {
				gap := min(x.to.Sub(w.from), loopbackGap)
				s.stamp = k
				s.wakes++
				s.gap += gap
				s.gaps = append(s.gaps, gap)
			}
			return !w.dial
		})
	}
	var best *score
	for _, s := range order {
		if s.wakes*10 >= len(r.waits)*9 && l.plausible(r, s) {
			s.gap += loopbackGap * model.Duration(len(r.waits)-s.wakes)
			if best == nil || s.gap < best.gap {
				c := *s
				best = &c
			}
		}
		s.wakes = 0 // for the next reader
	}
	return best
}

// plausible reports whether the writes come closer before the wakes than those of
// somebody independent would: the median gap to the last of them would be 0.7 of
// the mean time between writes.
func (l *linker) plausible(r *reader, s *score) bool {
	x := &l.writers[s.writer]
	if x.writes <= max(2*len(r.waits), 1) {
		return true // about one write for each wake
	}
	slices.Sort(s.gaps)
	gap := s.gaps[len(s.gaps)/2]
	every := x.last.Sub(x.first) / model.Duration(x.writes-1)
	return gap*100 <= every*35 || r.accept && gap <= acceptGap
}

// claim ties the wakes of a reader to writes, if those that are left still explain them.
// Of several writes those count first whose goroutine has been tied to the reader's before,
// in either direction, and last those whose goroutine is tied to others.
func (l *linker) claim(r *reader) {
	best := l.best(r)
	if best == nil {
		return
	}
	for _, i := range r.waits {
		x := &l.waits[i]
		var cause *netWrite
		rank := 3
		l.each(r.accept, x, func(w *netWrite) bool {
			if w.writer == best.writer {
				if k := l.rank(w.g, x.g); k < rank {
					cause, rank = w, k
				}
			}
			return rank > 0 && (cause == nil || !r.accept)
		})
		if cause != nil {
			l.tie(cause, x)
		}
	}
}

func (l *linker) rank(writer, reader int32) int {
	switch {
	case l.linked[[2]int32{writer, reader}] || l.linked[[2]int32{reader, writer}]:
		return 0
	case l.links[writer] == 0:
		return 1
	}
	return 2
}

// send is an OpSend to be put at the beginning of segment seg of goroutine g, or at its
// end.
type send struct {
	g, seg int32
	end    bool
	op     Op
}

// tie makes a write the cause of a wake.
func (l *linker) tie(w *netWrite, x *netWait) {
	w.claimed, x.explained = true, true
	if x.to < w.to && w.seg == 0 && l.w.Goroutines[w.g].Begin == BeginSyscall {
		return // sent before the window began
	}
	stack := l.w.Goroutines[w.g].Segments[w.seg].Stack
	op := Op{Kind: OpSend, G: x.g, Seg: x.seg, Stack: stack}
	if x.to < w.to {
		l.sends = append(l.sends, send{w.g, w.seg, true, op})
	} else {
		l.sends = append(l.sends, send{w.g, w.seg + 1, false, op})
	}
	s := &l.w.Goroutines[x.g].Segments[x.seg]
	s.End, s.Class, s.Delay = EndNetwork, ClassLoopback, 0
	if pair := [2]int32{w.g, x.g}; !w.dial && !l.linked[pair] {
		l.linked[pair] = true
		l.links[w.g]++
	}
}

// addSends puts operations at the beginnings and ends of segments.
func (w *window) addSends(sends []send) {
	place := func(s *send) int32 {
		if s.end {
			return 2*s.seg + 1
		}
		return 2 * s.seg
	}
	slices.SortStableFunc(sends, func(a, b send) int { return cmp.Or(cmp.Compare(a.g, b.g), cmp.Compare(place(&a), place(&b))) })
	for len(sends) > 0 {
		n := 1
		for n < len(sends) && sends[n].g == sends[0].g {
			n++
		}
		w.Goroutines[sends[0].g].insert(sends[:n])
		sends = sends[n:]
	}
}

// insert puts operations at the beginnings and ends of segments of g, in order.
func (g *Goroutine) insert(sends []send) {
	ops := make([]Op, 0, len(g.Ops)+len(sends))
	first := int32(0)
	for k := range g.Segments {
		x := &g.Segments[k]
		for len(sends) > 0 && int(sends[0].seg) == k && !sends[0].end {
			ops = append(ops, sends[0].op)
			sends = sends[1:]
		}
		ops = append(ops, g.Ops[first:x.Ops]...)
		for len(sends) > 0 && int(sends[0].seg) == k {
			sends[0].op.At = x.CPU
			ops = append(ops, sends[0].op)
			sends = sends[1:]
		}
		first, x.Ops = x.Ops, int32(len(ops))
	}
	g.Ops = ops
}
