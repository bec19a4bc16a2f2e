package analyze

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Worst finds the longest waits of the program's goroutines: the same that
// [Latency] measures, ties by start and goroutine. It keeps a history of what
// the procs did, fine for the recent past and coarser the older it is, to show
// what happened during each.
type Worst struct {
	traceClock
	tables *model.Tables

	shown int // of those kept
	top   top[*candidate]
	next  candidate      // scratch
	floor model.Duration // shorter ones need not apply
	due   model.Time     // when the next candidate is to be captured

	procs   []*procPast // by id, nil: not seen
	far     map[model.ProcID]*procPast
	newest  model.Time // latest end of an interval of any proc
	results []*Wait    // set by Finish
}

// procPast is a proc's history and the captures that still lack a part of it.
type procPast struct {
	p       model.ProcID
	history history
	lacking []*candidate
}

// candidate is a wait among the worst so far. Once time has gone past its
// margin, and before the past fades, it takes its piece of each proc's history.
type candidate struct {
	span     model.GoSpan
	from, to model.Time
	captured bool
	parts    []part
}

// part is what one proc did during a candidate.
type part struct {
	p    model.ProcID
	past []stretch
}

// Margins around a wait: an eighth of it, at least 20 us.
const (
	marginPart = 8
	marginMin  = 20_000
)

// maxDenseProcs is more than the runtime allows (runtime/runtime2.go: _MaxGomaxprocs
// was 1024 and is now bounded by memory); greater ids are looked up in a map.
const maxDenseProcs = 4096

// verdictWaits is on how many of the worst waits a verdict rests, however many are shown.
const verdictWaits = 10

// NewWorst returns a Worst that tells the limit longest waits.
func NewWorst(t *model.Tables, limit int) *Worst {
	return &Worst{tables: t, shown: limit, due: math.MaxInt64, far: map[model.ProcID]*procPast{},
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
	if evicted, ok := w.top.add(c); ok {
		w.forget(evicted)
	}
	if last, ok := w.top.full(); ok {
		w.floor = last.span.Duration()
	}
	w.due = min(w.due, c.to)
}

// forget lets procs no longer collect for a candidate.
func (w *Worst) forget(c *candidate) {
	if !c.captured {
		return
	}
	for _, p := range w.all() {
		p.lacking = slices.DeleteFunc(p.lacking, func(x *candidate) bool { return x == c })
	}
	c.recycle()
}

// all returns the procs seen, sorted by id.
func (w *Worst) all() []*procPast {
	var out []*procPast
	for _, p := range w.procs {
		if p != nil {
			out = append(out, p)
		}
	}
	n := len(out)
	for _, p := range w.far {
		out = append(out, p)
	}
	slices.SortFunc(out[n:], func(a, b *procPast) int { return cmp.Compare(a.p, b.p) })
	return out
}

// ProcSpan implements [model.ProcSpanObserver].
func (w *Worst) ProcSpan(s *model.ProcSpan) {
	if s.End <= s.Start {
		return
	}
	p := w.proc(s.P)
	x, use := p.history.add(), result.UseOf(s.State, s.Work)
	x.start, x.end, x.g, x.fn, x.use = s.Start, s.End, s.G, s.Func, use
	x.longBurst = s.Duration() > LongBurst && (use == result.UseUser || use == result.UseAssist)
	if len(p.lacking) > 0 {
		last := x.stretch()
		p.supply(&last)
	}
	w.newest = max(w.newest, s.End)
	if w.newest >= w.due {
		w.capture()
	}
}

func (w *Worst) proc(id model.ProcID) *procPast {
	if uint(id) < uint(len(w.procs)) && w.procs[id] != nil {
		return w.procs[id]
	}
	if p := w.far[id]; p != nil {
		return p
	}
	p := &procPast{p: id}
	// What this proc did before, it tells only now: all captures so far lack it.
	for _, c := range w.top.items {
		if c.captured {
			p.lacking = append(p.lacking, c)
		}
	}
	if uint(id) >= maxDenseProcs {
		w.far[id] = p
		return p
	}
	if n := int(id) + 1; n > len(w.procs) {
		w.procs = append(w.procs, make([]*procPast, n-len(w.procs))...)
	}
	w.procs[id] = p
	return p
}

// supply gives a new stretch to the captures that lack it.
func (p *procPast) supply(x *stretch) {
	p.lacking = slices.DeleteFunc(p.lacking, func(c *candidate) bool {
		c.take(p.p, x)
		return x.end >= c.to
	})
}

// capture takes the past of the candidates that are due, and sets when the next
// one is.
func (w *Worst) capture() {
	w.due = math.MaxInt64
	for _, c := range w.top.items {
		switch {
		case c.captured:
		case c.to > w.newest:
			w.due = min(w.due, c.to)
		default:
			w.captureOne(c)
		}
	}
}

func (w *Worst) captureOne(c *candidate) {
	c.captured = true
	for _, p := range w.all() {
		p.history.between(c.from, c.to, func(x *stretch) { c.take(p.p, x) })
		// An interval that is still open is told when it ends.
		if end, ok := p.history.end(); !ok || end < c.to {
			p.lacking = append(p.lacking, c)
		}
	}
}

// take adds a stretch of a proc if it lies in the time to be shown, joining
// what is too short to be drawn.
func (c *candidate) take(p model.ProcID, x *stretch) {
	if x.end <= c.from || x.start >= c.to {
		return
	}
	i, found := slices.BinarySearchFunc(c.parts, p, func(a part, p model.ProcID) int { return cmp.Compare(a.p, p) })
	if !found {
		c.parts = slices.Insert(c.parts, i, part{p, spareStretches.get()})
	}
	c.parts[i].past = appendJoined(c.parts[i].past, x, c.to.Sub(c.from)/historyGrain)
}

// recycle leaves the storage of one that is done with to others.
func (c *candidate) recycle() {
	for _, pt := range c.parts {
		spareStretches.put(pt.past)
	}
	c.parts = nil
}

// Finish completes the waits. Call it after the last interval.
func (w *Worst) Finish() {
	for _, c := range w.top.items {
		if !c.captured {
			w.captureOne(c)
		}
	}
	w.results = make([]*Wait, 0, len(w.top.items))
	for _, c := range w.top.items {
		w.results = append(w.results, w.result(c))
		c.recycle()
	}
	for _, p := range w.all() {
		p.history.recycle()
	}
	w.procs, w.far = nil, nil
	w.top.items = nil
}

// Waits returns the longest waits, longest first, once Finish was called.
func (w *Worst) Waits() []*Wait { return w.results[:min(len(w.results), w.shown)] }

// Result adds what was found to v.
func (w *Worst) Result(v *result.Report) {
	v.WorstWaits = result.Each(w.results, func(w **Wait) result.Wait { return (*w).Wait })
}
