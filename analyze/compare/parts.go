package compare

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Growth is a class of waiting, blocking or running on both sides. Totals are in
// nanoseconds per op or second, means over traces. Those of the class itself are sums over
// the candidate's traces.
type Growth struct {
	sample.Class
	Base  float64 `json:"base_ns"`
	Cand  float64 `json:"cand_ns"`
	Share float64 `json:"share"` // of the whole increase
	// How often per op or second. Of a rule on counts, Share is of the increase of these.
	BaseCount float64 `json:"base_count,omitempty"`
	CandCount float64 `json:"cand_count,omitempty"`
	// Longest single stretches of code that others waited behind.
	BaseLongest float64 `json:"base_longest_ns,omitempty"`
	CandLongest float64 `json:"cand_longest_ns,omitempty"`
}

// Part is a part of a total that two sides have. Of causes and reasons there is a Detail
// only.
type Part struct {
	Growth
	// BaseTraces and CandTraces are how many traces have it; those of a saved report count as one.
	BaseTraces, CandTraces int
}

// Change returns by how much the part grew.
func (p *Part) Change() float64 { return p.Cand - p.Base }

// Source is one trace's share of a total: its ops or seconds, and its parts.
type Source struct {
	Units  float64 // or requests; 0: not known, the trace does not count
	Parts  []sample.Class
	Traces int // that have these together; 0: one
}

// partKey is what makes parts of two programs the same. Files and lines move when anything
// above them changes, so they are not in it.
type partKey struct{ fn, detail, at, by string }

func (k partKey) compare(o partKey) int {
	return cmp.Or(strings.Compare(k.fn, o.fn), strings.Compare(k.detail, o.detail), strings.Compare(k.at, o.at), strings.Compare(k.by, o.by))
}

func keyOf(c *sample.Class) partKey {
	fn := func(f *sample.Frame) string {
		if f == nil {
			return ""
		}
		return f.Func
	}
	return partKey{c.Func, c.Detail, fn(c.At), fn(c.By)}
}

// Tally adds up the parts of both sides, in the order of their names. The place shown is
// the greatest of the candidate's first trace that has the part.
func Tally(base, cand []Source) []Part {
	type sums struct {
		Part
		total model.Duration // of the candidate
		count int64
		long  [2][]float64 // Longest
	}
	index := map[partKey]*sums{}
	add := func(side int, x Source, n float64) {
		longest := map[partKey]float64{}
		for c := range result.Refs(x.Parts) {
			key := keyOf(c)
			p := index[key]
			if p == nil {
				p = &sums{}
				p.Class = *c
				index[key] = p
			}
			total, count, traces := &p.Base, &p.BaseCount, &p.BaseTraces
			if side == 1 {
				total, count, traces = &p.Cand, &p.CandCount, &p.CandTraces
				if p.CandTraces == 0 {
					p.Class = *c
				}
				p.total += c.Total
				p.count += c.Count
			}
			*total += float64(c.Total) / (x.Units * n)
			*count += float64(c.Count) / (x.Units * n)
			if _, seen := longest[key]; !seen {
				*traces++
			}
			longest[key] = max(longest[key], float64(c.Longest))
		}
		for key, d := range longest {
			index[key].long[side] = append(index[key].long[side], d)
		}
	}
	for side, sources := range [][]Source{base, cand} {
		counted := slices.DeleteFunc(slices.Clone(sources), func(x Source) bool { return !(x.Units > 0) })
		traces := result.Sum(counted, func(x *Source) int { return max(x.Traces, 1) })
		for _, x := range counted {
			add(side, x, float64(traces)/float64(max(x.Traces, 1)))
		}
	}
	parts := []Part{}
	for _, k := range slices.SortedFunc(maps.Keys(index), partKey.compare) {
		p := index[k]
		p.Class.Total, p.Class.Count, p.Class.Longest = p.total, p.count, 0
		p.BaseLongest, p.CandLongest = MedianOrZero(p.long[0]), MedianOrZero(p.long[1])
		parts = append(parts, p.Part)
	}
	return parts
}

// MedianOrZero returns the median, 0 of nothing.
func MedianOrZero(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	return stat.Median(xs)
}

// Parts are the parts of a total, greatest change first.
type Parts struct {
	Base, Cand float64 // the totals, in nanoseconds per op, second or request, means over traces
	Parts      []Part
}

// partsJSON are parts with times in whole nanoseconds, and of each part what a comparison has.
type partsJSON struct {
	Base  int64      `json:"base_ns"`
	Cand  int64      `json:"cand_ns"`
	Parts []partJSON `json:"parts"`
}

type partJSON struct {
	Func       string        `json:"func,omitempty"`
	Detail     string        `json:"detail,omitempty"`
	At         *sample.Frame `json:"at,omitempty"`
	By         *sample.Frame `json:"by,omitempty"`
	Base       int64         `json:"base_ns"`
	Cand       int64         `json:"cand_ns"`
	Change     int64         `json:"change_ns"`
	Share      float64       `json:"share_of_change,omitempty"`
	BaseTraces int           `json:"base_traces"`
	CandTraces int           `json:"cand_traces"`
}

// MarshalJSON writes [partsJSON].
func (ps Parts) MarshalJSON() ([]byte, error) {
	round := func(x float64) int64 { return int64(math.Round(x)) }
	return json.Marshal(partsJSON{round(ps.Base), round(ps.Cand), result.Each(ps.Parts, func(p *Part) partJSON {
		return partJSON{p.Func, p.Detail, p.At, p.By, round(p.Base), round(p.Cand), round(p.Change()), ps.ShareOf(p), p.BaseTraces, p.CandTraces}
	})})
}

