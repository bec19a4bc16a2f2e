package findings_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// distOf returns the distribution of some lengths.
func distOf(list ...model.Duration) result.Dist {
	var d dist.Dist
	for _, x := range list {
		d.Add(x, 0)
	}
	return result.NewDist(&d)
}

// TestObjectivesOfUnseen checks objectives for a handler that is not seen in all requests against all
// ways in which the others may belong to it, and those for all requests against these.
func TestObjectivesOfUnseen(t *testing.T) {
	const handler, group = "main.route", "main.route:"
	random := rand.New(rand.NewPCG(1, 2))
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	states := map[string]int{}
	for range 50 {
		lengths, longest := make([]model.Duration, 20), 1+random.IntN(8) // of those that are seen
		for i := range lengths {
			if i == 12 {
				longest = 8
			}
			lengths[i] = model.Duration(1+random.IntN(longest)) * 1e6
		}
		seen, others := lengths[:12], lengths[12:]
		named := func(name string, list []model.Duration) result.RequestHandler {
			return result.RequestHandler{Named: result.Named{Name: name, Dist: distOf(list...)}}
		}
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(lengths...)},
			Handlers: []result.RequestHandler{named(handler, seen), named(result.NoName, others)}}}
		p, limit := 10*(1+random.IntN(9)), model.Duration(random.IntN(9))*1e6+5e5
		met, missed := true, true
		for mask := range 1 << len(others) {
			some := seen[:len(seen):len(seen)]
			for i, x := range others {
				if mask>>i&1 > 0 {
					some = append(some, x)
				}
			}
			d := distOf(some...)
			if d.Values().Quantile(float64(p)/100) <= limit {
				missed = false
			} else {
				met = false
			}
		}
		want := "unknown"
		switch {
		case met:
			want = "met"
		case missed:
			want = "missed"
		}
		all := "missed"
		if v.Requests[0].Dist.Values().Quantile(float64(p)/100) <= limit {
			all = "met"
		}
		states[want]++
		calls := map[string]string{"met": "met", "missed": "unknown"}[all] // of a function, those that do not wait are not seen
		for _, x := range [][3]string{{"http", group, want}, {"http", "", all}, {"func", "", calls}} {
			v.Requests[0].Kind = x[0]
			prefix, want := x[1], x[2]
			list, err := findings.ParseObjectives(fmt.Sprintf("%sp%d=%dns", prefix, p, limit))
			if err != nil {
				t.Fatal(err)
			}
			findings.Judge(v, list...)
			if o := &v.Verdict.Objectives[0]; o.State != want || o.State == "unknown" && o.Most == 0 {
				t.Errorf("seen %v, others %v: %+v, want %s", seen, others, o, want)
			}
		}
	}
	if len(states) != 3 {
		t.Errorf("only %v", states)
	}
}

// TestProposed checks that the objective which the verdict proposes for a slow group next to others is met.
func TestProposed(t *testing.T) {
	const ms = model.Duration(1e6)
	group := func(name string, n int, d model.Duration, kind string) result.RequestGroup {
		return result.RequestGroup{Name: name, RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{d}, n)...), Tails: []result.RequestTail{
			{Count: 1, Total: d, Middle: result.RequestMiddle{Count: int64(n), Total: model.Duration(n) * d}, Groups: []result.RequestRow{{Kind: kind, Function: "main.f", Middle: model.Duration(n) * d}}}}}}
	}
	for _, others := range []model.Duration{ms, 30 * ms} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		k := result.RequestKind{Kind: "http", Groups: []result.RequestGroup{group("main.slow", 20, 20*ms, "sleep"), group(result.NoName, 200, others, "unknown")}}
		for _, g := range k.Groups {
			k.Handlers = append(k.Handlers, result.RequestHandler{Named: result.Named{Name: g.Name, Dist: g.Dist}})
		}
		v.Requests = []result.RequestKind{k}
		findings.Judge(v)
		_, slo, _ := strings.Cut(v.Verdict.Text, "--slo ")
		slo, _, ok := strings.Cut(slo, " accepts that")
		list, err := findings.ParseObjectives(slo)
		if !ok || err != nil {
			t.Fatalf("%q: %v", v.Verdict.Text, err)
		}
		if findings.Judge(v, list...); v.Verdict.Objectives[0].State != "met" {
			t.Errorf("others of %v: %+v", others, v.Verdict.Objectives)
		}
	}
}

