package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// maxAntagonists is how many antagonists a Wait names.
const maxAntagonists = 10

// result describes a candidate.
func (w *Worst) result(c *candidate) result.Wait {
	s := &c.span
	x := result.Wait{
		Goroutine: s.G, Function: nameOf(w.tables, s.Func), Origin: s.Origin.String(),
		Start: w.at(s.Start), End: w.at(s.End), Duration: s.Duration(), Stack: resultFrames(w.tables.Stack(s.Stack)),
		Waker: s.Waker, WakerStack: resultFrames(w.tables.Stack(s.WakerStack)), ReadiedOn: s.WakerProc, RanOn: s.P,
		Causes: []result.CauseTotal{}, Blockers: []result.Blocker{}, Meanwhile: []result.Activity{}, Functions: []result.FuncActivity{},
		Uses: c.uses, Approximate: c.approximate,
	}
	if n := len(x.WakerStack); n > 0 && s.Waker != model.NoGoroutine {
		x.WakerFunction = x.WakerStack[n-1].Function
	}
	c.sums.tell(w.tables, &x)
	return x
}

// runners sums up who occupied procs during a wait.
type runners struct {
	gs         map[model.GoID]*runner
	fns        map[model.StringID]*Uses
	unknown    model.Duration // running, it is not known who
	fnsUnknown model.Duration // running and in system calls, it is not known in which function
}

type runner struct {
	fn   model.StringID
	uses Uses
}

// add counts n nanoseconds of an interval.
func (r *runners) add(x *interval, n model.Duration) {
	if x.use > result.UseSyscall {
		return
	}
	if r.gs == nil {
		r.gs, r.fns = map[model.GoID]*runner{}, map[model.StringID]*Uses{}
	}
	if x.g == model.NoGoroutine && x.fn == 0 {
		r.fnsUnknown += n
	} else {
		if r.fns[x.fn] == nil {
			r.fns[x.fn] = &Uses{}
		}
		r.fns[x.fn][x.use] += n
	}
	switch {
	case x.use == result.UseSyscall:
	case x.g == model.NoGoroutine:
		r.unknown += n
	default:
		if r.gs[x.g] == nil {
			r.gs[x.g] = &runner{fn: x.fn}
		}
		r.gs[x.g].uses[x.use] += n
	}
}

// tell writes the sums to a wait.
func (r *runners) tell(t *model.Tables, x *result.Wait) {
	x.Unattributed = r.unknown
	longest := top[result.Activity]{limit: maxAntagonists, items: x.Meanwhile, compare: func(a, b result.Activity) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Goroutine, b.Goroutine))
	}}
	for g, a := range r.gs {
		longest.add(result.Activity{Goroutine: g, Function: nameOf(t, a.fn), Use: longestUse(&a.uses).String(), Total: a.uses.Total()})
	}
	x.Meanwhile = longest.items
	x.OtherFunctions = r.fnsUnknown
	for fn, uses := range r.fns {
		name := nameOf(t, fn)
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
