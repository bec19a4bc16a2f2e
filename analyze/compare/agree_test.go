package compare

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/fixtures"
)

// readTrace makes a Trace of a fixture, with some more quantities.
func readTrace(t *testing.T, name, op, window string, more ...rule.Quantity) *Trace {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec(op, window)
	spec.Quantities = append(spec.Quantities, more...)
	var r *analyze.Report
	x, err := sample.Read(context.Background(), bytes.NewReader(data), int64(len(data)), sample.Input{Name: name}, spec, sample.Options{Report: func(a *analyze.Report) { r = a }})
	if err != nil {
		t.Fatal(err)
	}
	return NewTrace(name, x, r)
}

// TestRowsAgree checks that every row, also those of groups of requests, has the value
// that the gate would judge under the same name.
func TestRowsAgree(t *testing.T) {
	for _, op := range []string{"", "region:nap"} {
		const base, cand = "mixed.go1.25.p2.trace", "mixed.go1.26.p2.trace"
		r := Of(Side{Name: "old", Traces: []*Trace{readTrace(t, base, op, "")}}, Side{Name: "new", Traces: []*Trace{readTrace(t, cand, op, "")}}, op)
		var qs []rule.Quantity
		r.Rows = slices.DeleteFunc(r.Rows, func(row Row) bool { return row.Section == SectionBatch }) // the gate has none
		for _, row := range r.Rows {
			q, err := rule.ParseQuantity(row.Quantity)
			if err != nil {
				t.Fatal(err)
			}
			qs = append(qs, q)
		}
		a, b := readTrace(t, base, op, "", qs...).Sample, readTrace(t, cand, op, "", qs...).Sample
		for _, row := range r.Rows {
			for _, x := range []struct {
				s *sample.Sample
				v Values
			}{{a, row.Base}, {b, row.Cand}} {
				want, ok := x.s.Values[row.Quantity]
				if !ok && len(x.v.X) == 0 {
					continue
				}
				if len(x.v.X) != 1 || x.v.X[0] != want.X {
					t.Errorf("%s of %s: got %v, want %v (%s)", row.Quantity, x.s.Name, x.v.X, want.X, x.s.Missing[row.Quantity])
				}
			}
		}
	}
}

// TestPartsAgree checks that parts add up to what the rows say.
func TestPartsAgree(t *testing.T) {
	r := Of(Side{Name: "old", Traces: []*Trace{readTrace(t, "mixed.go1.25.p2.trace", "", "")}}, Side{Name: "new", Traces: []*Trace{readTrace(t, "mixed.go1.26.p2.trace", "", "")}}, "")
	row := r.Row("mean(wait/s)")
	for i, got := range []float64{r.Waits.Base - row.Base.X[0], r.Waits.Cand - row.Cand.X[0]} {
		if got > 10 || got < -10 { // classes are whole nanoseconds
			t.Errorf("side %d: classes of waiting are %g ns per second off", i, got)
		}
	}
}
