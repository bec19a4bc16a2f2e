package sample

import (
	"slices"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
)

// source is a metric with selectors: what one or several quantities are computed of.
type source struct {
	metric *rule.Metric
	sel    []rule.Selector
	// names says which functions, regions or tasks are selected, reasons which reasons;
	// origins which origins, handoffs which causes of handoffs.
	names, reasons nameCache
	origins        [model.NumOrigins]bool
	handoffs       [model.NumHandoffCauses]bool

	keep   bool             // values are wanted one by one
	values []model.Duration // in the order in which they ended
	sorted []model.Duration
	count  int64
	total  model.Duration
	max    model.Duration

	part requests.Kind // of requests; NumKinds: all their time
	path bool          // by critical paths
	cut  int64         // requests whose part is not known
}

func newSource(m *rule.Metric, sel []rule.Selector) *source {
	s := &source{metric: m, sel: sel}
	s.names, s.reasons = s.cacheOf("func", "name"), s.cacheOf("reason")
	kind, path, _ := m.OfRequests()
	s.path = path
	for s.part < requests.NumKinds && s.part.String() != kind {
		s.part++
	}
	origin := s.selector("origin")
	for o := range model.NumOrigins {
		s.origins[o] = origin == nil || origin.Match(result.OriginName(o))
	}
	cause := s.selector("cause")
	for c := range model.NumHandoffCauses {
		s.handoffs[c] = cause == nil || cause.Match(c.String())
	}
	return s
}

// selector returns the selector with one of some keys, nil if there is none.
func (s *source) selector(keys ...string) *rule.Selector {
	i := slices.IndexFunc(s.sel, func(x rule.Selector) bool { return slices.Contains(keys, x.Key) })
	if i < 0 {
		return nil
	}
	return &s.sel[i]
}

// cacheOf returns a cache for names that the selector takes: all if there is none.
func (s *source) cacheOf(keys ...string) nameCache {
	x := s.selector(keys...)
	if x == nil {
		return nameCache{match: func(string) bool { return true }}
	}
	return nameCache{match: x.Match}
}

// add adds a value.
func (s *source) add(d model.Duration) {
	s.count++
	s.total += d
	s.max = max(s.max, d)
	if s.keep {
		s.values = append(s.values, d)
	}
}

// sources are all that the quantities of a Spec need, by metric.
type sources struct {
	by  map[string][]*source // by metric
	key map[string]*source   // by metric and selectors
}

func newSources() *sources { return &sources{by: map[string][]*source{}, key: map[string]*source{}} }

// of returns the source of a metric with selectors, from now on there.
func (s *sources) of(m *rule.Metric, sel []rule.Selector) *source {
	key := rule.Quantity{Agg: rule.Sum, Metric: m.Name, Select: sel}.String()
	x := s.key[key]
	if x == nil {
		x = newSource(m, sel)
		s.key[key] = x
		s.by[m.Name] = append(s.by[m.Name], x)
	}
	return x
}

// need prepares the sources of a quantity.
func (s *sources) need(q *rule.Quantity) {
	m, ok := rule.Lookup(q.Metric)
	if !ok {
		return
	}
	if _, _, ok := m.OfRequests(); ok && q.Selected("kind") == nil {
		for _, kind := range requestKinds {
			s.need(ofKind(q, kind))
		}
		return
	}
	x := s.of(m, q.Select)
	x.keep = x.keep || q.Agg == rule.Quantile
	if q.Agg == rule.Share {
		s.of(m, wholeOf(q))
	}
}

// requestKinds are the kinds of requests that are found without being asked for.
var requestKinds = []string{"http", "grpc", "task"}

// ofKind returns a quantity of requests of one kind.
func ofKind(q *rule.Quantity, kind string) *rule.Quantity {
	x := *q
	x.Select = append(slices.Clone(q.Select), rule.Selector{Key: "kind", Pattern: kind})
	return &x
}

// wholeOf returns the selectors of what shares are of: all, of one kind of requests.
func wholeOf(q *rule.Quantity) []rule.Selector {
	return slices.DeleteFunc(slices.Clone(q.Select), func(s rule.Selector) bool { return s.Key != "kind" })
}
