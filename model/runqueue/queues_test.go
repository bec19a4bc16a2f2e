package runqueue_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
	. "github.com/schedscope/schedscope/model/runqueue"
)

// Before Go 1.22 traces do not tell enough.
func TestOldFormat(t *testing.T) {
	for _, version := range []int{-1, 0, 11, 21} {
		var old *OldFormatError
		if _, err := New(model.NewTables(), version); !errors.As(err, &old) || old.Version != version {
			t.Errorf("version %d: got %v, want an OldFormatError that names it", version, err)
		}
	}
	for version := 22; version <= 26; version++ {
		if _, err := New(model.NewTables(), version); err != nil {
			t.Errorf("version %d: got %v, want none", version, err)
		}
	}
}

// Since Go 1.26 a goroutine preempted for a stop-the-world stays in runnext.
func TestPreemptedForSTW(t *testing.T) {
	for version, want := range map[int]way{
		25: {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeCertain},
		26: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 1, GradeCertain},
	} {
		s := newScene(2, 2)
		s.m(1).STWBegin("read mem stats")
		s.m(2).With("runtime.asyncPreempt2").Stop("preempted").ProcStop()
		s.m(2).ProcStart(1)
		s.soon(2).Start(2)
		s.m(1).STWEnd("read mem stats")
		if got := replayAs(t, s.Builder, version).way(t, 2); got != want {
			t.Errorf("Go 1.%d:\n got %+v\nwant %+v", version, got, want)
		}
	}
}

// Who yields inside sync.Mutex.Unlock goes to the tail of the local queue, in
// every version, though the stack tells in two ways.
func TestGoyieldByVersion(t *testing.T) {
	for version, frame := range map[int]string{22: "runtime.semrelease1", 24: "runtime.semrelease1", 25: "runtime.goyield", 26: "runtime.goyield"} {
		s := newScene(1, 1)
		s.create(10)
		s.m(1).With(frame, "sync.(*Mutex).Unlock").Stop("preempted")
		s.soon(1).Start(10)
		s.runs(1, 1)
		want := way{SourceLocal, ViaOwn, none, 0, PlaceLocal, 0, GradeCertain}
		if got := replayAs(t, s.Builder, version).way(t, 1); got != want {
			t.Errorf("Go 1.%d:\n got %+v\nwant %+v", version, got, want)
		}
	}
}

// TestGlobalBatch fills the global queue and lets one proc take from it: as many
// as min(128, n, n/GOMAXPROCS+1), the first of which runs.
func TestGlobalBatch(t *testing.T) {
	for _, c := range []struct{ n, procs, want int }{
		{1, 1, 1}, {2, 1, 2}, {10, 1, 10}, {127, 1, 127}, {128, 1, 128}, {200, 1, 128},
		{1, 2, 1}, {2, 2, 2}, {3, 2, 2}, {10, 2, 6}, {300, 2, 128}, {3, 4, 1}, {4, 4, 2}, {300, 4, 76}, {600, 4, 128},
	} {
		t.Run(fmt.Sprintf("%d of %d procs", c.n, c.procs), func(t *testing.T) {
			s := newScene(c.procs, c.procs)
			all := ids(10, model.GoID(9+c.n))
			s.waiting("network", all...)
			s.m(9)
			s.poll(all...)
			s.runs(1, all[:c.want]...)
			if c.procs > 1 && c.n > c.want {
				s.runs(2, all[c.want]) // what was not taken is still there
			}
			r := replay(t, s.Builder)
			got := r.way(t, 10)
			want := way{SourceGlobal, ViaNone, none, c.want, PlaceGlobal, none, got.Grade}
			if got != want || got.Grade == GradeContradicted {
				t.Errorf("the first:\n got %+v\nwant %+v, not contradicted", got, want)
			}
			for _, g := range all[1:c.want] {
				want := way{SourceLocal, ViaGlobal, none, c.want, PlaceGlobal, none, anyGrade}
				r.check(t, map[model.GoID]way{g: want})
			}
			if c.procs > 1 && c.n > c.want {
				if got := r.way(t, all[c.want]); got.Source != SourceGlobal {
					t.Errorf("the next one, on another proc:\n got %+v, want it from the global queue", got)
				}
			}
		})
	}
}

