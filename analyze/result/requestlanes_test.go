package result_test

import (
	"math"
	"testing"

	. "github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestLanes draws a path through three goroutines into two lanes: bars of the same kind join, what
// is too short goes to its neighbour, waits fill the first lane, and arrows lead to who woke up.
func TestLanes(t *testing.T) {
	part := func(g model.GoID, depth int, kind string, length model.Duration) RequestPart {
		p := RequestPart{Length: length, Kind: kind, Goroutine: g, Depth: depth, Function: "f"}
		if depth > 0 {
			p.Wait, p.Waiter = "lock", "get"
		}
		return p
	}
	q := RequestPath{Duration: 10_000, Parts: []RequestPart{part(1, 0, "running", 1000), part(1, 0, "syscall", 5), part(1, 0, "running", 995),
		part(3, 2, "running", 3000), part(2, 1, "running", 2000), part(2, 1, "running", 1000), part(1, 0, "runnable", 2000)}}
	check := func(most int, wantLanes [][]RequestBar, wantWakes []RequestWake) {
		t.Helper()
		lanes, wakes := q.Lanes(most)
		if len(lanes) != len(wantLanes) || len(wakes) != len(wantWakes) {
			t.Fatalf("%d lanes, %d arrows: %+v %+v", len(lanes), len(wakes), lanes, wakes)
		}
		for i, l := range lanes {
			if len(l.Bars) != len(wantLanes[i]) {
				t.Fatalf("lane %d has %+v", i, l.Bars)
			}
			for k, b := range l.Bars {
				if w := wantLanes[i][k]; b.Start != w.Start || b.Length != w.Length || b.Kind != w.Kind || b.Waiting != w.Waiting {
					t.Errorf("lane %d, bar %d is %+v, want %+v", i, k, b, w)
				}
			}
		}
		for i, w := range wakes {
			if w != wantWakes[i] {
				t.Errorf("arrow %d is %+v, want %+v", i, w, wantWakes[i])
			}
		}
	}
	bar := func(start, length model.Duration, kind string, waiting bool) RequestBar {
		return RequestBar{start, RequestPart{Length: length, Kind: kind}, waiting}
	}
	own := []RequestBar{bar(0, 2000, "running", false), bar(2000, 6000, "lock", true), bar(8000, 2000, "runnable", false)}
	check(3, [][]RequestBar{own, {bar(2000, 3000, "running", false)}, {bar(5000, 3000, "running", false)}}, []RequestWake{{5000, 1, 2}, {8000, 2, 0}})
	check(2, [][]RequestBar{own, {bar(2000, 6000, "running", false)}}, []RequestWake{{8000, 1, 0}})
	if lanes, _ := q.Lanes(2); lanes[1].Goroutine != model.NoGoroutine || lanes[0].Goroutine != 1 {
		t.Errorf("the lanes are of %d and %d, want 1 and several", lanes[0].Goroutine, lanes[1].Goroutine)
	}
	q.Parts[3].Goroutine = model.NoGoroutine // has a lane already when there is no more room
	check(2, [][]RequestBar{own, {bar(2000, 6000, "running", false)}}, []RequestWake{{8000, 1, 0}})
}

// TestShorten shortens a path: its length stays, and what is long stays whole.
func TestShorten(t *testing.T) {
	q := RequestPath{}
	for i := range 100 {
		q.Parts = append(q.Parts, RequestPart{Length: 1, Kind: "running", Goroutine: model.GoID(i)}, RequestPart{Length: 2, Kind: "runnable"})
		if i%25 == 0 {
			q.Parts = append(q.Parts, RequestPart{Length: 5000, Kind: "sleep"}, RequestPart{Length: 5000, Kind: "sleep"}, RequestPart{Length: 500, Kind: "lock"})
		}
	}
	for _, p := range q.Parts {
		q.Duration += p.Length
	}
	nonsense := RequestPath{Duration: -1, Parts: []RequestPart{{Length: math.MaxInt64, Kind: "a"}, {Length: math.MaxInt64, Kind: "b"}, {Length: -5, Kind: "c"}}}
	nonsense.Shorten(1) // ends
	before := len(q.Parts)
	short := q
	short.Shorten(9)
	var sum model.Duration
	sleeps := 0
	for _, p := range short.Parts {
		sum += p.Length
		if p.Kind == "sleep" && p.Length >= 10_000 {
			sleeps++
		}
	}
	if len(short.Parts) > 9 || sum != q.Duration || sleeps != 4 || len(q.Parts) != before {
		t.Errorf("%d parts of %d ns with %d sleeps, want at most 9 of %d with 4: %+v", len(short.Parts), sum, sleeps, q.Duration, short.Parts)
	}
}
