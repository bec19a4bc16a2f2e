package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
)

// together returns the document of all that can be read of fixtures, nil if that is
// nothing.
func together(t *testing.T, names ...string) *Document {
	t.Helper()
	d := &Document{}
	for _, name := range names {
		one := readable(t, name)
		if one == nil {
			return nil
		}
		d.Add(one.Traces[0], one.Report)
	}
	d.Judge()
	return d
}

// saved returns a report as it is read back.
func saved(t *testing.T, d *Document) *V1 {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, d); err != nil {
		t.Fatal(err)
	}
	v, err := ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// generic returns a report as JSON has it.
func generic(t *testing.T, v *V1) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// percentiles are fields that merging knows within the width of a bucket.
var percentiles = []string{"p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "value_ns", "p50", "p99"}

// unmerged are fields that merging cannot know, or that say that it was done.
var unmerged = []string{"findings", "notes", "pathologies", "stacks", "exact"}

// sameReport compares two reports; bad is called for what differs.
func sameReport(path, field string, got, want any, bad func(path string, got, want any)) {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(g)), slices.Sorted(maps.Keys(want))) {
			bad(path, got, want)
			return
		}
		for k, w := range want {
			if !slices.Contains(unmerged, k) {
				sameReport(path+"."+k, k, g[k], w, bad)
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			bad(path, got, want)
			return
		}
		for i, w := range want {
			sameReport(fmt.Sprintf("%s[%d]", path, i), field, g[i], w, bad)
		}
	case float64:
		g, ok := got.(float64)
		bound := 1e-9 * math.Abs(want)
		if slices.Contains(percentiles, field) && !strings.HasPrefix(path, ".per_trace") {
			bound = 0.004 * want
		}
		if !ok || math.Abs(g-want) > bound {
			bad(path, got, want)
		}
	default:
		if !reflect.DeepEqual(got, want) {
			bad(path, got, want)
		}
	}
}

// TestMergeEqualsBoth merges the saved reports of each fixture and the next one, and
// compares with the report of both together.
func TestMergeEqualsBoth(t *testing.T) {
	var names []string
	for _, name := range fixtures.Names() {
		if readable(t, name) != nil {
			names = append(names, name)
		}
	}
	if testing.Short() {
		names = names[:6]
	}
	for i, name := range names {
		next := names[(i+1)%len(names)]
		merged, err := Merge([]*V1{saved(t, together(t, name)), saved(t, together(t, next))})
		if err != nil {
			t.Fatal(err)
		}
		differ := 0
		sameReport("", "", generic(t, merged), generic(t, saved(t, together(t, name, next))), func(path string, got, want any) {
			if differ++; differ <= 5 {
				t.Errorf("%s and %s: %s: %.200v, want %.200v", name, next, path, got, want)
			}
		})
		if merged.Latency.All.Count > 1 && merged.Latency.All.HDR == "" {
			t.Errorf("%s and %s: the latency cannot be merged again", name, next)
		}
		var b bytes.Buffer
		if err := WriteV1(&b, merged); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadJSON(&b); err != nil {
			t.Errorf("%s and %s: not valid: %v", name, next, err)
		}
	}
}

// TestMergeInParts merges merged reports: the same as all at once, but for the texts.
func TestMergeInParts(t *testing.T) {
	names := []string{"mixed.go1.22.p2.trace", "gc.go1.26.p4.trace", "tasks.go1.26.p4.trace"}
	one := func(i int) *V1 { return saved(t, together(t, names[i])) }
	merge := func(list ...*V1) *V1 {
		v, err := Merge(list)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := generic(t, merge(one(0), one(1), one(2)))
	for _, got := range []*V1{merge(merge(one(0), one(1)), one(2)), merge(one(0), merge(one(1), one(2)))} {
		sameReport("", "", generic(t, got), want, func(path string, got, want any) {
			t.Errorf("%s: %.200v, want %.200v", path, got, want)
		})
		if len(got.PerTrace) != 3 || got.PerTrace[2].Trace != 2 || len(got.Spread) == 0 {
			t.Errorf("figures %+v, spread %+v", got.PerTrace, got.Spread)
		}
		for _, f := range got.Findings {
			if f.Kind == worstTraceKind {
				continue // it is about all
			}
			if !strings.HasPrefix(f.Text, f.Of+": ") || f.Reports < 1 || strings.Count(f.Text, f.Of) != 1 {
				t.Errorf("finding %+v", f)
			}
		}
	}
}

// TestMergeOne gives back what it is given.
func TestMergeOne(t *testing.T) {
	want := saved(t, together(t, "gc.go1.26.p4.trace"))
	got, err := Merge([]*V1{saved(t, together(t, "gc.go1.26.p4.trace"))})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("a single report is another one after merging")
	}
	forged := saved(t, together(t, "gc.go1.26.p4.trace"))
	forged.Findings[0].Of, forged.Findings[0].Text = "another.trace", "short"
	if got, err := Merge([]*V1{forged}); err != nil || got.Findings[0].Text != "short" {
		t.Errorf("a finding that is not credited as it says: %v", err)
	}
	if _, err := Merge(nil); err == nil {
		t.Error("no error without reports")
	}
}