// TestFairness: every 61st tick a proc takes one from the global queue, before
// its own and no batch. The first such pick tells the proc's phase.
func TestFairness(t *testing.T) {
	s := newScene(1, 1)
	global, local := ids(10, 14), ids(100, 220)
	s.waiting("network", global...)
	s.create(local...)
	s.create(50)
	s.poll(10, 11, 12, 13, 14)
	s.runs(1, 50)
	s.runs(1, local[:7]...)
	s.runs(1, 10) // tick 0
	s.runs(1, local[7:67]...)
	s.runs(1, 11) // tick 0 again
	s.runs(1, local[67:]...)
	last := len(local) - 67 // ticks since then
	s.runs(1, 12)           // the local queue is empty: a batch of all
	s.runs(1, 13, 14)
	r := replay(t, s.Builder)
	want := []Fairness{
		{G: 10, P: 0, Local: 121 - 7, Grade: GradeUnique},
		{G: 11, P: 0, Local: 121 - 67, Grade: GradeCertain},
	}
	for i := range r.fairness {
		r.fairness[i].Time = 0
	}
	if !slices.Equal(r.fairness, want) {
		t.Errorf("picks by the 61st tick:\n got %+v\nwant %+v", r.fairness, want)
	}
	r.check(t, map[model.GoID]way{
		10:       {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeUnique},
		11:       {SourceGlobal, ViaNone, none, 1, PlaceGlobal, none, GradeCertain},
		12:       {SourceGlobal, ViaNone, none, 3, PlaceGlobal, none, GradeCertain},
		13:       {SourceLocal, ViaGlobal, none, 3, PlaceGlobal, none, GradeCertain},
		14:       {SourceLocal, ViaGlobal, none, 3, PlaceGlobal, none, GradeChosen}, // the poller has done nothing since: perhaps too late
		local[7]: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
	})
	// A second pick confirms the phase.
	ticks := map[model.GoID]int{10: -1, local[7]: -1, local[66]: -1, 11: 1, local[67]: 2, 12: 2 + last, 14: 4 + last}
	for g, want := range ticks {
		if x := r.last(t, g); x.Tick != want {
			t.Errorf("goroutine %d: schedtick %d after its start, want %d", x.G, x.Tick, want)
		}
	}
}

// At the 61st tick a proc takes a single one from the global queue, too, when it
// has nothing of its own.
func TestFairnessWithoutLocalWork(t *testing.T) {
	s := newScene(1, 1)
	global, local := ids(10, 15), ids(100, 222)
	s.waiting("network", global...)
	s.create(local...)
	s.create(50)
	s.poll(10, 11)
	s.runs(1, 50)
	s.runs(1, 10) // tick 0
	s.runs(1, local[:60]...)
	s.runs(1, 11) // tick 0
	s.runs(1, local[60:120]...)
	s.poll(12, 13, 14)
	s.runs(1, 12) // tick 0
	s.runs(1, local[120:]...)
	s.runs(1, 13, 14)
	for range 55 { // 6 ticks so far
		s.m(1).Stop("runtime.Gosched")
		s.soon(1).Start(14)
	}
	s.poll(15)
	s.m(1).Stop("runtime.Gosched")
	s.soon(1).Start(15) // tick 0
	s.runs(1, 14)
	r := replay(t, s.Builder)
	if x := r.last(t, 15); x.Tick != 1 || x.Batch != 1 || x.Source != SourceGlobal || x.Grade != GradeCertain {
		t.Errorf("got %+v, want it alone at tick 0", x)
	}
	if x := r.last(t, 14); x.Tick != 2 || x.Batch != 1 || x.Source != SourceGlobal {
		t.Errorf("got %+v, want it from the global queue, too", x)
	}
}

