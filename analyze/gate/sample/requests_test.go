package sample

import (
	"math"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
)

// TestRequests checks that what rules know of requests is what reports say.
func TestRequests(t *testing.T) {
	var texts []string
	for k := range requests.NumKinds {
		for _, part := range []string{"request.", "request.path."} {
			texts = append(texts, "sum("+part+k.String()+"{kind=http})")
		}
	}
	if len(rule.RequestKinds) != int(requests.NumKinds) {
		t.Errorf("rules have the kinds %q", rule.RequestKinds)
	}
	const none = "sum(request{kind=grpc})"
	spec := specOf(t, "all", "", append(texts, "sum(request)", "sum(requests)", "max(request)", "p50(request)", "p99(request.lock)", "mean(request{name=*.render})",
		"share(request{name=*.render})", "p50(request{name=no.body})", none)...)
	var report *analyze.Report
	x := mustRead(t, fixture(t, "http.trace"), Input{}, spec, Options{Report: func(r *analyze.Report) { report = r }})
	v := &result.Report{}
	report.Requests.Result(v)
	http := &v.Requests[0]
	want := map[string]float64{"sum(request)": float64(http.Total), "sum(requests)": float64(http.Count), "max(request)": float64(http.Max)}
	for _, text := range texts {
		want[text] = 0
	}
	for _, p := range http.Own {
		want["sum(request."+p.Name+"{kind=http})"] = float64(p.Total)
	}
	for _, p := range http.Path {
		want["sum(request.path."+p.Name+"{kind=http})"] = float64(p.Total)
	}
	h := http.Handlers[slices.IndexFunc(http.Handlers, func(h result.RequestHandler) bool { return h.Name == "main.render" })]
	want["mean(request{name=*.render})"] = float64(h.Total) / float64(h.Count)
	want["share(request{name=*.render})"] = float64(h.Total) / float64(http.Total)
	for key, w := range want {
		if got, ok := x.Values[key]; !ok || math.Abs(got.X-w) > 1e-9*w {
			t.Errorf("%s is %v, want %v (%s)", key, got.X, w, x.Missing[key])
		}
	}
	if got := x.Values["p50(request)"]; math.Abs(got.X/float64(http.P50)-1) > 0.05 || got.N != http.Count {
		t.Errorf("p50 is %+v, want %v", got, http.P50)
	}
	if got := x.Values["p99(request.lock)"]; got.X < 1e6 || got.N != http.Count {
		t.Errorf("p99 of locks is %+v", got)
	}
	// They are ops where nothing else is, and in groups.
	if x.Ops != http.Count {
		t.Errorf("%d ops, want the %d requests", x.Ops, http.Count)
	}
	sets := http.Sets()
	if r := x.Requests; r.Kind != "http" || r.Count != http.Count || r.P99 != http.P99 || r.Total != http.Total || len(r.Groups) != len(sets) || len(r.Tail) == 0 || len(r.Usual) == 0 {
		t.Errorf("requests %+v", r)
	}
	for i, g := range x.Requests.Groups {
		if w := &sets[i]; g.Name != w.Name || g.Count != w.Count || g.P50 != w.P50 || g.P99 != w.P99 {
			t.Errorf("group %d: %+v", i, g)
		}
	}
	if why := x.Missing["p50(request{name=no.body})"]; !Absent(why) {
		t.Errorf("nobody's requests: %q", why)
	}
	if why := x.Missing[none]; why == "" || Absent(why) {
		t.Errorf("%s: %q, %v", none, why, x.Values[none])
	}
}

// TestOtherKind checks that requests of the kind with the most time are measured whatever it is.
func TestOtherKind(t *testing.T) {
	x := mustRead(t, fixture(t, "echo.go1.26.p4.trace"), Input{}, specOf(t, "all", "", "sum(request)", "p99(request)", "p50(request.network)", "sum(requests)"), Options{})
	equal(t, "kind", x.Requests.Kind, "tcp")
	equal(t, "time", val(t, x, "sum(request)").X, float64(x.Requests.Total))
	equal(t, "p99", val(t, x, "p99(request)").X, float64(x.Requests.P99))
	equal(t, "number", val(t, x, "sum(requests)").N, x.Requests.Count)
	equal(t, "parts", val(t, x, "p50(request.network)").N, x.Requests.Count)
}

// TestNoRequests checks that a trace without requests keeps no rule on them.
func TestNoRequests(t *testing.T) {
	spec := specOf(t, "all", "", "sum(request)", "mean(request.lock/s)", "p99(request)", "sum(requests)", "share(request.path.lock{name=x})", "sum(request.lock{name=*})")
	x := mustRead(t, fixture(t, "timers.go1.26.p4.trace"), Input{}, spec, Options{})
	for _, q := range spec.Quantities {
		if _, ok := x.Values[q.String()]; ok || Absent(x.Missing[q.String()]) {
			t.Errorf("%s is %v: %s", q, x.Values[q.String()], x.Missing[q.String()])
		}
	}
}
