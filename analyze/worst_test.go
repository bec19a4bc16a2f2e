package analyze

import (
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

	w.ProcSpan(r.procSpan(0, 1, "main.hog", at(0), 12*ms)) // over LongBurst
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
	equal(t, "from", x.From, model.Time(9*ms))
	equal(t, "to", x.To, model.Time(19*ms))
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
	var got []ProcSlice
	for i, p := range x.Procs {
		equal(t, "proc", p.P, model.ProcID(i))
		got = append(got, p.Slices...)
	}
	slice := func(from, to model.Duration, g model.GoID, fn string, u Use, long bool) ProcSlice {
		s := ProcSlice{Start: model.Time(from), End: model.Time(to), Use: u, G: g, Func: fn, LongBurst: long}
		s.Uses[u] = to - from
		if g != model.NoGoroutine {
			s.GTime = to - from
		}
		return s
	}
	want := []ProcSlice{
		slice(9*ms, 12*ms, 1, "main.hog", result.UseUser, true),
		slice(12*ms, 17*ms, 3, "runtime.gcBgMarkWorker", result.UseGC, false),
		slice(17*ms, 19*ms, 1, "main.hog", result.UseUser, true),
		slice(9*ms, 18*ms, 2, "main.other", result.UseUser, false),
		slice(18*ms, 19*ms, 7, "main.victim", result.UseUser, false),
		slice(9*ms, 19*ms, model.NoGoroutine, "", result.UseIdle, false),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("slices =\n%+v\nwant\n%+v", got, want)
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
			return int(b.end.Sub(b.start)-a.end.Sub(a.start))*1_000_000 + int(a.start-b.start)
		})
		for i, x := range w.Waits() {
			if x.Start != waits[i].start || x.End != waits[i].end {
				t.Errorf("seed %d: wait %d is %d-%d, want %d-%d", seed, i, x.Start, x.End, waits[i].start, waits[i].end)
				continue
			}
			checkUses(t, x, all[:])
		}
	}
}

// checkUses compares a wait's uses by proc with those by the intervals.
func checkUses(t *testing.T, x *Wait, all [][]*model.ProcSpan) {
	t.Helper()
	for p, spans := range all {
		var want Uses
		var last model.Time
		for _, s := range spans {
			last = s.End
			want[result.UseOf(s.State, s.Work)] += max(min(s.End, x.End).Sub(max(s.Start, x.Start)), 0)
		}
		got := x.Procs[p].Uses
		// Joined slices at the ends are divided in proportion.
		tolerance := 2 * x.To.Sub(x.From) / historyGrain
		for u := range want {
			if d := got[u] - want[u]; d > tolerance || -d > tolerance || d != 0 && !x.Approximate {
				t.Errorf("wait at %d: proc %d: %d ns %s, want %d", x.Start, p, got[u], Use(u), want[u])
			}
		}
		if last >= x.End && got.Total() != x.Duration {
			t.Errorf("wait at %d: proc %d has uses for %d ns of %d", x.Start, p, got.Total(), x.Duration)
		}
		for _, s := range x.Procs[p].Slices {
			if s.Joined && s.End.Sub(s.Start) > x.To.Sub(x.From)/historyGrain*2 {
				t.Errorf("wait of %d ns: a joined slice of %d ns shows", x.Duration, s.End.Sub(s.Start))
			}
		}
	}
}

// TestHistoryGrowsSlowly checks the bound on a proc's history and that no time
// is lost.
func TestHistoryGrowsSlowly(t *testing.T) {
	var h history
	var now model.Time
	var uses Uses
	var at1s int
	for now < 100_000_000_000 {
		u := Use(now / 20_000 % 2)
		*h.add() = interval{start: now, end: now + 20_000, g: 1, use: u}
		uses[u] += 20_000
		now += 20_000
		if now == 1_000_000_000 {
			at1s = len(h.past) + len(h.recent)
		}
	}
	if n := len(h.past) + len(h.recent); n > 3*at1s {
		t.Errorf("history of 100 s has %d stretches, that of 1 s %d", n, at1s)
	}
	var got Uses
	h.between(0, now, func(s *stretch) {
		part, _ := s.usesBetween(0, now)
		got.Add(&part)
	})
	equal(t, "uses", got, uses)
}

func TestJoin(t *testing.T) {
	a := stretch{start: 0, end: 10, g: 1, use: result.UseUser, gUse: result.UseUser, longBurst: true}
	a.joinOne(40, model.NoGoroutine, 0, result.UseIdle)
	a.join(&stretch{start: 40, end: 65, g: 2, use: result.UseUser, gUse: result.UseUser})
	b := stretch{start: 65, end: 68, g: 2, use: result.UseUser, gUse: result.UseUser}
	b.joinOne(70, 2, 0, result.UseUser)
	a.join(&b)
	want := stretch{start: 0, end: 70, g: 2, gTime: 30, use: result.UseUser, gUse: result.UseUser, joined: true}
	want.uses[result.UseUser], want.uses[result.UseIdle] = 40, 30
	want.fnTimes[0] = 40 // all of the function 0 in result.UseUser
	equal(t, "joined", a, want)
	uses, cut := a.usesBetween(0, 35)
	equal(t, "half of it", uses, Uses{result.UseUser: 20, result.UseIdle: 15})
	equal(t, "cut", cut, true)
}

// TestJoinFuncs checks the times by function of a joined stretch: exact for a
// few, and never too much where there are more.
func TestJoinFuncs(t *testing.T) {
	var s stretch
	s.start, s.end, s.g, s.fn = 0, 10, 1, 1
	var now model.Time = 10
	for i := range 40 { // many goroutines of one function, some of another
		fn, use := model.StringID(1), result.UseUser
		if i%4 == 0 {
			fn, use = 2, result.UseSyscall
		}
		now += 5
		s.joinOne(now, model.GoID(i), fn, use)
	}
	equal(t, "times", s.fnTimes, [historyFuncs]uint32{160, 50})
	equal(t, "functions", s.fns, [historyFuncs]model.StringID{1, 2})
	equal(t, "uses", s.fnUses, [historyFuncs]Use{result.UseUser, result.UseSyscall})
	for i := range 40 { // short ones of others do not push out the longest
		now++
		s.joinOne(now, 1, model.StringID(10+i), result.UseUser)
	}
	equal(t, "longest", s.fnTimes[0], 160)
	equal(t, "second", s.fnTimes[1], 50)
	var sum uint32
	for _, n := range s.fnTimes {
		sum += n
	}
	if all := s.uses[result.UseUser] + s.uses[result.UseSyscall]; sum > all {
		t.Errorf("functions have %d ns of %d", sum, all)
	}
}

// TestWorstNamesHerd checks that the sum by function does not suffer from there
// being thousands of goroutines, of which joined slices name but one each.
func TestWorstNamesHerd(t *testing.T) {
	r := newRecords()
	w := NewWorst(r.tables, 1)
	const n = 20_000
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