// TestObjectivesMet checks that objectives which all requests meet decide, also where the machine disturbed
// the program, which the verdict says all the same.
func TestObjectivesMet(t *testing.T) {
	for objective, want := range map[string]string{"p99=1h": findings.Healthy, "nothing:p99=1h": findings.Disturbed} {
		v := resulttest.Read(t, "http.trace")
		l := &v.Latency.All
		v.Procs.Utilisation, v.Totals.Span, l.P99 = 0.05, 100*l.Total, 2_000_000
		v.Requests[0].Groups = nil
		v.Requests[0].Tails = nil
		list, err := findings.ParseObjectives(objective)
		if err != nil {
			t.Fatal(err)
		}
		findings.Judge(v, list...)
		if v.Verdict.Word != want || v.Verdict.Machine == "" {
			t.Errorf("%s: %s %s (%s), want %s", objective, v.Verdict.Word, v.Verdict.Text, v.Verdict.Machine, want)
		}
	}
}

// TestOthers checks what is said of a slow group where other requests, which are quick, show no handler: its
// typical request may be one of them only if they are more.
func TestOthers(t *testing.T) {
	const ms = model.Duration(1e6)
	for others, want := range map[int]string{0: "SLOW, not only the slowest.", 15: "SLOW, not only the slowest.", 25: "SLOW TAIL; of 25 others the handler is not seen.", 985: "SLOW TAIL; of 985 others the handler is not seen.", 1985: "HEALTHY"} {
		group := func(name string, n int, d model.Duration, row result.RequestRow) result.RequestGroup {
			row.Middle = model.Duration(n) * d
			return result.RequestGroup{Name: name, RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{d}, n)...), Tails: []result.RequestTail{
				{Count: 1, Total: d, Middle: result.RequestMiddle{Count: int64(n), Total: model.Duration(n) * d}, Groups: []result.RequestRow{row}}}}}
		}
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		k := result.RequestKind{Kind: "http", Groups: []result.RequestGroup{group("main.slow", 20, 20*ms, result.RequestRow{Kind: "lock", Function: "main.slow"}),
			group(result.NoName, others, ms, result.RequestRow{Kind: "running"})}}
		for _, g := range k.Groups {
			k.Handlers = append(k.Handlers, result.RequestHandler{Named: result.Named{Name: g.Name, Dist: g.Dist}})
		}
		v.Requests = []result.RequestKind{k}
		findings.Judge(v)
		_, said, _ := strings.Cut(v.Verdict.Text, " take 20.0ms and more")
		if got := v.Verdict.Word + said; got != want || (others == 25 || others == 985) != strings.HasPrefix(v.Verdict.Text, "Of the 20 main.slow that waited half take ") || others >= 25 != findings.Unseen(v) {
			t.Errorf("of %d others: %q (%s), want %q", others, got, v.Verdict.Text, want)
		}
	}
}

// TestOnlyHandler checks that an objective for the only handler that is seen decides for requests of which most
// show none, also if it is met.
func TestOnlyHandler(t *testing.T) {
	const ms = model.Duration(1e6)
	lengths := append(slices.Repeat([]model.Duration{ms}, 80), slices.Repeat([]model.Duration{60 * ms}, 20)...)
	for slo, want := range map[string]string{"": findings.SlowTail, "main.route:p90=70ms": findings.Healthy, "route:p95=50ms": findings.SlowTail, "main.other:p90=70ms": findings.SlowTail} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests = []result.RequestKind{{Kind: "http", RequestSet: result.RequestSet{Dist: distOf(lengths...), Tails: []result.RequestTail{{Count: 5, From: 60 * ms, Total: 300 * ms,
			Middle: result.RequestMiddle{Count: 10, Total: 10 * ms}, Groups: []result.RequestRow{{Kind: "network", Function: "main.get", Slow: 300 * ms, Have: 5}}}}},
			Handlers: []result.RequestHandler{{Named: result.Named{Name: "main.route", Dist: distOf(lengths[80:]...)}}, {Named: result.Named{Name: result.NoName, Dist: distOf(lengths[:80]...)}}}}}
		var list []result.Objective
		if slo != "" {
			list, _ = findings.ParseObjectives(slo)
		}
		findings.Judge(v, list...)
		if v.Verdict.Word != want {
			t.Errorf("%q: %s %s %v, want %s", slo, v.Verdict.Word, v.Verdict.Text, v.Verdict.Objectives, want)
		}
	}
}

