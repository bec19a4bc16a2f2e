package bound_test

import (
	"flag"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/bound"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
)

var workloads = flag.Int("workloads", 300, "how many random workloads to try")

// seg makes a segment of the computing time that ends so.
func seg(cpu model.Duration, end workload.EndKind, delay model.Duration) workload.Segment {
	return workload.Segment{CPU: cpu, End: end, Delay: delay, Object: -1, Target: -1}
}

// program makes a goroutine whose operations are in its first segment.
func program(begin workload.Begin, segs []workload.Segment, ops ...workload.Op) workload.Goroutine {
	for i := range segs {
		segs[i].Ops = int32(len(ops))
	}
	return workload.Goroutine{Begin: begin, Segments: segs, Ops: ops}
}

const (
	exit    = workload.EndExit
	wait    = workload.EndWait
	running = workload.BeginRunnable
)

func TestByHand(t *testing.T) {
	type segs = []workload.Segment
	for _, test := range []struct {
		about        string
		w            workload.Workload
		cores        int
		work         model.Duration
		span         model.Duration
		lower, upper model.Duration
	}{
		{"nothing", workload.Workload{}, 4, 0, 0, 0, 0},
		{"one goroutine", workload.Workload{Goroutines: []workload.Goroutine{program(running, segs{seg(100, exit, 0)})}}, 4,
			100, 100, 100, 100},
		{"three that do not depend on each other", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(100, exit, 0)}), program(running, segs{seg(100, exit, 0)}), program(running, segs{seg(100, exit, 0)})}}, 2,
			// Two cores: 300/2; at most 300/2 + 100/2.
			300, 100, 150, 200},
		{"no cores are one core", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(100, exit, 0)}), program(running, segs{seg(101, exit, 0)})}}, 0,
			201, 101, 201, 201},
		{"rounding", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(100, exit, 0)}), program(running, segs{seg(100, exit, 0)}), program(running, segs{seg(100, exit, 0)}),
			program(running, segs{seg(101, exit, 0)})}}, 3,
			// 401/3 = 133 2/3, and 401/3 + 101 * 2/3 = 201.
			401, 101, 133, 201},
		{"a sleep and a system call", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(10, workload.EndSleep, 1000), seg(20, workload.EndSyscall, 300), seg(5, exit, 0)})}}, 2,
			// 35/2 + 35/2 + 1300.
			35, 1335, 1335, 1335},
		{"data at a fixed time", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{{CPU: 10, End: workload.EndExternal, Delay: 1000, Absolute: true, Object: -1, Target: -1}, seg(5, exit, 0)})}}, 2,
			// 15/2 + 1000 + 5/2.
			15, 1005, 1005, 1010},
		{"a wake in the middle", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(100, exit, 0)}, workload.Op{At: 40, G: 1, Seg: 0, Kind: workload.OpWake}),
			program(workload.BeginWaiting, segs{seg(0, wait, 0), seg(100, exit, 0)})}}, 2,
			// 40 until the wake, then 100 more.
			200, 140, 140, 170},
		{"a wake before the wait", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(100, exit, 0)}, workload.Op{At: 40, G: 1, Seg: 0, Kind: workload.OpWake}),
			program(running, segs{seg(70, wait, 0), seg(100, exit, 0)})}}, 2,
			270, 170, 170, 220},
		{"work that comes late", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(0, workload.EndSleep, 1000), seg(90, exit, 0)}),
			program(running, segs{seg(0, workload.EndSleep, 1000), seg(90, exit, 0)}),
			program(running, segs{seg(0, workload.EndSleep, 1000), seg(90, exit, 0)})}}, 2,
			// Neither span nor work alone: 1000 and then 270/2.
			270, 1090, 1135, 1180},
		{"created", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(100, exit, 0)}, workload.Op{At: 100, G: 1, Kind: workload.OpCreate}),
			program(workload.BeginAbsent, segs{seg(100, exit, 0)})}}, 2,
			200, 200, 200, 200},
		{"created waiting", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(100, exit, 0)}, workload.Op{At: 10, G: 1, Kind: workload.OpBlocked}, workload.Op{At: 30, G: 1, Kind: workload.OpWake}),
			program(workload.BeginAbsent, segs{seg(0, wait, 0), seg(100, exit, 0)})}}, 2,
			200, 130, 130, 165},
		{"cut off", workload.Workload{Goroutines: []workload.Goroutine{
			program(running, segs{seg(100, exit, 0)}),
			program(running, segs{seg(500, workload.EndCut, 0)})}}, 1,
			// The 500 need not be done before the 100, but may.
			600, 100, 100, 600},
		{"the world stops, and marks", workload.Workload{Goroutines: []workload.Goroutine{program(running, segs{seg(100, exit, 0)},
			workload.Op{At: 10, Kind: workload.OpStop}, workload.Op{At: 20, Kind: workload.OpCycle})},
			Stops: []workload.Stop{{Hold: 7}}, Cycles: []workload.Cycle{{Work: 50, Sweep: 2, Mark: 3}}}, 1,
			100, 100, 100, 162},
	} {
		t.Run(test.about, func(t *testing.T) {
			b := bound.Of(&test.w, test.cores)
			if !b.Sound() {
				t.Fatalf("%+v", b)
			}
			if b.Work != test.work || b.Span != test.span || b.Lower != test.lower || b.Upper != test.upper {
				t.Errorf("work %d, span %d, between %d and %d, want %d, %d, %d and %d",
					b.Work, b.Span, b.Lower, b.Upper, test.work, test.span, test.lower, test.upper)
			}
		})
	}
}

