package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Parts are the parts of a total, greatest change first.
type Parts struct {
	Base, Cand float64 // the totals, in nanoseconds per op or second, means over traces
	Parts      []Part
}

// Part is a part of a total. Func, Detail, At and By are those of a sample's class; of
// causes and reasons there is the Detail only.
type Part struct {
	Func   string
	Detail string
	At, By *sample.Frame
	// Base and Cand are in nanoseconds per op or second, means over traces.
	Base, Cand float64
	// BaseTraces and CandTraces are how many traces have it.
	BaseTraces, CandTraces int

	// At and By are those of the greatest class that is this part, of the candidate if it
	// has one.
	greatest float64
	ofCand   bool
}

// Change returns by how much the part grew.
func (p *Part) Change() float64 { return p.Cand - p.Base }

// ShareOf returns what part of the total's change this one's is, 0 if the total did not
// change; see Mixed.
func (ps *Parts) ShareOf(p *Part) float64 {
	if ps.Cand == ps.Base {
		return 0
	}
	return p.Change() / (ps.Cand - ps.Base)
}

// Mixed reports whether parts changed in both directions, so that what they are of the
// total's change says little: that is less than a quarter of all changes together.
func (ps *Parts) Mixed() bool {
	gross := 0.0
	for i := range ps.Parts {
		gross += math.Abs(ps.Parts[i].Change())
	}
	return math.Abs(ps.Cand-ps.Base) < gross/4
}

// TotalOf returns the row of a total, nil if there is none.
func (r *Result) TotalOf(ps *Parts) *Row {
	if ps == &r.Blocked {
		return r.Row(quantity("mean(blocked/U)", r.Op).String())
	}
	return r.Row(quantity("mean(wait/U)", r.Op).String())
}

// Shares reports whether to tell what the parts are of the total's change: not if that is
// a remainder of opposite ones, or may be chance.
func (r *Result) Shares(ps *Parts) bool {
	total := r.TotalOf(ps)
	return !ps.Mixed() && (total == nil || total.P == nil || total.Differs)
}

// Most returns the part that changed most in the total's direction, nil if none did.
func (ps *Parts) Most() *Part {
	for i := range ps.Parts {
		if p := &ps.Parts[i]; ps.ShareOf(p) > 0 && !p.others() {
			return p
		}
	}
	return nil
}

// others reports whether the part is the rest of many.
func (p *Part) others() bool { return p.Func == sample.Others || p.Detail == CutWaits }

// parts fills in where the difference is.
func (r *Result) parts() {
	r.Waits = r.partsOf(func(t *Trace, add adder) { addClasses(t.Sample.Waits, add) })
	r.Behind = r.partsOf(func(t *Trace, add adder) { addClasses(t.Sample.Behind, add) })
	r.Causes = r.partsOf(func(t *Trace, add adder) {
		whole := model.Duration(0)
		for _, c := range t.Sample.Causes {
			add(Part{Detail: c.Name}, float64(c.Total))
			whole += c.Total
		}
		add(Part{Detail: CutWaits}, float64(max(0, waited(t.Sample)-whole)))
	})
	r.dropUnknownCauses()
	r.Blocked = r.partsOf(func(t *Trace, add adder) {
		for _, w := range t.Reasons {
			add(Part{Detail: w.Name}, float64(w.Total))
		}
	})
}

// CutWaits stands, among causes, for waits that begin before the window or end after it:
// what these were lost to is not known as a whole.
const CutWaits = "in waits that the window cuts"

// waited returns all waiting to run.
func waited(s *sample.Sample) model.Duration {
	sum := model.Duration(0)
	for i := range s.Waits {
		sum += s.Waits[i].Total
	}
	return sum
}

// dropUnknownCauses leaves out what waiting was lost to if a trace does not tell, as those
// before Go 1.22 do not: its waits would count as lost to nothing.
func (r *Result) dropUnknownCauses() {
	for _, s := range []*Side{&r.Base, &r.Cand} {
		for _, t := range s.Traces {
			if len(t.Sample.Waits) > 0 && len(t.Sample.Causes) == 0 {
				r.Causes, r.Behind = Parts{}, Parts{}
				r.warnf("causes", "To what waiting was lost is not known of %s (%s), and not compared.", t.Name, textui.Clean(t.Sample.Identity.Go))
				return
			}
		}
	}
}

// adder takes a part of one trace, as a total in nanoseconds.
type adder func(p Part, total float64)

func addClasses(cs []sample.Class, add adder) {
	for i := range cs {
		c := &cs[i]
		add(Part{Func: c.Func, Detail: c.Detail, At: c.At, By: c.By}, float64(c.Total))
	}
}

// partsOf sums up the parts that each hands out for every trace.
func (r *Result) partsOf(each func(t *Trace, add adder)) Parts {
	var ps Parts
	index := map[string]int{}
	take := func(s *Side, total func(*Parts) *float64, mean func(*Part) *float64, traces func(*Part) *int) {
		n := float64(r.counted(s))
		for _, t := range s.Traces {
			units := r.units(t)
			if units <= 0 {
				continue
			}
			seen := map[int]bool{}
			each(t, func(p Part, ns float64) {
				i, ok := index[p.key()]
				if !ok {
					i = len(ps.Parts)
					index[p.key()] = i
					ps.Parts = append(ps.Parts, p)
				}
				x := &ps.Parts[i]
				*mean(x) += ns / units / n
				*total(&ps) += ns / units / n
				x.place(&p, ns, s == &r.Cand)
				if !seen[i] {
					seen[i] = true
					*traces(x)++
				}
			})
		}
	}
	take(&r.Base, func(ps *Parts) *float64 { return &ps.Base }, func(p *Part) *float64 { return &p.Base }, func(p *Part) *int { return &p.BaseTraces })
	take(&r.Cand, func(ps *Parts) *float64 { return &ps.Cand }, func(p *Part) *float64 { return &p.Cand }, func(p *Part) *int { return &p.CandTraces })
	ps.sort()
	return ps
}

// counted returns how many traces of a side have ops, or any time.
func (r *Result) counted(s *Side) int {
	n := 0
	for _, t := range s.Traces {
		if r.units(t) > 0 {
			n++
		}
	}
	return n
}

// sort orders parts by how much they changed, leaves out those that are nothing, and puts
// the rest of many last.
func (ps *Parts) sort() {
	ps.Parts = slices.DeleteFunc(ps.Parts, func(p Part) bool { return p.Base == 0 && p.Cand == 0 })
	slices.SortStableFunc(ps.Parts, func(a, b Part) int {
		return cmp.Or(compareBool(a.others(), b.others()), cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change())), cmp.Compare(a.key(), b.key()))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// place takes over the places of one of the classes that are this part: of the
// candidate's greatest, else of the baseline's.
func (p *Part) place(o *Part, ns float64, cand bool) {
	if cand && !p.ofCand || cand == p.ofCand && ns > p.greatest {
		p.greatest, p.ofCand, p.At, p.By = ns, cand, o.At, o.By
	}
}

// key tells parts apart. Files and lines do not count: they differ between versions of a
// program.
func (p *Part) key() string {
	return p.Func + "\x00" + p.Detail + "\x00" + frameFunc(p.At) + "\x00" + frameFunc(p.By)
}

func frameFunc(f *sample.Frame) string {
	if f == nil {
		return ""
	}
	return f.Func
}