// TestOtherGroup checks that an objective for the only handler that is seen does not decide for requests that are a group
// next to its own.
func TestOtherGroup(t *testing.T) {
	const ms = model.Duration(1e6)
	seen, others := slices.Repeat([]model.Duration{300 * ms}, 40), append(slices.Repeat([]model.Duration{ms}, 80), slices.Repeat([]model.Duration{60 * ms}, 20)...)
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	set := func(lengths []model.Duration, tails ...result.RequestTail) result.RequestSet {
		return result.RequestSet{Dist: distOf(lengths...), Tails: tails}
	}
	tail := result.RequestTail{Count: 5, From: 60 * ms, Total: 300 * ms,
		Middle: result.RequestMiddle{Count: 10, Total: 10 * ms}, Groups: []result.RequestRow{{Kind: "network", Function: "main.get", Slow: 300 * ms, Have: 5}}}
	v.Requests = []result.RequestKind{{Kind: "http", RequestSet: set(append(slices.Clone(others), seen...)),
		Groups:   []result.RequestGroup{{Name: "main.route", RequestSet: set(seen)}, {Name: result.NoName, RequestSet: set(others, tail)}},
		Handlers: []result.RequestHandler{{Named: result.Named{Name: "main.route", Dist: distOf(seen...)}}, {Named: result.Named{Name: result.NoName, Dist: distOf(others...)}}}}}
	list, err := findings.ParseObjectives("main.route:p50=400ms")
	findings.Judge(v, list...)
	if err != nil || v.Verdict.Word != findings.SlowTail || v.Verdict.Objectives[0].State != "met" {
		t.Errorf("%s %s %v, want %s", v.Verdict.Word, v.Verdict.Text, v.Verdict.Objectives, findings.SlowTail)
	}
}

// TestOthersHeldUp checks that where all objectives are met, but not for all requests, goroutines that are held up
// without the scheduler are no item.
func TestOthersHeldUp(t *testing.T) {
	const ms = model.Duration(1e6)
	for slo, want := range map[string]bool{"p50=5ms": true, "p50=500ms": false} {
		v := resulttest.Read(t, "mutex.go1.26.p4.trace")
		set := func(name string) result.RequestGroup {
			return result.RequestGroup{Name: name, RequestSet: result.RequestSet{Dist: distOf(slices.Repeat([]model.Duration{100 * ms}, 40)...),
				Tails: []result.RequestTail{{Count: 1, Total: 100 * ms, Middle: result.RequestMiddle{Count: 8, Total: 800 * ms}}}}}
		}
		k := result.RequestKind{Kind: "http", Groups: []result.RequestGroup{set("main.a"), set("main.b")}}
		for _, g := range k.Groups {
			k.Handlers = append(k.Handlers, result.RequestHandler{Named: result.Named{Name: g.Name, Dist: g.Dist}})
		}
		v.Requests = []result.RequestKind{k}
		list, err := findings.ParseObjectives("main.a:" + slo)
		if err != nil {
			t.Fatal(err)
		}
		findings.Judge(v, list...)
		if got := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "lock" && f.Title != "" }); got != want {
			t.Errorf("%s: the lock is an item: %t; %s %s %v", slo, got, v.Verdict.Word, v.Verdict.Text, v.Verdict.Objectives)
		}
	}
}

