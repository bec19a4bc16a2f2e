package result_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	. "github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// generic returns a report as JSON has it.
func generic(t *testing.T, v *Report) any {
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
var unmerged = []string{"verdict", "findings", "notes", "pathologies", "stacks", "exact"}

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
	names := someFixtures(t)
	for i, name := range names {
		next := names[(i+1)%len(names)]
		merged, err := Merge([]*Report{savedCopy(t, name), savedCopy(t, next)})
		if err != nil {
			t.Fatal(err)
		}
		differ := 0
		findings.Judge(merged)
		sameReport("", "", generic(t, merged), generic(t, resulttest.Try(t, name, next)), func(path string, got, want any) {
			if differ++; differ <= 5 {
				t.Errorf("%s and %s: %s: %.200v, want %.200v", name, next, path, got, want)
			}
		})
		if merged.Latency.All.Count > 1 && merged.Latency.All.HDR == "" {
			t.Errorf("%s and %s: the latency cannot be merged again", name, next)
		}
		var b bytes.Buffer
		if err := Write(&b, merged); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&b); err != nil {
			t.Errorf("%s and %s: not valid: %v", name, next, err)
		}
	}
}

// TestMergeTypical checks in which trace the typical requests of a kind and of its groups are, which may be one.
func TestMergeTypical(t *testing.T) {
	const first, second = "quiet.go1.26.p4.trace", "tasks.go1.26.p4.trace"
	shared := resulttest.Read(t, second)
	shared.Requests[0].Groups[0].Typical = shared.Requests[0].Typical
	for _, x := range []*Report{savedCopy(t, second), shared} {
		v, err := Merge([]*Report{savedCopy(t, first), x})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range v.Requests {
			for _, s := range append(v.Requests[i].Sets(), RequestGroup{RequestSet: v.Requests[i].RequestSet}) {
				if s.Typical != nil {
					n++
					if s.Typical.Trace != 1 {
						t.Errorf("typical of %q: in trace %d", s.Name, s.Typical.Trace)
					}
				}
			}
		}
		if n < 2 {
			t.Errorf("%d typical requests", n)
		}
	}
}

// TestMergeInParts merges merged reports: the same as all at once, except the texts and the number of reports of
// several traces.
func TestMergeInParts(t *testing.T) {
	names := []string{"mixed.go1.22.p2.trace", "gc.go1.26.p4.trace", "tasks.go1.26.p4.trace"}
	one := func(i int) *Report { return savedCopy(t, names[i]) }
	merge := func(list ...*Report) *Report {
		v, err := Merge(list)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	uncounted := func(v *Report) *Report {
		v.Reports = 0
		for i := range v.Blame.Rows {
			if in := v.Blame.Rows[i].In; in != nil {
				in.Reports = 0
			}
		}
		for i := range v.Requests {
			k := &v.Requests[i]
			for _, s := range append(slices.Clone(k.Groups), RequestGroup{RequestSet: k.RequestSet}) {
				for _, tail := range s.Tails {
					for j := range tail.Groups {
						tail.Groups[j].In.Reports = 0
					}
				}
			}
		}
		return v
	}
	want := generic(t, merge(one(0), one(1), one(2)))
	for _, got := range []*Report{merge(merge(one(0), one(1)), one(2)), merge(one(0), merge(one(1), one(2)))} {
		sameReport("", "", generic(t, uncounted(got)), want, func(path string, got, want any) {
			t.Errorf("%s: %.200v, want %.200v", path, got, want)
		})
		if len(got.PerTrace) != 3 || got.PerTrace[2].Trace != 2 || len(got.Spread) == 0 {
			t.Errorf("figures %+v, spread %+v", got.PerTrace, got.Spread)
		}
	}
}

// TestMergeOne gives back what it is given.
func TestMergeOne(t *testing.T) {
	want := savedCopy(t, "gc.go1.26.p4.trace")
	got, err := Merge([]*Report{savedCopy(t, "gc.go1.26.p4.trace")})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("a single report is another one after merging")
	}
	if _, err := Merge(nil); err == nil {
		t.Error("no error without reports")
	}
}

