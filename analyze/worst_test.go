package analyze

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestWorstShowsProcs follows one wait of 8 ms on three procs by hand.
func TestWorstShowsProcs(t *testing.T) {
	r := newRecords()
	w := NewWorst(r.tables, 1)
	origin := model.Duration(50)
	w.Begin(model.Time(origin))
	at := func(d model.Duration) model.Duration { return origin + d }
	g := r.goroutine(7, "main.victim")
	span := goSpan(g, model.GoRunnable, at(10*ms), 8*ms)
	span.Origin, span.Waker, span.WakerProc, span.P, span.M = model.OriginGoroutine, 1, 0, 1, 11
	span.Stack = r.tables.AddStack([]model.Frame{{Func: "main.recv"}, {Func: "main.victim"}})
	span.WakerStack = r.tables.AddStack([]model.Frame{{Func: "main.send"}, {Func: "main.hog"}})

	w.ProcSpan(r.procSpan(0, 1, "main.hog", at(0), 12*ms))
	w.ProcSpan(r.procSpan(1, 2, "main.other", at(9*ms), 9*ms))
	gc := r.procSpan(0, 3, "runtime.gcBgMarkWorker", at(12*ms), 5*ms)
	gc.Work = model.WorkGCDedicated
	w.ProcSpan(gc)
	w.GoSpan(span)
	w.ProcSpan(r.procSpan(1, 7, "main.victim", at(18*ms), 2*ms))
	// Told only later, but they began during the wait or even before it.
	w.ProcSpan(r.procSpan(0, 1, "main.hog", at(17*ms), 20*ms))
	w.ProcSpan(idleSpan(2, at(5*ms), 50*ms))
	w.Finish()

	waits := w.Waits()
	if len(waits) != 1 {
		t.Fatalf("%d waits, want 1", len(waits))
	}
	x := waits[0]
	equal(t, "start", x.Start, model.Time(10*ms))
	equal(t, "duration", x.Duration, 8*ms)
	equal(t, "function", x.Function, "main.victim")
	equal(t, "waker's function", x.WakerFunction, "main.hog")
	equal(t, "stack", x.Stack[0].Function, "main.recv")
	equal(t, "readied on", x.ReadiedOn, 0)
	equal(t, "ran on", x.RanOn, 1)
	equal(t, "uses", x.Uses, Uses{result.UseUser: 2*ms + 1*ms + 8*ms, result.UseGC: 5 * ms, result.UseIdle: 8 * ms})
	equal(t, "approximate", x.Approximate, false)
	equal(t, "unattributed", x.Unattributed, 0)
	wantRunners := []result.Activity{
		{Goroutine: 2, Function: "main.other", Use: "user", Total: 8 * ms}, {Goroutine: 3, Function: "runtime.gcBgMarkWorker", Use: "GC", Total: 5 * ms},
		{Goroutine: 1, Function: "main.hog", Use: "user", Total: 3 * ms}}
	if !reflect.DeepEqual(x.Meanwhile, wantRunners) {
		t.Errorf("ran meanwhile = %+v, want %+v", x.Meanwhile, wantRunners)
	}
}