// TestCoroutines checks that switching is a chain: two coroutines never run at
// the same time.
func TestCoroutines(t *testing.T) {
	to := func(cpu model.Duration, target int32) workload.Segment {
		s := seg(cpu, workload.EndSwitch, 0)
		s.Target = target
		return s
	}
	last := seg(5, exit, 0)
	last.Target = 0
	consumer := func() []workload.Segment { return []workload.Segment{to(100, 1), to(100, 1), seg(100, exit, 0)} }
	for _, w := range []workload.Workload{
		{Goroutines: []workload.Goroutine{program(running, consumer(), workload.Op{G: 1, Kind: workload.OpBlocked}),
			program(workload.BeginAbsent, []workload.Segment{to(1000, 0), last})}},
		// The same if it was created before the window.
		{Goroutines: []workload.Goroutine{program(running, consumer()),
			program(workload.BeginWaiting, []workload.Segment{to(0, -1), to(1000, 0), last})}},
	} {
		if b := bound.Of(&w, 4); !b.Sound() || b.Span != 1305 {
			t.Errorf("%+v", b)
		}
	}
}

// TestStuck checks that what cannot be followed is told, and proves nothing.
func TestStuck(t *testing.T) {
	op := func(kind workload.OpKind, g, seg int32) workload.Op { return workload.Op{G: g, Seg: seg, Kind: kind} }
	never := workload.Goroutine{Begin: workload.BeginWaiting, Segments: []workload.Segment{seg(0, wait, 0), seg(100, exit, 0)}}
	for _, test := range []struct {
		about          string
		ops            []workload.Op
		unreached, odd int
	}{
		{"nobody wakes it", nil, 1, 0},
		{"woken twice", []workload.Op{op(workload.OpWake, 1, 0), op(workload.OpWake, 1, 0)}, 0, 1},
		{"no such goroutine", []workload.Op{op(workload.OpWake, 7, 0), op(workload.OpWake, -1, 0)}, 1, 2},
		{"no such segment", []workload.Op{op(workload.OpSend, 1, 9), op(workload.OpSend, 1, -1)}, 1, 2},
		{"not a wait", []workload.Op{op(workload.OpWake, 1, 1)}, 1, 1},
		{"exists already", []workload.Op{op(workload.OpCreate, 1, 0), op(workload.OpBlocked, 1, 0)}, 1, 2},
		{"no such cycle", []workload.Op{op(workload.OpCycle, 3, 0)}, 1, 1},
	} {
		w := workload.Workload{Goroutines: []workload.Goroutine{program(running, []workload.Segment{seg(10, exit, 0)}, test.ops...), never}}
		w.Recorded.LastEnd = 1_000_000
		b := bound.Of(&w, 2)
		if b.Unreached != test.unreached || b.Odd != test.odd {
			t.Errorf("%s: %+v", test.about, b)
		}
	}
}

// TestNonsense checks that impossible times neither overflow nor hang.
func TestNonsense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for seed := range uint64(100) {
		w := workloadtest.Random(seed, workloadtest.Options{Steps: 60})
		for i := range w.Goroutines {
			g := &w.Goroutines[i]
			for k := range g.Segments {
				s := &g.Segments[k]
				switch rnd.IntN(8) {
				case 0:
					s.CPU = model.Duration(rnd.Uint64())
				case 1:
					s.Delay = model.Duration(rnd.Uint64())
				case 2:
					s.Target = int32(rnd.Uint32())
				case 3:
					s.Ops = int32(rnd.Uint32())
				case 4:
					s.End = workload.EndKind(rnd.IntN(20))
				}
			}
		}
		for _, cores := range []int{1, 3, 1 << 20} {
			if b := bound.Of(w, cores); b.Lower < 0 || b.Upper < 0 || b.Span < 0 || b.Chain < 0 {
				t.Fatalf("seed %d: %+v", seed, b)
			}
		}
	}
}

