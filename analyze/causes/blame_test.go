package causes

import (
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestBlameQueue checks that in a queue for a lock each waiter's time is due to who released it
// only since the one before got it, and the time before that to who made all of them wait.
func TestBlameQueue(t *testing.T) {
	tables := model.NewTables()
	const mutex = "sync.(*Mutex).Lock"
	at := func(fn string) model.StackID { return tables.AddStack([]model.Frame{{Func: fn, Line: 1}}) }
	lock, slow, quick := at("main.lock"), at("main.slow"), at("main.quick")
	b := NewBlame(tables, New(tables))
	wait := func(id model.GoID, from, to model.Duration, waker model.GoID, stack model.StackID) {
		s := goSpan(id, model.GoWaiting, from, to-from)
		s.Reason, s.Stack = tables.AddString(mutex), lock
		b.GoSpan(s)
		s = goSpan(id, model.GoRunnable, to, 1)
		s.Stack, s.Waker, s.WakerStack = lock, waker, stack
		b.GoSpan(s)
	}
	wait(2, 0, 100, 1, slow) // behind G1, which has the lock until 100
	wait(3, 10, 105, 2, quick)
	wait(4, 20, 107, 3, quick)
	rows := blameRows{tables: tables, rows: map[blameRowKey]*blameRow{}}
	for id, x := range b.sums.byID {
		rows.add(blameRowKey{kind: tables.String(id.reason)}, id.stack, id.waiter, basisSeen, x)
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

// TestMeanwhile checks that it is known where whoever ends waits was blocked itself, since it was not in the queue for the same,
// and did not end the wait of another one in it: in one wait, or in a loop; and also if it has ended itself by then.
func TestMeanwhile(t *testing.T) {
	const ms = model.Duration(1e6)
	tables := model.NewTables()
	at := func(fn string) model.StackID { return tables.AddStack([]model.Frame{{Func: fn, Line: 1}}) }
	lock, sleep, read, unlock, write := at("main.lock"), at("main.sleep"), at("main.read"), at("main.unlock"), at("main.write")
	b := NewBlame(tables, New(tables))
	waits := func(id model.GoID, reason string, stack model.StackID, from, to model.Duration) {
		s := goSpan(id, model.GoWaiting, from, to-from)
		s.Reason, s.Stack = tables.AddString(reason), stack
		b.GoSpan(s)
	}
	runs := func(id, waker model.GoID, from model.Duration) {
		s := goSpan(id, model.GoRunnable, from, 1)
		s.Stack, s.Waker, s.WakerStack = lock, waker, unlock
		b.GoSpan(s)
	}
	const mutex = "sync.(*Mutex).Lock"
	waits(1, "network", read, 0, 900*ms) // before it has the lock
	waits(1, "sleep", sleep, 910*ms, 919*ms)
	waits(2, mutex, lock, 905*ms, 920*ms)
	waits(1, "network", read, 920*ms, 921*ms) // before G2 runs
	runs(2, 1, 920*ms)
	for i := range model.Duration(9) {
		waits(2, "network", read, (921+i)*ms, (922+i)*ms-10_000)
	}
	b.Calls().SyscallExit(&model.SyscallExit{G: 2, Stack: write, Start: model.Time(930 * ms), End: model.Time(931 * ms)})
	waits(3, mutex, lock, 900*ms, 931*ms)
	b.GoEnd(&model.Goroutine{ID: 2})
	for id := range model.GoID(60) { // and others after it
		b.GoEnd(&model.Goroutine{ID: 100 + id})
	}
	runs(3, 2, 931*ms)
	var v result.Report
	b.Result(&v)
	r := v.Blame.Rows[0]
	equal(t, "in all", r.Total, 46*ms)
	equal(t, "without the queue", r.Own, 26*ms)
	equal(t, "places", len(r.Meanwhile), 2)
	for i, want := range []result.BlameMeanwhile{{What: "sleep", Stack: []result.Frame{{Function: "main.sleep", Line: 1}}, Total: 9 * ms}, {What: "network", Stack: []result.Frame{{Function: "main.read", Line: 1}}, Total: 9*ms - 90_000}} {
		if got := r.Meanwhile[i]; got.What != want.What || got.Total != want.Total || !slices.Equal(got.Stack, want.Stack) {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
}

// TestMeanwhileLate checks waiters that come late to a loop of which each turn has a gap, and a holder whose number was that of others before.
func TestMeanwhileLate(t *testing.T) {
	const ms = model.Duration(1e6)
	for _, turns := range []model.Duration{20, 200} {
		tables := model.NewTables()
		at := func(fn string) model.StackID { return tables.AddStack([]model.Frame{{Func: fn, Line: 1}}) }
		b := NewBlame(tables, New(tables))
		waits := func(id model.GoID, reason string, stack model.StackID, from, to model.Duration) {
			s := goSpan(id, model.GoWaiting, from, to-from)
			s.Reason, s.Stack = tables.AddString(reason), stack
			b.GoSpan(s)
		}
		for range 2 {
			b.GoEnd(&model.Goroutine{ID: 1})
		}
		for i := range turns {
			waits(1, "network", at("main.read"), i*10*ms+ms, (i+1)*10*ms)
		}
		for i := range model.GoID(len(b.gone)) {
			b.GoEnd(&model.Goroutine{ID: 1000 + i})
		}
		end := turns * 10 * ms
		waits(2, "sync.(*Mutex).Lock", at("main.lock"), end-100*ms, end)
		s := goSpan(2, model.GoRunnable, end, 1)
		s.Stack, s.Waker, s.WakerStack = at("main.lock"), 1, at("main.unlock")
		b.GoSpan(s)
		var v result.Report
		b.Result(&v)
		if m := v.Blame.Rows[0].Meanwhile; len(m) != 1 || m[0].Total < 89*ms || m[0].Total > 92*ms {
			t.Errorf("%d turns: %+v", turns, m)
		}
	}
}

// TestMeanwhileLoop checks that waits of a loop are one if nobody was woken since the first began, also if somebody was just then.
func TestMeanwhileLoop(t *testing.T) {
	const ms = 1_000_000
	for woke, want := range map[model.Time]int{5 * ms: 1, 5*ms + 1: 2} {
		x := blamedGo{woke: woke}
		x.waited(1, 1, 5*ms, 6*ms)
		x.waited(1, 1, 6*ms, 7*ms)
		n := 0
		for _, o := range x.own {
			if o.end > 0 {
				n++
			}
		}
		equal(t, "waits", n, want)
	}
}

// TestMeanwhileRan checks that CPU samples show what whoever ends waits did since they began, until it ended them, by function at the
// line with most, and where slow system calls did; of more than are kept the last.
func TestMeanwhileRan(t *testing.T) {
	const ms = model.Duration(1e6)
	tables := model.NewTables()
	at := func(line uint64) model.StackID {
		return tables.AddStack([]model.Frame{{Func: "runtime.memmove", Line: line}, {Func: "main.pack", File: "p.go", Line: line}})
	}
	for n, want := range map[model.Duration]model.Duration{3: 3, 200: 200, 800: 161} {
		b := NewBlame(tables, New(tables))
		sample := func(id model.GoID, line uint64, t model.Duration) {
			b.Sample(&model.Event{Time: model.Time(t), G: id, Stack: at(line)})
		}
		sample(1, 5, 9*ms) // before
		for i := range n {
			sample(1, 5+uint64(min(i, 1)), (10+10*i)*ms)
			sample(3, 7, (10+10*i)*ms)
		}
		sample(1, 7, 10*n*ms+10*ms) // after
		sample(model.NoGoroutine, 7, 10*ms)
		b.Calls().SyscallExit(&model.SyscallExit{G: 3, Start: model.Time(10 * ms), End: model.Time(11 * ms), Stack: at(5)})
		s := goSpan(2, model.GoWaiting, 10*ms, 10*n*ms)
		s.Reason, s.Stack = tables.AddString("chan send"), at(8)
		b.GoSpan(s)
		s = goSpan(2, model.GoRunnable, 10*n*ms+10*ms, 1)
		s.Stack, s.Waker, s.WakerStack = at(8), 1, at(9)
		b.GoSpan(s)
		var v result.Report
		b.Result(&v)
		calls := v.Blame.Of(result.BlameInSlow)[0].Meanwhile
		if n == 3 && (len(calls) != 1 || calls[0].Total != result.SamplePeriod) {
			t.Errorf("in a slow call: %+v", calls)
		}
		if m := v.Blame.Of("chan send")[0].Meanwhile; len(m) != 1 || m[0].What != "running" || m[0].Total != want*result.SamplePeriod || m[0].Stack[1].Line != 6 {
			t.Errorf("of %d samples: %+v", n, m)
		}
	}
}

// TestBlameFold checks that a row without a file gives all that it has to the one with it.
func TestBlameFold(t *testing.T) {
	tables := model.NewTables()
	rows := blameRows{tables: tables, rows: map[blameRowKey]*blameRow{}}
	k := blameRowKey{kind: "goroutine", function: "main.work"}
	rows.add(k, 0, 0, basisEstimated, &antagonist{waited: 3, turns: 1, own: 2}).Samples = 7
	stack := tables.AddStack([]model.Frame{{Func: "main.work", File: "work.go", Line: 9}})
	rows.add(k, stack, 0, basisSampled, &antagonist{waited: 5, turns: 2, own: 4})
	var v result.Blame
	rows.result(&v)
	equal(t, "rows", len(v.Rows), 1)
	x := v.Rows[0]
	equal(t, "total", x.Total, 8)
	equal(t, "bases", x.BlameBasis, result.BlameBasis{Sampled: 5, Estimated: 3})
	equal(t, "turns", x.Turns, 3)
	equal(t, "own", x.Own, 6)
	equal(t, "samples", x.Samples, 7)
	equal(t, "line", x.Line, 9)
}

// TestBases checks what is known of a stretch by the samples taken in it, by how it ended, and
// by the samples of others with the same start function.
func TestBases(t *testing.T) {
	tables := model.NewTables()
	a := newAntagonists(tables)
	stack := func(names ...string) model.StackID {
		frames := make([]model.Frame, len(names))
		for i, name := range names {
			frames[i] = model.Frame{Func: name, File: "main.go", Line: uint64(10 + i)}
		}
		return tables.AddStack(frames)
	}
	score, parse, loop, read := stack("main.score", "main.work"), stack("main.parse", "main.work"), stack("runtime.gopark", "main.work"), stack("internal/poll.Read", "net/http.serve")
	a.ofProgram = func(id model.StackID) bool { return result.OfProgram(result.PlaceOf(tables.Stack(id))) }
	work, serve := tables.AddString("main.work"), tables.AddString("net/http.serve")
	var w activity
	w.sampled = a.sample
	// Six samples in one stretch, two of three in score.
	w.procs = []*procActivity{{id: 0}}
	p := w.procs[0]
	p.begin(0, 0, heldUser)
	x := p.last()
	x.g, x.fn, p.fn = 1, work, work
	for i := range 6 {
		id := score
		if i%3 == 2 {
			id = parse
		}
		w.sample(&change{p: 0, g: 1, stack: id})
	}
	w.sample(&change{p: 0, g: 2, stack: parse}) // of another goroutine
	a.sample(&point{class: heldSyscall}, read)
	equal(t, "samples of who ran", a.samples, 6)
	x.waited, x.turns = 900, 1
	a.add(x, 1000, &w)
	a.add(&point{class: heldUser, fn: work, stack: parse, ended: endedInterrupted, waited: 50, turns: 1}, 100, &w)
	a.add(&point{class: heldUser, fn: work, stack: loop, ended: endedWaiting, waited: 300, turns: 1}, 100, &w)
	a.add(&point{class: heldUser, fn: serve, stack: read, ended: endedWaiting, waited: 7, turns: 1}, 100, &w)
	a.add(&point{class: heldUser, fn: serve, waited: 5, turns: 1}, 0, &w)
	rows := blameRows{tables: tables, rows: map[blameRowKey]*blameRow{}}
	a.blame(&rows)
	var v result.Blame
	rows.result(&v)
	v.Trim()
	for i, want := range []result.BlameRow{
		{Function: "main.score", Line: 10, Total: 800, BlameBasis: result.BlameBasis{Sampled: 600, Estimated: 200}},
		{Function: "main.parse", Line: 10, Total: 450, BlameBasis: result.BlameBasis{Sampled: 300, Seen: 50, Estimated: 100}},
		{Function: "net/http.serve", Total: 12, BlameBasis: result.BlameBasis{Unknown: 12}},
	} {
		if i >= len(v.Rows) {
			t.Fatalf("%d rows, want %s, too", len(v.Rows), want.Function)
		}
		r := &v.Rows[i]
		if r.Function != want.Function || r.Line != want.Line || r.Total != want.Total || r.BlameBasis != want.BlameBasis {
			t.Errorf("row %d: %s:%d %d %+v, want %s:%d %d %+v", i, r.Function, r.Line, r.Total, r.BlameBasis, want.Function, want.Line, want.Total, want.BlameBasis)
		}
	}
	// 300 ns by six samples, a third of them in parse: 300*sqrt(1/3*2/3/6) = 57.7.
	equal(t, "standard error", v.Rows[1].StdErr, 57)
	equal(t, "samples", v.Rows[1].Samples, 2)
	equal(t, "kind", v.Kinds[0].Total, 1262)
	if w.freeSamples == 0 {
		t.Error("samples that are counted are not given back")
	}
}

// TestOftenAlone checks when it is said what ran alone: not of a program that runs one goroutine at a time anyway, but where several
// ran for little of the time, as they do next to a busy machine, or many in turn that are no tests, or others wait for as long to
// send to one and for what it sends; and not where nothing ran for long.
func TestOftenAlone(t *testing.T) {
	tables := model.NewTables()
	for _, x := range []struct {
		none, several model.Duration // percent
		turns         int
		fn            string
		waits         string
		want          bool
	}{{0, 9, 1, "main.pack", "", true}, {0, 3, 1, "main.pack", "", true}, {0, 1, 1, "main.pack", "", false}, {20, 9, 1, "main.pack", "", false},
		{0, 0, 64, "main.pack", "", true}, {0, 0, 63, "main.pack", "", false}, {0, 0, 640, "testing.tRunner", "", false},
		{0, 0, 1, "main.pack", "chan receive", true}, {0, 0, 1, "main.pack", "sleep", false}} {
		a := newAntagonists(tables)
		a.ofProgram = func(model.StackID) bool { return true }
		a.widths = [3]model.Duration{widthNone: x.none * 1e6, widthOne: 60e6, widthMore: (40 - x.none) * 1e6}
		a.several = x.several * 1e6
		for range x.turns {
			a.add(&point{class: heldUser, fn: tables.AddString(x.fn), alone: 60e6, lone: true}, 60e6, &activity{})
		}
		rows := blameRows{tables: tables, rows: map[blameRowKey]*blameRow{}}
		for _, kind := range []string{"chan send", x.waits} {
			rows.add(blameRowKey{kind: kind, function: x.fn}, 0, 0, basisSeen, &antagonist{waited: 30e6, turns: 1})
		}
		a.blame(&rows)
		var v result.Blame
		rows.result(&v)
		if k := v.Kind(result.BlameAlone); (k != nil) != x.want {
			t.Errorf("%+v: %+v", x, k)
		}
	}
}

// TestTrimAlone checks that time in which nobody waits takes no stacks from those who do.
func TestTrimAlone(t *testing.T) {
	stacks := []result.BlameStack{{Total: 3, Stack: []result.Frame{{Function: "main.a"}}}, {Total: 2, Stack: []result.Frame{{Function: "main.b"}}}}
	goroutine := result.CauseGoroutine.String()
	v := result.Blame{Rows: []result.BlameRow{{Kind: result.BlameAlone, Total: 1e6}, {Kind: goroutine, Total: 5, Stacks: stacks}}}
	v.SumUp()
	v.Trim()
	equal(t, "stacks", len(v.Rows[1].Stacks), 2)
}

// TestLastStopper checks that the time until the world has stopped is due to who stopped last,
// where a sample saw it, and the rest to who stopped the world.
func TestLastStopper(t *testing.T) {
	tables := model.NewTables()
	a := newAttribution(New(tables), tables, 1)
	w := &a.activity
	at := func(at model.Time, s model.Step) {
		s.Time = at
		a.follow(&s, false)
	}
	at(0, model.Step{Kind: model.StepProcs, N: 2})
	at(0, model.Step{Kind: model.StepProc, P: 0, G: 1, To: uint8(model.ProcRunning)})
	at(0, model.Step{Kind: model.StepProc, P: 1, G: 2, To: uint8(model.ProcRunning)})
	at(100, model.Step{Kind: model.StepStopping, G: 1, Func: 11, Stack: 5})
	w.fold(&change{at: 150, kind: changeSample, p: 1, g: 2, stack: 6})
	a.lastStop, a.lastFn = stackSeen{g: 2, stack: 7}, 12
	at(200, model.Step{Kind: model.StepStopped})
	at(300, model.Step{Kind: model.StepRestarted})
	type stop struct {
		at    model.Time
		fn    model.StringID
		stack model.StackID
	}
	var got []stop
	for i := range w.global.end {
		if p := w.global.point(i); p.class == classSTW {
			got = append(got, stop{w.global.at(i), p.fn, p.stack})
		}
	}
	if want := []stop{{100, 12, 6}, {200, 11, 5}}; !slices.Equal(got, want) {
		t.Errorf("stopped %+v, want %+v", got, want)
	}
}
