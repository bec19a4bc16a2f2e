package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/analyze/single"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// added returns a side of saved reports.
func added(t *testing.T, name string, reports ...*result.Report) Side {
	t.Helper()
	s := Side{Name: name}
	for _, v := range reports {
		if err := s.AddSaved(v.Traces[0].Name, resulttest.Saved(t, v)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// reportOf returns the report of a fixture, nil if nothing of it can be read.
func reportOf(t *testing.T, name string) *result.Report {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	v, err := single.Trace(t.Context(), name, bytes.NewReader(data), single.Options{})
	if err != nil {
		return nil
	}
	return v
}

// TestSavedAgrees checks that a saved report has of its trace what the trace itself has.
func TestSavedAgrees(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		v := reportOf(t, name)
		if v == nil {
			continue
		}
		want := readTrace(t, name, "", "all")
		side := added(t, "saved", v)
		got, all := side.Traces[0].Sample, side.saved[0]
		for q, x := range want.Sample.Values {
			if got.Values[q].X != x.X {
				t.Errorf("%s: %s is %v, want %v", name, q, got.Values[q].X, x.X)
			}
		}
		if len(got.Values) != len(want.Sample.Values) {
			t.Errorf("%s: %d values, want %d", name, len(got.Values), len(want.Sample.Values))
		}
		if v.Queues.Refused == "" && got.Identity.Samples != want.Sample.Identity.Samples {
			t.Errorf("%s: CPU samples %q, want %q", name, got.Identity.Samples, want.Sample.Identity.Samples)
		}
		for what, x := range map[string][2]any{
			"version":  {got.Identity.Go, want.Sample.Identity.Go},
			"procs":    {[2]int{got.Identity.MinProcs, got.Identity.MaxProcs}, [2]int{want.Sample.Identity.MinProcs, want.Sample.Identity.MaxProcs}},
			"content":  {ContentOf(got), ContentOf(want.Sample)},
			"causes":   {all.Sample.Causes, want.Sample.Causes},
			"code":     {all.Sample.Blame, want.Sample.Blame},
			"requests": {all.Sample.Requests, want.Sample.Requests},
			"reasons":  {all.Reasons, want.Reasons},
			"whole":    {got.Whole, want.Sample.Whole},
		} {
			a, _ := json.Marshal(x[0])
			b, _ := json.Marshal(x[1])
			if string(a) != string(b) {
				t.Errorf("%s: %s\n%s\nwant\n%s", name, what, a, b)
			}
		}
	}
}

// TestSavedSides checks that comparing saved reports, of single traces and of all of a side, says what comparing the
// traces does, and that parts of several add up to their totals.
func TestSavedSides(t *testing.T) {
	names := [2][]string{
		{"syscalls.go1.22.p4.trace", "syscalls.go1.23.p4.trace", "syscalls.go1.24.p4.trace", "syscalls.go1.25.p4.trace"},
		{"mixed.go1.22.p2.trace", "mixed.go1.23.p2.trace", "mixed.go1.24.p2.trace", "mixed.go1.25.p2.trace"},
	}
	var traces, each, merged [2]Side
	for i, list := range names {
		name := []string{"old", "new"}[i]
		traces[i] = Side{Name: name}
		var reports []*result.Report
		for _, trace := range list {
			x := readTrace(t, trace, "", "all")
			x.Sample.Run, x.Sample.Joins = 0, nil // which no report has
			traces[i].Traces = append(traces[i].Traces, x)
			reports = append(reports, reportOf(t, trace))
		}
		each[i] = added(t, name, reports...)
		v, err := result.Merge(result.Each(reports, func(v **result.Report) *result.Report { return resulttest.Saved(t, *v) }))
		if err != nil {
			t.Fatal(err)
		}
		merged[i] = added(t, name, v)
	}
	want := Of(traces[0], traces[1], "")
	for how, x := range map[string]*Result{"single": Of(each[0], each[1], ""), "merged": Of(merged[0], merged[1], ""), "mixed": Of(traces[0], merged[1], "")} {
		a, _ := json.Marshal(x.Rows)
		b, _ := json.Marshal(want.Rows)
		if string(a) != string(b) {
			t.Errorf("%s: rows\n%s\nwant\n%s", how, a, b)
		}
		if x.Headline != want.Headline || x.Verdict != want.Verdict || x.Why != want.Why || !slices.Equal(x.Only, want.Only) {
			t.Errorf("%s: %s %s; %s; %q\nwant %s %s; %s; %q", how, x.Verdict, x.Headline, x.Why, x.Only, want.Verdict, want.Headline, want.Why, want.Only)
		}
		if how == "single" && (x.Part != want.Part || !reflect.DeepEqual(x.Causes, want.Causes) || !reflect.DeepEqual(x.Blocked, want.Blocked)) {
			t.Errorf("%s: parts %q %+v, want %q %+v", how, x.Part, x.Causes, want.Part, want.Causes)
		}
		for _, ps := range [][2]*Parts{{&x.Causes, &want.Causes}, {&x.Blocked, &want.Blocked}, {&x.Waits, &want.Waits}} {
			if math.Abs(ps[0].Base/ps[1].Base-1) > 0.1 || math.Abs(ps[0].Cand/ps[1].Cand-1) > 0.1 {
				t.Errorf("%s: totals %g and %g, want about %g and %g", how, ps[0].Base, ps[0].Cand, ps[1].Base, ps[1].Cand)
			}
		}
	}
	if err := (&Side{}).AddSaved("x", &result.Report{Traces: make([]result.Trace, 2)}); err != ErrOlder {
		t.Errorf("of an older version: %v", err)
	}
}

// TestTallyOfSeveral checks that what several traces have together counts as often as they are.
func TestTallyOfSeveral(t *testing.T) {
	part := func(d model.Duration) []sample.Class { return []sample.Class{{Detail: "x", Total: d}} }
	parts := Tally([]Source{{Units: 1, Parts: part(10), Traces: 3}, {Units: 1, Parts: part(2)}}, nil)
	if len(parts) != 1 || parts[0].Base != 8 || parts[0].BaseTraces != 2 {
		t.Errorf("%+v", parts)
	}
}
