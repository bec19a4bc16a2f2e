package chart

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Waits returns a picture for each of the worst waits, the longest first, named
// wait-01, wait-02 and so on. There are none if no wait was completed.
func Waits(r *analyze.Report, source string) []*Picture {
	var ps []*Picture
	for i, w := range r.Worst.Waits() {
		s := storyOf(w)
		s.name = fmt.Sprintf("wait-%02d", i+1)
		s.subtitle = fmt.Sprintf("rank %d of %s", i+1, textui.Plural(r.Latency.All.Count(), "wait"))
		if source != "" {
			s.subtitle += ", " + printable(source)
		}
		if w.Trace > 0 {
			s.subtitle += fmt.Sprintf(", trace %d", w.Trace+1)
		}
		ps = append(ps, newWait(s))
	}
	return ps
}

// storyOf copies what the picture of a wait needs.
func storyOf(w *analyze.Wait) story {
	procs := "every proc"
	if len(w.Procs) == 1 {
		procs = "the proc"
	}
	s := story{
		title:  fmt.Sprintf("What %s did while goroutine %d waited %s", procs, w.G, durationLabel(float64(w.Duration()))),
		length: float64(w.Duration()),
		lo:     float64(w.From.Sub(w.Start)),
		hi:     float64(w.To.Sub(w.Start)),
		from:   -1,
		to:     -1,
	}
	s.lo, s.hi = min(s.lo, 0), max(s.hi, s.length, 1)
	villain, role, ok := antagonistOf(w)
	if ok {
		s.antagonist = fmt.Sprintf("G%d, %s", villain, role)
	} else {
		villain = model.NoGoroutine
	}
	joined := false
	for i := range w.Procs {
		d := &w.Procs[i]
		l := lane{name: fmt.Sprintf("P%d", d.P), procs: 1, strong: d.P == w.ReadiedOn || d.P == w.RanOn}
		l.bars = barsOf(w, d, villain, s.lo, s.hi)
		for _, b := range l.bars {
			joined = joined || b.joined
		}
		if d.P == w.ReadiedOn {
			s.from = i
		}
		if d.P == w.RanOn {
			s.to = i
		}
		s.lanes = append(s.lanes, l)
	}
	per := s.compact()
	for _, cell := range w.Cells {
		s.lost = append(s.lost, loss{cell.Cause, float64(cell.Total)})
	}
	s.facts = factsOf(w)
	if f, ok := meanwhileOf(w); ok {
		s.facts = append(s.facts, f)
	}
	s.note = noteOf(joined, per > 1, w.Approximate)
	return s
}

// compact joins lanes that are idle or, if there still would be too many,
// neighbours; it returns how many of these.
func (s *story) compact() (per int) {
	per = 1
	lanes, at := idleJoined(s.lanes)
	if len(lanes) > maxLanes {
		lanes, per = grouped(s.lanes)
		for i := range at {
			at[i] = i / per
		}
	}
	for _, i := range []*int{&s.from, &s.to} {
		if *i >= 0 {
			*i = at[*i]
		}
	}
	s.lanes = lanes
	return per
}

// noteOf says in words what is not exact in the picture.
func noteOf(joined, groups, approximate bool) string {
	switch {
	case groups && approximate:
		return "height divides by share of time, roughly at the ends of the wait"
	case groups:
		return "height divides procs by what they did"
	case joined && approximate:
		return "intervals too short to draw are joined: height divides by share of time, roughly at the ends of the wait"
	case joined:
		return "intervals too short to draw are joined: height divides by share of time"
	}
	return ""
}

// factsOf returns the strip of numbers and names of a wait.
func factsOf(w *analyze.Wait) []fact {
	return []fact{
		{name: "WAITED", before: durationLabel(float64(w.Duration()))},
		{name: "FUNCTION", fn: shortFunc(w.Func)},
		originOf(w),
		procAt("READIED ON", w.ReadiedOn, w.Start),
		procAt("RAN ON", w.RanOn, w.End),
	}
}

// originOf says how the goroutine became runnable and which other one had a
// part in it.
func originOf(w *analyze.Wait) fact {
	f := fact{name: "BECAME RUNNABLE"}
	waker := ""
	if w.Waker != model.NoGoroutine && w.Waker != w.G {
		waker = fmt.Sprintf("goroutine %d", w.Waker)
		if w.WakerFunc != "" {
			waker += ", "
			f.fn = shortFunc(w.WakerFunc)
		}
	}
	f.before = result.OriginClause(w.Origin, waker)
	return f
}

// procAt is the fact of a proc at a time.
func procAt(name string, p model.ProcID, t model.Time) fact {
	f := fact{name: name, before: "no proc", after: []string{", at " + textui.Instant(t)}}
	if p != model.NoProc {
		f.before, f.after[0] = fmt.Sprintf("P%d", p), " at "+textui.Instant(t)
	}
	return f
}

// barsOf returns a proc's history between lo and hi, in ns since the wait
// began, with bars for what is not known.
func barsOf(w *analyze.Wait, d *analyze.ProcDuring, villain model.GoID, lo, hi float64) []bar {
	var bars []bar
	end := lo
	unknown := func(until float64) {
		if until > end {
			bars = append(bars, bar{start: end, end: until, occ: occUnknown, g: model.NoGoroutine})
		}
	}
	for i := range d.Slices {
		s := &d.Slices[i]
		b := barOf(w, s, villain)
		if !(b.end > b.start) {
			continue
		}
		unknown(b.start)
		bars = append(bars, b)
		end = max(end, b.end)
	}
	unknown(hi)
	return bars
}

// barOf returns one interval of a proc.
func barOf(w *analyze.Wait, s *analyze.ProcSlice, villain model.GoID) bar {
	b := bar{start: float64(s.Start.Sub(w.Start)), end: float64(s.End.Sub(w.Start)), occ: occUnknown, g: model.NoGoroutine}
	if int(s.Use) < len(uses) {
		b.occ = uses[s.Use]
	}
	own := b.occ
	switch {
	case s.G == model.NoGoroutine:
	case s.G == w.G:
		own = occSelf
	case s.G == villain && (b.occ == occUser || b.occ == occRuntime):
		own = occAntagonist
	}
	if s.Joined {
		b.joined, b.parts = true, partsOf(s, b.occ, own)
		return b
	}
	b.occ = own
	if s.G != model.NoGoroutine {
		b.g, b.name = s.G, shortFunc(s.Func)
	}
	return b
}

// partsOf returns the fractions of a joined interval's time, with that of its
// main goroutine moved from its occupation to own.
func partsOf(s *analyze.ProcSlice, occ, own occupation) (parts [numOccupations]float64) {
	total := float64(s.Uses.Total())
	if !(total > 0) {
		parts[own] = 1
		return parts
	}
	for u, d := range s.Uses {
		parts[uses[u]] += float64(d) / total
	}
	moved := min(parts[occ], float64(s.GTime)/total)
	parts[occ] -= moved
	parts[own] += moved
	return parts
}