// TestWorstIsExact compares the waits found, and what the procs did in them, with
// all waits sorted and all intervals kept.
func TestWorstIsExact(t *testing.T) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		r := newRecords()
		w := NewWorst(r.tables, 10)
		type wait struct {
			g          model.GoID
			start, end model.Time
		}
		var waits []wait
		var all [4][]*model.ProcSpan
		var now [4]model.Duration
		for i := range 40_000 {
			p := i % 4
			length := model.Duration(1 + rnd.Int64N(int64(20*us)))
			var s *model.ProcSpan
			if g := model.GoID(rnd.IntN(20)); g < 5 {
				s = idleSpan(model.ProcID(p), now[p], length)
			} else {
				s = r.procSpan(model.ProcID(p), g, "main.f", now[p], length)
			}
			now[p] += length
			all[p] = append(all[p], s)
			w.ProcSpan(s)
			if i%3 == 0 {
				length := model.Duration(rnd.ExpFloat64() * float64(100*us))
				if seed == 1 {
					length = now[p] / 3 // longer and longer: every one is the worst so far
				}
				start := max(now[p]-length, 0)
				g := model.GoID(100 + rnd.IntN(5))
				w.GoSpan(goSpan(r.goroutine(g, "main.w"), model.GoRunnable, start, now[p]-start))
				waits = append(waits, wait{g, model.Time(start), model.Time(now[p])})
			}
		}
		w.Finish()
		slices.SortFunc(waits, func(a, b wait) int {
			return cmp.Or(cmp.Compare(b.end.Sub(b.start), a.end.Sub(a.start)), cmp.Compare(a.start, b.start))
		})
		for i, x := range w.Waits() {
			if x.Start != waits[i].start || x.End != waits[i].end {
				t.Errorf("seed %d: wait %d is %d-%d, want %d-%d", seed, i, x.Start, x.End, waits[i].start, waits[i].end)
				continue
			}
			checkUses(t, &x, all[:])
		}
	}
}

// checkUses compares a wait's uses with those by the intervals.
func checkUses(t *testing.T, x *result.Wait, all [][]*model.ProcSpan) {
	t.Helper()
	var want Uses
	for _, spans := range all {
		for _, s := range spans {
			want[result.UseOf(s.State, s.Work)] += max(min(s.End, x.End).Sub(max(s.Start, x.Start)), 0)
		}
	}
	// What is an age ago is put in order in pieces.
	tolerance := 8 * x.Duration / thinGrain
	for u := range want {
		if d := x.Uses[u] - want[u]; d > tolerance || -d > tolerance || d != 0 && !x.Approximate {
			t.Errorf("wait at %d: %d ns %s, want %d", x.Start, x.Uses[u], Use(u), want[u])
		}
	}
}

// TestThin keeps a wait going for so long that its intervals are too many.
func TestThin(t *testing.T) {
	r := newRecords()
	w := NewWorst(r.tables, 1)
	var now model.Duration
	var uses Uses
	most := 0
	for i := range 3_000_000 {
		s := r.procSpan(model.ProcID(0), 1+model.GoID(i%2), "main.f", now, 20*us)
		if i%5 == 0 {
			s = idleSpan(0, now, 20*us)
		}
		w.ProcSpan(s)
		uses[result.UseOf(s.State, s.Work)] += 20 * us
		now += 20 * us
		most = max(most, w.kept)
	}
	w.GoSpan(goSpan(r.goroutine(7, "main.victim"), model.GoRunnable, 0, now))
	w.Finish()
	if most > maxRoom {
		t.Errorf("%d intervals were kept, more than %d", most, maxRoom)
	}
	x := w.Waits()[0]
	equal(t, "uses", x.Uses, uses)
	equal(t, "unattributed", x.Unattributed, 0)
	for _, a := range x.Meanwhile {
		equal(t, "time of one goroutine", a.Total, uses[result.UseUser]/2)
	}
	equal(t, "approximate", x.Approximate, true)
}

// TestMakeRoom keeps no more than what may still be in a wait.
func TestMakeRoom(t *testing.T) {
	r := newRecords()
	w := NewWorst(r.tables, 1)
	var now model.Duration
	w.waiting = func() (model.Time, int) { return model.Time(now - 30*ms), 10 }
	for i := range 10 * minRoom {
		w.ProcSpan(r.procSpan(0, 1+model.GoID(i%2), "main.f", now, 20*us))
		now += 20 * us
	}
	if w.kept > 2*minRoom {
		t.Errorf("%d intervals are kept", w.kept)
	}
	w.GoSpan(goSpan(r.goroutine(7, "main.victim"), model.GoRunnable, now-30*ms, 30*ms))
	w.Finish()
	x := w.Waits()[0]
	equal(t, "uses", x.Uses, Uses{result.UseUser: 30 * ms})
}