// TestOverflow: of a full local queue half goes to the global queue, together
// with the goroutine that was to be added.
func TestOverflow(t *testing.T) {
	s := newScene(2, 2)
	all := ids(10, 10+257) // one in runnext, 256 in the queue, and one more
	s.create(all...)
	s.runs(1, 10+257, 10+128)
	s.runs(2, 10)
	r := replay(t, s.Builder)
	if len(r.overflows) != 1 || r.overflows[0].P != 0 || r.overflows[0].Size != 129 {
		t.Fatalf("overflows: got %+v, want one of 129 on proc 0", r.overflows)
	}
	if at := r.overflows[0].Time; at != modeltest.At(258*100) {
		t.Errorf("overflow at %d, want with the last creation at %d", at, modeltest.At(258*100))
	}
	r.check(t, map[model.GoID]way{
		10 + 257: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, GradeCertain},
		10 + 128: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, GradeCertain},
		10:       {SourceGlobal, ViaNone, none, 129/2 + 1, PlaceRunnext, 0, anyGrade},
	})
	if n := r.longest(none); n != 129 {
		t.Errorf("the global queue grew to %d, want 129", n)
	}
	if n := r.longest(0); n != 256 {
		t.Errorf("proc 0's queue grew to %d, want 256", n)
	}
}

// longest returns the greatest length told of a queue.
func (r *record) longest(p model.ProcID) (n int) {
	for _, l := range r.lengths {
		if l.P == p {
			n = max(n, l.Len)
		}
	}
	return n
}

// TestShrink: what stands in the queues of procs that cease to exist goes to the
// head of the global queue, runnext first.
func TestShrink(t *testing.T) {
	s := newScene(2, 2)
	s.waiting("network", 30)
	s.poll(30)
	for _, g := range []model.GoID{20, 21, 22} {
		s.m(2).Create(g, "main.g")
	}
	s.m(1).STWBegin("GOMAXPROCS")
	s.m(2).With("runtime.asyncPreempt2").Stop("preempted").ProcStop()
	s.later(1, 10)
	s.Metric("/sched/gomaxprocs:threads", 1)
	s.m(1).STWEnd("GOMAXPROCS")
	s.runs(1, 2) // was in runnext
	s.runs(1, 20, 21, 22, 30)
	r := replay(t, s.Builder)
	r.check(t, map[model.GoID]way{
		2:  {SourceGlobal, ViaNone, none, 5, PlaceRunnext, 1, anyGrade},
		20: {SourceLocal, ViaGlobal, none, 5, PlaceRunnext, 1, anyGrade},
		22: {SourceLocal, ViaGlobal, none, 5, PlaceRunnext, 1, anyGrade},
		30: {SourceLocal, ViaGlobal, none, 5, PlaceGlobal, none, anyGrade},
	})
}

// TestDrain: a dedicated mark worker that is preempted gives away the whole
// queue of its proc, runnext first.
func TestDrain(t *testing.T) {
	s := newScene(2, 2)
	s.m(2).Create(40, "runtime.gcBgMarkWorker")
	s.m(2).Block("chan receive")
	s.soon(2).Start(40)
	s.m(2).Unblock(2)
	s.m(2).Block("GC worker (idle)")
	s.soon(2).Start(2)
	for _, g := range []model.GoID{20, 21, 22} {
		s.m(2).Create(g, "main.g")
	}
	s.m(2).Block("chan receive")
	s.m(2).Unblock(40)
	s.soon(2).Start(40).Label("GC (dedicated)")
	s.m(1).STWBegin("GC mark termination")
	s.m(2).Block("GC worker (idle)").ProcStop()
	s.m(1).STWEnd("GC mark termination")
	s.runs(1, 22, 20)
	s.m(2).ProcStart(1)
	s.soon(2).Start(21)
	r := replay(t, s.Builder)
	r.check(t, map[model.GoID]way{
		22: {SourceGlobal, ViaNone, none, 2, PlaceRunnext, 1, anyGrade},
		20: {SourceLocal, ViaGlobal, none, 2, PlaceRunnext, 1, anyGrade},
		21: {SourceGlobal, ViaNone, none, 1, PlaceRunnext, 1, anyGrade},
	})
}

// TestBlind: what a goroutine has waited for since before the trace is not known;
// what it waits for next suggests what woke it.
func TestBlind(t *testing.T) {
	for next, want := range map[string]Source{"sleep": SourceRunnext, "network": SourceNetpoll} {
		s := newScene(1, 1)
		s.M(1).Status(10, model.GoWaiting, "main.g")
		s.m(1).Block("chan receive")
		s.m(1).Unblock(10)
		s.soon(1).Start(10)
		s.m(1).Block(next)
		if got := replay(t, s.Builder).way(t, 10); got.Source != want || got.Grade != GradeChosen {
			t.Errorf("next waits for %q: got %+v, want %v, chosen", next, got, want)
		}
	}
}

