package lockstep

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// TestJudgePick goes through states and what the runtime took in them.
func TestJudgePick(t *testing.T) {
	const late = 1_000_000_000
	q := func(n int) runqueue.Queue {
		return runqueue.Queue{Len: n, Least: n, Since: late - 100_000, Until: late - 99_000}
	}
	tests := []struct {
		name string
		d    runqueue.Decision
		want verdict
	}{
		{"own runnext", runqueue.Decision{Place: runqueue.PlaceRunnext, Next: 7, Own: q(3), Global: q(2), Tick: 5}, verdict{agreed: true}},
		{"own runnext at the 61st tick", runqueue.Decision{Place: runqueue.PlaceRunnext, Next: 7, Own: q(3), Global: q(2), Tick: 0}, verdict{class: Unexplained}},
		{"own runnext at the 61st tick, nothing global", runqueue.Decision{Place: runqueue.PlaceRunnext, Next: 7, Own: q(3), Tick: 0}, verdict{agreed: true}},
		{"own head", runqueue.Decision{Place: runqueue.PlaceLocal, Next: -1, Own: q(3), Tick: -1}, verdict{agreed: true}},
		{"own head before runnext", runqueue.Decision{Place: runqueue.PlaceLocal, Next: 8, Own: q(3), Tick: -1}, verdict{class: Unexplained}},
		{"own head, runnext stolen", runqueue.Decision{Place: runqueue.PlaceLocal, Next: 8, NextTaken: true, Own: q(3), Tick: -1}, verdict{agreed: true}},
		{"own head, runnext in doubt", runqueue.Decision{Place: runqueue.PlaceLocal, Next: 8, NextUnsure: true, Own: q(3), Tick: -1}, verdict{excluded: true}},
		{"out of order", runqueue.Decision{Place: runqueue.PlaceLocal, Next: -1, Own: q(3), Index: 2, Over: 2, Tick: -1}, verdict{class: Unexplained}},
		{"behind what thieves took", runqueue.Decision{Place: runqueue.PlaceLocal, Next: -1, Own: runqueue.Queue{Len: 5, Least: 5, Taken: 3}, Index: 3, Tick: -1}, verdict{agreed: true}},
		{"enqueued at the same time", runqueue.Decision{Place: runqueue.PlaceGlobal, Next: -1, Global: q(2), Index: 1, Over: 1, Tick: -1,
			Passed: [4]runqueue.Standing{{Since: late - 60_000}}}, verdict{class: OrderRace}},
		{"enqueued long after", runqueue.Decision{Place: runqueue.PlaceGlobal, Next: -1, Global: q(2), Index: 1, Over: 1, Tick: -1,
			Passed: [4]runqueue.Standing{{Since: late - 500_000}}}, verdict{class: Unexplained}},
		{"global", runqueue.Decision{Place: runqueue.PlaceGlobal, Next: -1, Global: q(2), Tick: 3}, verdict{agreed: true}},
		{"global before own", runqueue.Decision{Place: runqueue.PlaceGlobal, Next: -1, Own: q(1), Global: q(2), Tick: 3}, verdict{class: Unexplained}},
		{"global before own at the 61st tick", runqueue.Decision{Place: runqueue.PlaceGlobal, Next: -1, Own: q(1), Global: q(2), Tick: 0}, verdict{agreed: true}},
		{"global before own, tick unknown", runqueue.Decision{Place: runqueue.PlaceGlobal, Next: -1, Own: q(1), Global: q(2), Tick: -1}, verdict{excluded: true}},
		{"stolen", runqueue.Decision{Place: runqueue.PlaceLocal, At: 1, Next: -1, Queues: 1, Victim: q(2), Tick: 3}, verdict{agreed: true}},
		{"stolen before global", runqueue.Decision{Place: runqueue.PlaceLocal, At: 1, Next: -1, Queues: 1, Global: q(1), Victim: q(2), Tick: 3}, verdict{class: Unexplained}},
		{"stolen, global came too late", runqueue.Decision{Place: runqueue.PlaceLocal, At: 1, Next: -1, Queues: 1, Global: runqueue.Queue{Len: 1}, Victim: q(2), Tick: 3}, verdict{agreed: true}},
		{"runnext stolen", runqueue.Decision{Place: runqueue.PlaceRunnext, At: 1, Next: -1, Nexts: 1, Tick: 3}, verdict{agreed: true}},
		{"runnext stolen before a queue", runqueue.Decision{Place: runqueue.PlaceRunnext, At: 1, Next: -1, Nexts: 1, Queues: 1, Tick: 3}, verdict{class: Unexplained}},
		{"from a queue that a mark worker gave away", runqueue.Decision{Place: runqueue.PlaceLocal, Next: -1, Own: q(3), Index: 2, Over: 2, Tick: -1, Drained: true}, verdict{class: HiddenEvent}},
		{"a thread that stood still", runqueue.Decision{Place: runqueue.PlaceLocal, Next: -1, Own: q(3), Index: 2, Over: 2, Tick: -1, Search: late - 2*model.Time(Frozen)}, verdict{class: OS}},
		{"at the trace's beginning", runqueue.Decision{Place: runqueue.PlaceLocal, Next: -1, Own: q(3), Index: 2, Over: 2, Tick: -1, Time: 1000}, verdict{class: Boundary}},
		{"lost", runqueue.Decision{Lost: true, Place: runqueue.PlaceNone}, verdict{excluded: true}},
		{"contradicted", runqueue.Decision{Place: runqueue.PlaceLocal, Next: -1, Own: q(3), Start: &runqueue.Start{Grade: runqueue.GradeContradicted}}, verdict{excluded: true, contradicted: true, class: Unexplained}},
		{"several explanations", runqueue.Decision{Place: runqueue.PlaceLocal, Next: -1, Own: q(3), Start: &runqueue.Start{Grade: runqueue.GradeChosen}}, verdict{excluded: true}},
	}
	c := &Queues{began: true}
	for _, test := range tests {
		d := test.d
		d.Since = late - 60_000
		if d.Time == 0 {
			d.Time = late
		}
		if d.Search == 0 {
			d.Search = d.Time - 500
		}
		d.Earliest, d.Now = d.Search, d.Time
		got := c.judgeWhole(&d)
		if got.did, got.want, got.wants, got.rule = "", "", 0, ""; got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestFollowers has a proc pass over the head of its queue once, over another one three times, and over
// that again after it has started.
func TestFollowers(t *testing.T) {
	q := &Queues{began: true}
	for i, head := range []model.GoID{9, 8, 8, 8, 8} {
		if i == 4 {
			q.Start(&runqueue.Start{G: 8})
		}
		q.Decision(&runqueue.Decision{Time: 1e9, Since: 1e9 - 60_000, Search: 1e9 - 500, Earliest: 1e9 - 500, Now: 1e9, Place: runqueue.PlaceLocal, At: 1, Next: -1, Index: 0,
			Own: runqueue.Queue{Len: 3, Least: 3, Head: [4]model.GoID{head}}, Victim: runqueue.Queue{Len: 1, Least: 1}, Queues: 1, Tick: 5})
	}
	if r := &q.result.Kinds[Steal]; r.Diverged[Unexplained] != 3 || r.Judged != 3 || q.result.Kinds[Place].Judged != 0 {
		t.Errorf("%d of %d steals unexplained, want 3 of 3; %d places judged, want none", r.Diverged[Unexplained], r.Judged, q.result.Kinds[Place].Judged)
	}
}

func TestJudgeSteal(t *testing.T) {
	tests := []struct {
		name   string
		index  int
		q      runqueue.Queue
		agreed bool
	}{
		{"half", 1, runqueue.Queue{Len: 4, Least: 4}, true},
		{"half, rounded up", 2, runqueue.Queue{Len: 5, Least: 5}, true},
		{"one", 0, runqueue.Queue{Len: 4, Least: 4}, false},
		{"all", 3, runqueue.Queue{Len: 4, Least: 4}, false},
		{"half of what was there", 0, runqueue.Queue{Len: 4, Least: 2}, true},
		{"half of what another thief left", 4, runqueue.Queue{Len: 6, Least: 6, Taken: 3}, true},
		{"half of what the other thief has now", 2, runqueue.Queue{Len: 11, Least: 11, Taken: 6}, true},
	}
	c := &Queues{began: true, first: -1 << 40}
	for _, test := range tests {
		v := c.judgeSteal(&runqueue.Decision{Index: test.index, Victim: test.q, Place: runqueue.PlaceLocal, At: 1})
		if v.agreed != test.agreed {
			t.Errorf("%s: %+v", test.name, v)
		}
	}
}