// TestObjectiveOfOpen checks that requests of an inferred kind that are open for longer than an objective leave it open, and
// that a handler of too few requests is one that is called so.
func TestObjectiveOfOpen(t *testing.T) {
	const ms = model.Duration(1e6)
	for _, x := range []struct {
		open        int
		group, text string
	}{
		{-9, "", "9 requests of main.serve did not end for up to 1.00s: they wait for a lock in main.wait (main.go:7) that nobody releases"},
		{9, "", "Requests that did not end may miss the objective. 9 requests of main.serve did not end for up to 1.00s: streams or long polls, or they hang in main.wait (main.go:7)"},
		{1, "", "Nothing here needs fixing"},
		{0, "main.rare", "There are too few requests of main.rare to judge the objective: 3."},
		{0, "main.none", "No group of requests is called main.none, for which there is an objective: there are tcp, main.serve, main.rare. Did you mean main.rare?"},
		{0, "raer", "No group of requests is called raer, for which there is an objective: there are tcp, main.serve, main.rare. Did you mean rare?"},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Requests, v.Totals.Span = []result.RequestKind{*resulttest.Read(t, "http.trace").MainRequests()}, 1000*ms
		k := &v.Requests[0]
		k.Kind, k.Groups, k.Tails = "tcp", nil, nil
		kind := "channel"
		h := k.Handlers[slices.IndexFunc(k.Handlers, func(h result.RequestHandler) bool { return result.Handled(h.Name) && h.Count >= 20 })]
		h.Name = "main.serve"
		rare := result.RequestHandler{Named: result.Named{Name: "main.rare", Dist: result.Dist{Count: 3}}}
		if x.open < 0 { // of which none ended
			k.Kind, kind, x.open = "http", "lock", -x.open
			k.RequestSet = result.RequestSet{}
			h.Dist = result.Dist{}
		}
		for range x.open {
			h.Open.Add(1000*ms, model.Time(1000*ms))
			k.Unended = append(k.Unended, result.RequestPath{Name: "main.serve", Duration: 1000 * ms, Parts: []result.RequestPart{{Length: 1000 * ms, Kind: kind, Function: "main.wait", File: "x/main.go", Line: 7}}})
		}
		k.Handlers = []result.RequestHandler{h, rare}
		findings.Judge(v, result.Objective{Group: x.group, Quantile: 0.99, Limit: 500 * ms})
		if o := v.Verdict.Objectives[0]; !strings.HasPrefix(v.Verdict.Text, x.text) || (o.State == "missed") != (kind == "lock") {
			t.Errorf("%+v: %s %s %+v", x, v.Verdict.Word, v.Verdict.Text, v.Verdict.Objectives)
		}
	}
}

// TestObjectiveOfUnended checks that requests that do not end miss an objective if enough of them are longer for sure.
func TestObjectiveOfUnended(t *testing.T) {
	const ms = model.Duration(1e6)
	for _, x := range []struct {
		total model.Duration // of eight that did not end, the longest for a second
		state string
	}{{8000 * ms, "missed"}, {1000 * ms, "met"}} {
		v := resulttest.Read(t, "http.trace")
		k := v.MainRequests()
		v.Requests, v.Totals.Span = []result.RequestKind{*k}, 1000*ms
		k = &v.Requests[0]
		i := slices.IndexFunc(k.Handlers, func(h result.RequestHandler) bool { return result.Handled(h.Name) && h.Count >= 20 })
		k.Handlers = []result.RequestHandler{k.Handlers[i]}
		h := &k.Handlers[0]
		h.Censored = result.Tally{Count: 8, Total: x.total, Max: 1000 * ms, MaxAt: model.Time(1000 * ms)}
		findings.Judge(v, result.Objective{Quantile: 0.99, Limit: 500 * ms})
		if o := v.Verdict.Objectives[0]; o.State != x.state || v.Verdict.Word != findings.Slow {
			t.Errorf("of %d ns: %s %+v", x.total, v.Verdict.Word, o)
		}
	}
}

// TestNoneOfGroup: a group of which no request is whole says nothing of the others.
func TestNoneOfGroup(t *testing.T) {
	r := &result.Report{Requests: []result.RequestKind{{Kind: "http",
		Handlers: []result.RequestHandler{{Named: result.Named{Name: result.NoName, Dist: distOf(100, 200)}}},
		Groups:   []result.RequestGroup{{Name: "main.subscribe", RequestSet: result.RequestSet{Dist: distOf()}}}}}}
	if findings.Unseen(r) {
		t.Error("got that the others may change what is typical of none")
	}
}
