package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// maxAntagonists is how many antagonists a Wait names.
const maxAntagonists = 10

// Wait is one of the worst waits with what happened during it.
type Wait struct {
	Trace      int
	G          model.GoID
	Func       string // start function
	Origin     model.Origin
	Start, End model.Time    // became Runnable, began to run
	Stack      []model.Frame // where the goroutine last stopped
	// Waker is who made it runnable: NoGoroutine if the runtime did by itself.
	Waker      model.GoID
	WakerFunc  string // the outermost function of its stack; "" if not known
	WakerStack []model.Frame
	// ReadiedOn is the proc on which it became runnable, RanOn and RanBy the
	// proc and thread that then ran it: the two ends of the wake-up arrow. NoProc
	// and NoThread if unknown.
	ReadiedOn, RanOn model.ProcID
	ReadiedBy, RanBy model.ThreadID

	// From and To bound the time that Procs shows: the wait and a margin of an
	// eighth of it, at least 20 us, on both sides, cut to the trace.
	From, To model.Time
	// Procs are what the procs did, sorted by proc.
	Procs []ProcDuring
	// Uses is the sum of Procs' uses during the wait. Approximate if one of
	// theirs is.
	Uses        Uses
	Approximate bool
	// Antagonists are the goroutines that ran during the wait, longest first, at
	// most 10. Unattributed is time in which goroutines ran within joined slices,
	// where only the one that ran longest is known: as long as there is some, the
	// totals are lower bounds.
	Antagonists  []Antagonist
	Unattributed model.Duration
	// AntagonistFuncs are the functions whose goroutines ran or kept procs in
	// system calls during the wait, longest first, at most 10. Joined slices know
	// the times of several functions; UnattributedFuncs is the time of others, and
	// what rounding lost. If there is none and the wait is not Approximate, the
	// totals are exact.
	AntagonistFuncs   []AntagonistFunc
	UnattributedFuncs model.Duration

	// Cells are what the wait was lost to, greatest first. They add up to its
	// length. None if causes were not analysed.
	Cells []Cell
	// Blockers are the goroutines that it was behind in its queue, longest first,
	// at most 10.
	Blockers []Blocker
}

// Duration returns the wait's length.
func (w *Wait) Duration() model.Duration { return w.End.Sub(w.Start) }

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

// Antagonist is a goroutine that ran during a wait.
type Antagonist struct {
	G     model.GoID
	Func  string
	Use   Use // result.UseUser, result.UseGC, result.UseAssist or UseRuntime: most of it
	Total model.Duration
}

// AntagonistFunc are the goroutines of one start function that occupied procs
// during a wait: ran, or were in system calls with one. A function that did both
// is there twice.
type AntagonistFunc struct {
	Func  string
	Use   Use // result.UseSyscall, or most of what it ran
	Total model.Duration
}

// result turns a candidate into what is told of it.
func (w *Worst) result(c *candidate) *Wait {
	s := &c.span
	x := &Wait{
		G: s.G, Func: nameOf(w.tables, s.Func), Origin: s.Origin,
		Start: w.at(s.Start), End: w.at(s.End), Stack: w.tables.Stack(s.Stack),
		Waker: s.Waker, WakerStack: w.tables.Stack(s.WakerStack),
		ReadiedOn: s.WakerProc, RanOn: s.P, ReadiedBy: s.WakerThread, RanBy: s.M,
	}
	if n := len(x.WakerStack); n > 0 && s.Waker != model.NoGoroutine {
		x.WakerFunc = x.WakerStack[n-1].Func
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
		x.Antagonists = append(x.Antagonists, Antagonist{g, nameOf(r.tables, a.fn), longestUse(&a.uses), a.uses.Total()})
	}
	slices.SortFunc(x.Antagonists, func(a, b Antagonist) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.G, b.G))
	})
	x.Antagonists = x.Antagonists[:min(len(x.Antagonists), maxAntagonists)]
	x.UnattributedFuncs = max(r.occupied-r.fnsKnown, 0)
	for fn, uses := range r.fns {
		name := nameOf(r.tables, fn)
		if d := uses[result.UseSyscall]; d > 0 {
			x.AntagonistFuncs = append(x.AntagonistFuncs, AntagonistFunc{name, result.UseSyscall, d})
		}
		ran := *uses
		ran[result.UseSyscall] = 0
		if d := ran.Total(); d > 0 {
			x.AntagonistFuncs = append(x.AntagonistFuncs, AntagonistFunc{name, longestUse(&ran), d})
		}
	}
	slices.SortFunc(x.AntagonistFuncs, func(a, b AntagonistFunc) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Func, b.Func), cmp.Compare(a.Use, b.Use))
	})
	x.AntagonistFuncs = x.AntagonistFuncs[:min(len(x.AntagonistFuncs), maxAntagonists)]
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

// data returns the wait as data.
func (w *Wait) data() result.Wait {
	return result.Wait{
		Trace: w.Trace, Goroutine: w.G, Function: w.Func, Origin: w.Origin.String(),
		Start: w.Start, End: w.End, Duration: w.Duration(),
		Stack: resultFrames(w.Stack), Waker: w.Waker, WakerFunction: w.WakerFunc, WakerStack: resultFrames(w.WakerStack),
		ReadiedOn: w.ReadiedOn, RanOn: w.RanOn, Uses: w.Uses, Approximate: w.Approximate,
		Meanwhile: result.Each(w.Antagonists, func(a *Antagonist) result.Activity {
			return result.Activity{Goroutine: a.G, Function: a.Func, Use: a.Use.String(), Total: a.Total}
		}),
		Causes:       resultCells(w.Cells),
		Blockers:     result.Each(w.Blockers, resultBlocker),
		Unattributed: w.Unattributed, OtherFunctions: w.UnattributedFuncs,
		Functions: result.Each(w.AntagonistFuncs, func(a *AntagonistFunc) result.FuncActivity {
			return result.FuncActivity{Function: a.Func, Use: a.Use.String(), Total: a.Total}
		}),
	}
}

func resultFrames(stack []model.Frame) []result.Frame {
	return result.Each(stack, func(f *model.Frame) result.Frame { return result.Frame{Function: f.Func, File: f.File, Line: f.Line} })
}
