package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/stat"
	"github.com/schedscope/schedscope/model"
)

const (
	us = model.Duration(1000)
	ms = 1000 * us
	s  = 1000 * ms
	s1 = s
)

// trace returns a trace of a second and 1000 ops in which waiting, and all that is part of
// it, is some factor of 100 ms.
func trace(name string, factor float64) *Trace {
	wait := model.Duration(factor * float64(100*ms))
	x := &sample.Sample{
		Name: name, Whole: true, From: 0, To: s, Ops: 1000, Events: 5000, Running: 900 * ms, Capacity: 2 * s,
		Identity: sample.Identity{Go: "go1.26.8", MinProcs: 2, MaxProcs: 2},
		Values: map[string]sample.Value{
			"p50(runnable)":   {X: 1000, N: 1000},
			"p99(runnable)":   {X: factor * 1e6, N: 5000},
			"p99.9(runnable)": {X: factor * 2e6, N: 4000},
			"mean(wait/op)":   {X: float64(wait) / 1000},
			"mean(wait/s)":    {X: float64(wait)},
			"mean(wakes/op)":  {X: 3},
			"mean(gc/op)":     {X: 0},
			"mean(op)":        {X: factor * 3e5},
		},
		Missing: map[string]string{"mean(cpu/op)": "no environment record"},
		Waits: []sample.Class{
			{Func: "main.worker", At: &sample.Frame{Func: "main.worker", File: "/src/a.go", Line: int(10 * factor)}, Total: wait * 3 / 4, Count: 10},
			{Func: "main.other", By: &sample.Frame{Func: "main.worker"}, Total: wait / 4, Count: 10},
		},
		Causes: []sample.Named{{Name: "behind a goroutine", Total: wait}},
	}
	return &Trace{Name: name, Sample: x,
		Reasons: []sample.Class{{Detail: "sync", Total: model.Duration(factor * float64(10*ms)), Count: 5}, {Detail: "select", Total: s, Count: 5}},
		Ops:     []OpName{{"region:request", 1000}},
	}
}

// side returns a side of traces with these factors.
func side(name string, factors ...float64) Side {
	x := Side{Name: name}
	for i, f := range factors {
		t := trace(fmt.Sprintf("%s/%02d", name, i+1), f)
		t.Sample.Running += model.Duration(int(name[0])*100 + i) // no two traces are alike
		x.Traces = append(x.Traces, t)
	}
	return x
}

func six(by float64) []float64 {
	return []float64{0.98 * by, 0.99 * by, by, 1.01 * by, 1.02 * by, 1.03 * by}
}

func TestRows(t *testing.T) {
	r := Of(side("old", six(1)...), side("new", six(1.5)...), "region:request")
	row := r.Row("mean(wait/op)")
	if row == nil || row.P == nil || math.Abs(*row.P-2.0/924) > 1e-12 || !row.Differs {
		t.Fatalf("wait: %+v", row)
	}
	if x := row.Ratio; x == nil || math.Abs(x.Est-1.5) > 0.01 || x.Low > 1.5 || x.High < 1.5 || x.Confidence < 0.95 {
		t.Errorf("ratio %+v", x)
	}
	if row.Base.Median != 100500 || row.Base.Low != 98000 || row.Base.High != 103000 || row.Base.Confidence != 1-2.0/64 {
		t.Errorf("base %+v", row.Base)
	}
	if same := r.Row("p50(runnable)"); same == nil || same.Differs || *same.P != 1 || same.Ratio.Est != 1 {
		t.Errorf("what is the same: %+v", same)
	}
	if few := r.Row("p99.9(runnable)"); few == nil || few.Few != 12 {
		t.Errorf("p99.9 with few beyond: %+v", few)
	}
	for _, q := range []string{"mean(gc/op)", "mean(cpu/op)", "p99(op)", "mean(wait/s)"} {
		if x := r.Row(q); x != nil {
			t.Errorf("%s is shown: %+v", q, x)
		}
	}
	if r.Tested != len(r.Rows) || r.Differ != 4 {
		for _, x := range r.Rows {
			t.Log(x.Quantity, x.Differs)
		}
		t.Errorf("%d of %d rows differ", r.Differ, r.Tested)
	}
}

func TestSingle(t *testing.T) {
	r := Of(side("old", 1), side("new", 1.6), "")
	row := r.Row("mean(wait/s)")
	if row == nil || row.P != nil || row.Differs || row.Ratio == nil || math.Abs(row.Ratio.Est-1.6) > 1e-9 || row.Ratio.Confidence != 0 || row.Base.Confidence != 0 {
		t.Fatalf("%+v", row)
	}
	if want := "waiting to run: mean(wait/s) 100 -> 160ms (1.60x)"; r.Verdict != Worse || r.Headline != want || !r.Single() || r.Scope != "one trace a side: not tested" {
		t.Errorf("got %s %q, want %q; %s", r.Verdict, r.Headline, want, r.Scope)
	}
	if len(r.Hints) != 1 || !strings.Contains(r.Hints[0], "--op region:request") {
		t.Errorf("hints %q", r.Hints)
	}
}

