package chart

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Histories are the histories of the procs around the waits of a report that have pictures:
// the longest of each incident. They observe a second reading of the trace.
type Histories struct {
	tables *model.Tables
	origin model.Time // from which times of the report count
	of     []*history // by the wait's place in the report; nil: it has no picture
	lo, hi model.Time // bounds of what they show
}

// history is what the procs did around one wait: from its beginning to its end, with a margin
// of an eighth of it, at least 20 us, on both sides.
type history struct {
	wait     *result.Wait
	from, to model.Time
	procs    []procHistory // sorted by proc
	uses     result.Uses   // of the procs during the wait
	// Who ran during the wait, where it is not known what that was lost to.
	ran map[model.GoID]*result.Uses
}

// procHistory is what one proc did: slices in order, which do not overlap.
type procHistory struct {
	p      model.ProcID
	slices []slice
}

// slice is an interval of a proc in one state; or several that are too short to be drawn, joined.
type slice struct {
	start, end model.Time
	use        result.Use // of a joined slice what took the longest
	// g ran or was in a system call, for gTime. Of a joined slice it is one of those that did
	// so the longest. NoGoroutine if none.
	g      model.GoID
	fn     string // start function of g; "" if none
	gTime  model.Duration
	joined bool
	uses   result.Uses
}

// historyGrain is how many slices a picture distinguishes: about a pixel each.
const historyGrain = 1000

// NewHistories returns empty histories for the pictures of a report's waits.
func NewHistories(r *result.Report) *Histories {
	h := &Histories{of: make([]*history, len(r.WorstWaits)), lo: math.MaxInt64}
	for _, incident := range r.Incidents() {
		w := &r.WorstWaits[incident[0]]
		margin := model.Time(max(w.Duration/8, 20_000))
		x := &history{wait: w, from: w.Start - margin, to: w.End + margin, ran: map[model.GoID]*result.Uses{}}
		h.of[incident[0]] = x
		h.lo, h.hi = min(h.lo, x.from), max(h.hi, x.to)
	}
	return h
}

// Observe registers h with the Machine of the second reading, whose trace begins at origin.
func (h *Histories) Observe(m *model.Machine, origin model.Time) {
	h.tables, h.origin = m.Tables(), origin
	m.Observe(h)
}

// ProcSpan implements [model.ProcSpanObserver].
func (h *Histories) ProcSpan(s *model.ProcSpan) {
	start, end := s.Start-h.origin, s.End-h.origin
	if start >= h.hi || end <= h.lo {
		return
	}
	for _, x := range h.of {
		if x == nil {
			continue
		}
		if from, to := max(start, x.from), min(end, x.to); from < to {
			x.add(s, from, to, h.tables)
		}
	}
}

// add adds the part of an interval that is shown.
func (x *history) add(s *model.ProcSpan, from, to model.Time, t *model.Tables) {
	i, found := slices.BinarySearchFunc(x.procs, s.P, func(a procHistory, p model.ProcID) int { return cmp.Compare(a.p, p) })
	if !found {
		x.procs = slices.Insert(x.procs, i, procHistory{p: s.P})
	}
	sl := slice{start: from, end: to, use: result.UseOf(s.State, s.Work), g: s.G}
	sl.uses[sl.use] = to.Sub(from)
	if s.G != model.NoGoroutine {
		sl.fn, sl.gTime = cmp.Or(t.String(s.Func), result.NoName), to.Sub(from)
	}
	x.procs[i].add(&sl, x.to.Sub(x.from)/historyGrain)
	n := min(to, x.wait.End).Sub(max(from, x.wait.Start))
	if n <= 0 {
		return
	}
	x.uses[sl.use] += n
	if (len(x.wait.Causes) == 0 || x.stopped()) && sl.use < result.UseSyscall && s.G != model.NoGoroutine {
		if x.ran[s.G] == nil {
			x.ran[s.G] = &result.Uses{}
		}
		x.ran[s.G][sl.use] += n
	}
}

// add appends a slice, or joins it to the last one if both together are at most grain long.
func (d *procHistory) add(s *slice, grain model.Duration) {
	n := len(d.slices)
	if n == 0 || d.slices[n-1].end != s.start || s.end.Sub(d.slices[n-1].start) > grain {
		d.slices = append(d.slices, *s)
		return
	}
	last := &d.slices[n-1]
	last.end, last.joined = s.end, true
	last.uses.Add(&s.uses)
	last.use = longestUse(&last.uses)
	switch {
	case s.g == last.g:
		last.gTime += s.gTime
	case s.gTime > last.gTime:
		last.g, last.fn, last.gTime = s.g, s.fn, s.gTime
	}
}

// longestUse returns the use with the greatest time.
func longestUse(u *result.Uses) result.Use { return result.Use(slices.Index(u[:], slices.Max(u[:]))) }

// stopped reports whether the wait was for a stopped world most of all.
func (x *history) stopped() bool {
	return len(x.wait.Causes) > 0 && x.wait.Causes[0].Cause == result.CauseSTW.String()
}

// longest returns the goroutine that ran the longest during the wait, except mark workers and
// the one that waited; NoGoroutine if there is none.
func (x *history) longest() (g model.GoID, total model.Duration) {
	g = model.NoGoroutine
	for id, uses := range x.ran {
		d := uses.Total()
		if id != x.wait.Goroutine && longestUse(uses) != result.UseGC && (d > total || d == total && id < g) {
			g, total = id, d
		}
	}
	return g, total
}
