package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/internal/textui"
)

// Alpha is the p below which a row is said to differ. Of rows that do not, one in twenty
// has such a p by chance.
const Alpha = 0.05

// Confidence is the confidence of intervals, where there are enough traces.
const Confidence = 0.95

// Row is a quantity of both sides.
type Row struct {
	Section string `json:"section"`
	// Group is whose requests they are: of which handler, task or function, or "requests"; of batches the function that
	// waits for them, or "run": of the program.
	Group    string    `json:"group,omitempty"`
	Quantity string    `json:"quantity"` // in the language of rules; of batches length, or batches/s
	Unit     rule.Unit `json:"unit"`
	Base     Values    `json:"base"`
	Cand     Values    `json:"cand"`
	// Ratio of candidate to baseline (Hodges-Lehmann), nil if a side has none or a zero;
	// then Difference, nil if a side has no values. Of one trace per side they have no
	// confidence.
	Ratio      *stat.Interval `json:"ratio,omitempty"`
	Difference *stat.Interval `json:"difference,omitempty"`
	// P is the two-sided p of "both sides are the same", nil if a side has less than two
	// values. Differs: it is below Alpha. PAdj is it after Holm's correction for all rows.
	P       *float64 `json:"p,omitempty"`
	PAdj    *float64 `json:"p_adj,omitempty"`
	Differs bool     `json:"differs"`
	// Few is in how many traces fewer than ten values lie beyond the quantile, or there are fewer than ten requests, which
	// makes it an accident of a few.
	Few int `json:"traces_with_few_beyond,omitempty"`

	alone bool // one side has none, or too few to compare
	rare  bool // of requests that a side has few of
	// handful says that a side has fewer than fewestRequests, "" if both have more: of these only the rate is compared.
	handful string
	of      *rule.Quantity
	change  float64 // for the worse, as a logarithm; 0: not beyond chance, or little
	why     string  // it does not count although it is not little
}

// MarshalJSON writes times in whole nanoseconds.
func (row Row) MarshalJSON() ([]byte, error) {
	type plain Row
	if row.Unit == rule.Nanoseconds {
		for _, v := range []*Values{&row.Base, &row.Cand} {
			v.Median, v.Low, v.High = v.Median.round(), v.Low.round(), v.High.round()
			v.X = result.Each(v.X, func(x *float64) float64 { return math.Round(*x) })
		}
		if d := row.Difference; d != nil {
			row.Difference = &stat.Interval{Est: math.Round(d.Est), Low: math.Round(d.Low), High: math.Round(d.High), Confidence: d.Confidence}
		}
	}
	return json.Marshal(plain(row))
}

// text writes a value of the row's quantity.
func (row *Row) text(x Value) string { return rule.FormatValue(float64(x), row.Unit) }

// Values are a quantity's values on one side.
type Values struct {
	N      int   `json:"n"`
	Median Value `json:"median,omitzero"`
	// Low and High are the interval of the median, by order statistics, with a confidence
	// that is really at least Confidence; 0 if there are too few values for one.
	Low        Value     `json:"low,omitzero"`
	High       Value     `json:"high,omitzero"`
	Confidence float64   `json:"confidence,omitempty"`
	X          []float64 `json:"values"`            // in the order of the traces that have one
	Missing    string    `json:"missing,omitempty"` // why the first trace that has none does not
}

// Value is a number that may be unknown: NaN, which JSON omits.
type Value float64

// IsZero reports whether the value is unknown.
func (v Value) IsZero() bool { return math.IsNaN(float64(v)) }

func (v Value) round() Value { return Value(math.Round(float64(v))) }

// Sections of rows.
const (
	SectionRequests = "requests"
	SectionBatch    = "batch"
	SectionLatency  = "latency"
	SectionOps      = "ops"
	SectionTotals   = "totals"
)

// spec is the default set of quantities: by section, without what they are per.
var spec = []struct {
	section string
	text    []string
}{
	{SectionLatency, []string{"p50(runnable)", "p90(runnable)", "p99(runnable)", "p99.9(runnable)", "max(runnable)"}},
	{SectionOps, []string{"mean(op)", "p50(op)", "p99(op)", "mean(ops/s)"}},
	{SectionTotals, []string{"mean(wait/U)", "mean(run/U)", "mean(cpu/U)", "mean(blocked/U)", "mean(wakes/U)", "mean(starts/U)",
		"mean(preemptions/U)", "mean(created/U)", "mean(steals/U)", "mean(handoffs/U)", "mean(gc/U)", "mean(stw/U)"}},
}

// Quantities returns the default set for ops, or per second if there are none.
func Quantities(op string) []rule.Quantity {
	var qs []rule.Quantity
	for _, s := range spec {
		if s.section == SectionOps && op == "" {
			continue
		}
		for _, text := range s.text {
			qs = append(qs, quantity(text, op))
		}
	}
	return qs
}

