package sample

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Absent reports whether a quantity is missing because the trace contains nothing of that
// name.
func Absent(why string) bool { return strings.HasPrefix(why, nothingMatches) }

const nothingMatches = "nothing matches"

// measured computes values of quantities after the window's end.
type measured struct {
	*collector
	report   *analyze.Report
	requests []result.RequestKind // greatest time first
	blame    []result.BlameRow
	length   model.Duration // of the window
	funcs    []string       // start functions of the program's goroutines
	op       string
	ops      int64
	opsWhy   string // ops are not known or none
	cpu      cpuUse

	chosen map[string]*selection // by metric and selectors
}

// row is what a metric has under one name. What is counted has no distribution.
type row struct {
	name   string // of a function, region, task or handler
	detail string // an origin, reason or kind
	cause  string
	dist   *dist.Dist
	total  model.Duration
	count  int64
	cut    int64 // requests of which the part is not known
	basis  result.BlameBasis
}

func rowOf(name, detail string, d *dist.Dist) row {
	return row{name: name, detail: detail, dist: d, total: d.Total(), count: d.Count()}
}

func rowsOf(list []result.Named) []row {
	return result.Each(list, func(x *result.Named) row { return rowOf(x.Name, "", x.Values()) })
}

// How causes are asked for.
const (
	byCause  = "cause"
	byFunc   = "cause by func"
	byOrigin = "cause by origin"
	byCode   = "behind"
)

// source names the rows that selectors choose from.
func (s *selection) source() string {
	switch {
	case s.Selected("behind") != nil:
		return byCode
	case s.Metric == "handoffs" || s.Selected("cause") == nil:
		return s.Metric
	case s.Selected("func") != nil:
		return byFunc
	case s.Selected("origin") != nil:
		return byOrigin
	}
	return byCause
}

