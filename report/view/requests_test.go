package view

import (
	"reflect"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// Many small parts of one kind and place are added up before small ones are left out, and
// requests that are alike are one row.
func TestAlikeRequests(t *testing.T) {
	many := func(at model.Time, unit model.Duration, fn string) result.RequestPath {
		p := result.RequestPath{Name: "main.shop", Goroutine: 7, Start: at, Duration: 301 * unit}
		for range 100 {
			p.Parts = append(p.Parts,
				result.RequestPart{Kind: "running", Function: "main.total", Line: 5, Length: unit, Goroutine: 7},
				result.RequestPart{Kind: "network", Function: fn, Line: 8, Length: unit * 2, Goroutine: 9, Wait: "channel", Waiter: "main.price", Depth: 1})
		}
		p.Parts = append(p.Parts, result.RequestPart{Kind: "gc", Length: unit, Goroutine: 7})
		return p
	}
	k := result.RequestKind{Kind: "http"}
	k.Count = 3
	k.Tails = []result.RequestTail{{Groups: []result.RequestRow{{Kind: "channel", Function: "main.price", Way: &result.RequestWay{Callee: "net/http.(*Client).Do"}}}}}
	k.Slowest = []result.RequestPath{many(1, 3000, "main.query"), many(2, 2000, "main.other"), many(3, 1000, "main.query")}
	s := SlowestRequests(&result.Report{Requests: []result.RequestKind{k}})
	w := document.NewTextWriter(document.TextOptions{})
	w.Sections(s)
	var b strings.Builder
	w.Flush(&b)
	const want = `  1. 903us at 1ns, http G7 main.shop, x2, down to 301us
      run main.total:5 300us | HTTP CALL main.price 600us in 100 waits: G9 network main.query:8
        600us | rest 3.00us
  2. 602us at 2ns, http G7 main.shop
      run main.total:5 200us | HTTP CALL main.price 400us in 100 waits: G9 network main.other:8
        400us | rest 2.00us
`
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestComparison checks that the slowest of one handler are compared with one of the same.
func TestComparison(t *testing.T) {
	path := func(name string, length model.Duration) *result.RequestPath {
		return &result.RequestPath{Name: name, Duration: length, Parts: []result.RequestPart{{Kind: "running", Length: length}}}
	}
	k := result.RequestKind{Kind: "http"}
	k.Count, k.Typical, k.Slowest = 40, path("main.fast", 1000), []result.RequestPath{*path("main.slow", 9000)}
	k.Groups = []result.RequestGroup{{Name: "main.fast"}, {Name: "main.slow"}}
	k.Groups[1].Count, k.Groups[1].Typical = 20, path("main.slow", 8000)
	w := document.NewTextWriter(document.TextOptions{})
	w.Sections(SlowestRequests(&result.Report{Requests: []result.RequestKind{k}}))
	var b strings.Builder
	w.Flush(&b)
	if want := "for comparison, 8.00us at 0, http G0 main.slow"; !strings.Contains(b.String(), want) {
		t.Errorf("got\n%s\nwant %s", b.String(), want)
	}
}

// TestUnended checks that requests are listed that do not end, where no other did.
func TestUnended(t *testing.T) {
	open := func(length model.Duration) result.RequestPath {
		return result.RequestPath{Name: "main.pay", Goroutine: 7, Start: 5, Duration: length, Parts: []result.RequestPart{
			{Kind: "lock", Wait: "lock", Function: "main.move", Waiter: "main.move", Line: 8, Length: length, Goroutine: 7}}}
	}
	k := result.RequestKind{Kind: "http", Unended: []result.RequestPath{open(2e9), open(1e9)}}
	w := document.NewTextWriter(document.TextOptions{})
	w.Sections(SlowestRequests(&result.Report{Requests: []result.RequestKind{k}}))
	var b strings.Builder
	w.Flush(&b)
	const want = `  http, not ended
  1. at least 2.00s at 5ns, http G7 main.pay, x2, down to 1.00s
      LOCK main.move 2.00s: G7 lock main.move:8 2.00s
`
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestUnfollowed checks that the table and the notes give those that are not followed.
func TestUnfollowed(t *testing.T) {
	k := result.RequestKind{Kind: "tcp", Unfollowed: 7}
	k.Count = 600
	r := &result.Report{Traces: make([]result.Trace, 1), Requests: []result.RequestKind{k}}
	w := document.NewTextWriter(document.TextOptions{})
	w.Sections(RequestGroups(r, 0))
	var b strings.Builder
	w.Flush(&b)
	if text := b.String(); !strings.Contains(text, "others, about    7") {
		t.Errorf("not in the table: %s", text)
	}
	if text := strings.Join(findings.Notes(r), "\n"); !strings.Contains(text, "about 7 more that came while") {
		t.Errorf("not in the notes: %s", text)
	}
}

// TestFunctions checks that a function literal has its place, and that functions of libraries are not listed.
func TestFunctions(t *testing.T) {
	k := result.RequestKind{Kind: "http"}
	k.Groups = []result.RequestGroup{{Name: "main.main.func1"}}
	g := &k.Groups[0]
	g.Count, g.Total = 2, 20
	g.Tails = []result.RequestTail{{Count: 1, Total: 10, Middle: result.RequestMiddle{Count: 1, Total: 10}, Rows: []result.RequestRow{
		{Function: "main.order", File: "main.go", Slow: 5, Middle: 5, Way: &result.RequestWay{Callers: []result.Frame{{Function: "main.main.func1", File: "shop/main.go", Line: 66}}}},
		{Function: "example.com/lib.Do", File: "example.com/lib@v1.0.0/do.go", Slow: 5, Middle: 5},
	}}}
	r := &result.Report{Requests: []result.RequestKind{k}}
	w := document.NewTextWriter(document.TextOptions{})
	w.Sections(RequestGroups(r, 0))
	w.Sections(ByFunction(r))
	var b strings.Builder
	w.Flush(&b)
	if text := b.String(); !strings.Contains(text, "main.main.func1 (main.go:66)") || !strings.Contains(text, "main.order") || strings.Contains(text, "lib.Do") {
		t.Error(text)
	}
}

// TestArrivals checks that requests per second have an interval only where the schedule changes how many there are.
func TestArrivals(t *testing.T) {
	o := &replay.Outcome{Name: "procs=1", RequestBasis: replay.BasisChecked, Runs: 4}
	for change, want := range map[float64]any{0: 300.0, -0.2: rangeCell(replay.Range{Mid: 300, Low: 270, High: 400})} {
		var f [replay.NumRequestFigures]replay.Figure
		f[replay.RequestRate] = replay.Figure{Value: replay.Range{Mid: 300, Low: 270, High: 400}, Change: replay.Range{Mid: change}}
		if got := requestCells(o, f, true)[1+replay.RequestRate]; !reflect.DeepEqual(got, want) {
			t.Errorf("changed by %v: %v, want %v", change, got, want)
		}
	}
}