func TestAppendPiece(t *testing.T) {
	var piece []interval
	var now model.Time = 100
	add := func(length model.Time, g model.GoID, fn model.StringID, use Use) {
		piece = append(piece, interval{start: now, end: now + length, g: g, fn: fn, use: use})
		now += length
	}
	for i := range model.GoID(40) { // of one function, some of another
		add(5, 1+i%4, 1, result.UseUser)
		add(1, model.NoGoroutine, 0, result.UseIdle)
		if i%4 == 0 {
			add(2, 100+i, 2, result.UseSyscall)
		}
	}
	for i := range model.StringID(3) {
		add(1, 900, 900+i, result.UseUser) // too many
	}
	got := appendPiece(piece[:0], piece)
	at := model.Time(100)
	for i := range got {
		x := &got[i]
		equal(t, "start", x.start, at)
		equal(t, "merged", x.merged, true)
		at = x.end
		x.start, x.end, x.merged = 0, model.Time(x.end.Sub(x.start)), false
	}
	equal(t, "end", at, now)
	none := model.NoGoroutine
	want := []interval{
		{g: 1, fn: 1, end: 50, use: result.UseUser}, {g: none, end: 40, use: result.UseIdle}, {g: 100, fn: 2, end: 2, use: result.UseSyscall},
		{g: 2, fn: 1, end: 50, use: result.UseUser}, {g: 3, fn: 1, end: 50, use: result.UseUser}, {g: none, end: 53, use: result.UseUser},
		{g: 104, fn: 2, end: 2, use: result.UseSyscall}, {g: none, fn: 2, end: 16, use: result.UseSyscall},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestWorstNamesHerd checks that the sum by function does not suffer from there
// being thousands of goroutines, of which joined slices name but one each.
func TestWorstNamesHerd(t *testing.T) {
	r := newRecords()
	w := NewWorst(r.tables, 1)
	const n = 200_000
	for i := range n {
		s := r.procSpan(0, model.GoID(i), "main.herd", model.Duration(i)*5*us, 5*us)
		if i%10 == 0 {
			s.State, s.Func = model.ProcSyscall, r.str("main.reader")
		}
		w.ProcSpan(s)
	}
	w.GoSpan(goSpan(r.goroutine(7, "main.victim"), model.GoRunnable, 0, n*5*us))
	w.Finish()
	x := w.Waits()[0]
	want := []result.FuncActivity{{Function: "main.herd", Use: "user", Total: n * 9 / 10 * 5 * us}, {Function: "main.reader", Use: "syscall", Total: n / 10 * 5 * us}}
	if !reflect.DeepEqual(x.Functions, want) {
		t.Errorf("functions %+v, want %+v", x.Functions, want)
	}
	equal(t, "unattributed", x.OtherFunctions, 0)
	if x.Unattributed == 0 {
		t.Errorf("all time is attributed to goroutines, which joined slices cannot know")
	}
}

func TestWorstMerge(t *testing.T) {
	r := newRecords()
	find := func(lengths ...model.Duration) *Worst {
		w := NewWorst(r.tables, 3)
		for i, d := range lengths {
			w.GoSpan(goSpan(r.goroutine(model.GoID(i), "f"), model.GoRunnable, model.Duration(i)*ms, d))
		}
		w.Finish()
		return w
	}
	v, err := result.Merge([]*result.Report{resultOf(find(10, 20, 30)), resultOf(find(20, 40)), resultOf(find(50))})
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]int
	for _, x := range v.WorstWaits[:3] {
		got = append(got, [2]int{x.Trace, int(x.Duration)})
	}
	if want := [][2]int{{2, 50}, {1, 40}, {0, 30}}; !reflect.DeepEqual(got, want) {
		t.Errorf("trace and length of merged waits = %v, want %v", got, want)
	}
}
