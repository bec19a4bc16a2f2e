package replay

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
)

// Group identifies requests that are compared with each other.
type Group struct {
	Kind string // http, grpc, rpc, tcp, message or task
	Name string // of the handler or task; "" if not known
}

// AllNames stands for all requests of a kind, where there are several groups of it.
const AllNames = "(all)"

// Limits of groups: of so many of a kind each has its own name, and of fewer requests nothing is said.
const (
	mostGroups  = 16
	fewRequests = 100
)

// groups numbers groups in the order of their first requests.
type groups struct {
	list  []Group
	index map[Group]int32
	kinds map[string]int // how many groups each kind has
}

func (g *groups) of(x Group) int32 {
	if i, ok := g.index[x]; ok {
		return i
	}
	if g.kinds[x.Kind] >= mostGroups && x.Name != result.OtherNames {
		return g.of(Group{x.Kind, result.OtherNames})
	}
	i := int32(len(g.list))
	g.list = append(g.list, x)
	g.index[x] = i
	g.kinds[x.Kind]++
	return i
}

// request takes a request of the recording.
func (r *Replay) request(q *requests.Request) {
	if q.Complete && r.begun && !r.done {
		r.extractor.Request(r.groups.of(Group{q.Kind, q.Name}), q.From, q.Start, q.G, q.End)
	}
}

// Requests are the requests of a group that lie in one window, after its warm-up.
type Requests struct {
	Group
	// All compares how long they took with how long the reference has them take.
	All Row
	// Figures of what was recorded.
	Figures []float64
	// Outcomes of the variants, parallel to Result.Outcomes; those of BasisUnknown have no figures.
	Outcomes [][NumRequestFigures]Figure
}

// RequestFigure is a figure of the requests of a group.
type RequestFigure int

// Figures of requests.
const (
	RequestP50 RequestFigure = iota
	RequestP99
	RequestMean
	RequestRate // how many end per second
	NumRequestFigures
)

// String returns the figure's name as tables print it.
func (k RequestFigure) String() string { return [...]string{"p50", "p99", "mean", "per s"}[k] }

// requestFigures returns the figures of requests, of which n end in a second.
func requestFigures(d *dist.Dist, n float64) []float64 {
	q := d.Quantiles(0.5, 0.99)
	return []float64{float64(q[0]), float64(q[1]), mean(d), n}
}

// requestsOf returns how long the requests of a group took.
func (s *Schedule) requestsOf(g Group) *dist.Dist {
	if g.Name != AllNames {
		return cmp.Or(s.Requests[g], &dist.Dist{})
	}
	all := &dist.Dist{}
	for x, d := range s.Requests {
		if x.Kind == g.Kind {
			all.Merge(d)
		}
	}
	return all
}

// requests fills Requests, once Outcomes are known.
func (r *Result) requests() {
	r.Requests = nil
	list, named := slices.Collect(maps.Keys(r.Measured.Requests)), map[string]int{}
	for _, g := range list[:len(list):len(list)] {
		if named[g.Kind]++; named[g.Kind] == 2 {
			list = append(list, Group{g.Kind, AllNames})
		}
	}
	for _, g := range list {
		of := func(s *Schedule) *dist.Dist { return s.requestsOf(g) }
		measured := of(r.Measured)
		if x := (Requests{Group: g}); !result.Handled(g.Name) && r.unhandled(&x) > 0 {
			continue // they are among all
		}
		rate := float64(measured.Count()) / max(float64(r.Length-r.Warmup)/1e9, 1e-9)
		x := Requests{Group: g, All: NewRow(g.Name, measured, each(r.totals(0), of)), Figures: requestFigures(measured, rate)}
		for i := range r.Outcomes {
			var f [NumRequestFigures]Figure
			if o := &r.Outcomes[i]; o.Basis != BasisUnknown {
				f = x.compare(o, r.totals(1+i), r.totals(0), of)
			}
			x.Outcomes = append(x.Outcomes, f)
		}
		r.Requests = append(r.Requests, x)
	}
	slices.SortFunc(r.Requests, func(a, b Requests) int {
		return cmp.Or(cmp.Compare(b.All.Measured.Total, a.All.Measured.Total), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

// unhandled returns how many requests may be of a group without being seen in it: who answers a request shows
// only if it waits, which is not the same under another schedule. Those that take less than 99 % of the group are of
// another sort, whoever answers them. Up to 1 % of the kind do not matter.
func (r *Result) unhandled(x *Requests) (n int64) {
	all, unseen := int64(0), &dist.Dist{}
	for g, d := range r.Measured.Requests {
		if g.Kind == x.Kind {
			if all += d.Count(); !result.Handled(g.Name) {
				unseen.Merge(d)
			}
		}
	}
	n = longer(unseen, r.Measured.requestsOf(x.Group).Quantile(0.01)-1)
	if x.Name == AllNames || unseen.Count() == all || n*100 <= all {
		return 0
	}
	return n
}

// Refuses returns the reason why requests under other schedules have no figures, usually "".
func (r *Result) Refuses(x *Requests) string {
	switch {
	case r.broken():
		return r.Trust().Refused
	case r.apart() != "":
		return r.apart()
	case x.All.Measured.Count < fewRequests:
		return fmt.Sprintf("fewer than %d requests: record for longer, or under load", fewRequests)
	case r.unhandled(x) > 0:
		return fmt.Sprintf("%s that take as long show no handler, so that the others may not be all of theirs", textui.Plural(r.unhandled(x), "request"))
	case !x.All.Comparable():
		return "nothing is simulated to compare with"
	case x.All.Relative.Mid > r.mostOff(false):
		return fmt.Sprintf("simulating the recording itself is off by %s of how long they take%s", over(x.All.Relative.Mid, r.mostOff(false)), textui.If(x.All.Relative.Mid <= farFit, ": procs=1, procs=2, a quota and quiet, each alone, have intervals that reach further"))
	}
	return ""
}

// compare returns the figures under a variant from its schedules and those of the baseline, seed by seed.
func (x *Requests) compare(o *Outcome, runs, base []*Schedule, of func(*Schedule) *dist.Dist) (f [NumRequestFigures]Figure) {
	widths := textui.Either(o.widths.queued != nil && x.Figures[RequestMean] > queued*x.Figures[RequestP50], o.widths.queued, o.widths.requests)
	simulated := func(s *Schedule) []float64 { return requestFigures(of(s), 1e18/float64(max(s.Span, 1))) }
	for k, value := range o.expected(runs, base, x.Figures, int(RequestP99), simulated) {
		if o.RequestBasis == BasisChecked {
			var lower Range
			if RequestFigure(k) == RequestP99 {
				lower = f[RequestP50].Value
			}
			if value = widths[k].of(o.widths.disturbed || x.All.poor()).around(value, lower); RequestFigure(k) != RequestRate {
				value.Low = min(max(value.Low, min(value.Mid, o.widths.least*x.Figures[k])), cmp.Or(o.widths.from, math.MaxFloat64)*x.Figures[k])
				value.High = max(value.High, o.widths.upTo*x.Figures[k])
			}
		}
		m := max(x.Figures[k], 1e-9)
		f[k] = Figure{value, Range{value.Mid/m - 1, value.Low/m - 1, value.High/m - 1}}
	}
	return f
}

// group returns how long the requests of a group took, to be added to.
func (s *Schedule) group(g Group) *dist.Dist {
	if s.Requests[g] == nil {
		s.Requests[g] = &dist.Dist{}
	}
	return s.Requests[g]
}
