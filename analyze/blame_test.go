package analyze

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestBlameQueue checks that in a queue for a lock each waiter's time is due to who released it
// only since the one before got it, and the time before that to who made all of them wait.
func TestBlameQueue(t *testing.T) {
	r := newRecords()
	const mutex = "sync.(*Mutex).Lock"
	at := func(fn string) model.StackID { return r.tables.AddStack([]model.Frame{{Func: fn, Line: 1}}) }
	lock, slow, quick := at("main.lock"), at("main.slow"), at("main.quick")
	b := newBlame(r.tables, &Causes{antagonists: newAntagonists(r.tables)})
	wait := func(id model.GoID, from, to model.Duration, waker model.GoID, stack model.StackID) {
		g := r.goroutine(id, "main.work")
		s := goSpan(g, model.GoWaiting, from, to-from)
		s.Reason, s.Stack = r.str(mutex), lock
		b.GoSpan(s)
		s = goSpan(g, model.GoRunnable, to, 1)
		s.Stack, s.Waker, s.WakerStack = lock, waker, stack
		b.GoSpan(s)
	}
	wait(2, 0, 100, 1, slow) // behind G1, which has the lock until 100
	wait(3, 10, 105, 2, quick)
	wait(4, 20, 107, 3, quick)
	rows := blameRows{tables: r.tables, rows: map[blameRowKey]*blameRow{}}
	for id, x := range b.sums {
		rows.add(blameRowKey{kind: r.tables.String(id.reason)}, id.stack, id.waiter, basisSeen, x)
	}
	var v result.Blame
	rows.result(&v)
	got := map[string]model.Duration{}
	for _, x := range v.Rows {
		got[x.Function] += x.Total
		equal(t, "who waited for "+x.Function, x.Waiter, "main.lock")
	}
	equal(t, "behind main.slow", got["main.slow"], 100+90+85)
	equal(t, "behind main.quick", got["main.quick"], 5+2)
	equal(t, "all", v.Kind(mutex).Total, 100+95+87)
}

// TestBlameFold checks that a row without a file gives all that it has to the one with it.
func TestBlameFold(t *testing.T) {
	r := newRecords()
	rows := blameRows{tables: r.tables, rows: map[blameRowKey]*blameRow{}}
	k := blameRowKey{kind: "goroutine", function: "main.work"}
	rows.add(k, 0, 0, basisEstimated, &antagonist{waited: 3, turns: 1}).Samples = 7
	stack := r.tables.AddStack([]model.Frame{{Func: "main.work", File: "work.go", Line: 9}})
	rows.add(k, stack, 0, basisSampled, &antagonist{waited: 5, turns: 2})
	var v result.Blame
	rows.result(&v)
	equal(t, "rows", len(v.Rows), 1)
	x := v.Rows[0]
	equal(t, "total", x.Total, 8)
	equal(t, "bases", x.BlameBasis, result.BlameBasis{Sampled: 5, Estimated: 3})
	equal(t, "turns", x.Turns, 3)
	equal(t, "samples", x.Samples, 7)
	equal(t, "line", x.Line, 9)
}
