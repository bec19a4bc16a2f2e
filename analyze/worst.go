package analyze

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Worst finds the longest waits of the program's goroutines, the same that [Latency]
// measures, ties by start and goroutine, and what the procs did around each:
//
//  1. It keeps the intervals of the procs as far back as some goroutine waits now, whose
//     wait may become one of the worst. When room runs out, older ones go (makeRoom).
//  2. A wait among the worst so far is a candidate. Once time has gone past its margin it
//     takes its part of the intervals (capture); most have been outdone until then.
//  3. What the procs do at that time is reported when it ends, and added then.
//  4. While a wait is so long that its intervals are too many, those an age ago are put
//     in order by who ran, in pieces that a picture hardly shows (thin): sums
//     stay exact, except where a wait begins or ends in such a piece.
type Worst struct {
	traceClock
	tables *model.Tables

	shown    int // of those kept
	top      top[*candidate]
	next     candidate      // scratch
	floor    model.Duration // shorter ones need not apply
	due      model.Time     // when the next candidate is to be captured
	captured model.Time     // what begins before that may concern candidates that were captured

	procs   [][]interval                          // by id
	kept    int                                   // intervals
	room    int                                   // for so many
	waiting func() (since model.Time, looked int) // see [model.Machine.OldestRunnable]
	results []result.Wait                         // set by Finish
}

// interval is what a proc did for a while.
type interval struct {
	start, end model.Time
	g          model.GoID
	fn         model.StringID
	use        Use
	merged     bool // of several that were put in order; without g if it is of several goroutines, and fn
}

// candidate is a wait among the worst so far, with what the procs did once it was captured.
type candidate struct {
	span        model.GoSpan
	from, to    model.Time // with margins
	captured    bool
	uses        Uses
	sums        runners
	approximate bool
}

const (
	// thinGrain is the same for what is an age ago, as a part of the age, in waits with
	// more than maxRoom/2 intervals, 2 MB.
	thinGrain = 400
	maxRoom   = 1 << 17
	minRoom   = 1 << 14
	// roomPerLook makes up for looking at all goroutines each time room is made.
	roomPerLook = 4
	// pieceRunners is how many goroutines a piece distinguishes.
	pieceRunners = 8
)

// Margins around a wait: an eighth of it, at least 20 us.
const (
	marginPart = 8
	marginMin  = 20_000
)

// verdictWaits is on how many of the worst waits a verdict rests, however many are shown.
const verdictWaits = 10

// NewWorst returns a Worst that tells the limit longest waits.
func NewWorst(t *model.Tables, limit int) *Worst {
	return &Worst{tables: t, shown: limit, due: math.MaxInt64, room: minRoom, waiting: func() (model.Time, int) { return 0, 0 },
		top: top[*candidate]{limit: max(limit, verdictWaits), compare: func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(b.span.Duration(), a.span.Duration()),
				cmp.Compare(a.span.Start, b.span.Start), cmp.Compare(a.span.G, b.span.G))
		}}}
}

// GoSpan implements [model.GoSpanObserver].
func (w *Worst) GoSpan(s *model.GoSpan) {
	d := s.Duration()
	if s.State != model.GoRunnable || d < w.floor || s.Pseudo != model.NotPseudo || s.OpenStart || s.OpenEnd || s.System {
		return
	}
	margin := max(d/marginPart, marginMin)
	w.next = candidate{span: *s, from: s.Start - model.Time(margin), to: s.End + model.Time(margin)}
	if last, ok := w.top.full(); ok && w.top.compare(&w.next, last) >= 0 {
		return
	}
	c := new(candidate)
	*c = w.next
	w.top.add(c)
	if last, ok := w.top.full(); ok {
		w.floor = last.span.Duration()
	}
	w.due = min(w.due, c.to)
}

// ProcSpan implements [model.ProcSpanObserver].
func (w *Worst) ProcSpan(s *model.ProcSpan) {
	if s.End <= s.Start || s.P < 0 || s.P >= maxPathologyProcs {
		return
	}
	for int(s.P) >= len(w.procs) {
		w.procs = append(w.procs, spareIntervals.get())
	}
	if w.kept >= w.room {
		w.makeRoom(s.End)
	}
	x := interval{start: s.Start, end: s.End, g: s.G, fn: s.Func, use: result.UseOf(s.State, s.Work)}
	w.procs[s.P] = append(w.procs[s.P], x)
	w.kept++
	if s.Start < w.captured {
		for _, c := range w.top.items {
			if c.captured {
				c.take(&x)
			}
		}
	}
}

// spareIntervals are of traces that are done with.
var spareIntervals recycler[interval]

