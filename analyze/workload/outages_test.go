package workload_test

import (
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestOutages checks that what takes too long in code of all kinds is an outage, that what does in one kind only is
// doubted, and that without outages the pieces take what is typical.
func TestOutages(t *testing.T) {
	const long = 3_000_000
	w := &workload.Workload{}
	add := func(kind model.StringID, usual model.Duration, every int) {
		g := workload.Goroutine{Func: kind}
		for i := range 60 {
			cpu := usual
			if i%every == every-1 {
				cpu += long
			}
			g.Work += cpu
			g.Ops = append(g.Ops, workload.Op{At: cpu, Kind: workload.OpEnd})
			g.Segments = append(g.Segments, workload.Segment{CPU: cpu, Stack: 1, Ops: int32(i + 1), End: workload.EndYield})
		}
		w.Goroutines = append(w.Goroutines, g)
	}
	for kind := range model.StringID(4) {
		add(kind, 10_000, 30)
	}
	add(8, 12_000, 3)
	w.FindOutages()
	if o := &w.Outages; len(o.List) != 8 || o.Total != 8*long || o.Kinds != 4 || o.Doubted != 20 || o.DoubtedTotal != 20*long {
		t.Errorf("got %d outages, %+v", len(o.List), o)
	}
	quiet := w.Quiet()
	for i := range quiet.Goroutines {
		g, recorded := &quiet.Goroutines[i], &w.Goroutines[i]
		if want := recorded.Work - 2*long; i < 4 && (g.Work != want || g.Segments[29].CPU != 10_000 || g.Ops[29].At != 10_000) {
			t.Errorf("goroutine %d: works %d, want %d; segment %+v", i, g.Work, want, g.Segments[29])
		}
		if i == 4 && (g.Work != recorded.Work || recorded.Segments[29].CPU != long+12_000) {
			t.Error("what is doubted is left out")
		}
	}
	alone := &workload.Workload{Goroutines: w.Goroutines[3:]}
	alone.FindOutages()
	if o := &alone.Outages; len(o.List) > 0 {
		t.Errorf("in two kinds: got %+v", o)
	}
}

// TestOutagesCalls checks that system calls of connections are not doubted, however often they are too long, and others are.
func TestOutagesCalls(t *testing.T) {
	const long = 3_000_000
	for fn, want := range map[string]int{"net.(*netFD).Read": 4*2 + 20, "os.(*File).Read": 4 * 2} {
		w := &workload.Workload{Tables: model.NewTables()}
		stack := w.Tables.AddStack([]model.Frame{{Func: "syscall.read"}, {Func: "internal/poll.(*FD).Read"}, {Func: fn}})
		for kind := range 5 {
			g := workload.Goroutine{Func: model.StringID(kind + 1)}
			for i := range 60 {
				x := workload.Segment{CPU: 10_000, Stack: stack, End: workload.EndYield}
				switch {
				case kind == 4:
					x.End, x.Delay = workload.EndSyscall, 5000
					if i%3 == 0 {
						x.Delay += long
					}
				case i > 0 && i <= 2:
					x.CPU += long
				}
				g.Segments = append(g.Segments, x)
			}
			w.Goroutines = append(w.Goroutines, g)
		}
		w.FindOutages()
		if o := &w.Outages; o.Count != want || o.Total != model.Duration(want)*long || o.Doubted != 28-want {
			t.Errorf("%s: got %+v, want %d outages", fn, o, want)
		}
		if d := w.Quiet().Goroutines[4].Segments[0].Delay; d != 5000 && want > 8 {
			t.Errorf("%s: a call takes %d", fn, d)
		}
	}
}

// TestOutagesOwn checks that pieces which are longer than outages of other kinds are the program's own: where they are
// too many for chance, or two CPU samples lie in each; and that without samples nobody can know which computed.
func TestOutagesOwn(t *testing.T) {
	const long, own = 3_000_000, 21_000_000
	for _, x := range []struct {
		n, samples     int
		left           model.Duration // about, of each of the n
		doubted, kinds int
		sampled, blind model.Duration
	}{
		{3, 0, 0, 0, 5, 0, 8*long + 3*own},
		{5, 0, own, 5, 4, 0, 8 * long},
		{3, 1, 16_000_000, 0, 5, 0, 0},
		{3, 2, own, 0, 4, 0, 0},
		{5, 2, own, 5, 4, 0, 0},
		{3, 1, 11_000_000, 0, 5, 50_000_000, 0},
		{3, 2, 13_300_000, 0, 5, 50_000_000, 0},
	} {
		w, ran := &workload.Workload{}, model.Duration(0)
		for kind := range 5 {
			g := workload.Goroutine{Func: model.StringID(kind)}
			for i := range 60 {
				cpu := model.Duration(10_000)
				switch {
				case kind == 4 && i > 0 && i <= x.n:
					cpu += own
					for k := range x.samples {
						w.Recorded.Samples = append(w.Recorded.Samples, workload.Sample{G: int32(kind), Seg: int32(i), At: model.Duration(k+1) * 7_000_000})
					}
				case kind < 4 && i > 0 && i <= 2:
					cpu += long
				}
				ran += cpu
				g.Segments = append(g.Segments, workload.Segment{CPU: cpu, Stack: 1, End: workload.EndYield})
			}
			w.Goroutines = append(w.Goroutines, g)
		}
		w.Recorded.Sampled = x.sampled
		w.FindOutages()
		if taken := ran - x.sampled; x.sampled > 0 && max(taken-w.Outages.Total, w.Outages.Total-taken) > 10 {
			t.Errorf("%d with %d samples: %d taken, want %d", x.n, x.samples, w.Outages.Total, taken)
		}
		o, left := &w.Outages, w.Quiet().Goroutines[4].Segments[1].CPU
		if o.Doubted != x.doubted || o.Kinds != x.kinds || o.Blind != x.blind || max(left-x.left, x.left-left) > 1_000_000 {
			t.Errorf("%d with %d samples: %d left, %+v", x.n, x.samples, left, o)
		}
	}
}

// TestOutagesBySamples checks that CPU samples decide how much of the pieces of any kind are outages, up to what they
// take beyond what is typical, and that what samples may miss by chance is none.
func TestOutagesBySamples(t *testing.T) {
	const long, n = 20_000_000, 20
	for _, x := range []struct{ taken, want model.Duration }{{n * long, n * long}, {n * long / 2, n * long / 2}, {n * long / 20, 0}, {n*long + n*10_000, n * long}} {
		w := &workload.Workload{Goroutines: []workload.Goroutine{{Func: 1}}}
		g := &w.Goroutines[0]
		for i := range 3 * n {
			cpu := model.Duration(10_000)
			if i%3 == 0 {
				cpu += long
			}
			g.Work += cpu
			g.Segments = append(g.Segments, workload.Segment{CPU: cpu, Stack: 1, End: workload.EndYield})
		}
		w.Recorded.Sampled = g.Work - x.taken
		w.FindOutages()
		got := w.Outages.Total
		if off := got - x.want; off < -x.want/1000 || off > x.want/1000 || w.Outages.Doubted > 0 {
			t.Errorf("%d taken: got %+v", x.taken, w.Outages)
		}
		if left := w.Quiet().Goroutines[0].Work; left != g.Work-got {
			t.Errorf("%d taken: %d is left of %d without %d", x.taken, left, g.Work, got)
		}
	}
}

// TestSampled checks that CPU samples of who runs count, as many as enough, for as long as goroutines ran at most, and that they
// keep a silence from being a standstill.
func TestSampled(t *testing.T) {
	const ms = 1_000_000 / modeltest.Tick
	for _, x := range []struct {
		n, apart int
		want     int64
	}{{19, 20 * ms, 0}, {30, 20 * ms, 300 * ms}, {30, 1, 620 * ms}} {
		n, want := x.n, x.want
		b := modeltest.NewBuilder()
		m := b.M(1).Proc(0).Running(1, "main.f")
		for i := range n {
			b.At(20*ms + i*x.apart)
			m.With("main.f").Sample()
		}
		b.At((n + 1) * 20 * ms)
		m.Block("sleep").ProcStop()
		w := work(t, b)
		if s := w.Recorded.Samples; len(s) != n || ticks(s[n-1].At) != int64(20*ms+(n-1)*x.apart) {
			t.Errorf("%d samples: %+v", n, s)
		}
		if got := ticks(w.Recorded.Sampled); got < want*95/100 || got > want*105/100 {
			t.Errorf("%d samples: CPU for %d, want %d", n, got, want)
		}
		if len(w.Standstills) > 0 && x.apart > 1 {
			t.Errorf("%d samples: standstills %+v", n, w.Standstills)
		}
	}
}

// TestStandstills checks that nobody computes in a silence that is longer than a goroutine may run, and that one in which
// nobody ran, or a shorter one, is none.
func TestStandstills(t *testing.T) {
	const ms = 1_000_000 / modeltest.Tick
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).IdleProc(1).Running(1, "runtime.main").Status(3, model.GoWaiting, "main.c")
	b.At(2 * ms)
	m.Unblock(3)
	b.At(22 * ms)
	m.Block("sleep").Start(3)
	b.At(62 * ms)
	m.Block("sleep").ProcStop()
	b.At(162 * ms)
	m.ProcStart(0)
	w := work(t, b)
	if len(w.Standstills) != 1 || ticks(w.Standstills[0].Length) != 40*ms {
		t.Errorf("got %+v", w.Standstills)
	}
	if got, want := program(w, 3), "waiting; 0 wait hand-off; 0 forever"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLate checks that a time slice counts as late from its beginning on, with what came from runnext, but not if it
// is as long as sysmon lets it, or ended by itself.
func TestLate(t *testing.T) {
	const ms = 15625 // ticks
	b := modeltest.NewBuilder()
	b.Metric("/sched/gomaxprocs:threads", 1)
	m := b.M(1).Proc(0).Running(1, "main.f").Create(2, "main.f").Create(3, "main.f")
	b.At(15 * ms)
	m.Stop("preempted").Start(2)
	b.At(30 * ms)
	m.Create(4, "main.f").Create(5, "main.f")
	b.At(31 * ms)
	m.Block("chan receive").Start(5) // from runnext
	b.At(40 * ms)
	m.Stop("preempted").Start(3)
	b.At(65 * ms)
	m.Exit().Start(4)
	b.At(70 * ms)
	w := work(t, b)
	if len(w.Late) != 1 || w.Late[0].Proc != 0 || w.Late[0].At > modeltest.Ticks(16*ms) || w.Late[0].Length < modeltest.Ticks(24*ms) || w.Late[0].Length > modeltest.Ticks(25*ms) {
		t.Errorf("late slices %+v", w.Late)
	}
	if q := w.Quiet(); q.Late != nil {
		t.Errorf("late slices without the operating system: %+v", q.Late)
	}
}

// TestHeld checks that long system calls hold their proc for as long as nobody took it, unless a proc was idle.
func TestHeld(t *testing.T) {
	b := modeltest.NewBuilder()
	b.Metric("/sched/gomaxprocs:threads", 2)
	m := b.M(1).Proc(0).Running(1, "main.f")
	other := b.M(3).Proc(1).Running(2, "main.g")
	now := 0
	for _, d := range []int{100, 4000} {
		b.At(now + 10)
		m.With("syscall.write", "main.f").Syscall()
		now += 10 + d
		b.At(now)
		m.SyscallEnd()
	}
	b.At(now + 10)
	m.With("syscall.write", "main.f").Syscall()
	b.At(now + 3510)
	b.M(2).ProcSteal(0)
	b.At(now + 9000)
	m.SyscallEndBlocked()
	now += 9000
	b.At(now + 10)
	m.ProcStart(0).Start(1).With("syscall.write", "main.f").Syscall()
	b.At(now + 20)
	other.Block("sleep").ProcStop()
	b.At(now + 4000)
	m.SyscallEnd()
	w := work(t, b)
	var got []model.Duration
	for _, x := range segments(t, w, 1) {
		if x.End == workload.EndSyscall {
			got = append(got, x.Held)
		}
	}
	if want := []model.Duration{0, modeltest.Ticks(4000), modeltest.Ticks(3500), 0}; !slices.Equal(got, want) {
		t.Errorf("held for %v, want %v", got, want)
	}
	for _, x := range segments(t, w.Quiet(), 1) {
		if x.Held > 0 {
			t.Errorf("without the operating system still held for %v", x.Held)
		}
	}
}