// TestMergeWithoutHDR merges a report as older versions wrote them.
func TestMergeWithoutHDR(t *testing.T) {
	without := regexp.MustCompile(`,\s*"hdr": "[^"]*"`).ReplaceAll(savedFixtures(t)["gc.go1.26.p4.trace"], nil)
	old, whole := copyOf(t, without), savedCopy(t, "hogs.go1.26.p2.trace")
	count, total := old.Latency.All.Count+whole.Latency.All.Count, old.Latency.All.Total+whole.Latency.All.Total
	alone := slices.Clone(whole.Syscalls.ByFunction)
	v, err := Merge([]*Report{old, whole})
	if err != nil {
		t.Fatal(err)
	}
	all := v.Latency.All
	if all.Count != count || all.Total != total || !all.Unknown || all.P50 != 0 || all.P999 != 0 || all.HDR != "" || all.Max == 0 {
		t.Errorf("merged to %+v", all)
	}
	findings.Judge(v)
	if !strings.Contains(strings.Join(v.Notes, "\n"), "Some percentiles are not known") {
		t.Errorf("no note on percentiles: %q", v.Notes)
	}
	for _, f := range v.Syscalls.ByFunction {
		if !slices.ContainsFunc(alone, func(x Named) bool { return x.Name == f.Name }) && (f.Unknown || f.P50 == 0) {
			t.Errorf("of one report only: %+v", f)
		}
	}
	if len(v.Latency.Spectra[0].Points) != 0 {
		t.Error("a spectrum of what is not known")
	}
	var b bytes.Buffer
	if err := Write(&b, v); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(&b); err != nil {
		t.Error(err)
	}
}

// TestMergeRefuses keeps what there is when a report cannot be merged.
func TestMergeRefuses(t *testing.T) {
	for want, damage := range map[string]func(*Report){
		"the bins of series, of":          func(v *Report) { v.Series.Width = 1<<62 - 1 },
		"the rows of heat are other ones": func(v *Report) { v.Heat.Bounds[3]++ },
		"the bins of causes.series, of":   func(v *Report) { v.Causes.Series.Width = 1<<62 - 1 },
	} {
		var m Merger
		if err := m.Add(savedCopy(t, "gc.go1.26.p4.trace")); err != nil {
			t.Fatal(err)
		}
		bad := savedCopy(t, "gc.go1.26.p4.trace")
		damage(bad)
		if err := m.Add(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		got, err := m.Report()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, savedCopy(t, "gc.go1.26.p4.trace")) {
			t.Errorf("%s: what was refused changed the report", want)
		}
	}
}