// TestChains compares the chains with those of another implementation.
func TestChains(t *testing.T) {
	for seed := range uint64(*workloads) {
		w := workloadtest.Random(seed, workloadtest.Options{Without: workloadtest.GC})
		b := bound.Of(w, 4)
		span, err := workloadtest.Chains(w, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		chain, err := workloadtest.Chains(w, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		upper := (b.Work+chain+3)/4 + b.Held
		if !b.Sound() || b.Work != workloadtest.Work(w) || b.UpperCut != upper || b.Span > span || b.Lower < b.Span || b.Lower < b.Work/4 && !cutOff(w) && b.Upper == b.UpperAll {
			t.Fatalf("seed %d: %+v, want a span of at most %d, and %d", seed, b, span, upper)
		}
		if b.Span != span && !cutOff(w) {
			t.Fatalf("seed %d: span %d, want %d", seed, b.Span, span)
		}
	}
}

func cutOff(w *workload.Workload) bool {
	for i := range w.Goroutines {
		if n := len(w.Goroutines[i].Segments); n > 0 && w.Goroutines[i].Segments[n-1].End == workload.EndCut {
			return true
		}
	}
	return false
}

// TestSchedules checks that no schedule of a random workload ends before Lower, and
// that none that costs nothing and lets nobody wait ends after Upper.
func TestSchedules(t *testing.T) {
	for seed := range uint64(*workloads) {
		w := workloadtest.Random(seed, workloadtest.Options{Without: workloadtest.Crowds | workloadtest.Meets})
		rnd := rand.New(rand.NewPCG(seed, 1))
		for _, cores := range []int{1, 2, 1 + rnd.IntN(16)} {
			b := bound.Of(w, cores)
			if !b.Sound() {
				t.Fatalf("seed %d: %+v", seed, b)
			}
			check := func(about string, greedy bool, whole, all model.Duration) {
				if whole < b.Lower || greedy && (whole > b.Upper || all > b.UpperCut) {
					t.Fatalf("seed %d on %d cores, %s: %d and %d, not within %+v", seed, cores, about, whole, all, b)
				}
			}
			whole, all := list(w, cores, 1<<60, nil, nil)
			check("first come, first served", true, whole, all)
			whole, all = list(w, cores, 50_000, nil, rnd)
			check("in any order, with preemption", true, whole, all)
			whole, all = list(w, cores, 1<<60, func() model.Duration { return model.Duration(rnd.IntN(5000)) }, rnd)
			check("at a cost", false, whole, all)
		}
	}
}

// TestLower compares the sweep with the formula.
func TestLower(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var w workload.Workload
		n := 1 + rnd.IntN(20)
		for range n {
			w.Goroutines = append(w.Goroutines, program(running, []workload.Segment{
				seg(0, workload.EndSleep, model.Duration(rnd.IntN(200))), seg(model.Duration(1+rnd.IntN(50)), exit, 0)}))
		}
		cores := 1 + rnd.IntN(4)
		want := model.Duration(0)
		for r := model.Duration(0); r < 300; r++ {
			left := model.Duration(0)
			for _, g := range w.Goroutines {
				left += max(0, g.Segments[1].CPU-max(0, r-g.Segments[0].Delay))
			}
			if left > 0 {
				want = max(want, r+left/model.Duration(cores))
			}
		}
		if b := bound.Of(&w, cores); b.Lower < want || b.Lower > want+1 {
			t.Errorf("seed %d: %d, want %d", seed, b.Lower, want)
		}
	}
}

// TestRelabelled checks that names do not matter, nor that anything is changed.
func TestRelabelled(t *testing.T) {
	for seed := range uint64(30) {
		w := workloadtest.Random(seed, workloadtest.Options{})
		b := bound.Of(w, 3)
		other, _ := workloadtest.Relabel(w, seed)
		if got := bound.Of(other, 3); got != b {
			t.Errorf("seed %d: %+v and %+v", seed, b, got)
		}
		if again := workloadtest.Random(seed, workloadtest.Options{}); !reflect.DeepEqual(w.Goroutines, again.Goroutines) {
			t.Errorf("seed %d: the workload was changed", seed)
		}
	}
}
