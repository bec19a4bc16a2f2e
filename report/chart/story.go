package chart

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// story is what one wait's picture shows. Times are in ns relative to the
// moment at which the goroutine became runnable.
type story struct {
	title    string
	caption  string  // how to read the picture
	length   float64 // of the wait
	lo, hi   float64 // of what is shown
	lanes    []lane
	marked   string              // what the legend calls the goroutine with a colour of its own
	from, to int                 // lanes where it became runnable and where it ran; -1: none
	facts    []fact              // above the lanes
	lost     []result.CauseTotal // to what, greatest first; none if not known
	note     string              // what is not exact, "" if nothing
}

// lane is the history of one proc, or of several where there is no room for
// each; bars of one proc do not overlap and are in order of time.
type lane struct {
	name   string
	procs  int
	strong bool // the name is written in bold, and never left out
	bars   []bar
}

// bar is what a proc did in an interval.
type bar struct {
	start, end float64
	occ        occupation              // most of it
	parts      [numOccupations]float64 // fractions of its time
	joined     bool                    // stands for several intervals that are too short to be drawn
	g          model.GoID              // NoGoroutine if none; joined bars have none
	name       string                  // of the goroutine's function, or other text to be written inside
}

// fact is a name and what is said under it.
type fact struct{ name, value string }

// waits returns a picture for the longest wait of each incident, the longest first, named
// wait-01, wait-02 and so on.
func (in *Input) waits() []*Picture {
	var ps []*Picture
	if in.Histories == nil && len(in.Report.WorstWaits) > 0 {
		const missing = "what procs did during waits is drawn for one trace, not for several or a saved report"
		return []*Picture{newPicture("wait-01", "What procs did during the longest waits", in.source(), minHeight, missing, nil)}
	}
	for i, incident := range in.Report.Incidents() {
		subtitle := fmt.Sprintf("rank %d of %s", incident[0]+1, textui.Plural(in.Report.Latency.All.Count, "wait"))
		if more := len(incident) - 1; more > 0 {
			subtitle += fmt.Sprintf(", with %d more of the same incident", more)
		}
		s := in.Histories.of[incident[0]].story()
		ps = append(ps, newPicture(fmt.Sprintf("wait-%02d", i+1), s.title, textui.Join(", ", subtitle, in.source()), s.height(), "", s.draw))
	}
	return ps
}

// story returns what the picture of a wait shows.
func (x *history) story() *story {
	w, procs := x.wait, "every proc"
	if len(x.procs) == 1 {
		procs = "the proc"
	}
	s := &story{
		title:   fmt.Sprintf("What %s did while goroutine %d waited %s", procs, w.Goroutine, durationLabel(float64(w.Duration))),
		caption: fmt.Sprintf("Each row is a proc and what it did. Between the two vertical lines goroutine %d was ready to run, and no proc ran it.", w.Goroutine),
		length:  float64(w.Duration), from: -1, to: -1, lost: w.Causes,
	}
	from, to := w.Start, w.End // cut to the trace
	for _, d := range x.procs {
		from, to = min(from, d.slices[0].start), max(to, d.slices[len(d.slices)-1].end)
	}
	s.lo, s.hi = float64(from.Sub(w.Start)), max(float64(to.Sub(w.Start)), 1)
	marked, role := x.marked()
	if role != "" {
		s.marked = fmt.Sprintf("G%d, %s", marked, role)
	}
	joined := false
	for i := range x.procs {
		d := &x.procs[i]
		l := lane{name: fmt.Sprintf("P%d", d.p), procs: 1, strong: d.p == w.ReadiedOn || d.p == w.RanOn}
		l.bars = s.bars(w, d, marked)
		for _, b := range l.bars {
			joined = joined || b.joined
		}
		if d.p == w.ReadiedOn {
			s.from = i
		}
		if d.p == w.RanOn {
			s.to = i
		}
		s.lanes = append(s.lanes, l)
	}
	grouped := s.compact()
	waker, at := "", func(p model.ProcID, t model.Time) string {
		if p == model.NoProc {
			return "no proc, at " + textui.Instant(t)
		}
		return fmt.Sprintf("P%d at %s", p, textui.Instant(t))
	}
	if w.Waker != model.NoGoroutine && w.Waker != w.Goroutine {
		waker = fmt.Sprintf("goroutine %d", w.Waker)
		waker += textui.If(w.WakerFunction != "", ", "+shortFunc(w.WakerFunction))
	}
	s.facts = []fact{
		{"WAITED", durationLabel(s.length)}, {"FUNCTION", shortFunc(w.Function)}, {"BECAME RUNNABLE", result.OriginClause(result.Parse(w.Origin, model.NumOrigins), waker)},
		{"BECAME READY ON", at(w.ReadiedOn, w.Start)}, {"RAN ON", at(w.RanOn, w.End)},
	}
	if f := x.meanwhile(); f.name != "" {
		s.facts = append(s.facts, f)
	}
	switch {
	case grouped:
		s.note = "a row shows several procs: the height of a colour is their share"
	case joined:
		s.note = "of intervals too short to draw, the height of a colour is its share of the time"
	}
	return s
}