// What was Runnable when the trace began was in no known queue.
func TestOpenStart(t *testing.T) {
	s := newScene(1, 1)
	s.M(1).Status(10, model.GoRunnable, "main.g")
	s.runs(1, 10)
	r := replay(t, s.Builder)
	x := r.starts[0]
	if x.Source != SourceUnknown || x.Enqueued != PlaceUnknown || !x.OpenStart || x.Grade == GradeCertain || x.Since > modeltest.At(1) {
		t.Errorf("got %+v, want it from an unknown place, not certainly", x)
	}
}

// TestLate: the operating system stops a thread between the end of a system call and
// the moment that puts its goroutine into the global queue, so that others come first.
func TestLate(t *testing.T) {
	s := newScene(1, 1)
	s.create(10, 11, 12, 13)
	on := model.ThreadID(1)
	for i, g := range []model.GoID{13, 10, 11} {
		s.m(on).Syscall()
		s.m(9).ProcSteal(0)
		on = model.ThreadID(i + 2)
		s.soon(on).ProcStart(0).Start(g)
	}
	for m := range on - 1 {
		s.m(m + 1).SyscallEndBlocked()
	}
	s.runs(on, 12, 13, 10, 1)
	r := replay(t, s.Builder)
	if got := r.way(t, 10); got.Source != SourceLocal || got.Via != ViaGlobal {
		t.Errorf("the second one: got %+v, want it from a batch", got)
	}
	if got := r.way(t, 1); got.Source != SourceGlobal {
		t.Errorf("the one that came late: got %+v, want it from the global queue", got)
	}
}