// ShareOf returns the part's share of the total's change, 0 if the total did not change; see
// Mixed.
func (ps *Parts) ShareOf(p *Part) float64 {
	if ps.Cand == ps.Base {
		return 0
	}
	return p.Change() / (ps.Cand - ps.Base)
}

// Mixed reports whether some parts grew while others shrank: one of them changed by more
// than the total, and shares of the total's change say little.
func (ps *Parts) Mixed() bool {
	return slices.ContainsFunc(ps.Parts, func(p Part) bool { return math.Abs(p.Change()) > 1.005*math.Abs(ps.Cand-ps.Base) })
}

// TotalOf returns the row of a total, nil if there is none.
func (r *Result) TotalOf(ps *Parts) *Row {
	switch ps {
	case &r.Requests:
		return nil
	case &r.Slowest, &r.Usual:
		return r.lead
	case &r.Blocked:
		return r.Row(quantity("mean(blocked/U)", r.Op).String())
	}
	return r.Row(quantity("mean(wait/U)", r.Op).String())
}

// Shares reports whether to show what the parts are of the total's change: not if that is
// a remainder of opposite ones, or may be chance.
func (r *Result) Shares(ps *Parts) bool {
	total := r.TotalOf(ps)
	return !ps.Mixed() && (total == nil || total.P == nil || total.Differs)
}

// Most returns the part that changed most in the total's direction, nil if none did.
func (ps *Parts) Most() *Part {
	return result.Find(ps.Parts, func(p *Part) bool { return ps.ShareOf(p) > 0 && !p.others() })
}

// others reports whether the part is the rest of many.
func (p *Part) others() bool { return p.Func == sample.Others || p.Detail == CutWaits }

// CutWaits is the cause of waits that begin before the window or end after it, which cannot be
// attributed as a whole.
const CutWaits = "in waits that the window cuts"

// parts fills in where the difference is.
func (r *Result) parts() {
	if r.OfRequests() {
		requests := func(of func(*sample.RequestSet) (int64, []sample.Class)) Parts {
			return r.partsOf(func(t *Trace) Source {
				if x := r.set(t, r.lead.Group); x != nil {
					n, parts := of(x)
					return Source{Units: float64(n), Parts: parts}
				}
				return Source{}
			})
		}
		r.Slowest = requests(func(x *sample.RequestSet) (int64, []sample.Class) { return x.Slowest, x.Tail })
		r.Usual = requests(func(x *sample.RequestSet) (int64, []sample.Class) { return x.Middle, x.Usual })
		r.Requests = r.partsOf(func(t *Trace) Source {
			if x := t.Sample.Requests; x != nil && x.Kind == r.RequestKind {
				return Source{Units: float64(x.Count), Parts: result.Each(x.Path, func(n *sample.Named) sample.Class { return sample.Class{Detail: n.Name, Total: n.Total} })}
			}
			return Source{}
		})
	}
	r.Waits = r.perUnit(func(t *Trace) []sample.Class { return t.Sample.Waits })
	if r.Saved() {
		r.Waits.Parts = nil
	}
	r.Blocked = r.perUnit(func(t *Trace) []sample.Class { return t.Reasons })
	for _, t := range slices.Concat(r.Base.whole(), r.Cand.whole()) {
		// Traces before Go 1.22 have no causes: their waits would count as lost to nothing.
		if len(t.Sample.Waits) > 0 && len(t.Sample.Causes) == 0 {
			r.warnf("causes", "To what waiting was lost is not known of %s (%s), and not compared.", t.Name, textui.Clean(t.Sample.Identity.Go))
			return
		}
	}
	if r.unlike == "" {
		r.Behind = r.perUnit(func(t *Trace) []sample.Class { return t.Sample.Blame })
	}
	r.Causes = r.perUnit(func(t *Trace) []sample.Class {
		var parts []sample.Class
		cut := result.Sum(t.Sample.Waits, func(c *sample.Class) model.Duration { return c.Total })
		for _, c := range t.Sample.Causes {
			parts = append(parts, sample.Class{Detail: c.Name, Total: c.Total})
			cut -= c.Total
		}
		return append(parts, sample.Class{Detail: CutWaits, Total: max(0, cut)})
	})
}

// perUnit returns parts per op or second.
func (r *Result) perUnit(of func(*Trace) []sample.Class) Parts {
	return r.partsOf(func(t *Trace) Source { return Source{Units: r.units(t), Parts: of(t)} })
}

// partsOf adds up the parts of each trace, and orders them by how much they changed. Those
// that are nothing are left out, and the rest of many comes last.
func (r *Result) partsOf(of func(*Trace) Source) Parts {
	sources := func(s *Side) []Source {
		return result.Each(s.whole(), func(t **Trace) Source {
			x := of(*t)
			x.Traces = (*t).of
			return x
		})
	}
	ps := Parts{Parts: Tally(sources(&r.Base), sources(&r.Cand))}
	ps.Base = result.Sum(ps.Parts, func(p *Part) float64 { return p.Base })
	ps.Cand = result.Sum(ps.Parts, func(p *Part) float64 { return p.Cand })
	ps.Parts = slices.DeleteFunc(ps.Parts, func(p Part) bool { return p.Base == 0 && p.Cand == 0 })
	last := func(p *Part) int {
		if p.others() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(ps.Parts, func(a, b Part) int {
		return cmp.Or(last(&a)-last(&b), cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change())))
	})
	return ps
}
