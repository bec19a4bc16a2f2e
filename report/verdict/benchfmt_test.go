package verdict

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/rule"
)

// benchRead reads the Go benchmark format as benchstat does: values by side and unit.
func benchRead(t *testing.T, text string) (map[string]map[string][]float64, benchfmt.UnitMetadataMap) {
	t.Helper()
	out := map[string]map[string][]float64{}
	var p benchproc.ProjectionParser
	sides, err := p.Parse("side", nil)
	if err != nil {
		t.Fatal(err)
	}
	in := benchfmt.NewReader(strings.NewReader(text), "test")
	tables := map[benchproc.Key]bool{}
	rest := p.Residue()
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		case *benchfmt.Result:
			side := sides.Project(rec).String()
			tables[rest.Project(rec)] = true
			if out[side] == nil {
				out[side] = map[string][]float64{}
			}
			for _, v := range rec.Values {
				out[side][v.Unit] = append(out[side][v.Unit], v.Value)
			}
		}
	}
	if in.Err() != nil {
		t.Fatal(in.Err())
	}
	if len(tables) > 1 {
		t.Errorf("%d configurations beside the side: benchstat would not compare", len(tables))
	}
	return out, in.Units()
}

// TestBenchfmt reads back with golang.org/x/perf what was written, and compares medians.
func TestBenchfmt(t *testing.T) {
	for _, c := range cases {
		r := c.make()
		got, units := benchRead(t, render(t, format(t, "benchfmt"), r, shop))
		for _, q := range quantities(r) {
			unit, scale := strings.Replace(q.unit, "-ns", "-sec", 1), 1.0
			if unit != q.unit {
				scale = 1e-9
			}
			for side, v := range map[string]*gate.Values{"side:base": q.base, "side:cand": q.cand} {
				if v == nil {
					continue
				}
				xs := got[side][unit]
				s := benchmath.NewSample(slices.Clone(xs), &benchmath.DefaultThresholds)
				want := middle(v.Values) * scale
				if m := benchmath.AssumeNothing.Summary(s, 0.95).Center; len(xs) != v.N || m < want*0.999999 || m > want*1.000001 {
					t.Errorf("%s, %s, %s: median %v of %d, want %v of %d", c.name, side, unit, m, len(xs), want, v.N)
				}
			}
			if b := units.GetBetter(q.unit); b != -1 {
				t.Errorf("%s: better=%d, want lower", q.unit, b)
			}
		}
	}
}

// benchParses checks that each line is one of the format.
func benchParses(t *testing.T, text string) {
	t.Helper()
	in := benchfmt.NewReader(strings.NewReader(text), "test")
	for in.Scan() {
		if bad, ok := in.Result().(*benchfmt.SyntaxError); ok {
			t.Fatalf("%v in\n%s", bad, text)
		}
	}
	if in.Err() != nil {
		t.Fatal(in.Err())
	}
}

func middle(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// TestBenchfmtBase checks that an absolute rule before a relative one of the same quantity
// does not hide the baseline's values.
func TestBenchfmtBase(t *testing.T) {
	got, _ := benchRead(t, render(t, format(t, "benchfmt"), failing(), shop))
	if n := len(got["side:base"]["runnable-p99-sec"]); n != 10 {
		t.Errorf("%d values of the baseline, want 10", n)
	}
}

// TestBenchfmtHostile checks that names make no lines or fields.
func TestBenchfmtHostile(t *testing.T) {
	r := hostile()
	got, _ := benchRead(t, render(t, format(t, "benchfmt"), r, shop))
	if len(got["side:cand"]) != len(quantities(r)) || len(quantities(r)) == 0 {
		t.Errorf("%d units of %d", len(got["side:cand"]), len(quantities(r)))
	}
}

func TestUnitName(t *testing.T) {
	tests := []struct{ quantity, want string }{
		{"p99(runnable)", "runnable-p99-ns"},
		{"p99.9(runnable)", "runnable-p99.9-ns"},
		{"mean(wait/op)", "wait-ns/op"},
		{"mean(cpu/op)", "cpu-ns/op"},
		{"mean(wakes/op)", "wakes/op"},
		{"mean(handoffs/s)", "handoffs/s"},
		{"mean(runnable)", "runnable-mean-ns"},
		{"max(stw)", "stw-max-ns"},
		{"sum(steals)", "steals-sum"},
		{"share(cause=behind-gc)", "runnable{cause=behind_gc}-share"},
		{"p50(sim.runnable)", "sim.runnable-p50-ns"},
		{"p99(runnable{func=*-ns/ns *ns})", "runnable{func=__ns_ns__ns}-p99-ns"},
	}
	for _, tt := range tests {
		q, err := rule.ParseQuantity(tt.quantity)
		if err != nil {
			q, err = rule.ParseQuantity(strings.NewReplacer("=*-", `="*-`, "})", `"})`).Replace(tt.quantity))
		}
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(unitName(q), `"`, "")
		if got != tt.want {
			t.Errorf("unitName(%s) = %q, want %q", tt.quantity, got, tt.want)
		}
	}
}
