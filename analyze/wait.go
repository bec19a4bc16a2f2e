package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// maxAntagonists is how many antagonists a Wait names.
const maxAntagonists = 10

// Wait is one of the worst waits, with what each proc did around it.
//
// Meanwhile and Functions name at most 10. Of joined slices only the goroutine that ran
// longest is known, and the times of several functions: Unattributed and OtherFunctions are
// what others took, and what rounding lost.
type Wait struct {
	result.Wait
	// From and To bound the time that Procs shows: the wait and a margin of an
	// eighth of it, at least 20 us, on both sides, cut to the trace.
	From, To model.Time
	// Procs are what the procs did, sorted by proc. Uses is the sum of their uses during
	// the wait.
	Procs []ProcDuring
}

// ProcDuring is what one proc did around a wait.
type ProcDuring struct {
	P      model.ProcID
	Slices []ProcSlice // in order, cut to the time shown
	Uses   Uses        // during the wait
	// Approximate: a joined slice reaches over an end of the wait and was divided
	// in proportion.
	Approximate bool
}

// ProcSlice is an interval of a proc's timeline, in one state; or several that
// are too short to be drawn, joined.
type ProcSlice struct {
	Start, End model.Time
	// Use is what it was put to, of a joined slice what took the longest.
	Use Use
	// G ran or was in a system call, for GTime. Of a joined slice it is one of
	// those that did so the longest. NoGoroutine if none.
	G     model.GoID
	Func  string // start function of G; "" if none
	GTime model.Duration
	// Joined: the slice stands for several. Uses are their exact times, unless
	// the slice was cut.
	Joined bool
	Uses   Uses
	// LongBurst marks an interval of a goroutine of the program that ran longer
	// than [LongBurst] in one go, by its whole length, not just the part shown.
	LongBurst bool
}

// result describes a candidate.
func (w *Worst) result(c *candidate) *Wait {
	s := &c.span
	x := &Wait{Wait: result.Wait{
		Goroutine: s.G, Function: nameOf(w.tables, s.Func), Origin: s.Origin.String(),
		Start: w.at(s.Start), End: w.at(s.End), Duration: s.Duration(), Stack: resultFrames(w.tables.Stack(s.Stack)),
		Waker: s.Waker, WakerStack: resultFrames(w.tables.Stack(s.WakerStack)), ReadiedOn: s.WakerProc, RanOn: s.P,
		Causes: []result.CauseTotal{}, Blockers: []result.Blocker{}, Meanwhile: []result.Activity{}, Functions: []result.FuncActivity{},
	}}
	if n := len(x.WakerStack); n > 0 && s.Waker != model.NoGoroutine {
		x.WakerFunction = x.WakerStack[n-1].Function
	}
	from, to := c.shown()
	x.From, x.To = w.at(from), w.at(to)
	sums := runners{tables: w.tables}
	for _, pt := range c.parts {
		pd := ProcDuring{P: pt.p, Slices: make([]ProcSlice, 0, len(pt.past))}
		for i := range pt.past {
			st := &pt.past[i]
			pd.Slices = append(pd.Slices, w.slice(st, from, to))
			uses, cut := st.usesBetween(s.Start, s.End)
			pd.Uses.Add(&uses)
			pd.Approximate = pd.Approximate || cut
			sums.add(st, &uses, s.Start, s.End)
		}
		x.Uses.Add(&pd.Uses)
		x.Approximate = x.Approximate || pd.Approximate
		x.Procs = append(x.Procs, pd)
	}
	sums.tell(x)
	return x
}

// shown returns the candidate's time with margins as far as the trace reaches.
func (c *candidate) shown() (from, to model.Time) {
	from, to = c.span.Start, c.span.End
	for _, pt := range c.parts {
		from = min(from, pt.past[0].start)
		to = max(to, pt.past[len(pt.past)-1].end)
	}
	return max(from, c.from), min(to, c.to)
}

// slice returns the part of a stretch between two times as it is told.
func (w *Worst) slice(st *stretch, from, to model.Time) ProcSlice {
	sl := ProcSlice{Start: w.at(max(st.start, from)), End: w.at(min(st.end, to)),
		Use: st.use, G: st.g, Joined: st.joined, LongBurst: st.longBurst}
	sl.Uses, _ = st.usesBetween(from, to)
	if st.g != model.NoGoroutine {
		sl.Func = nameOf(w.tables, st.fn)
		sl.GTime = st.gBetween(from, to)
	}
	return sl
}

// overlap returns how much of the stretch lies between two times.
func (s *stretch) overlap(from, to model.Time) model.Duration {
	return max(min(s.end, to).Sub(max(s.start, from)), 0)
}

