package verdict

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// Benchfmt writes the Go benchmark format: a line per trace with a value per quantity
// that rules ask for, and the side as configuration. So
//
//	benchstat -col side FILE
//
// compares the sides. The commits are keys of the whole file, base-commit and commit:
// benchstat compares only what has the same configuration but for the columns.
func Benchfmt(w io.Writer, r *gate.Result, _ Options) error {
	c, err := printable(r)
	if err != nil {
		return err
	}
	columns := quantities(c)
	var b bytes.Buffer
	out := benchfmt.NewWriter(&b)
	for _, q := range columns {
		key := benchfmt.UnitMetadataKey{Unit: q.unit, Key: "better"}
		if err := out.Write(&benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: q.unit, Value: q.better}); err != nil {
			return err
		}
	}
	for _, s := range benchSides(c) {
		for i := range s.lines(columns) {
			if err := out.Write(s.result(c, columns, i)); err != nil {
				return err
			}
		}
	}
	_, err = w.Write(b.Bytes())
	return err
}

// column is a quantity of rules, with its values.
type column struct {
	unit, better string
	base, cand   *gate.Values
}

// quantities returns what the rules ask for, each once, in the order of the rules. Rules
// that cannot be read are left out.
func quantities(r *gate.Result) []column {
	var out []column
	at := map[string]int{}
	for i := range r.Rules {
		rr := &r.Rules[i]
		parsed, err := rule.Parse(rr.Rule)
		if err != nil || rr.Base == nil && rr.Cand == nil {
			continue
		}
		unit := unitName(parsed.Quantity)
		k, ok := at[unit]
		if !ok {
			k = len(out)
			at[unit] = k
			out = append(out, column{unit: unit, better: better(parsed)})
		}
		// Of an absolute rule and a relative one of a quantity only the latter has a base.
		c := &out[k]
		if c.base == nil {
			c.base = rr.Base
		}
		if c.cand == nil {
			c.cand = rr.Cand
		}
	}
	return out
}

func better(r *rule.Rule) string {
	if r.Op.HigherIsWorse() {
		return "lower"
	}
	return "higher"
}

// unitName returns the unit of a quantity as benchmarks have it: "runnable-p99-ns",
// "cpu-ns/op", "wakes/op". Of "-ns" benchstat makes "-sec".
func unitName(q rule.Quantity) string {
	s := q.Metric
	for i, sel := range q.Select {
		s += string("{,"[one(i > 0)]) + unitWord(sel.String())
	}
	if len(q.Select) > 0 {
		s += "}"
	}
	switch {
	case q.Agg == rule.Quantile:
		s += "-p" + strconv.FormatFloat(100*q.Q, 'g', 8, 64)
	case q.Per == rule.PerNone || q.Agg != rule.Mean:
		s += "-" + q.Agg.String()
	}
	if q.Unit() == rule.Nanoseconds {
		s += "-ns"
	}
	return s + q.Per.String()
}

// unitWord returns s without what separates the words of a unit.
func unitWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("-*/", r) {
			return '_'
		}
		return r
	}, s)
}

// benchSide is one side of a result.
type benchSide struct {
	name   string
	id     *sample.Identity
	values func(*column) *gate.Values
}

func benchSides(r *gate.Result) []benchSide {
	cand := benchSide{"cand", &r.Cand.Identity, func(c *column) *gate.Values { return c.cand }}
	if r.Base == nil {
		return []benchSide{cand}
	}
	return []benchSide{{"base", &r.Base.Identity, func(c *column) *gate.Values { return c.base }}, cand}
}

// lines is how many values the columns have at most.
func (s *benchSide) lines(columns []column) int {
	n := 0
	for i := range columns {
		if v := s.values(&columns[i]); v != nil {
			n = max(n, len(v.Values))
		}
	}
	return n
}

// result is the line of the i-th trace.
func (s *benchSide) result(r *gate.Result, columns []column, i int) *benchfmt.Result {
	name := "Sched"
	if r.Workload != "" {
		name += "/wl=" + unitWord(r.Workload)
	}
	if s.id.MaxProcs > 0 {
		name += fmt.Sprintf("-%d", s.id.MaxProcs)
	}
	out := &benchfmt.Result{Name: benchfmt.Name(name), Iters: 1, Config: s.config(r)}
	for k := range columns {
		if v := s.values(&columns[k]); v != nil && i < len(v.Values) {
			out.Values = append(out.Values, benchfmt.Value{Value: v.Values[i], Unit: columns[k].unit})
		}
	}
	return out
}

func (s *benchSide) config(r *gate.Result) []benchfmt.Config {
	procs := ""
	if s.id.MaxProcs > 0 {
		procs = strconv.Itoa(s.id.MaxProcs)
	}
	base := ""
	if r.Base != nil {
		base = r.Base.Commit
	}
	var out []benchfmt.Config
	for _, c := range []struct{ key, value string }{
		{"goos", s.id.OS}, {"goarch", s.id.Arch}, {"cpu", s.id.CPU}, {"go", s.id.Go}, {"gomaxprocs", procs},
		{"base-commit", base}, {"commit", r.Cand.Commit}, {"side", s.name},
	} {
		if v := strings.TrimSpace(c.value); v != "" {
			out = append(out, benchfmt.Config{Key: c.key, Value: []byte(v), File: true})
		}
	}
	return out
}