// TestMergeRefusesThird adds bins of which any two fit, in parts that are joined and that are not.
func TestMergeRefusesThird(t *testing.T) {
	report := func(width model.Duration) *Report {
		return &Report{Causes: Causes{Series: CauseSeries{Width: width, Causes: []CauseCurve{{Cause: "queue", Bins: []int64{1}}}}}}
	}
	for _, first := range []int{1, 20} {
		var m Merger
		for range first {
			if err := m.Add(report(67108859)); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Add(report(67108837)); err != nil {
			t.Fatal(err)
		}
		if err := m.Add(report(67108819)); err == nil || !strings.Contains(err.Error(), "the bins of causes.series, of") {
			t.Errorf("after %d: error %v", first, err)
		}
		v, err := m.Report()
		if err != nil || v.Causes.Series.Width != 67108859*67108837 || v.Causes.Series.Causes[0].Bins[0] != int64(first+1) {
			t.Errorf("after %d: %+v, error %v", first, v, err)
		}
	}
}

// TestRebin merges bins of widths that no version of this program writes.
func TestRebin(t *testing.T) {
	series := func(width model.Duration, n int) Series {
		s := Series{Width: width, Covered: make([]int64, n), Procs: make([]int64, n), Runnable: make([]int64, n),
			MaxRunnable: make([]int, n), Heap: make([]uint64, n), Goal: make([]uint64, n)}
		for use := range s.Uses {
			s.Uses[use] = make([]int64, n)
		}
		for i := range n {
			s.Covered[i], s.MaxRunnable[i] = int64(width), i
		}
		return s
	}
	merge := func(a, b Series) Series {
		v, err := Merge([]*Report{{Series: a}, {Series: b}})
		if err != nil {
			t.Fatal(err)
		}
		return v.Series
	}
	a := merge(series(4, 6), series(6, 3)) // 24 and 18 ns
	if want := []int64{24, 18}; a.Width != 12 || !slices.Equal(a.Covered, want) || !slices.Equal(a.MaxRunnable, []int{2, 5}) {
		t.Errorf("bins of %d ns: %v, %v", a.Width, a.Covered, a.MaxRunnable)
	}
	long := merge(series(1, 300), series(512, 512))
	if long.Width != 512 || len(long.Covered) != 512 || long.Covered[0] != 812 {
		t.Errorf("%d bins of %d ns, the first %d", len(long.Covered), long.Width, long.Covered[0])
	}
}

// TestMergeNoBins merges curves of causes that have no bins.
func TestMergeNoBins(t *testing.T) {
	report := func(s CauseSeries) *Report { return &Report{Causes: Causes{Series: s}} }
	empty := func() *Report { return report(CauseSeries{Causes: []CauseCurve{{Cause: "queue"}}}) }
	full := func() *Report {
		return report(CauseSeries{Width: 4, Causes: []CauseCurve{{Cause: "queue", Bins: []int64{1, 2}}}})
	}
	for _, pair := range [][]*Report{{empty(), full()}, {full(), empty()}} {
		v, err := Merge(pair)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(v.Causes.Series, full().Causes.Series) {
			t.Errorf("merged to %+v", v.Causes.Series)
		}
	}
}

// TestSpread has exact numbers.
func TestSpread(t *testing.T) {
	var list []TraceFigures
	for i, p99 := range []model.Duration{50, 20, 20, 90, 0} {
		list = append(list, TraceFigures{Trace: i, Waits: int64(min(p99, 1)), P99: p99, Utilisation: float64(i) / 10})
	}
	got := map[string]Spread{}
	for _, s := range SpreadOf(list) {
		got[s.Name] = s
	}
	if want := (Spread{"p99_ns", "ns", 4, 20, 20, 20, 50, 90, 1, 3}); got["p99_ns"] != want {
		t.Errorf("p99 %+v, want %+v", got["p99_ns"], want)
	}
	if want := (Spread{"utilisation", "share", 5, 0, 0.1, 0.2, 0.3, 0.4, 0, 4}); got["utilisation"] != want {
		t.Errorf("utilisation %+v, want %+v", got["utilisation"], want)
	}
	if SpreadOf(list[:1]) != nil {
		t.Error("one trace has a spread")
	}
}

// TestWorstTraceOfFixtures puts a fixture among calm ones, as traces and
// as saved reports: the verdict names it, and in which trace points in time lie.
func TestWorstTraceOfFixtures(t *testing.T) {
	names := []string{"gc.go1.26.p4.trace", "quiet.go1.26.p4.trace", "timers.go1.26.p4.trace"}
	d := resulttest.Try(t, names...)
	var alone []*Report
	var severities []Severity
	for _, name := range names {
		v := resulttest.Saved(t, resulttest.Try(t, name))
		alone, severities = append(alone, v), append(severities, v.Findings[0].Severity)
	}
	merged, err := Merge(alone)
	if err != nil {
		t.Fatal(err)
	}
	findings.Judge(merged)
	for what, v := range map[string]*Report{"traces": resulttest.Saved(t, d), "reports": merged} {
		var found []Finding
		for i, f := range v.Findings {
			if f.Kind == "worst-trace" {
				found = append(found, f)
				if i > 1 {
					t.Errorf("%s: the worst trace is finding %d", what, i)
				}
			}
		}
		if len(found) != 1 || found[0].Severity != severities[0] || !strings.Contains(found[0].Text, " "+names[0]+" is the worst") {
			t.Errorf("%s: the worst trace is %+v, want %s", what, found, names[0])
		}
		for i := range v.PerTrace {
			if got, want := v.PerTrace[i].Severity, severities[i]; got != want {
				t.Errorf("%s: severity of %s is %q, want %q", what, names[i], got, want)
			}
		}
	}
	if text := d.Findings[0].Text; !strings.Contains(text, " of "+names[0]) {
		t.Errorf("the verdict does not say in which trace: %s", text)
	}
	var b bytes.Buffer
	if err := view.Text(&b, d, document.TextOptions{}, true); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "("+names[0]+")") {
		t.Errorf("the line of latency does not say in which trace:\n%s", b.String())
	}
}