// makeRoom forgets the intervals that no wait can reach any more.
func (w *Worst) makeRoom(now model.Time) {
	if now >= w.due {
		w.capture(now)
	}
	need, looked := w.waiting()
	need -= model.Time(max(now.Sub(need)/marginPart, marginMin))
	for _, c := range w.top.items {
		if !c.captured {
			need = min(need, c.from)
		}
	}
	w.kept = 0
	for p, list := range w.procs {
		i, _ := slices.BinarySearchFunc(list, need, endsAfter)
		w.procs[p] = append(list[:0], list[i:]...)
		w.kept += len(w.procs[p])
	}
	if w.kept > maxRoom/2 {
		w.thin(now)
	}
	w.room = max(2*w.kept, roomPerLook*looked, minRoom)
}

// endsAfter says on which side of t an interval lies, for a binary search.
func endsAfter(x interval, t model.Time) int {
	if x.end <= t {
		return -1
	}
	return 1
}

// thin puts what each proc did in order by who ran, in pieces of a part of their age.
func (w *Worst) thin(now model.Time) {
	w.kept = 0
	for p, list := range w.procs {
		kept := list[:0]
		for n := 0; len(list) > 0; list = list[n:] {
			grain := now.Sub(list[0].end) / thinGrain
			for n = 1; n < len(list) && list[n].start == list[n-1].end && list[n].end.Sub(list[0].start) <= grain; n++ {
			}
			kept = appendPiece(kept, list[:n])
		}
		w.procs[p] = kept
		w.kept += len(kept)
	}
}

// appendPiece appends the intervals of a piece, one for each goroutine and use. Where there
// are many goroutines, those beyond the first few share one by function, or at least by use.
// What is appended is written over what was read of the piece.
func appendPiece(kept, piece []interval) []interval {
	if len(piece) == 1 {
		return append(kept, piece[0])
	}
	at, first := piece[0].start, len(kept)
	for _, x := range piece {
		length := model.Time(x.end.Sub(x.start))
		best, like := -1, 0
		for i := first; i < len(kept); i++ {
			y, n := &kept[i], 0
			switch {
			case y.use != x.use:
			case y.g == x.g && y.fn == x.fn:
				n = 5
			case y.fn == x.fn && y.g == model.NoGoroutine:
				n = 4
			case y.fn == x.fn:
				n = 3
			case y.fn == 0 && y.g == model.NoGoroutine:
				n = 2
			default:
				n = 1
			}
			if n > 0 && n >= like {
				best, like = i, n
			}
		}
		if like == 0 || like < 5 && len(kept)-first < pieceRunners {
			x.start, x.end, x.merged = 0, length, true
			kept = append(kept, x)
			continue
		}
		y := &kept[best]
		y.end += length
		if like < 5 {
			y.g = model.NoGoroutine
		}
		if like < 3 {
			y.fn = 0
		}
	}
	for i := range kept[first:] {
		y := &kept[first+i]
		y.start, y.end = at, at+y.end
		at = y.end
	}
	return kept
}

// capture takes the past of the candidates that are due, and sets when the next
// one is.
func (w *Worst) capture(now model.Time) {
	w.due = math.MaxInt64
	for _, c := range w.top.items {
		switch {
		case c.captured:
		case c.to > now:
			w.due = min(w.due, c.to)
		default:
			w.captureOne(c)
		}
	}
}

func (w *Worst) captureOne(c *candidate) {
	c.captured = true
	w.captured = max(w.captured, c.to)
	for _, list := range w.procs {
		i, _ := slices.BinarySearchFunc(list, c.from, endsAfter)
		for ; i < len(list) && list[i].start < c.to; i++ {
			c.take(&list[i])
		}
	}
}

// take adds what a proc did during a candidate.
func (c *candidate) take(x *interval) {
	s := &c.span
	if n := min(x.end, s.End).Sub(max(x.start, s.Start)); n > 0 {
		c.uses[x.use] += n
		c.sums.add(x, n)
		// A piece may have had another order there.
		c.approximate = c.approximate || x.merged && (x.start <= s.Start || x.end >= s.End)
	}
}

// Finish completes the waits. Call it after the last interval.
func (w *Worst) Finish() {
	for _, c := range w.top.items {
		if !c.captured {
			w.captureOne(c)
		}
	}
	w.results = make([]result.Wait, 0, len(w.top.items))
	for _, c := range w.top.items {
		w.results = append(w.results, w.result(c))
	}
	for _, list := range w.procs {
		spareIntervals.put(list)
	}
	w.procs = nil
	w.top.items = nil
}

// Waits returns the longest waits, longest first, once Finish was called.
func (w *Worst) Waits() []result.Wait { return w.results[:min(len(w.results), w.shown)] }

// Result adds what was found to v.
func (w *Worst) Result(v *result.Report) {
	v.WorstWaits = w.results
}