// quantity reads one of ours, where U is an op or a second.
func quantity(text, op string) rule.Quantity {
	per := textui.Either(op != "", "/op)", "/s)")
	if n := len(text) - len("/U)"); text[n:] == "/U)" {
		text = text[:n] + per
	}
	q, err := rule.ParseQuantity(text)
	if err != nil {
		panic("compare: " + err.Error())
	}
	return q
}

// Spec returns the specification of a trace's sample. Window is as in [sample.Spec].
func Spec(op, window string) *sample.Spec {
	return &sample.Spec{Op: op, Window: window, Quantities: Quantities(op)}
}

// rows fills in the rows of requests and of the default set.
func (r *Result) rows() {
	r.requestRows()
	r.batchRows()
	for _, s := range spec {
		if s.section == SectionOps && !r.PerOp() {
			continue
		}
		for _, text := range s.text {
			q := quantity(text, r.Op)
			row := Row{Section: s.section, Quantity: q.String(), Unit: q.Unit(), of: &q}
			row.fill(r.values(&r.Base, &row), r.values(&r.Cand, &row))
			if row.notable() {
				r.Rows = append(r.Rows, row)
			}
		}
	}
	var tested []*Row
	var ps []float64
	for i := range r.Rows {
		if row := &r.Rows[i]; row.P != nil {
			tested, ps = append(tested, row), append(ps, *row.P)
			if row.Differs {
				r.Differ++
			}
		}
	}
	r.Tested = len(tested)
	for i, p := range stat.Holm(ps) {
		tested[i].PAdj = &p
	}
}

// batchRows adds how long the work took, of programs that were recorded from beginning to end, and waited for more than
// time on one side at least; of others, and of those that work until a time has come, how often a function that spends most
// of its time waiting for goroutines, on one side at least, got them all: nobody gives such a batch its pace. Of several
// it is the one that changed most.
func (r *Result) batchRows() {
	add := func(group, name string, unit rule.Unit, of *rule.Quantity, value func(*sample.Sample) *float64) {
		row := Row{Section: SectionBatch, Group: group, Quantity: name, Unit: unit, of: of}
		values := func(s *Side) (v Values) {
			for _, t := range s.Traces {
				if x := value(t.Sample); x != nil {
					v.X = append(v.X, *x)
				} else {
					v.Missing = "not known"
				}
			}
			return v
		}
		if base, cand := values(&r.Base), values(&r.Cand); base.Missing == "" && cand.Missing == "" {
			row.fill(base, cand)
			r.Rows = append(r.Rows, row)
		}
	}
	paced := func(s *Side) bool {
		return slices.ContainsFunc(s.Traces, func(t *Trace) bool { return t.Sample.Paced })
	}
	if !paced(&r.Base) || !paced(&r.Cand) {
		add("run", "length", rule.Nanoseconds, &rule.Quantity{Agg: rule.Mean, Metric: "length"}, func(s *sample.Sample) *float64 { return quotient(float64(s.Run), 1) })
	}
	length, most, pace := r.Row("length"), -1.0, ""
	longer := length != nil && math.Abs(length.worse()) >= math.Log(leastRate)
	if length != nil && !longer && (paced(&r.Base) || paced(&r.Cand)) { // perhaps until a time has come
		r.Rows = slices.DeleteFunc(r.Rows, func(row Row) bool { return row.Section == SectionBatch })
	}
	join := func(s *sample.Sample, fn string) *sample.Join {
		return result.Find(s.Joins, func(x *sample.Join) bool { return x.Func == fn })
	}
	for _, j := range slices.Concat(r.Base.Traces[0].Sample.Joins, r.Cand.Traces[0].Sample.Joins) {
		const least, alike = 3, 1.25
		own := func(s *Side) bool { // its pace: in each trace
			return !slices.ContainsFunc(s.Traces, func(t *Trace) bool {
				x := join(t.Sample, j.Func)
				return x == nil || 2*x.Total < t.Sample.To-t.Sample.From
			})
		}
		if !own(&r.Base) && !own(&r.Cand) {
			continue
		}
		// How many goroutines a batch has. It is another if that changed.
		base, cand, ok := r.medians(func(s *sample.Sample) *float64 {
			x := join(s, j.Func)
			created, ok := s.Values["mean(created/s)"] // of ops other quantities are known
			if x == nil || !ok {
				return nil
			}
			return new(created.X * Seconds(s) / max(float64(x.Count), 1))
		})
		n, m := join(r.Base.Traces[0].Sample, j.Func), join(r.Cand.Traces[0].Sample, j.Func)
		if (n == nil || m == nil) && j.Count >= least && !longer && !r.Saved() {
			s := textui.Either(n == nil, &r.Cand, &r.Base)
			r.Only = append(r.Only, fmt.Sprintf("seen only in %s: %s of %s", s.Name, textui.Count(j.Count)+" batches", textui.Clean(textui.ShortFunc(j.Func))))
		}
		if !ok || max(n.Count, m.Count) < least || min(n.Count, m.Count) > 0 && max(base/cand, cand/base) > alike {
			continue
		}
		if longer && math.Abs(math.Log(float64(m.Count)/float64(n.Count))) < math.Abs(length.worse()) { // the same work
			continue
		}
		each := func(x *sample.Join) float64 { return float64(x.Total) / float64(max(x.Count, 1)) }
		if x := math.Abs(each(m) - each(n)); x > most {
			most, pace = x, j.Func
		}
	}
	if pace != "" {
		add(pace, "batches/s", rule.Number, &rule.Quantity{Agg: rule.Mean, Metric: "batches", Per: rule.PerSecond}, func(s *sample.Sample) *float64 {
			return new(float64(join(s, pace).Count) / Seconds(s))
		})
	}
}