// bars returns a proc's history, with bars for what is not known.
func (s *story) bars(w *result.Wait, d *procHistory, marked model.GoID) []bar {
	var bars []bar
	end := s.lo
	unknown := func(until float64) {
		if until > end {
			bars = append(bars, bar{start: end, end: until, occ: occUnknown, g: model.NoGoroutine})
			bars[len(bars)-1].parts[occUnknown] = 1
		}
	}
	for x := range result.Refs(d.slices) {
		b := barOf(w, x, marked)
		b.start, b.end = float64(x.start.Sub(w.Start)), float64(x.end.Sub(w.Start))
		unknown(b.start)
		bars = append(bars, b)
		end = max(end, b.end)
	}
	unknown(s.hi)
	return bars
}

// barOf returns one interval of a proc. The time of the waiter, and that of the marked
// goroutine when it ran, have occupations of their own.
func barOf(w *result.Wait, x *slice, marked model.GoID) bar {
	use := occupation(x.use)
	b := bar{occ: use, g: model.NoGoroutine, joined: x.joined}
	switch {
	case x.g == model.NoGoroutine:
	case x.g == w.Goroutine:
		b.occ = occSelf
	case x.g == marked && (use == occUser || use == occupation(result.UseRuntime)):
		b.occ = occMarked
	}
	total := float64(x.uses.Total())
	if !x.joined {
		b.parts[b.occ] = 1
		if x.g != model.NoGoroutine && !x.joined {
			b.g, b.name = x.g, shortFunc(x.fn)
		}
		return b
	}
	for u, d := range x.uses {
		b.parts[u] = float64(d) / total
	}
	moved := min(b.parts[use], float64(x.gTime)/total)
	b.parts[use] -= moved
	b.parts[b.occ] += moved
	return b
}

// maxLanes is how many lanes find room; more are grouped.
const maxLanes = 64

// compact joins neighbours that did nothing but idle or, if there still would be too many
// lanes, equal numbers of neighbours; it reports whether it did the latter.
func (s *story) compact() (grouped bool) {
	idle := func(l *lane) bool {
		return !l.strong && len(l.bars) == 1 && l.bars[0].occ == occupation(result.UseIdle) && !l.bars[0].joined
	}
	n := 0
	at := make([]int, len(s.lanes)) // the new lane of each
	for i := range s.lanes {
		if i > 0 && !(idle(&s.lanes[i]) && idle(&s.lanes[i-1])) {
			n++
		}
		at[i] = n
	}
	if grouped = n >= maxLanes; grouped {
		per := (len(at) + maxLanes - 1) / maxLanes
		for i := range at {
			at[i] = i / per
		}
	}
	var lanes []lane
	for i, l := range s.lanes {
		if at[i] == len(lanes) {
			lanes = append(lanes, l)
			continue
		}
		g := &lanes[at[i]]
		first, _, _ := strings.Cut(g.name, "–")
		g.name = first + "–" + l.name
		g.procs += l.procs
		g.strong = g.strong || l.strong
		g.bars = append(g.bars[:len(g.bars):len(g.bars)], l.bars...)
	}
	for i := range lanes {
		if l := &lanes[i]; l.procs > 1 && !grouped { // one bar stands for all
			l.bars = []bar{l.bars[0]}
			l.bars[0].name = textui.Count(l.procs) + " procs idle"
			l.procs = 1
		}
	}
	for _, i := range []*int{&s.from, &s.to} {
		if *i >= 0 {
			*i = at[*i]
		}
	}
	s.lanes = lanes
	return grouped
}

// marked returns the goroutine that gets a colour of its own and its role, "" if there is none
// that took a good part of the wait: the one that the wait was behind the longest or, where
// causes are not known or the world was to be stopped, the one that ran the longest on any proc. Mark workers and system
// calls have their colours.
func (x *history) marked() (g model.GoID, role string) {
	g, ran := x.longest()
	role = "ran longest"
	if x.stopped() {
		role = "ran while the world was to be stopped"
	}
	for _, b := range x.wait.Blockers {
		if !x.stopped() && b.Goroutine != model.NoGoroutine && !b.Syscall && !result.Parse(b.Work, model.NumWorkKinds).IsGC() {
			g, ran, role = b.Goroutine, b.Total, "ran instead"
			break
		}
	}
	const goodPart = 0.1
	if g == model.NoGoroutine || float64(ran) < goodPart*float64(x.wait.Duration) {
		return model.NoGoroutine, ""
	}
	return g, role
}

// meanwhile says in a few words whom a wait was behind for most of its time or, if that is
// so, what took most of the procs' time during it. It has no name if neither is known.
func (x *history) meanwhile() fact {
	w := x.wait
	behind := result.Sum(w.Blockers, func(b *result.Blocker) model.Duration { return b.Total })
	if len(w.Blockers) > 0 && 2*behind >= w.Duration {
		b := &w.Blockers[0]
		s := textui.If(b.Goroutine != model.NoGoroutine, fmt.Sprintf("G%d ", b.Goroutine)) + shortFunc(b.Function) + ", " + durationLabel(float64(b.Total))
		switch {
		case b.Syscall:
			s += " in a system call"
		case b.Work == model.WorkGCAssist.String(): // of workers the name says it
			s += " of GC assist"
		}
		if more := len(w.Blockers) - 1; more > 0 {
			s += fmt.Sprintf(", and %d more", more)
		}
		return fact{"RAN INSTEAD", s}
	}
	most := result.UseUnknown
	for u := range result.UseUnknown {
		if x.uses[u] > 0 && x.uses[u] >= x.uses[most] {
			most = u
		}
	}
	if most == result.UseUnknown {
		return fact{}
	}
	return fact{"PROCS MEANWHILE", most.Label() + " " + textui.Percent(x.uses.Share(most))}
}
