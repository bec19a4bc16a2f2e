package replay

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
)

// TestRequests follows the requests of a fixture and checks that simulations reproduce them, and that they take less
// with faster functions.
func TestRequests(t *testing.T) {
	v, err := ParseScale("main.*=0.75")
	if err != nil {
		t.Fatal(err)
	}
	r, err := replayed(t, context.Background(), "http.trace", Options{Seeds: 1, Follow: true, Variants: []Variant{v}})
	if err != nil {
		t.Fatal(err)
	}
	q := &r.Requests
	if q.Kind != "http" || q.Count < 600 || q.Lost != 0 || q.Relative > roughFit || q.Refused != "" || q.Few != "" {
		t.Errorf("got %+v", q)
	}
	o := &r.Outcomes[0]
	if e := &o.Requests[requestP99]; !e.Known || e.LowChange >= e.Change || e.Change >= e.HighChange || e.FirstOrder > 1e-9 || o.OnPath <= 0 {
		t.Errorf("%+v", o)
	}
}

// TestEstimates puts two estimates together.
func TestEstimates(t *testing.T) {
	var slow, fast served
	for i := range 1000 {
		slow.add([][2]int64{{1, int64(1000 + 10*i)}})
		fast.add([][2]int64{{1, int64(500 + 5*i)}})
	}
	run := func(s served) []*Schedule { return []*Schedule{{requests: s}} }
	for _, tt := range []struct {
		name         string
		first, then  served
		refused      string
		change, half float64
		agree        bool
	}{
		{"agree", fast, fast, "", -0.5, IntervalLeast + IntervalGrows*math.Ln2, true},
		{"first order only", fast, fast, "why", -0.5, IntervalLeast + IntervalGrows*math.Ln2, false},
		{"the other sign", fast, slow, "", 0, IntervalLeast + IntervalGrows*math.Ln2, false},
		{"nothing saved", slow, slow, "", 0, IntervalLeast, true},
	} {
		r := &Result{Requests: Requests{Kind: "http", Refused: tt.refused, Count: 1000, Measured: slow.figures()}}
		e := r.estimates(&tt.first, run(tt.then), run(slow))[requestP90]
		if half := math.Log(e.High/e.Low) / 2; !e.Known || math.Abs(e.Change-tt.change) > 0.01 || math.Abs(half-tt.half) > 0.01 || e.Agree() != tt.agree {
			t.Errorf("%s: half %v: got %+v", tt.name, half, e)
		}
	}
	for simulated, want := range map[float64]bool{0.7: false, 0.9: true} {
		if got := saturated([]Estimate{requestP90: {FirstOrder: 0.2, Simulated: simulated}, requestMean: {}}); (got != "") != want {
			t.Errorf("p90 %v longer, of which 0.2 on paths: %q", simulated, got)
		}
	}
	for saved, want := range map[saved]bool{{100, 90}: false, {-100, -5}: false, {-100, -90}: true, {}: false} {
		if got := saved.silent() != ""; got != want {
			t.Errorf("%+v: %v", saved, got)
		}
	}
}

// TestParseScale parses what is to be scaled.
func TestParseScale(t *testing.T) {
	v, err := ParseScale("example.com/x/store.(*T).get=0.5,region:r=2,wait:(*T).get=0,main.*=1")
	if err != nil || len(v.scales) != 4 {
		t.Fatal(v, err)
	}
	for i, want := range []workload.Scale{{Kind: workload.ScaleFunc, By: 0.5}, {Kind: workload.ScaleRegion, By: 2}, {Kind: workload.ScaleWait}, {By: 1}} {
		name := []string{"example.com/x/store.(*T).get", "r", "example.com/x/store.(*T).get", "main.work"}[i]
		if s := v.scales[i]; s.Kind != want.Kind || s.By != want.By || !s.Match(name) || s.Match("runtime.main") {
			t.Errorf("%d: got %+v", i, s)
		}
	}
	for _, text := range []string{"", "main.f", "main.f=-1", "main.f=x", "main.f=101", "=1", "main.f=NaN"} {
		if _, err := ParseScale(text); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