// usesBetween returns the stretch's time by use between two times. A joined one
// that reaches over one of them is divided in proportion, which cut reports.
func (s *stretch) usesBetween(from, to model.Time) (uses Uses, cut bool) {
	part := s.overlap(from, to)
	if !s.joined {
		uses[s.use] = part
		return uses, false
	}
	if part == 0 {
		return uses, false
	}
	rest := part
	for u, n := range s.uses {
		uses[u] = scale(model.Duration(n), part, s.length())
		rest -= uses[u]
	}
	uses[s.use] += rest // what rounding lost
	return uses, part < s.length()
}

// gBetween returns how long the stretch's goroutine was there between two times.
func (s *stretch) gBetween(from, to model.Time) model.Duration {
	if s.g == model.NoGoroutine {
		return 0
	}
	part := s.overlap(from, to)
	if !s.joined {
		return part
	}
	return scale(model.Duration(s.gTime), part, s.length())
}

// scale returns n*part/whole, rounded down; n and whole are below 2^32.
func scale(n, part, whole model.Duration) model.Duration {
	return model.Duration(uint64(n) * uint64(part) / uint64(whole))
}

// runners sums up who occupied procs during a wait.
type runners struct {
	tables   *model.Tables
	gs       map[model.GoID]*runner
	running  model.Duration // in all
	known    model.Duration // of that, by runners known
	fns      map[model.StringID]*Uses
	occupied model.Duration // running and in system calls, in all
	fnsKnown model.Duration // of that, by functions known
}

type runner struct {
	fn   model.StringID
	uses Uses
}

// add counts a stretch whose uses during the wait are given.
func (r *runners) add(st *stretch, uses *Uses, from, to model.Time) {
	for _, u := range [...]Use{result.UseUser, result.UseGC, result.UseAssist, result.UseRuntime} {
		r.running += uses[u]
		r.occupied += uses[u]
	}
	r.occupied += uses[result.UseSyscall]
	r.addFuncs(st, from, to)
	if st.gUse > result.UseRuntime || st.g == model.NoGoroutine {
		return
	}
	d := st.gBetween(from, to)
	if d == 0 {
		return
	}
	if r.gs == nil {
		r.gs = map[model.GoID]*runner{}
	}
	if r.gs[st.g] == nil {
		r.gs[st.g] = &runner{fn: st.fn}
	}
	r.gs[st.g].uses[st.gUse] += d
	r.known += d
}

// addFuncs counts the functions whose goroutines were in a stretch.
func (r *runners) addFuncs(st *stretch, from, to model.Time) {
	part := st.overlap(from, to)
	if part == 0 {
		return
	}
	if !st.joined {
		if st.g != model.NoGoroutine {
			r.addFunc(st.fn, st.use, part)
		}
		return
	}
	for i, n := range st.fnTimes {
		if n > 0 {
			r.addFunc(st.fns[i], st.fnUses[i], scale(model.Duration(n), part, st.length()))
		}
	}
}

func (r *runners) addFunc(fn model.StringID, use Use, d model.Duration) {
	if use > result.UseSyscall {
		return
	}
	if r.fns == nil {
		r.fns = map[model.StringID]*Uses{}
	}
	if r.fns[fn] == nil {
		r.fns[fn] = &Uses{}
	}
	r.fns[fn][use] += d
	r.fnsKnown += d
}

// tell writes the sums to a wait.
func (r *runners) tell(x *Wait) {
	x.Unattributed = max(r.running-r.known, 0)
	for g, a := range r.gs {
		x.Meanwhile = append(x.Meanwhile, result.Activity{Goroutine: g, Function: nameOf(r.tables, a.fn), Use: longestUse(&a.uses).String(), Total: a.uses.Total()})
	}
	slices.SortFunc(x.Meanwhile, func(a, b result.Activity) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Goroutine, b.Goroutine))
	})
	x.Meanwhile = x.Meanwhile[:min(len(x.Meanwhile), maxAntagonists)]
	x.OtherFunctions = max(r.occupied-r.fnsKnown, 0)
	for fn, uses := range r.fns {
		name := nameOf(r.tables, fn)
		if d := uses[result.UseSyscall]; d > 0 {
			x.Functions = append(x.Functions, result.FuncActivity{Function: name, Use: result.UseSyscall.String(), Total: d})
		}
		ran := *uses
		ran[result.UseSyscall] = 0
		if d := ran.Total(); d > 0 {
			x.Functions = append(x.Functions, result.FuncActivity{Function: name, Use: longestUse(&ran).String(), Total: d})
		}
	}
	slices.SortFunc(x.Functions, func(a, b result.FuncActivity) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Use, b.Use))
	})
	x.Functions = x.Functions[:min(len(x.Functions), maxAntagonists)]
}

// longestUse returns the use with the greatest time.
func longestUse(u *Uses) Use {
	best := Use(0)
	for i := range u {
		if u[i] > u[best] {
			best = Use(i)
		}
	}
	return best
}

func resultFrames(stack []model.Frame) []result.Frame {
	return result.Each(stack, func(f *model.Frame) result.Frame { return result.Frame{Function: f.Func, File: f.File, Line: f.Line} })
}
