package sample

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/model"
)

// missing says why a quantity has no value.
type missing string

func (m missing) Error() string { return string(m) }

// Absent reports whether a quantity is missing because the trace has nothing of that name.
func Absent(why string) bool { return strings.HasPrefix(why, strings.TrimSpace(nothingMatches)) }

const nothingMatches = "nothing matches "

func missingf(format string, args ...any) error { return missing(fmt.Sprintf(format, args...)) }

// measured computes values of quantities after the window's end.
type measured struct {
	*collector
	report *analyze.Report
	blame  []result.BlameRow
	length model.Duration // of the window
	funcs  []string       // start functions of the program's goroutines
	ops    int64
	opsWhy string // ops are not known or none
	cpu    cpuUse
}

// value returns the value of a quantity. The error is of type missing.
func (m *measured) value(q *rule.Quantity) (Value, error) {
	metric, ok := rule.Lookup(q.Metric)
	if !ok {
		return Value{}, missingf("there is no metric %s", q.Metric)
	}
	if err := q.Check(); err != nil {
		return Value{}, missing(err.Error())
	}
	if metric.Env {
		return m.cpu.value(q, m)
	}
	if _, _, ok := metric.OfRequests(); ok {
		if m.requestKind() == "" {
			return Value{}, missing("no request of net/http, gRPC or a task begins and ends in the window")
		}
		if q.Selected("kind") == nil {
			q = ofKind(q, m.requestKind())
		}
	}
	s := m.src.of(metric, q.Select)
	total, count, err := m.totalOf(s)
	if err != nil {
		return Value{}, err
	}
	v, err := m.aggregate(q, metric, s, total, count)
	if of, all, _ := m.blamed(q.Select); q.Selected("behind") != nil && err == nil {
		v.Estimated, v.Unknown = part(of.Estimated, of.Sum()-of.Unknown), part(all.Unknown, all.Sum())
	}
	return v, err
}

func part(d, whole model.Duration) float64 { return float64(d) / float64(max(whole, 1)) }

func (m *measured) aggregate(q *rule.Quantity, metric *rule.Metric, s *source, total float64, count int64) (Value, error) {
	switch q.Agg {
	case rule.Share:
		return m.share(q, metric, total, count)
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
		return Value{}, missing(m.opsWhy)
	}
	return Value{X: total / float64(m.ops), N: count}, nil
}

// share returns a part of a metric's total. Causes are of whole waits only.
func (m *measured) share(q *rule.Quantity, metric *rule.Metric, part float64, count int64) (Value, error) {
	whole := float64(m.report.Causes.Total)
	if q.Selected("cause") == nil && q.Selected("behind") == nil || metric.Name == "handoffs" {
		var err error
		if whole, _, err = m.totalOf(m.src.of(metric, wholeOf(q))); err != nil {
			return Value{}, err
		}
	}
	if whole == 0 {
		return Value{}, missingf("%s is zero in all, so it has no parts", metric.Name)
	}
	return Value{X: part / whole, N: count}, nil
}

// single returns an aggregate of a distribution's values.
func (m *measured) single(q *rule.Quantity, s *source) (Value, error) {
	if s.count == 0 {
		return Value{}, missingf("no value of %s%s in the window", s.metric.Name, m.selected(s))
	}
	v := Value{N: s.count}
	switch q.Agg {
	case rule.Mean:
		v.X = float64(s.total) / float64(s.count)
	case rule.Max:
		v.X = float64(s.max)
	case rule.Quantile:
		v = s.quantile(q.Q)
	}
	return v, nil
}

// quantile returns a quantile by nearest rank with how many values lie beyond it, above
// or, of one below the median, below, and how they depend on each other.
func (s *source) quantile(q float64) Value {
	if s.sorted == nil {
		s.sorted = slices.Clone(s.values)
		slices.Sort(s.sorted)
	}
	n := int64(len(s.sorted))
	r := dist.Rank(q, n)
	x := s.sorted[r-1]
	v := Value{X: float64(x), N: n, Beyond: beyondRank(q, r, n)}
	beyond := make([]bool, n)
	for i, d := range s.values {
		beyond[i] = q >= 0.5 && d > x || q < 0.5 && d < x
	}
	v.Tau = stat.IAT(beyond)
	return v
}

// beyondRank returns how many of n values have a higher rank than r, or a lower one if the
// quantile is below the median.
func beyondRank(q float64, r, n int64) int64 {
	if q < 0.5 {
		return r - 1
	}
	return n - r
}

// totalOf returns the total of a source, of a count its count, and of how many values.
func (m *measured) totalOf(s *source) (total float64, count int64, err error) {
	switch name := s.metric.Name; name {
	case "ops":
		if m.ops == 0 {
			return 0, 0, missing(m.opsWhy)
		}
		return float64(m.ops), m.ops, nil
	case "steals":
		if why := m.report.Queues.Refused; why != "" {
			return 0, 0, missingf("the run queues cannot be reconstructed: %s", why)
		}
		return float64(m.report.Queues.Steals), m.report.Queues.Steals, nil
	case "gc":
		return float64(m.report.GC.Cycles), m.report.GC.Cycles, nil
	case "handoffs":
		s.count = 0
		for c, selected := range s.handoffs {
			if selected {
				s.count += m.report.Handoffs.ByCause[c].Count
			}
		}
	case "op":
		if why := m.opLengths(); why != "" {
			return 0, 0, missing(why)
		}
	case "runnable", "wait":
		if s.selector("behind") != nil {
			return m.blameTotal(s)
		}
		if s.selector("cause") != nil {
			return m.causeTotal(s)
		}
	}
	if s.cut*100 > s.cut+s.count {
		return 0, 0, missingf("of %d requests, what %d did is not known from their beginning", s.cut+s.count, s.cut)
	}
	if why := m.nothing(s); why != "" {
		return 0, 0, missing(why)
	}
	if s.metric.Unit == rule.Number {
		return float64(s.count), s.count, nil
	}
	return float64(s.total), s.count, nil
}

// opLengths says why ops have no lengths, "" if they may have.
func (m *measured) opLengths() string {
	if m.opKind == "region" || m.opKind == "task" {
		return m.opsWhy
	}
	return "ops have lengths only if they are regions or tasks; of requests there is the metric request"
}

// nothing says that a source's selectors take nothing that the trace or the runtime
// has, "" if they do: then no value means zero.
func (m *measured) nothing(s *source) string {
	if s.count > 0 {
		return ""
	}
	for i := range s.sel {
		x, exists := &s.sel[i], false // no region, task or handler of that name
		switch x.Key {
		case "kind":
			if !slices.ContainsFunc(slices.Collect(maps.Keys(m.requestTime)), x.Match) {
				return "no request " + x.String() + " begins and ends in the window"
			}
			exists = true
		case "func":
			exists = slices.ContainsFunc(m.funcs, x.Match)
		case "origin":
			exists = slices.Contains(s.origins[:], true)
		case "cause":
			exists = slices.Contains(s.handoffs[:], true)
		case "reason":
			reasons := blockReasons
			if s.metric.Name == "stw" {
				reasons = stopReasons
			}
			exists = slices.ContainsFunc(reasons, x.Match)
		}
		if !exists {
			return nothingMatches + x.String()
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

// selected writes a source's selectors as rules do.
func (m *measured) selected(s *source) string {
	if len(s.sel) == 0 {
		return ""
	}
	var parts []string
	for _, x := range s.sel {
		parts = append(parts, x.String())
	}
	return "{" + strings.Join(parts, ",") + "}"
}