// TestWholeRuns checks that waits to run which became shorter as the traces became longer, or the other way, have no verdict.
func TestWholeRuns(t *testing.T) {
	for _, tt := range []struct {
		wait float64
		run  model.Duration
		want string
	}{
		{0.3, 2 * s, "UNKNOWN waiting to run: p99(runnable) 1.00ms -> 300µs (0.30x); but the traces of new are 2 times as long, and that is what counts if they are of whole runs"},
		{3, s / 2, "UNKNOWN waiting to run: p99(runnable) 1.00 -> 3.00ms (3.00x); but the traces of new are 0.5 times as long, and that is what counts if they are of whole runs"},
		{3, 2 * s, "WORSE waiting to run: p99(runnable) 1.00 -> 3.00ms (3.00x)"},
	} {
		cand := side("new", tt.wait)
		cand.Traces[0].Sample.To = tt.run
		r := Of(side("old", 1), cand, "")
		if got := r.Verdict + " " + r.Headline; got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestFew checks that with too few traces nothing differs, and that exactly four are enough.
func TestFew(t *testing.T) {
	for n := 1; n < 8; n++ {
		base, cand := make([]float64, n), make([]float64, n)
		for i := range n {
			base[i], cand[i] = 1+0.01*float64(i), 3+0.01*float64(i)
		}
		row := Of(side("old", base...), side("new", cand...), "").Row("mean(wait/s)")
		if row.Differs != (n >= 4) || CanDiffer(n, n) != (n >= 4) {
			t.Errorf("%d a side: differs %v, can %v", n, row.Differs, CanDiffer(n, n))
		}
		if has := row.Base.Confidence > 0; has != (n >= EnoughForInterval()) {
			t.Errorf("%d: interval of the median at %g", n, row.Base.Confidence)
		}
	}
	if EnoughForP() != 4 || EnoughForInterval() != 6 {
		t.Errorf("%d for p, %d for an interval", EnoughForP(), EnoughForInterval())
	}
}

func TestTwoSided(t *testing.T) {
	for _, tt := range []struct {
		base, cand []float64
		want       float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{[]float64{5, 6, 7, 8}, []float64{1, 2, 3, 4}, 2.0 / 70},
		{[]float64{1, 1, 1}, []float64{1, 1, 1}, 1},
		{[]float64{1, 3}, []float64{2, 4}, 4.0 / 6},
	} {
		if got := TwoSided(tt.base, tt.cand); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v and %v: p = %g, want %g", tt.base, tt.cand, got, tt.want)
		}
	}
}

func TestHeadline(t *testing.T) {
	for _, tt := range []struct {
		base, cand    []float64
		op, want, why string
	}{
		{six(1), six(2), "region:request", "WORSE ops: mean(op) 302 -> 603µs (2.00x, p=0.002) | 75% of the change: main.worker, stopped in main.worker (a.go:19)", "mean(wait/op) 100 -> 201µs (2.00x, p=0.002)"},
		{six(2), six(1), "", "UNKNOWN waiting to run: p99(runnable) 2.01 -> 1.00ms (0.50x, p=0.002); but how long the work takes is not known: --op region:request counts it, if that is the work | ", "mean(wait/s) 201 -> 100ms (0.50x, p=0.002)"},
		{six(1), six(1), "", "SAME waiting to run: p99(runnable) 1.00 -> 1.00ms (1.00x, p=1.000); there are no requests to compare | ", ""},
		{six(1), six(1.05), "", "SAME waiting to run: p99(runnable) 1.00 -> 1.06ms (1.05x, p=0.004); there are no requests to compare | ", "mean(wait/s) 100 -> 106ms (1.05x, p=0.004)"},
		{[]float64{1, 1.5, 2, 3, 4, 5}, []float64{1.1, 2.4, 4, 5, 6, 8}, "region:request", "UNKNOWN ops: mean(op) 750µs -> 1.35ms (1.60x, p=0.227); that may be chance, as the traces of a side differ as much: record more of each, on a quiet machine | ", ""},
		{[]float64{1, 1.1, 1.2}, []float64{4, 5, 6}, "", "WORSE waiting to run: p99(runnable) 1.10 -> 5.00ms (4.55x) | 75% of the change: main.worker, stopped in main.worker (a.go:40)", ""},
		{[]float64{0}, []float64{0}, "", "SAME Nothing waited to run. | ", ""},
	} {
		r := Of(side("old", tt.base...), side("new", tt.cand...), tt.op)
		if got := r.Verdict + " " + r.Headline + " | " + r.Part; got != tt.want || r.Why != tt.why {
			t.Errorf("got  %s; %s\nwant %s; %s", got, r.Why, tt.want, tt.why)
		}
	}
}

// TestRequests checks what is said of requests, and that what they did is per request.
func TestRequests(t *testing.T) {
	set := func(p50, p99 model.Duration, n int64) sample.RequestSet {
		get := &sample.Frame{Func: "main.get", File: "/src/a.go", Line: 7}
		return sample.RequestSet{Count: n, Total: model.Duration(n) * (p50 + p99) / 2, P50: p50, P99: p99, Slowest: 20, Middle: 100,
			Tail:  []sample.Class{{Func: "main.get", Detail: "lock in main.get", At: get, Total: 20 * (p99 - ms)}, {Detail: "running", Total: 20 * ms}},
			Usual: []sample.Class{{Func: "main.get", Detail: "lock in main.get", At: get, Total: 100 * (p50 - ms)}, {Detail: "running", Total: 100 * ms}}}
	}
	with := func(s Side, kind string, groups map[string]sample.RequestSet) Side {
		for i, x := range s.Traces {
			r := &sample.Requests{Kind: kind, RequestSet: set(3*ms, 6*ms, 3000), Path: []sample.Named{{Name: "lock", Total: 3 * s1}}}
			for _, name := range slices.Sorted(maps.Keys(groups)) {
				g := groups[name]
				g.P50 += model.Duration(i) * us
				g.P99 += model.Duration(i) * us
				r.Groups = append(r.Groups, sample.RequestGroup{Name: name, RequestSet: g})
			}
			x.Sample.Requests = r
		}
		return s
	}
	type groups = map[string]sample.RequestSet
	old := groups{"main.a": set(2*ms, 4*ms, 1500), "main.b": set(4*ms, 8*ms, 1500)}
	for name, tt := range map[string]struct {
		cand   groups
		want   string
		single string // of one trace a side; "": the same without p
	}{
		"same":   {old, "SAME main.b: p50 4.00 -> 4.00ms (1.00x, p=1.000), p99 8.00 -> 8.00ms (1.00x, p=1.000), 1,500 -> 1,500 requests per second | ", ""},
		"median": {groups{"main.a": set(20*ms, 22*ms, 400), "main.b": old["main.b"]}, "WORSE main.a: p50 2.00 -> 20.0ms (10.0x, p=0.002), 1,500 -> 400 requests per second | lock in main.get +18.0ms in each", "WORSE main.a: p50 2.00 -> 20.0ms (10.0x), 1,500 -> 400 requests per second | lock in main.get +18.0ms in each"},
		"tail":   {groups{"main.a": set(2*ms, 40*ms, 1500), "main.b": old["main.b"]}, "WORSE main.a: p99 4.00 -> 40.0ms (10.0x, p=0.002) | lock in main.get +36.0ms in each of the slowest", "WORSE main.a: p99 4.00 -> 40.0ms (10.0x) | lock in main.get +36.0ms in each of the slowest"},
		"rate":   {groups{"main.a": set(2*ms, 4*ms, 500), "main.b": old["main.b"]}, "SAME main.a: p50 2.00 -> 2.00ms (1.00x, p=1.000), p99 4.00 -> 4.00ms (1.00x, p=1.000), 0.33 times the requests per second (1,500 -> 500) | ", ""},
		"load":   {groups{"main.a": old["main.a"], "main.b": set(4*ms, 8*ms, 3000)}, "SAME main.b: p50 4.00 -> 4.00ms (1.00x, p=1.000), p99 8.00 -> 8.00ms (1.00x, p=1.000), 2.00 times the requests per second (1,500 -> 3,000) | ", ""},
		"faster": {groups{"main.a": old["main.a"], "main.b": set(2*ms, 4*ms, 1500)}, "BETTER main.b: p50 4.00 -> 2.00ms (0.50x, p=0.002) | lock in main.get -2.00ms in each", "BETTER main.b: p50 4.00 -> 2.00ms (0.50x) | lock in main.get -2.00ms in each"},
		"both":   {groups{"main.a": set(8*ms, 16*ms, 1500), "main.b": set(2*ms, 4*ms, 1500)}, "WORSE main.a: p50 2.00 -> 8.00ms (4.00x, p=0.002); better: main.b: p50 4.00 -> 2.00ms (0.50x, p=0.002) | lock in main.get +6.00ms in each", "WORSE main.a: p50 2.00 -> 8.00ms (4.00x); better: main.b: p50 4.00 -> 2.00ms (0.50x) | lock in main.get +6.00ms in each"},
		"tail better": {groups{"main.a": set(2*ms, 4*ms, 1500), "main.b": set(5600*us, 2*ms, 1500)}, "WORSE main.b: p50 4.00 -> 5.60ms (1.40x, p=0.002); better: main.b: p99 8.00 -> 2.00ms (0.25x, p=0.002) | lock in main.get +1.60ms in each",
			"BETTER main.b: p99 8.00 -> 2.00ms (0.25x); worse, but too little to count: main.b: p50 4.00 -> 5.60ms (1.40x) | lock in main.get -6.00ms in each of the slowest"},
		"gone": {groups{"main.a": old["main.a"]}, "SAME main.a: p50 2.00 -> 2.00ms (1.00x, p=1.000), p99 4.00 -> 4.00ms (1.00x, p=1.000), 1,500 -> 1,500 requests per second | ", ""},
	} {
		for _, traces := range [][]float64{six(1), {1}} {
			r := Of(with(side("old", traces...), "http", old), with(side("new", traces...), "http", tt.cand), "")
			want := tt.want
			if len(traces) == 1 {
				want = cmp.Or(tt.single, strings.ReplaceAll(want, ", p=1.000", ""))
			}
			if got := r.Verdict + " " + r.Headline + " | " + r.Part; got != want {
				t.Errorf("%s: got  %s\nwant %s", name, got, want)
			}
		}
	}
	half := with(side("new", six(1)...), "http", old)
	for _, x := range half.Traces {
		x.Sample.To /= 2
	}
	if r := Of(with(side("old", six(1)...), "http", old), half, ""); r.Verdict != Better || r.Headline != "main.b: 1,500 -> 3,000 requests per second" {
		t.Errorf("as many in half the time: %s %s", r.Verdict, r.Headline)
	}
	few := groups{"main.a": old["main.a"], "main.b": set(4*ms, 8*ms, 3)}
	other := groups{"main.a": old["main.a"], result.OtherNames: old["main.b"]}
	unknown := groups{"main.a": old["main.a"], result.NoName: old["main.b"]}
	for name, tt := range map[string]struct {
		base, cand groups
		want       string
	}{
		"gone":    {old, groups{"main.a": old["main.a"]}, "seen only in old: 1,500 requests of main.b, p99 8.00ms"},
		"new":     {groups{"main.a": old["main.a"]}, old, "seen only in new: 1,500 requests of main.b, p99 8.00ms"},
		"few":     {few, old, "too few in old to compare, 3, but in new: 1,500 requests of main.b, p99 8.00ms"},
		"both":    {old, old, ""},
		"none":    {few, few, ""},
		"others":  {old, other, ""}, // which may hide main.b
		"unknown": {old, unknown, "seen only in old: 1,500 requests of main.b, p99 8.00ms; in new the handler of 1,500 requests is not known"},
		"groups":  {old, nil, ""}, // are not known
	} {
		r := Of(with(side("old", 1), "http", tt.base), with(side("new", 1), "http", tt.cand), "")
		if got := strings.Join(r.Only, "\n"); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		for _, row := range r.Rows {
			if row.Group == "main.b" && tt.want != "" && (row.Ratio != nil || row.P != nil || len(row.Base.X)+len(row.Cand.X) == 0) {
				t.Errorf("%s: %s compared: %+v", name, row.Quantity, row)
			}
		}
	}
	rare := func(p50 model.Duration, n int64) groups {
		return groups{"main.a": old["main.a"], "main.b": set(p50, p50, n)}
	}
	unnamed := func(p50 model.Duration, n int64) groups {
		return groups{"main.a": old["main.a"], result.NoName: set(p50, p50, n)}
	}
	sixth := func(p50 model.Duration) groups {
		return groups{"main.z": set(p50, p50, 1500), "main.c": set(9*ms, 9*ms, 1500), "main.d": set(9*ms, 9*ms, 1500), "main.e": set(9*ms, 9*ms, 1500), "main.f": set(9*ms, 9*ms, 1500), "main.g": set(9*ms, 9*ms, 1500)}
	}
	eleventh := func(p50 model.Duration) groups {
		all := groups{"main.z": set(p50, p50, 6)}
		for c := 'a'; c < 'k'; c++ {
			all["main."+string(c)] = set(9*ms, 9*ms, 1500)
		}
		return all
	}
	for name, tt := range map[string]struct {
		base, cand  groups
		traces      int
		want, noted string
	}{
		"few":             {rare(ms, 6), rare(60*ms, 5), 1, "WORSE main.b: p50 1.00 -> 60.0ms (60.0x) of 6 and 5 requests", ""},
		"few, faster":     {rare(60*ms, 5), rare(ms, 6), 1, "BETTER main.b: p50 60.0 -> 1.00ms (0.017x) of 5 and 6 requests", ""},
		"few, by less":    {rare(2*ms, 6), rare(6*ms, 5), 1, "UNKNOWN main.b: p50 2.00 -> 6.00ms (3.00x) of 6 and 5 requests, p99 2.00 -> 6.00ms (3.00x) of 6 and 5 requests, 6.00 -> 5.00 requests per second; one trace of a side", ""},
		"few, by little":  {rare(2*ms, 6), rare(4*ms, 5), 1, "SAME main.a: ", ""},
		"few, tested":     {rare(2*ms, 6), rare(4*ms, 6), 6, "WORSE main.b: p50 2.00 -> 4.00ms (2.00x, p=0.002) of 36 and 36 requests", ""},
		"too few":         {rare(ms, 3), rare(60*ms, 3), 1, "UNKNOWN main.a: p50 2.00 -> 2.00ms (1.00x), p99 4.00 -> 4.00ms (1.00x), 1,500 -> 1,500 requests per second; but not judged: main.b: p50 1.00 -> 60.0ms (60.0x) of 3 and 3 requests", ""},
		"renamed":         {groups{"main.main.func1": set(2*ms, 4*ms, 1500)}, groups{"main.main.func2": set(ms, 2*ms, 1500)}, 1, "SAME requests: ", "seen only in old: 1,500 requests of main.main.func1, p99 4.00ms\nseen only in new: 1,500 requests of main.main.func2, p99 2.00ms"},
		"strangers":       {groups{"main.a": set(2*ms, 4*ms, 1500)}, groups{"main.b": set(ms, 2*ms, 1500)}, 1, "UNKNOWN requests: ", "seen only in old: 1,500 requests of main.a, p99 4.00ms\nseen only in new: 1,500 requests of main.b, p99 2.00ms"},
		"too few, like":   {rare(ms, 3), rare(9*ms, 3), 1, "SAME main.a: ", ""},
		"too few, better": {rare(ms, 3), groups{"main.a": set(ms, 2*ms, 1500), "main.b": set(60*ms, 60*ms, 3)}, 1, "BETTER main.a: ", "not judged: main.b: p50 1.00 -> 60.0ms (60.0x) of 3 and 3 requests"},
		"sixth":           {sixth(2 * ms), sixth(6 * ms), 1, "WORSE main.z: p50 2.00 -> 6.00ms (3.00x)", ""},
		"eleventh":        {eleventh(2 * ms), eleventh(60 * ms), 1, "WORSE main.z: p50 2.00 -> 60.0ms (30.0x) of 6 and 6 requests", ""},
		"eleventh, alike": {eleventh(2 * ms), eleventh(4 * ms), 1, "SAME main.a", ""},
		"sixth, alike":    {sixth(2 * ms), sixth(4 * ms), 1, "SAME main.c", ""},
		"not seen":        {unnamed(ms, 1500), rare(30*ms, 1000), 1, "WORSE other requests: mean 1.00 -> 30.0ms (30.0x), 1,500 -> 1,000 requests per second", "seen only in new: 1,000 requests of main.b, p99 30.0ms; in old the handler of 1,500 requests is not known"},
		"not seen, new":   {unnamed(ms, 20), rare(3*ms, 1000), 1, "SAME main.a: ", "seen only in new: 1,000 requests of main.b, p99 3.00ms; in old the handler of 20 requests is not known"},
	} {
		factors := slices.Repeat([]float64{1}, tt.traces)
		r := Of(with(side("old", factors...), "http", tt.base), with(side("new", factors...), "http", tt.cand), "")
		if got := r.Verdict + " " + r.Headline; !strings.HasPrefix(got, tt.want) || strings.Join(r.Only, "\n") != tt.noted {
			t.Errorf("%s: got %s %q, want %s %q", name, got, r.Only, tt.want, tt.noted)
		}
	}
	r := Of(with(side("old", 1), "http", old), with(side("new", 1), "task", old), "")
	if r.RequestKind != "http" || r.Row("p99(request{kind=http})").Ratio != nil || r.Verdict != Unknown || !strings.HasPrefix(r.Headline, "Requests of old are of kind http, those of new of kind task") {
		t.Errorf("of two kinds: %s %s", r.Verdict, r.Headline)
	}
	two := with(side("new", 1), "http", groups{})
	two.Traces[0].Sample.Requests.RequestSet = set(8*ms, 9*ms, 2)
	r = Of(with(side("old", 1), "http", groups{}), two, "")
	if want := "requests: 0.001 times the requests per second (3,000 -> 2.00); but new has 2 requests, too few to compare how long they take"; r.Verdict != Unknown || r.Headline != want {
		t.Errorf("two requests: %s %s", r.Verdict, r.Headline)
	}
	r = Of(side("old", 1), with(side("new", 1), "http", old), "")
	if r.Verdict != Unknown || !strings.HasSuffix(r.Headline, "but only one side has requests, so that how long they take is not compared") {
		t.Errorf("with requests on one side: %s %s", r.Verdict, r.Headline)
	}
}

func TestCode(t *testing.T) {
	for name, tt := range map[string]struct {
		base, cand float64 // part of the waiting that is behind the code
		detail     string
		want       string
	}{
		"most":    {0.8, 0.8, "behind a goroutine", "80% of the change: behind main.score (api.go:38)"},
		"assist":  {0.8, 0.8, "behind GC assist", "80% of the change: behind main.score (api.go:38) (behind GC assist)"},
		"less":    {0.4, 0.4, "behind a goroutine", "75% of the change: main.worker"},
		"more":    {0.1, 0.9, "behind a goroutine", "75% of the change: main.worker"}, // 170 % of the change
		"unknown": {0.8, 0.8, "", "75% of the change: main.worker"},
	} {
		sides := []Side{side("old", six(1)...), side("new", six(2)...), side("one", 2)}
		for i, s := range sides {
			part := []float64{tt.base, tt.cand, tt.cand}[i]
			for _, x := range s.Traces {
				c := sample.Class{Func: "main.score", Detail: tt.detail, At: &sample.Frame{Func: "main.score", File: "/src/api.go", Line: 38}}
				if tt.detail == "" {
					c.At = nil
				}
				c.Total = model.Duration(part * float64(x.Sample.Waits[0].Total+x.Sample.Waits[1].Total))
				x.Sample.Blame = []sample.Class{c}
			}
		}
		if got := Of(sides[0], sides[1], "").Part; !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		code := strings.Contains(tt.want, "main.score")
		if got := Of(sides[0], sides[2], "").Part; strings.Contains(got, "main.score") != code {
			t.Errorf("%s, one trace: %q", name, got)
		}
		for _, x := range sides[1].Traces {
			x.Sample.Identity.Samples = "yes"
		}
		if r := Of(sides[0], sides[1], ""); len(r.Behind.Parts) > 0 || strings.Contains(r.Part, "main.score") {
			t.Errorf("%s, samples on one side: %q", name, r.Part)
		}
	}
}

// TestCutWaits checks that waits that the window cuts are a cause of their own, so that
// causes add up to what was waited.
func TestCutWaits(t *testing.T) {
	base, cand := side("old", 1, 1), side("new", 2, 2)
	for _, x := range cand.Traces {
		x.Sample.Causes[0].Total -= 10 * ms
	}
	r := Of(base, cand, "")
	last := r.Causes.Parts[len(r.Causes.Parts)-1]
	if last.Detail != CutWaits || last.Base != 0 || math.Abs(last.Cand-10e6) > 1e-6 || last.CandTraces != 2 || r.Causes.Cand != r.Waits.Cand {
		t.Errorf("%+v; causes %g of %g", last, r.Causes.Cand, r.Waits.Cand)
	}
}

// TestShares checks when parts of a change are told.
func TestShares(t *testing.T) {
	for _, tt := range []struct {
		base, cand []float64
		want       bool
	}{{six(1), six(2), true}, {six(1), six(1.001), false}, {[]float64{1}, []float64{2}, true}} {
		r := Of(side("old", tt.base...), side("new", tt.cand...), "")
		if got := r.Shares(&r.Waits); got != tt.want {
			t.Errorf("%v and %v: %v", tt.base, tt.cand, got)
		}
	}
}

func TestEnough(t *testing.T) {
	if got, want := EnoughText(), "4 traces per side, or 3 and 5, or 2 and 8"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParts(t *testing.T) {
	r := Of(side("old", 1, 3), side("new", 2, 4), "region:request")
	if ps := r.Waits; math.Abs(ps.Base-200e3) > 1e-6 || math.Abs(ps.Cand-300e3) > 1e-6 || len(ps.Parts) != 2 {
		t.Fatalf("%+v", ps)
	}
	p := &r.Waits.Parts[0]
	if p.Func != "main.worker" || math.Abs(p.Change()-75e3) > 1e-6 || math.Abs(r.Waits.ShareOf(p)-0.75) > 1e-9 || p.BaseTraces != 2 || p.CandTraces != 2 {
		t.Errorf("%+v", p)
	}
	// Lines differ between traces; that of the candidate's first is shown.
	if p.At.Line != 20 {
		t.Errorf("line %d", p.At.Line)
	}
	if r.Waits.Mixed() {
		t.Error("all rose, but it is mixed")
	}
	sum := func(ps *Parts) (base, cand float64) {
		for _, p := range ps.Parts {
			base, cand = base+p.Base, cand+p.Cand
		}
		return
	}
	for _, ps := range []*Parts{&r.Waits, &r.Causes, &r.Blocked} {
		if b, c := sum(ps); math.Abs(b-ps.Base) > 1e-6 || math.Abs(c-ps.Cand) > 1e-6 {
			t.Errorf("parts add up to %g and %g, want %g and %g", b, c, ps.Base, ps.Cand)
		}
	}
}

// TestPartsOrder checks what comes last and that nothing is left out but nothing.
func TestPartsOrder(t *testing.T) {
	base, cand := side("old", 1), side("new", 1)
	base.Traces[0].Sample.Waits = []sample.Class{{Func: "(others)", Total: ms}, {Func: "gone", Total: 3 * us}, {Func: "same", Total: ms}, {Func: "none"}}
	cand.Traces[0].Sample.Waits = []sample.Class{{Func: "(others)", Total: 9 * ms}, {Func: "new", Total: 3 * us}, {Func: "same", Total: ms}}
	r := Of(base, cand, "")
	var got []string
	for _, p := range r.Waits.Parts {
		got = append(got, p.Func)
	}
	if want := []string{"gone", "new", "same", "(others)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if p := r.Waits.Most(); p == nil || p.Func != "new" {
		t.Errorf("most: %+v", p)
	}
}

func TestWarnings(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	for name, tt := range map[string]struct {
		change func(*Trace)
		op     string
		want   string // kinds, with what must be in the text
		text   string
	}{
		"same":       {func(*Trace) {}, "region:request", "", ""},
		"procs":      {func(t *Trace) { t.Sample.Identity.MaxProcs, t.Sample.Identity.MinProcs = 4, 4 }, "", "gomaxprocs", "GOMAXPROCS is not the same: 2 in old, 4 in new."},
		"resized":    {func(t *Trace) { t.Sample.Identity.MaxProcs = 4 }, "", "gomaxprocs", "2 to 4 in new"},
		"go":         {func(t *Trace) { t.Sample.Identity.Go = "go1.25\x1b" }, "", "go", `go1.25\x1b in new`},
		"patch":      {func(t *Trace) { t.Sample.Identity.Go = "go1.26" }, "", "", ""},
		"other go":   {func(t *Trace) { t.Sample.Identity.Go = "go1.25" }, "", "go", "go1.26.8 in old, go1.25 in new"},
		"gogc known": {func(t *Trace) { t.Sample.Identity.GOGC = "50" }, "", "", ""},
		"no load":    {func(t *Trace) { t.Sample.Ops = 1060 }, "", "", ""},
		"little":     {func(t *Trace) { t.Sample.Ops = 1040 }, "region:request", "", ""},
		"no ops":     {func(t *Trace) { t.Sample.Ops = 0 }, "region:request", "op", "No trace of new has an op region:request"},
		"cut":        {func(t *Trace) { t.Sample.Whole, t.Sample.Loss = false, "cut at 2s." }, "", "whole whole whole whole", "is not whole: cut at 2s."},
		"served":     {func(t *Trace) { t.Sample.Requests = &sample.Requests{Kind: "http"} }, "", "requests", "new has requests (http), old has none"},
		"long":       {func(t *Trace) { t.Sample.To = 2 * s }, "", "length", "1.00s in old and 2.00s in new"},
		"foreign":    {func(t *Trace) { t.Sample.Noise = &env.Noise{Foreign: f(0.4)} }, "", "noise", "other processes used 40% of the machine"},
		"calm": {func(t *Trace) {
			t.Sample.Noise = &env.Noise{Foreign: f(0.05), Steal: f(0.01), Throttled: f(0), Nivcsw: f(500)}
		}, "", "", ""},
		"no causes": {func(t *Trace) { t.Sample.Causes, t.Sample.Identity.Go = nil, "go1.21" }, "", "go causes", "is not known of new/01 (go1.21)"},
		"throttled": {func(t *Trace) { t.Sample.Noise = &env.Noise{Throttled: f(3)} }, "", "noise", "in 4 of 4 traces of new (new/01: throttled 3 times by the CPU quota)"},
	} {
		base, cand := side("old", 1, 1, 1, 1), side("new", 1, 1, 1, 1)
		for _, x := range cand.Traces {
			tt.change(x)
		}
		r := Of(base, cand, tt.op)
		var kinds, texts []string
		for _, w := range r.Warnings {
			kinds, texts = append(kinds, w.Kind), append(texts, w.Text)
		}
		if got := strings.Join(kinds, " "); got != tt.want || !strings.Contains(strings.Join(texts, "\n"), tt.text) {
			t.Errorf("%s: got %q %q, want %q with %q", name, got, texts, tt.want, tt.text)
		}
	}
}

// TestWarnSamples checks that it matters whether CPU samples were taken, if that is known.
func TestWarnSamples(t *testing.T) {
	const unlike = "Which code goroutines waited behind is not compared: CPU samples are in 4 of 8 traces, and without them waiting is behind other functions."
	for _, tt := range []struct{ base, cand, want string }{
		{"no", "yes", "Whether CPU samples were taken is not the same: no in old, yes in new." + unlike}, {"", "yes", unlike}, {"yes", "yes", ""}, {"", "", ""},
	} {
		base, cand := side("old", 1, 1, 1, 1), side("new", 1, 1, 1, 1)
		for i := range base.Traces {
			base.Traces[i].Sample.Identity.Samples, cand.Traces[i].Sample.Identity.Samples = tt.base, tt.cand
		}
		text := ""
		for _, w := range Of(base, cand, "region:request").Warnings {
			text += w.Text
		}
		if text != tt.want {
			t.Errorf("%q and %q: %q, want %q", tt.base, tt.cand, text, tt.want)
		}
	}
}

// TestWarnDelay is about threads that wait for a CPU: on both sides, or on one.
func TestWarnDelay(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	for _, tt := range []struct {
		base, cand, foreign float64
		want                string
	}{
		{0.05, 0.06, 0.4, ""}, // others use what the program does not need
		{0.3, 0.35, 0.4, ""},  // the program's own
		{0.05, 0.35, 0.4, "delay"},
		{0.05, 0.35, 0, "delay"},
	} {
		base, cand := side("old", 1), side("new", 1)
		base.Traces[0].Sample.Noise = &env.Noise{RunDelay: f(tt.base), Nivcsw: f(0), Foreign: f(tt.foreign)}
		cand.Traces[0].Sample.Noise = &env.Noise{RunDelay: f(tt.cand), Nivcsw: f(0), Foreign: f(tt.foreign)}
		var kinds []string
		for _, w := range Of(base, cand, "").Warnings {
			kinds = append(kinds, w.Kind)
		}
		if got := strings.Join(kinds, " "); got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}

// TestSame checks that copies of traces are found.
func TestSame(t *testing.T) {
	base, cand := side("old", 1, 1), side("new", 1, 1)
	cand.Traces[1].Sample = base.Traces[0].Sample
	if r := Of(base, cand, ""); len(r.Warnings) != 1 || r.Warnings[0].Kind != "same" || !strings.Contains(r.Warnings[0].Text, "more than once: old/01 = new/02.") {
		t.Errorf("%+v", r.Warnings)
	}
}

// TestQuantities checks that the default set is of the language of rules, in canonical
// form, and per op only if there are ops.
func TestQuantities(t *testing.T) {
	for _, op := range []string{"", "task:x"} {
		for _, q := range Quantities(op) {
			if err := q.Check(); err != nil {
				t.Errorf("%s: %v", q.String(), err)
			}
			again, err := rule.ParseQuantity(q.String())
			if err != nil || again.String() != q.String() {
				t.Errorf("%s: read back as %s, %v", q.String(), again.String(), err)
			}
			if per := strings.Contains(q.String(), "/op)"); per && op == "" {
				t.Errorf("%s without ops", q.String())
			}
		}
	}
	if x := Spec("task:x", "all"); x.Op != "task:x" || x.Window != "all" || len(x.Quantities) < 15 {
		t.Errorf("%+v", x)
	}
}

func TestTexts(t *testing.T) {
	for x, want := range map[float64]string{1.6: "x1.60", 0.87: "x0.87", 0.0731: "x0.073", 12.04: "x12.0", 123.4: "x123", 0: "x0", 0.00004: "<x0.0005", 12345: "x12,345", math.Inf(1): "x?", 9.96: "x10.0", 99.6: "x100"} {
		if got := TimesText(x); got != want {
			t.Errorf("%g: got %s, want %s", x, got, want)
		}
	}
	for p, want := range map[float64]string{0.0499: "p<0.050", 0.05: "p=0.050", 0.0492: "p=0.049", 1: "p=1.000", 0.0004: "p<0.001"} {
		if got := PText(p); got != want {
			t.Errorf("%g: got %s, want %s", p, got, want)
		}
	}
	if got := FrameText(&sample.Frame{Func: "github.com/x/y.(*T).run", File: `C:\src\a.go`, Line: 7}); got != "y.(*T).run (a.go:7)" {
		t.Error(got)
	}
}

// TestFewSaid checks that a great change which rests on too little is not called the same, and that the headline
// says what would show it.
func TestFewSaid(t *testing.T) {
	p := 0.7
	for traces, want := range map[int]string{
		1: " (7.60x); one trace of a side says nothing of chance: record 3 more of each",
		2: "; that may be chance, as p<0.025 is asked of each of 2 figures: record 3 more of each",
	} {
		factors := slices.Repeat([]float64{1}, traces)
		r := &Result{Base: side("old", factors...), Cand: side("new", factors...)}
		for _, name := range []string{"p99(request)", "p50(request)"} {
			q := quantity(name, "")
			r.Rows = append(r.Rows, Row{Section: SectionRequests, Group: "main.a", Unit: rule.Nanoseconds, of: &q, Few: 1, Ratio: &stat.Interval{Est: 7.6},
				Base: Values{X: []float64{5e6}, Median: 5e6}, Cand: Values{X: []float64{38e6}, Median: 38e6}})
		}
		if traces == 1 {
			r.Rows = r.Rows[:1]
		} else {
			r.Rows[0].P, r.Rows[1].P = &p, &p
		}
		r.judge()
		r.headline()
		if r.Verdict != Unknown || !strings.HasPrefix(r.Headline, "main.a: p99 5.00 -> 38.0ms") || !strings.HasSuffix(r.Headline, want) {
			t.Errorf("%s %s, want %s", r.Verdict, r.Headline, want)
		}
	}
}

// TestMissing checks that figures which not all traces have are not the same for lack of a test: that they are worse if they
// are far apart, and unknown if the sides overlap. The others are tested.
func TestMissing(t *testing.T) {
	chance, apart := 1.0, 0.0043 // the least p of five and six
	for _, x := range []struct {
		p, ratio float64
		want     string
	}{{0.016, 7.6, Worse + " http: p"}, {0.057, 7.6, Unknown + " http: p"}, {chance, 1, Worse + " main.all: p50 5.00 -> 38.0ms (1.30x"}} {
		r := &Result{Base: side("old", six(1)[:5]...), Cand: side("new", six(1)...), RequestKind: "http"}
		for _, group := range []string{result.NoName, "main.a", "main.b", "main.all"} {
			n, m, p, ratio := 4, 5, x.p, x.ratio
			if group == "main.all" {
				n, m = 5, 6
				if x.p == chance {
					p, ratio = apart, 1.3
				}
			}
			for _, name := range []string{"p99(request)", "p50(request)"} {
				q := quantity(name, "")
				r.Rows = append(r.Rows, Row{Section: SectionRequests, Group: group, Unit: rule.Nanoseconds, of: &q, P: &p, Ratio: &stat.Interval{Est: ratio},
					Base: Values{X: slices.Repeat([]float64{5e6}, n), Median: 5e6}, Cand: Values{X: slices.Repeat([]float64{38e6}, m), Median: 38e6}})
			}
		}
		r.judge()
		r.headline()
		if got := r.Verdict + " " + r.Headline; !strings.HasPrefix(got, x.want) {
			t.Errorf("p=%g: %s, want %s", x.p, got, x.want)
		}
	}
}

// TestFar checks that one trace a side is enough where few decide on a quantile that is many times as long, if the other
// requests took longer, too; and that saved reports say the same.
func TestFar(t *testing.T) {
	for _, x := range []struct {
		times float64        // as long
		rest  model.Duration // of all but the slowest, in each trace
		saved bool           // the new one: what its requests are made of is known of all its traces together
		want  string
	}{{20, 1000, false, Worse}, {20, 1000, true, Worse}, {20, 800, false, Unknown}, {20, 0, false, Unknown}, {5, 1000, false, Unknown}} {
		r := &Result{Base: side("old", 1), Cand: side("new", 1), RequestKind: "tcp"}
		for s, rest := range map[*Side]model.Duration{&r.Base: 400, &r.Cand: x.rest} {
			s.Traces[0].Sample.Requests = &sample.Requests{Kind: "tcp", Groups: []sample.RequestGroup{{Name: "main.a", RequestSet: sample.RequestSet{Count: 15, Slowest: 5, Rest: rest}}}}
		}
		if t := r.Cand.Traces[0]; x.saved {
			t.pooled = true
			r.Cand.saved = []*Trace{{Sample: &sample.Sample{Requests: t.Sample.Requests}}}
			t.Sample.Requests = &sample.Requests{Kind: "tcp", Groups: []sample.RequestGroup{{Name: "main.a", RequestSet: sample.RequestSet{Count: 15}}}}
		}
		q := quantity("p99(request)", "")
		r.Rows = []Row{{Section: SectionRequests, Group: "main.a", of: &q, Few: 1, Ratio: &stat.Interval{Est: x.times}, Base: Values{X: []float64{5e6}, Median: 5e6}, Cand: Values{X: []float64{38e6}, Median: 38e6}}}
		if r.judge(); r.Verdict != x.want {
			t.Errorf("%+v: %s", x, r.Verdict)
		}
	}
}

// TestHung checks that the side of which a greater part of the requests hangs is the worse one, whatever those take that
// ended, and that nothing is better where none ended.
func TestHung(t *testing.T) {
	hang := func(n, ended int64) *findings.Open {
		return &findings.Open{Kind: "http", Name: "main.a", Count: n, Ended: ended, Longest: s, Hang: true, Waits: "waits for a lock in main.get"}
	}
	open := func(n int64) *findings.Open {
		return &findings.Open{Kind: "http", Name: "main.a", Count: n, Longest: s}
	}
	for _, x := range []struct {
		base, cand       *findings.Open
		baseEnded        int64
		candEnded, sides int64
		want, headline   string
		part             bool
	}{
		{nil, hang(8, 92), 100, 92, 1, Worse, "requests hang in new: 8 of 100, for up to 1.00s; none in old, of 100", true},
		{hang(8, 92), nil, 92, 100, 1, Better, "requests hang only in old: 8 of 100, for up to 1.00s; none in new, of 100", true},
		{hang(8, 92), nil, 92, 0, 1, Unknown, "requests hang in old: 8 of 100, for up to 1.00s; in new none ended", true},
		{hang(8, 92), hang(30, 70), 92, 70, 1, Worse, "more requests hang in new: 30 of 100", true},
		{hang(30, 70), hang(8, 92), 70, 92, 1, Better, "fewer requests hang in new: 8 of 100", true},
		{hang(8, 92), hang(100, 0), 92, 0, 1, Worse, "more requests hang in new: 100 of 100", true},
		{hang(100, 0), hang(8, 92), 0, 92, 1, Better, "fewer requests hang in new: 8 of 100", true},
		{hang(8, 92), hang(9, 91), 92, 91, 1, Same, "main.a: p50 5.00 -> 5.00ms (1.00x), p99 10.0 -> 10.0ms (1.00x), 92.0 -> 91.0 requests per second; requests hang on both sides: 8 of 100 in old, 9 of 100 in new", false},
		{hang(90, 0), hang(100, 0), 0, 0, 1, Same, "requests hang on both sides: in old 90 of 90", true},
		{hang(1, 1000), hang(2, 1000), 1000, 1000, 1, Same, "main.a: ", false}, // by chance
		{hang(1, 1000), nil, 1000, 1000, 6, Better, "requests hang only in old: 6 of 6,006", true},
		{open(100), hang(8, 92), 0, 92, 1, Better, "fewer requests hang in new: 8 of 100", true}, // they end there: no streams
		{nil, open(100), 100, 0, 1, Worse, "requests hang in new: 100 of 100", true},
		{open(100), hang(100, 0), 0, 0, 1, Unknown, "requests hang in new: 100 of 100, for up to 1.00s; in old none of 100 ended", true},
		{open(3), open(3), 100, 100, 1, Same, "main.a: ", false}, // streams of another handler
	} {
		with := func(name string, o *findings.Open, ended int64) Side {
			v := side(name, slices.Repeat([]float64{1}, int(x.sides))...)
			for _, t := range v.Traces {
				if t.Sample.Open = o; ended > 0 {
					set := sample.RequestSet{Count: ended, Total: model.Duration(ended) * 5 * ms, P50: 5 * ms, P99: 10 * ms}
					t.Sample.Requests = &sample.Requests{Kind: "http", RequestSet: set, Groups: []sample.RequestGroup{{Name: "main.a", RequestSet: set}}}
				}
			}
			return v
		}
		if x.base != nil && x.cand != nil && !x.base.Hang && !x.cand.Hang {
			x.base.Name, x.cand.Name = "main.stream", "main.stream"
		}
		r := Of(with("old", x.base, x.baseEnded), with("new", x.cand, x.candEnded), "")
		if r.Verdict != x.want || !strings.HasPrefix(r.Headline, x.headline) || x.part && r.Part == "" && (x.base == nil || x.base.Hang) && (x.cand == nil || x.cand.Hang) {
			t.Errorf("%+v and %+v: %s %s | %s", x.base, x.cand, r.Verdict, r.Headline, r.Part)
		}
	}
	base, cand := side("old", six(1)...), side("new", six(1)...)
	base.Traces[0].Sample.Open = hang(8, 92)
	cand.Traces[0].Sample.Requests = &sample.Requests{Kind: "http", RequestSet: sample.RequestSet{Count: 100}}
	if r := Of(base, cand, ""); r.Verdict != Unknown || !strings.HasPrefix(r.Headline, "requests hang in 1 of 6 traces of old: 8 of 100, for up to 1.00s; none in new, which may be chance") {
		t.Errorf("one of six: %s %s", r.Verdict, r.Headline)
	}
}

// TestBatch checks that how long the work took goes before waiting to run, and that less waiting is not better where
// that is not known or the work took longer.
func TestBatch(t *testing.T) {
	for _, x := range []struct {
		base, cand [3]float64 // waiting, how long the run took, and batches per second
		want       string
	}{
		{[3]float64{2, 1, 0}, [3]float64{1, 10, 0}, "WORSE run: length 1.00 -> 10.0s (10.0x)"},
		{[3]float64{1, 10, 0}, [3]float64{10, 1, 0}, "BETTER run: length 10.0 -> 1.00s (0.10x)"},
		{[3]float64{4, 0, 20}, [3]float64{1, 0, 2}, "WORSE main.all: 20.0 -> 2.00 batches per second"},
		{[3]float64{4, 0, 20}, [3]float64{1, 0, 20}, "BETTER waiting to run: p99(runnable) 4.00 -> 1.00ms (0.25x)"},
		{[3]float64{4, 0, 20}, [3]float64{1, 0, 16}, "UNKNOWN waiting to run: p99(runnable) 4.00 -> 1.00ms (0.25x); but main.all: 20.0 -> 16.0 batches per second"},
		{[3]float64{4, 0, 0}, [3]float64{1, 0, 0}, "UNKNOWN waiting to run: p99(runnable) 4.00 -> 1.00ms (0.25x); but how long the work takes is not known"},
		{[3]float64{4, 0, 20}, [3]float64{1, 0, 19}, "UNKNOWN waiting to run: p99(runnable) 4.00 -> 1.00ms (0.25x); but how long the work takes is not known"},
		{[3]float64{1, 0, 20}, [3]float64{1, 0, 0.5}, "WORSE main.all: 20.0 -> 0 batches per second"},
		{[3]float64{1, 0, 16}, [3]float64{4, 0, 20}, "UNKNOWN waiting to run: p99(runnable) 1.00 -> 4.00ms (4.00x); but main.all: 16.0 -> 20.0 batches per second"},
		{[3]float64{1, 0, -1}, [3]float64{4, 0, -2}, "UNKNOWN waiting to run: p99(runnable) 1.00 -> 4.00ms (4.00x); but how long the work takes is not known"},
		{[3]float64{4, 0, -2}, [3]float64{1, 0, -1}, "UNKNOWN waiting to run: p99(runnable) 4.00 -> 1.00ms (0.25x); but how long the work takes is not known"},
		{[3]float64{1, 1, 0}, [3]float64{4, 1, 0}, "WORSE waiting to run: p99(runnable) 1.00 -> 4.00ms (4.00x)"},
		{[3]float64{4, 1, 0}, [3]float64{1, 1, 0}, "UNKNOWN waiting to run: p99(runnable) 4.00 -> 1.00ms (0.25x); but both ran for about as long"},
		{[3]float64{4, 1, 20}, [3]float64{1, 1, 10}, "WORSE main.all: 20.0 -> 10.0 batches per second"},
		{[3]float64{1, 1, 0}, [3]float64{1, 1.1, 0}, "SAME run: length 1.00 -> 1.10s (1.10x)"},
	} {
		with := func(name string, v [3]float64) Side {
			s := side(name, v[0])
			x := s.Traces[0].Sample
			if v[2] < 0 { // not known, and so many seconds of running
				x.Values["mean(run/s)"] = sample.Value{X: -v[2] * 1e9}
			}
			if x.Run = model.Duration(v[1] * 1e9); v[2] > 0 {
				x.Joins = []sample.Join{{Func: "main.all", Count: int64(v[2] * Seconds(x)), Total: x.To - x.From}}
				x.Values["mean(created/s)"] = sample.Value{X: 10 * v[2]}
				if v[2] == 19 { // of other batches
					x.Values["mean(created/s)"] = sample.Value{X: 20 * v[2]}
				}
			}
			return s
		}
		if r := Of(with("old", x.base), with("new", x.cand), ""); !strings.HasPrefix(r.Verdict+" "+r.Headline, x.want) {
			t.Errorf("got %s %s\nwant %s", r.Verdict, r.Headline, x.want)
		}
	}
}

// TestOtherWork checks that sides of which one did less, or in another way, are not the same: programs may run until a time has come.
func TestOtherWork(t *testing.T) {
	for _, x := range []struct {
		run         model.Duration
		wakes, runs float64
		want        string
	}{
		{1e9, 0.5, 0.5, "UNKNOWN run: length 1.00 -> 1.00s (1.00x); but there was less work, or it is done in another way: mean(wakes/s) 100 -> 50.0 (0.50x)"},
		{1e9, 2, 2, "UNKNOWN run: length 1.00 -> 1.00s (1.00x); but there was more work"},
		{0, 2, 2, "UNKNOWN waiting to run: p99(runnable) 1.00 -> 1.00ms (1.00x); but how long the work takes is not known"},
		{1e9, 0.5, 1, "SAME run"},
		{1e9, 0.5, 2, "SAME run"},
		{1e9, 0.8, 0.8, "SAME run"},
	} {
		old, now := side("old", 1), side("new", 1)
		for i, s := range []*sample.Sample{old.Traces[0].Sample, now.Traces[0].Sample} {
			s.Run = x.run
			s.Values["mean(wakes/s)"] = sample.Value{X: 100 * math.Pow(x.wakes, float64(i))}
			s.Values["mean(run/s)"] = sample.Value{X: 1e8 * math.Pow(x.runs, float64(i))}
		}
		if r := Of(old, now, ""); !strings.HasPrefix(r.Verdict+" "+r.Headline, x.want) {
			t.Errorf("got %s %s\nwant %s", r.Verdict, r.Headline, x.want)
		}
	}
}

// TestAnswers checks that more waiting to run is not worse where clients wait for answers of which none was found.
func TestAnswers(t *testing.T) {
	for n, want := range map[int64]string{0: "WORSE waiting", enoughRequests: "UNKNOWN waiting to run: p99(runnable) 1.00 -> 4.00ms (4.00x); but no requests were found"} {
		old, now := side("old", 1), side("new", 4)
		for _, s := range []*Side{&old, &now} {
			s.Traces[0].Sample.Run, s.Traces[0].Reasons = 1e9, []sample.Class{{Detail: "network", Count: n}}
		}
		if r := Of(old, now, ""); !strings.HasPrefix(r.Verdict+" "+r.Headline, want) {
			t.Errorf("of %d waits for the network: %s %s, want %s", n, r.Verdict, r.Headline, want)
		}
	}
}

// TestPacedHere checks that a batch which on one side alone has its own pace is compared, and one that only one side has is
// named.
func TestPacedHere(t *testing.T) {
	for _, x := range []struct {
		base, cand []sample.Join
		want, only string
	}{
		{[]sample.Join{{Func: "main.all", Count: 20, Total: s}}, []sample.Join{{Func: "main.all", Count: 10, Total: s / 4}}, "WORSE main.all: 20.0 -> 10.0 batches per second", ""},
		{[]sample.Join{{Func: "main.all", Count: 20, Total: s / 4}}, []sample.Join{{Func: "main.all", Count: 10, Total: s / 4}}, "SAME waiting", ""},
		{[]sample.Join{{Func: "main.all", Count: 20, Total: s}, {Func: "main.other", Count: 20, Total: s / 4}}, []sample.Join{{Func: "main.other", Count: 5, Total: s}, {Func: "main.all", Count: 5, Total: s / 4}}, "WORSE main.other: 20.0 -> 5.00 batches per second", ""},
		{nil, []sample.Join{{Func: "main.all", Count: 10, Total: s}}, "SAME waiting", "seen only in new: 10 batches of main.all"},
		{[]sample.Join{{Func: "main.all", Count: 10, Total: s}}, nil, "SAME waiting", "seen only in old: 10 batches of main.all"},
	} {
		old, now := side("old", 1), side("new", 1)
		old.Traces[0].Sample.Joins, now.Traces[0].Sample.Joins = x.base, x.cand
		for _, t := range []*Trace{old.Traces[0], now.Traces[0]} {
			t.Sample.Values["mean(created/s)"] = sample.Value{}
		}
		if r := Of(old, now, ""); !strings.HasPrefix(r.Verdict+" "+r.Headline, x.want) || strings.Join(r.Only, "") != x.only {
			t.Errorf("got %s %s %q, want %s %q", r.Verdict, r.Headline, r.Only, x.want, x.only)
		}
	}
}

// TestPaced checks that the length counts also where one side waits for timers for most of the time, unless it is what it was:
// both may work until a time has come. Where the lengths differ, but not the number of batches, these say nothing more.
func TestPaced(t *testing.T) {
	for _, x := range []struct {
		length       float64 // of the candidate
		paced, other bool    // the candidate is, and the base
		batches      int64
		want         string
	}{
		{4, true, false, 0, "WORSE run: length 1.00 -> 4.00s (4.00x)"},
		{4, true, true, 0, "SAME waiting"},
		{1, true, false, 0, "SAME waiting"},
		{1, false, false, 0, "SAME run: length"},
		{1.1, false, false, 20, "SAME run: length"},
		{1.1, false, false, 5, "WORSE main.all: 20.0 -> 5.00 batches per second"},
	} {
		old, now := side("old", 1), side("new", 1)
		a, b := old.Traces[0].Sample, now.Traces[0].Sample
		a.Run, b.Run, a.Paced, b.Paced = s, model.Duration(x.length*float64(s)), x.other, x.paced
		if x.batches > 0 {
			a.Joins, b.Joins = []sample.Join{{Func: "main.all", Count: 20, Total: s}}, []sample.Join{{Func: "main.all", Count: x.batches, Total: s}}
			a.Values["mean(created/s)"], b.Values["mean(created/s)"] = sample.Value{X: 20}, sample.Value{X: float64(x.batches)}
		}
		if r := Of(old, now, ""); !strings.HasPrefix(r.Verdict+" "+r.Headline, x.want) {
			t.Errorf("%+v: %s %s", x, r.Verdict, r.Headline)
		}
	}
}

// TestBusier checks what is said where requests take what they took, and the CPUs are busy with something else; and that less
// waiting is not better where less ran.
func TestBusier(t *testing.T) {
	for _, x := range []struct {
		ran, wait float64
		requests  bool
		want      string
	}{
		{4, 1, true, "but the CPUs are busier: mean(run/s) 1.00 -> 4.00s (4.00x)"},
		{0.25, 1, true, "but the CPUs are less busy: mean(run/s) 1.00s -> 250ms (0.25x)"},
		{1.2, 1, true, "requests per second"},
		{0.6, 0.2, false, "but that may be that of other work: mean(run/s) 1.00s -> 600ms (0.60x)"},
	} {
		old, now := side("old", 1), side("new", x.wait)
		for _, y := range []struct {
			*Side
			ran float64
		}{{&old, 1}, {&now, x.ran}} {
			v := y.Traces[0].Sample
			v.Values["mean(run/s)"] = sample.Value{X: 1e9 * y.ran}
			if x.requests {
				v.Requests = &sample.Requests{Kind: "http", RequestSet: sample.RequestSet{Count: 100}}
			} else {
				v.Joins = []sample.Join{{Func: "main.all", Count: 20, Total: s}}
				v.Values["mean(created/s)"] = sample.Value{X: 20}
			}
		}
		if r := Of(old, now, ""); !strings.HasSuffix(r.Headline, x.want) {
			t.Errorf("%+v: %s %s", x, r.Verdict, r.Headline)
		}
	}
}

// TestLeaked checks that the side on which goroutines pile up is the worse one.
func TestLeaked(t *testing.T) {
	leak := &findings.Leak{Func: "main.follow", Left: 900, Added: 800}
	for _, x := range []struct {
		base, cand *findings.Leak
		wait       float64
		want       string
	}{
		{nil, leak, 1, "WORSE goroutines of main.follow pile up in new, not in old: 800 more at the end than at the beginning; waiting to run: "},
		{leak, nil, 1, "BETTER goroutines of main.follow pile up in old, not in new: "},
		{leak, nil, 0.2, "BETTER goroutines of main.follow pile up in old, not in new: 800 more at the end than at the beginning; waiting to run: p99(runnable) 1.00ms -> 200µs (0.20x); but how long"},
		{leak, leak, 1, "SAME waiting to run: "},
		{nil, leak, 3, "WORSE waiting to run: p99(runnable) 1.00 -> 3.00ms (3.00x); also worse: goroutines of main.follow pile up in new"},
		{leak, nil, 3, "WORSE waiting to run: p99(runnable) 1.00 -> 3.00ms (3.00x); better: goroutines of main.follow pile up in old"},
	} {
		old, now := side("old", 1), side("new", x.wait)
		old.Traces[0].Sample.Leak, now.Traces[0].Sample.Leak = x.base, x.cand
		if r := Of(old, now, ""); !strings.HasPrefix(r.Verdict+" "+r.Headline, x.want) {
			t.Errorf("got %s %s, want %s", r.Verdict, r.Headline, x.want)
		}
	}
}

// TestHeld checks that the side on which a lock holds goroutines up, or what accepts connections waits, is the worse one:
// a lock only where there is nothing but waits to run.
func TestHeld(t *testing.T) {
	lock, accepts := findings.Held{Title: "main.put holds a lock", Share: 3, Lock: true}, findings.Held{Title: "main.(*limit).Accept waits", Share: 0.9}
	for _, x := range []struct {
		base, cand []findings.Held
		want       string
	}{
		{nil, []findings.Held{lock}, "WORSE main.put holds a lock in new: 3 goroutines wait at a time on average, 0 in old; waiting to run: "},
		{[]findings.Held{lock}, nil, "BETTER main.put holds a lock in old: "},
		{[]findings.Held{lock}, []findings.Held{lock}, "SAME waiting to run: "},
		{nil, []findings.Held{accepts}, "WORSE main.(*limit).Accept waits in new: 0.9 goroutines"},
		{nil, []findings.Held{{Title: "main.put holds a lock", Share: 0.1, Lock: true}}, "SAME waiting to run: "},
		{[]findings.Held{{Share: 0.8}}, []findings.Held{accepts}, "SAME waiting to run: "}, // too few times to be named
		{[]findings.Held{{Share: 2, Lock: true}}, []findings.Held{lock}, "SAME waiting to run: "},
	} {
		old, now := side("old", 1), side("new", 1)
		none := findings.Held{Lock: true}
		old.Traces[0].Sample.Held, now.Traces[0].Sample.Held = append(x.base, none), append(x.cand, none)
		if r := Of(old, now, ""); !strings.HasPrefix(r.Verdict+" "+r.Headline, x.want) {
			t.Errorf("got %s %s, want %s", r.Verdict, r.Headline, x.want)
		}
		old.Traces[0].Sample.Held = nil // of a set that an older version wrote
		if r := Of(old, now, ""); !strings.HasPrefix(r.Verdict+" "+r.Headline, "SAME waiting to run: ") {
			t.Errorf("without a measure: %s %s", r.Verdict, r.Headline)
		}
	}
}

// TestFewOfOtherLoad checks that a rate of which there is too little says nothing where the load differs.
func TestFewOfOtherLoad(t *testing.T) {
	for span, want := range map[model.Duration]string{s / 2: Same, 2 * s: Unknown} { // of half as many per second
		r := &Result{Base: side("old", 1), Cand: side("new", 1)}
		r.Cand.Traces[0].Sample.To = span
		r.Base.Traces[0].Sample.To = s
		q := quantity("mean(requests/s)", "")
		r.Rows = []Row{{Section: SectionRequests, Group: "main.a", of: &q, Few: 1, Ratio: &stat.Interval{Est: 0.5},
			Base: Values{X: []float64{100}, Median: 100}, Cand: Values{X: []float64{50}, Median: 50}}}
		if r.judge(); r.Verdict != want {
			t.Errorf("in %d ns: %s, want %s", span, r.Verdict, want)
		}
	}
}
