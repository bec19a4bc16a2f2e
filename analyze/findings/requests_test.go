package findings_test

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/model"
)

// TestSlowRequests checks what is said of the slowest requests, where the cause is known: waiting
// for one lock for two reasons counts as one, and nothing is said where nothing is slow.
func TestSlowRequests(t *testing.T) {
	const ms = model.Duration(1e6)
	get := func(kind, fn string, slow, middle model.Duration) result.RequestRow {
		return result.RequestRow{Kind: kind, Function: fn, File: "store.go", Wait: "lock", Waiter: "main.get", WaitFile: "get.go", Inferred: true, Slow: slow, Middle: middle, Have: 4}
	}
	v := resulttest.Read(t, "quiet.go1.26.p4.trace")
	tail := result.RequestTail{Count: 5, Total: 50 * ms, From: 8 * ms, Middle: result.RequestMiddle{Count: 10, Total: 10 * ms},
		Rows: []result.RequestRow{get("runnable", "", 25*ms, 0), get("running", "main.rebuild", 20*ms, 0),
			{Kind: "running", Function: "main.serve", Slow: 5 * ms, Middle: 10 * ms, Have: 5}},
		Groups: []result.RequestRow{{Kind: "lock", Function: "main.get", File: "get.go", Line: 3, Slow: 45 * ms, Have: 5},
			{Kind: "running", Function: "main.serve", Slow: 5 * ms, Middle: 10 * ms, Have: 5}}}
	v.Requests = []result.RequestKind{{Kind: "http", Dist: result.Dist{Count: 10, Total: 500 * ms}}, {Kind: "grpc", Dist: result.Dist{Count: 20, Total: 90 * ms, Max: 10 * ms},
		Listed: 100, Certain: 90, Codeless: 21, Tails: []result.RequestTail{tail}}}
	findings.Judge(v)
	var diagnoses []result.Finding
	for _, f := range v.Findings {
		if f.Kind == findings.SlowRequests {
			diagnoses = append(diagnoses, f)
		}
	}
	lead := findings.Lead(v.Findings)
	for _, want := range []string{"Requests (grpc): 20,", "90% of path time", "The slowest 5 (from 8.00ms on) take 9.00ms longer", "21% of the time on the paths ran code that no stack shows"} {
		if !strings.Contains(lead[0].Text, want) {
			t.Errorf("the first finding is %q, want %q in it", lead[0].Text, want)
		}
	}
	if len(lead) != 2 || lead[1].Kind != "no-notable-waiting" || strings.Contains(lead[1].Text, "healthy") {
		t.Errorf("after that come %+v, want scheduling latency in one line", lead[1:])
	}
	if len(diagnoses) != 1 {
		t.Fatalf("%d diagnoses, want one: %+v", len(diagnoses), diagnoses)
	}
	d := diagnoses[0]
	if want := "waiting for the lock in main.get (get.go:3), held while main.rebuild (store.go) ran (inferred)"; d.Title != want {
		t.Errorf("it is %q, want %q", d.Title, want)
	}
	if want := "+9.00ms on average, 100% of the difference, 5 of 5 have it"; d.Text != want || d.Grade != result.Inferred || d.Advice == "" {
		t.Errorf("it is %q, %v, %q, want %q, inferred, and advice", d.Text, d.Grade, d.Advice, want)
	}
	v.Requests[1].Tails[0].Total = 7 * ms
	findings.Judge(v)
	if f := v.Findings[0]; !strings.Contains(f.Text, "not much slower") || v.Findings[1].Kind == findings.SlowRequests || v.Findings[len(lead)-1].Title != "" {
		t.Errorf("of requests that are not slow: %+v", v.Findings)
	}
}

// TestTailsAddUp checks that rows and groups of tails add up, each group of its rows.
func TestTailsAddUp(t *testing.T) {
	for _, name := range []string{"http.trace", "tasks.go1.26.p4.trace", "forward.go1.26.p4.trace"} {
		v := resulttest.Read(t, name)
		for _, k := range v.Requests {
			for _, x := range k.Tails {
				slow, middle := x.Total, x.Middle.Total
				for _, g := range x.Groups {
					slow, middle = slow-g.Slow, middle-g.Middle
					for _, r := range x.Rows {
						if r.InGroup(&g) {
							g.Slow, g.Middle = g.Slow-r.Slow, g.Middle-r.Middle
						}
					}
					if g.Slow != 0 || g.Middle != 0 {
						t.Errorf("%s: %s: %+v is not the sum of its rows", name, k.Kind, g)
					}
				}
				if slow != 0 || middle != 0 || len(x.Groups) == 0 {
					t.Errorf("%s: %s: %d groups, %d and %d ns are in none", name, k.Kind, len(x.Groups), slow, middle)
				}
			}
		}
	}
}