// TestMergeWithoutHDR merges a report as older versions wrote them.
func TestMergeWithoutHDR(t *testing.T) {
	old, whole := saved(t, together(t, "gc.go1.26.p4.trace")), saved(t, together(t, "hogs.go1.26.p2.trace"))
	count, total := old.Latency.All.Count+whole.Latency.All.Count, old.Latency.All.Total+whole.Latency.All.Total
	eachDist(reflect.ValueOf(old).Elem(), func(x any) error {
		switch x := x.(type) {
		case *V1Dist:
			x.HDR = ""
		case *V1Sizes:
			x.HDR = ""
		case *V1Bounds:
			x.HDR = ""
		}
		return nil
	})
	alone := slices.Clone(whole.Syscalls.ByFunction)
	v, err := Merge([]*V1{old, whole})
	if err != nil {
		t.Fatal(err)
	}
	all := v.Latency.All
	if all.Count != count || all.Total != total || !all.Unknown || all.P50 != 0 || all.P999 != 0 || all.HDR != "" || all.Max == 0 {
		t.Errorf("merged to %+v", all)
	}
	if !strings.Contains(strings.Join(v.Notes, "\n"), "Some percentiles are not known") {
		t.Errorf("no note on percentiles: %q", v.Notes)
	}
	for _, f := range v.Syscalls.ByFunction {
		if namedDist(alone, f.Name) == nil && (f.Unknown || f.P50 == 0) {
			t.Errorf("of one report only: %+v", f)
		}
	}
	if len(v.Latency.Spectra[0].Points) != 0 {
		t.Error("a spectrum of what is not known")
	}
	var b bytes.Buffer
	if err := WriteV1(&b, v); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadJSON(&b); err != nil {
		t.Error(err)
	}
}

// TestMergeRefuses keeps what there is when a report cannot be merged.
func TestMergeRefuses(t *testing.T) {
	for want, damage := range map[string]func(*V1){
		"illegal base64":                                                       func(v *V1) { v.Bursts.All.HDR = "!" },
		"values where the count is":                                            func(v *V1) { v.Latency.All.Count++ },
		"the bins of series, of":                                               func(v *V1) { v.Series.Width = 1<<62 - 1 },
		"the rows of heat are other ones":                                      func(v *V1) { v.Heat.Bounds[3]++ },
		"the bins of causes.series, of":                                        func(v *V1) { v.Causes.Series.Width = 1<<62 - 1 },
		"goroutines.lifetime_ns adds up to too much":                           func(v *V1) { v.Goroutines[0].Lifetime, v.Goroutines[1].Lifetime = 1<<62, 1<<62 },
		"threads.running_ns adds up to too much with what was merged before":   func(v *V1) { v.Threads.Running = math.MaxInt64 - 1 },
		"latency.all.total_ns adds up to too much with what was merged before": func(v *V1) { v.Latency.All.Total = math.MaxInt64 - 1 },
	} {
		var m Merger
		if err := m.Add(saved(t, together(t, "gc.go1.26.p4.trace"))); err != nil {
			t.Fatal(err)
		}
		bad := saved(t, together(t, "gc.go1.26.p4.trace"))
		damage(bad)
		if err := m.Add(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		got, err := m.Report()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, saved(t, together(t, "gc.go1.26.p4.trace"))) {
			t.Errorf("%s: what was refused changed the report", want)
		}
	}
}

// TestRebin merges bins of widths that no version of this program writes.
func TestRebin(t *testing.T) {
	series := func(width int64, n int) V1Series {
		s := V1Series{Width: width, Covered: make([]int64, n), Procs: make([]int64, n), Runnable: make([]int64, n),
			MaxRunnable: make([]int, n), Heap: make([]uint64, n), Goal: make([]uint64, n)}
		for _, list := range s.Uses.lists() {
			*list = make([]int64, n)
		}
		for i := range n {
			s.Covered[i], s.MaxRunnable[i] = width, i
		}
		return s
	}
	a, b := series(4, 6), series(6, 3) // 24 and 18 ns
	a.merge(&b)
	if want := []int64{24, 18}; a.Width != 12 || !slices.Equal(a.Covered, want) || !slices.Equal(a.MaxRunnable, []int{2, 5}) {
		t.Errorf("bins of %d ns: %v, %v", a.Width, a.Covered, a.MaxRunnable)
	}
	long, short := series(1, 300), series(512, 512)
	long.merge(&short)
	if long.Width != 512 || len(long.Covered) != 512 || long.Covered[0] != 812 {
		t.Errorf("%d bins of %d ns, the first %d", len(long.Covered), long.Width, long.Covered[0])
	}
}

// TestMergeNoBins merges curves of causes that have no bins.
func TestMergeNoBins(t *testing.T) {
	empty := func() *V1CauseSeries { return &V1CauseSeries{Causes: []V1CauseCurve{{Cause: "queue"}}} }
	full := func() *V1CauseSeries {
		return &V1CauseSeries{Width: 4, Causes: []V1CauseCurve{{Cause: "queue", Bins: []int64{1, 2}}}}
	}
	for _, pair := range [][2]*V1CauseSeries{{empty(), full()}, {full(), empty()}} {
		if pair[0].merge(pair[1]); !reflect.DeepEqual(pair[0], full()) {
			t.Errorf("merged to %+v", pair[0])
		}
	}
}

// TestSpread has exact numbers.
func TestSpread(t *testing.T) {
	var list []V1TraceFigures
	for i, p99 := range []int64{50, 20, 20, 90, 0} {
		list = append(list, V1TraceFigures{Trace: i, Waits: min(p99, 1), P99: p99, Utilisation: float64(i) / 10})
	}
	got := map[string]V1Spread{}
	for _, s := range spreadOf(list) {
		got[s.Name] = s
	}
	if want := (V1Spread{"p99_ns", "ns", 4, 20, 20, 20, 50, 90, 1, 3}); got["p99_ns"] != want {
		t.Errorf("p99 %+v, want %+v", got["p99_ns"], want)
	}
	if want := (V1Spread{"utilisation", "share", 5, 0, 0.1, 0.2, 0.3, 0.4, 0, 4}); got["utilisation"] != want {
		t.Errorf("utilisation %+v, want %+v", got["utilisation"], want)
	}
	if spreadOf(list[:1]) != nil {
		t.Error("one trace has a spread")
	}
}