// rowsOf returns the rows of a metric, or of causes.
func (m *measured) rowsOf(metric string) (rows []row) {
	instances := func(kind string) []row {
		if kind == "task" {
			return rowsOf(result.Each(m.report.Tasks.ByName(), func(x *result.Task) result.Named { return x.Named }))
		}
		return rowsOf(result.Each(m.report.Regions.ByName(), func(x *result.Task) result.Named { return x.Named }))
	}
	switch metric {
	case byCause, byFunc, byOrigin:
		return m.causeRows(metric)
	case byCode:
		return m.blameRows()
	case "runnable":
		m.report.Latency.Each(func(fn string, o model.Origin, d *dist.Dist) { rows = append(rows, rowOf(fn, result.OriginName(o), d)) })
		return rows
	case "running":
		return rowsOf(m.report.Bursts.ByFunc())
	case "syscall":
		return rowsOf(m.report.Syscalls.ByFunc())
	case "region", "task":
		return instances(metric)
	case "op":
		kind, name, _ := strings.Cut(m.op, ":")
		return slices.DeleteFunc(instances(kind), func(x row) bool { return !rule.Glob(name, x.name) })
	case "stw":
		return result.Each(m.report.STWs.ByReason(), func(x *result.STWReason) row { return rowOf("", x.Reason, x.Effective.Values()) })
	case "handoffs":
		for c := range m.report.Handoffs.ByCause {
			rows = append(rows, row{cause: model.HandoffCause(c).String(), count: m.report.Handoffs.ByCause[c].Count})
		}
		return rows
	case "request", "requests":
		for k := range result.Refs(m.requests) {
			rows = append(rows, result.Each(k.Handlers, func(h *result.RequestHandler) row { return rowOf(h.Name, k.Kind, h.Values()) })...)
		}
		return rows
	}
	for k, x := range m.parts {
		if k.metric == metric {
			x.total, x.count = x.dist.Total(), x.dist.Count()
			rows = append(rows, *x)
		}
	}
	for k, x := range m.classes {
		if r := x.row(metric, k); r.count > 0 {
			r.name, r.detail = sums.NameOf(m.tables, k.fn), result.OriginName(k.origin)
			if k.state == model.GoWaiting {
				r.detail = sums.NameOf(m.tables, k.reason)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// row returns what a class adds to a metric, of others nothing.
func (x *class) row(metric string, k classKey) row {
	switch {
	case metric == "run" && k.state == model.GoRunning, metric == "wait" && k.state == model.GoRunnable:
		return row{total: x.total, count: x.count}
	case metric == "blocked" && k.state == model.GoWaiting:
		return rowOf("", "", &x.whole)
	case k.state != model.GoRunnable:
	case metric == "starts":
		return row{count: x.started}
	case metric == "wakes" && slices.Contains(result.Woken, k.origin), metric == "created" && k.origin == model.OriginCreated, metric == "preemptions" && k.origin == model.OriginPreempted:
		return row{count: x.began}
	}
	return row{}
}

// selection are the rows of a metric that selectors choose, together.
type selection struct {
	row
	rule.Quantity        // without an aggregation
	from          string // the rows that it is of
	dists         []*dist.Dist
	all           *dist.Dist // these together, once it was asked for
}

// choose returns what the selectors take of a metric.
func (m *measured) choose(metric string, sel []rule.Selector) *selection {
	s := &selection{Quantity: rule.Quantity{Agg: rule.Sum, Metric: metric, Select: sel}}
	key := s.String()
	if before := m.chosen[key]; before != nil {
		return before
	}
	m.chosen[key], s.from = s, s.source()
	for _, x := range m.rowsOf(s.from) {
		if slices.ContainsFunc(sel, func(y rule.Selector) bool { return !y.Match(x.key(y.Key)) }) {
			continue
		}
		s.total, s.count, s.cut = s.total+x.total, s.count+x.count, s.cut+x.cut
		s.basis.Add(&x.basis)
		if x.dist != nil {
			s.dists = append(s.dists, x.dist)
		}
	}
	return s
}

// key returns what a row has by the key of a selector.
func (x *row) key(key string) string {
	switch key {
	case "func", "name", "behind":
		return x.name
	case "cause":
		return x.cause
	}
	return x.detail
}

// values returns all single values.
func (s *selection) values() *dist.Dist {
	if s.all == nil {
		s.all = new(dist.Dist)
		for _, d := range s.dists {
			s.all.Merge(d)
		}
	}
	return s.all
}

// requestKind returns the kind of requests with the most time, "" if there are none.
func (m *measured) requestKind() string {
	if len(m.requests) == 0 || m.requests[0].Count == 0 {
		return ""
	}
	return m.requests[0].Kind
}

// value returns the value of a quantity.
func (m *measured) value(q rule.Quantity) (Value, error) {
	metric, ok := rule.Lookup(q.Metric)
	if !ok {
		return Value{}, fmt.Errorf("there is no metric %s", q.Metric)
	}
	if err := q.Check(); err != nil {
		return Value{}, err
	}
	if metric.Env {
		return m.cpu.value(q)
	}
	if _, _, ok := metric.OfRequests(); ok {
		if m.requestKind() == "" {
			return Value{}, errors.New("no request begins and ends in the window")
		}
		if q.Selected("kind") == nil {
			q.Select = append(slices.Clone(q.Select), rule.Selector{Key: "kind", Pattern: m.requestKind()})
		}
	}
	s := m.choose(q.Metric, q.Select)
	total, count, err := m.totalOf(s)
	if err != nil {
		return Value{}, err
	}
	v, err := m.aggregate(q, s, total, count)
	if s.from == byCode && err == nil {
		all := m.choose(q.Metric, []rule.Selector{{Key: "behind", Pattern: "*"}}).basis
		v.Estimated, v.Unknown = part(s.basis.Estimated, s.total), part(all.Unknown, all.Sum())
	}
	return v, err
}

func part(d, whole model.Duration) float64 { return float64(d) / float64(max(whole, 1)) }

func (m *measured) aggregate(q rule.Quantity, s *selection, total float64, count int64) (Value, error) {
	switch q.Agg {
	case rule.Share:
		return m.share(q, total, count)
	case rule.Sum:
		return Value{X: total, N: count}, nil
	case rule.Mean:
		if q.Per != rule.PerNone {
			return m.per(q.Per, total, count)
		}
	}
	return m.single(q, s)
}

// per divides a total by what the quantity asks for.
func (m *measured) per(p rule.Per, total float64, count int64) (Value, error) {
	switch {
	case p == rule.PerSecond:
		return Value{X: total / (float64(m.length) / 1e9), N: count}, nil
	case m.ops == 0:
		return Value{}, errors.New(m.opsWhy)
	}
	return Value{X: total / float64(m.ops), N: count}, nil
}

// share returns a part of a metric's total, of requests of that of their kind. Causes are of whole waits only.
func (m *measured) share(q rule.Quantity, part float64, count int64) (Value, error) {
	whole := float64(m.report.Causes.Total)
	if q.Selected("cause") == nil && q.Selected("behind") == nil || q.Metric == "handoffs" {
		var err error
		kind := slices.DeleteFunc(slices.Clone(q.Select), func(s rule.Selector) bool { return s.Key != "kind" })
		if whole, _, err = m.totalOf(m.choose(q.Metric, kind)); err != nil {
			return Value{}, err
		}
	}
	if whole == 0 {
		return Value{}, fmt.Errorf("%s is zero in all, so it has no parts", q.Metric)
	}
	return Value{X: part / whole, N: count}, nil
}

// single returns an aggregate of a distribution's values.
func (m *measured) single(q rule.Quantity, s *selection) (Value, error) {
	if s.count == 0 {
		return Value{}, fmt.Errorf("no value of %s in the window", strings.TrimSuffix(strings.TrimPrefix(s.String(), "sum("), ")"))
	}
	switch q.Agg {
	case rule.Mean:
		return Value{X: float64(s.total) / float64(s.count), N: s.count}, nil
	case rule.Max:
		return Value{X: float64(s.values().Max()), N: s.count}, nil
	}
	v := Value{X: float64(s.values().Quantile(q.Q)), N: s.count}
	if lower := 1 - EnoughBeyond/float64(s.count); v.Few(q) && q.Q > 0.5 && lower >= 0.5 {
		v.Least = float64(s.values().Quantile(lower))
	}
	return v, nil
}

// totalOf returns the total of a source, of a count its count, and of how many values.
func (m *measured) totalOf(s *selection) (total float64, count int64, err error) {
	switch s.Metric {
	case "ops":
		if m.ops == 0 {
			return 0, 0, errors.New(m.opsWhy)
		}
		return float64(m.ops), m.ops, nil
	case "steals":
		if why := m.report.Queues.Refused; why != "" {
			return 0, 0, fmt.Errorf("the run queues cannot be reconstructed: %s", why)
		}
		return float64(m.report.Queues.Steals), m.report.Queues.Steals, nil
	case "gc":
		return float64(m.report.GC.Cycles), m.report.GC.Cycles, nil
	case "op":
		switch {
		case !strings.HasPrefix(m.op, "region:") && !strings.HasPrefix(m.op, "task:"):
			return 0, 0, errors.New("ops have lengths only if they are regions or tasks; of requests there is the metric request")
		case m.opsWhy != "":
			return 0, 0, errors.New(m.opsWhy)
		}
	case "runnable", "wait":
		switch why := m.report.Causes.Refused; {
		case s.from == s.Metric:
		case why != "":
			return 0, 0, fmt.Errorf("causes are not known: %s", why)
		case s.Selected("func") != nil && s.Selected("origin") != nil:
			return 0, 0, errors.New("causes are known by func or by origin, not by both")
		}
	}
	if s.cut*100 > s.cut+s.count {
		return 0, 0, fmt.Errorf("of %d requests, what %d did is not known from their beginning", s.cut+s.count, s.cut)
	}
	if why := m.nothing(s); why != "" {
		return 0, 0, errors.New(why)
	}
	if s.Unit() == rule.Number {
		return float64(s.count), s.count, nil
	}
	return float64(s.total), s.count, nil
}

// nothing says that a source's selectors take nothing that the trace or the runtime
// has, "" if they do: then no value means zero.
func (m *measured) nothing(s *selection) string {
	if s.count > 0 && s.from != byCode || s.total > 0 {
		return ""
	}
	for i := range s.Select {
		x, exists := &s.Select[i], false // no region, task or handler of that name
		switch x.Key {
		case "kind":
			if !slices.ContainsFunc(m.requests, func(k result.RequestKind) bool { return k.Count > 0 && x.Match(k.Kind) }) {
				return "no request " + x.String() + " begins and ends in the window"
			}
			exists = true
		case "func":
			exists = slices.ContainsFunc(m.funcs, x.Match)
		case "behind":
			for id := range m.tables.NumStacks() {
				exists = exists || slices.ContainsFunc(m.tables.Stack(model.StackID(id)), func(f model.Frame) bool { return x.Match(f.Func) })
			}
		case "origin":
			for o := range model.NumOrigins {
				exists = exists || x.Match(result.OriginName(o))
			}
		case "cause":
			all := textui.Either(s.from == "handoffs", s.from, byCause)
			exists = slices.ContainsFunc(m.rowsOf(all), func(r row) bool { return x.Match(r.cause) })
		case "reason":
			reasons := textui.Either(s.Metric == "stw", stopReasons, blockReasons)
			exists = slices.ContainsFunc(reasons, x.Match)
		}
		if !exists {
			return nothingMatches + " " + x.String() + m.handlers(s)
		}
	}
	return ""
}

// Reasons for which goroutines wait (runtime/traceruntime.go: traceBlockReasonStrings)
// and for which the world is stopped (runtime/proc.go: stwReasonStrings), Go 1.22 to
// 1.26.
var (
	blockReasons = []string{"unspecified", "forever", "network", "select", "sync.(*Cond).Wait", "sync", "sync.(*Mutex).Lock", "sync.(*RWMutex).Lock",
		"sync.(*RWMutex).RLock", "sync.(*WaitGroup).Wait", model.ReasonGCSemaphore, model.ReasonRuntimeSemaphore, "chan send", "chan receive",
		"GC mark assist wait for work", "GC background sweeper wait", "system goroutine wait", "preempted", "wait for debug call",
		"wait until GC ends", "sleep", "GC weak to strong wait", "synctest"}
	stopReasons = []string{"unknown", "GC mark termination", "GC sweep termination", "write heap dump", "goroutine profile",
		"goroutine profile cleanup", "all goroutines stack trace", "read mem stats", "AllThreadsSyscall", "GOMAXPROCS",
		"start trace", "stop trace"}
)

// handlers lists the names that requests have, most first, "" if a source is not about requests or these have none.
func (m *measured) handlers(s *selection) string {
	const most = 5
	var names []string
	for _, k := range m.requests {
		list := slices.Clone(k.Handlers)
		slices.SortStableFunc(list, func(a, b result.RequestHandler) int { return cmp.Compare(b.Count, a.Count) })
		for _, h := range list {
			if result.Handled(h.Name) && !slices.Contains(names, h.Name) && len(names) < most {
				names = append(names, h.Name)
			}
		}
	}
	if len(names) == 0 || !strings.HasPrefix(s.Metric, "request") {
		return ""
	}
	return ": there are " + strings.Join(names, ", ")
}
