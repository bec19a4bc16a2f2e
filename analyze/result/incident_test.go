package result_test

import (
	"reflect"
	"testing"

	. "github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestIncidents checks which waits are one incident.
func TestIncidents(t *testing.T) {
	wait := func(trace int, start, end model.Time, cause, behind string) Wait {
		w := Wait{Trace: trace, Start: start, End: end, Duration: end.Sub(start)}
		if cause != "" {
			w.Causes = []CauseTotal{{Cause: cause}, {Cause: "pick-up"}}
		}
		if behind != "" {
			w.Blockers = []Blocker{{Function: behind}, {Function: "other"}}
		}
		return w
	}
	v := &Report{WorstWaits: []Wait{
		wait(0, 0, 100, "behind a goroutine", "main.a"),
		wait(0, 50, 140, "behind a goroutine", "main.a"),  // overlaps the first
		wait(0, 120, 200, "behind a goroutine", "main.a"), // overlaps the second, but not its leader
		wait(0, 10, 80, "behind a goroutine", "main.b"),   // behind another function
		wait(0, 20, 80, "stop-the-world", ""),             // another cause
		wait(1, 0, 60, "behind a goroutine", "main.a"),    // another trace
		wait(0, 100, 130, "behind a goroutine", "main.a"), // begins as the first ends
		wait(0, 30, 60, "", ""),
		wait(0, 40, 60, "", ""),
	}}
	want := [][]int{{0, 1}, {2, 6}, {3}, {4}, {5}, {7, 8}}
	if got := v.Incidents(); !reflect.DeepEqual(got, want) {
		t.Errorf("incidents %v, want %v", got, want)
	}
	v.SetIncidents()
	for i, leader := range []int{0, 0, 2, 3, 4, 5, 2, 7, 7} {
		if got := v.WorstWaits[i].Incident; got != leader {
			t.Errorf("wait %d is of incident %d, want %d", i, got, leader)
		}
	}
}