// values collects the values of a row's quantity on one side.
func (r *Result) values(s *Side, row *Row) Values {
	var v Values
	for _, t := range s.Traces {
		x, ok := t.Sample.Values[row.Quantity]
		if !ok || math.IsNaN(x.X) || math.IsInf(x.X, 0) {
			v.Missing = cmp.Or(v.Missing, t.Sample.Missing[row.Quantity], "not measured")
			continue
		}
		v.X = append(v.X, x.X)
		if isTail(row.of) && x.Few(*row.of) {
			row.Few++
		}
	}
	return v
}

// isTail reports whether a quantity is a quantile of which many values are needed.
func isTail(q *rule.Quantity) bool { return q.Agg == rule.Quantile && q.Q > 0.5 && q.Q < 1 }

// notable reports whether there is anything to see in the row.
func (row *Row) notable() bool {
	nonzero := func(x float64) bool { return x != 0 }
	return slices.ContainsFunc(row.Base.X, nonzero) || slices.ContainsFunc(row.Cand.X, nonzero)
}

// fill sets all that follows from the values.
func (row *Row) fill(base, cand Values) {
	base.summarize()
	cand.summarize()
	row.Base, row.Cand = base, cand
	if len(base.X) == 0 || len(cand.X) == 0 || row.alone {
		return
	}
	row.compare()
	if len(base.X) < 2 || len(cand.X) < 2 {
		return
	}
	p := TwoSided(base.X, cand.X)
	row.P, row.Differs = &p, p < Alpha
}

// TwoSided returns the two-sided p of the exact test by Mann and Whitney.
func TwoSided(base, cand []float64) float64 {
	return min(1, 2*min(stat.MannWhitney(base, cand), stat.MannWhitney(cand, base)))
}

// compare sets the ratio, or the difference where there is none. Of single values there is
// no interval.
func (row *Row) compare() {
	base, cand := row.Base, row.Cand
	if i := stat.Ratio(base.X, cand.X, Confidence); i.OK() {
		row.Ratio = &i
	} else if len(base.X) == 1 && len(cand.X) == 1 && base.X[0] > 0 && cand.X[0] > 0 {
		row.Ratio = point(cand.X[0] / base.X[0])
	} else if i := stat.Shift(base.X, cand.X, Confidence); i.OK() {
		row.Difference = &i
	} else {
		row.Difference = point(float64(cand.Median - base.Median))
	}
}

// point returns an estimate without an interval.
func point(x float64) *stat.Interval { return &stat.Interval{Est: x, Low: x, High: x} }

// summarize sets the median and its interval.
func (v *Values) summarize() {
	v.N, v.X = len(v.X), append([]float64{}, v.X...)
	v.Median, v.Low, v.High = Value(stat.Median(v.X)), Value(math.NaN()), Value(math.NaN())
	// Two one-sided bounds make an interval.
	b := stat.MedianBounds(v.X, 1-(1-Confidence)/2)
	if both := 2*b.Confidence - 1; both >= Confidence {
		v.Low, v.High, v.Confidence = Value(b.Low), Value(b.High), both
	}
}

// least returns the least number that is enough.
func least(enough func(n int) bool) int {
	n := 1
	for !enough(n) {
		n++
	}
	return n
}

// EnoughForP returns the least number of traces per side with which a row can differ.
func EnoughForP() int { return least(func(n int) bool { return CanDiffer(n, n) }) }

// EnoughForInterval returns the least number of traces with which a median has an interval.
func EnoughForInterval() int {
	return least(func(n int) bool { return 1-2*math.Pow(0.5, float64(n)) >= Confidence })
}

// EnoughText names the least numbers of traces with which a row can differ.
func EnoughText() string {
	n := EnoughForP()
	s := fmt.Sprintf("%d traces per side", n)
	for k := n - 1; k > 1; k-- { // one on a side says nothing of chance
		s += fmt.Sprintf(", or %d and %d", k, least(func(m int) bool { return CanDiffer(k, m) }))
	}
	return s
}

// ChangeHelp defines the pairwise change.
const ChangeHelp = "The pairwise change is the Hodges-Lehmann ratio: the median of the ratios of all pairs of a new and an old trace, which need not be the ratio of the medians; " +
	"with zeros, the median of the differences."

// CanDiffer reports whether so many traces are enough for a row to differ.
func CanDiffer(base, cand int) bool { return 2*stat.MinP(base, cand) < Alpha }