// TestInjection: the list of a poll goes to the global queue, one for each idle
// proc, and the rest to the local one.
func TestInjection(t *testing.T) {
	s := newScene(2, 2)
	s.waiting("network", 10, 11, 12, 13)
	s.waiting("chan receive", 20, 21)
	s.m(2).Block("chan receive").ProcStop()
	s.m(1).Block("chan receive")
	found := s.m(1)
	at := modeltest.At(s.tick)
	found.Unblock(11)
	s.soon(1).Unblock(12)
	s.soon(1).Unblock(13)
	s.soon(1).Unblock(10)
	s.soon(1).Start(10)
	s.read(1)
	s.m(2).ProcStart(1).Start(11)
	s.read(2)
	for _, g := range []model.GoID{12, 13} {
		s.runs(1, g)
		s.read(1)
	}
	s.m(1).With("runtime.systemstack_switch", "runtime.gcStart").Unblock(20)
	r := replay(t, s.Builder)
	if len(r.injections) != 1 {
		t.Fatalf("got %+v, want one list: runnext takes what the runtime wakes alone", r.injections)
	}
	want := Injection{Time: at + model.Time(modeltest.Ticks(6)), M: 1, P: 0, Global: 1, Local: 2, Netpoll: true, Poller: model.PollerNonBlocking, Grade: GradeCertain}
	if got := r.injections[0]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestInjectionAfterResize: procs that are taken away and given back are idle.
func TestInjectionAfterResize(t *testing.T) {
	s := newScene(2, 2)
	s.waiting("network", 10, 11, 12)
	s.m(2).Block("chan receive").ProcStop()
	s.Metric("/sched/gomaxprocs:threads", 1)
	s.soon(1).Label("one proc")
	s.Metric("/sched/gomaxprocs:threads", 2)
	s.m(1).Block("chan receive")
	for _, g := range []model.GoID{11, 12, 10} {
		s.soon(1).Unblock(g)
	}
	s.soon(1).Start(10)
	s.read(1)
	s.m(2).ProcStart(1).Start(11)
	s.read(2)
	s.runs(1, 12)
	s.read(1)
	r := replay(t, s.Builder)
	if len(r.injections) != 1 || r.injections[0].Global != 1 || r.injections[0].Local != 1 {
		t.Errorf("got %+v, want one list, of which one goroutine went to the global queue", r.injections)
	}
}

// TestInjectionWakes: since Go 1.23 a list wakes one thread more than it puts
// goroutines into the global queue.
func TestInjectionWakes(t *testing.T) {
	for version, want := range map[int]bool{22: false, 23: true, 26: true} {
		s := newScene(3, 3)
		s.waiting("network", 10, 11)
		s.m(2).Block("chan receive").ProcStop()
		s.m(3).Block("chan receive").ProcStop()
		s.m(1).Block("chan receive")
		s.soon(1).Unblock(11) // too soon to be a spinning thread, which wakes another
		s.soon(1).Unblock(10)
		s.soon(1).Start(10)
		s.read(1)
		s.m(2).ProcStart(1)
		s.soon(3).ProcStart(2)
		s.soon(2).Start(11)
		s.read(2)
		s.m(3).ProcStop()
		r := replayAs(t, s.Builder, version)
		if len(r.wakeups) != 2 || !r.wakeups[0].Caused || r.wakeups[1].Caused != want {
			t.Errorf("Go 1.%d: got %+v, want two wakeups, the second one caused: %v", version, r.wakeups, want)
		}
	}
}

// TestLengths follows every change of every queue of a small program.
func TestLengths(t *testing.T) {
	s := newScene(2, 1)
	s.create(10, 11, 12) // 12 in runnext, 10 and 11 behind it
	s.m(2).ProcStart(1)
	s.soon(2).Start(10) // half of two
	s.m(1).Stop("runtime.Gosched")
	s.soon(1).Start(12)
	s.runs(1, 11)
	s.runs(2, 1)
	r := replay(t, s.Builder)
	type change struct {
		p         model.ProcID
		len, next int
	}
	var got []change
	for _, l := range r.lengths {
		got = append(got, change{l.P, l.Len, l.Next})
	}
	want := []change{
		{0, 0, 1}, {0, 1, 1}, {0, 2, 1}, // created
		{0, 1, 1},    // stolen
		{none, 1, 0}, // Gosched
		{0, 1, 0},    // 12
		{0, 0, 0},    // 11
		{none, 0, 0}, // 1
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestWakeup: who becomes runnable wakes a thread for an idle proc, unless one
// searches already.
func TestWakeup(t *testing.T) {
	s := newScene(3, 3)
	s.m(1).Stop("runtime.Gosched").Start(1)
	s.m(2).Block("chan receive").ProcStop()
	s.m(3).Block("chan receive").ProcStop()
	s.create(10)
	at := modeltest.At(s.tick)
	s.soon(1).Create(11, "main.g") // no second wakeup
	s.m(2).ProcStart(1)
	s.soon(2).Start(10)
	s.m(3).ProcStart(2) // the first one to find something wakes another
	s.m(3).ProcStop()
	r := replay(t, s.Builder)
	if len(r.wakeups) != 2 {
		t.Fatalf("got %d wakeups, want 2: %+v", len(r.wakeups), r.wakeups)
	}
	w := r.wakeups[0]
	if w.P != 1 || w.M != 2 || !w.Caused || w.Trigger != at || w.G != 10 || w.ByP != 0 || w.Origin != model.OriginCreated || !w.Found || w.Got <= at {
		t.Errorf("got %+v, want proc 1 woken by the creation of goroutine 10 at %d", w, at)
	}
	if w := r.wakeups[1]; w.P != 2 || w.M != 3 || w.Found || !w.Caused || w.ByP != 1 {
		t.Errorf("got %+v, want proc 2 woken by the thread of proc 1, in vain", w)
	}
}

// TestSteals: what is told of a steal agrees with the start.
func TestSteals(t *testing.T) {
	s := newScene(2, 1)
	s.create(ids(10, 14)...)
	s.m(2).ProcStart(1)
	s.soon(2).Start(11)
	at := modeltest.At(s.tick)
	s.runs(2, 10)
	s.m(1).Block("chan receive").ProcStop()
	s.m(1).ProcStart(0)
	s.m(1).Start(14)
	s.m(2).Block("chan receive")
	s.later(2, 1000).Start(12)
	r := replay(t, s.Builder)
	want := []Steal{
		{Time: at, G: 11, Thief: 1, M: 2, Victim: 0, Size: 2, Grade: GradeCertain},
	}
	if len(r.steals) != 2 || r.steals[0] != want[0] {
		t.Fatalf("got %+v, want two, at first %+v", r.steals, want[0])
	}
	if x := r.steals[1]; x.G != 12 || x.Victim != 0 || x.Size != 1 || x.Runnext {
		t.Errorf("got %+v, want goroutine 12 alone from proc 0", x)
	}
}
