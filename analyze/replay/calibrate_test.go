package replay

import (
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// TestSamples checks for each cost which starts and wakeups count.
func TestSamples(t *testing.T) {
	const began = 100_000 // when the thread began to search
	start := func(s runqueue.Source, took model.Duration, change func(*runqueue.Start)) func(*calibrator) {
		x := runqueue.Start{Source: s, Since: began - 50, Search: began, Time: began + model.Time(took)}
		if change != nil {
			change(&x)
		}
		return func(c *calibrator) { c.Start(&x) }
	}
	wakeup := func(caused, handoff bool) func(*calibrator) {
		return func(c *calibrator) {
			c.Wakeup(&runqueue.Wakeup{Caused: caused, Handoff: handoff, Trigger: began, Got: began + 6000})
		}
	}
	fresh := func(s *runqueue.Start) { s.Freed = began - 200 }
	for _, test := range []struct {
		about string
		cost  refsched.Cost
		round func(*calibrator)
		want  model.Duration // 0: none
	}{
		{"stop to start", refsched.CostRunnext, start(runqueue.SourceRunnext, 100, nil), 100},
		{"timers fired before", refsched.CostRunnext, start(runqueue.SourceRunnext, 100, func(s *runqueue.Start) { s.Since = began }), 0},
		{"contradicted", refsched.CostRunnext, start(runqueue.SourceRunnext, 100, func(s *runqueue.Start) { s.Grade = runqueue.GradeContradicted }), 0},
		{"after a system call", refsched.CostRunnext, start(runqueue.SourceRunnext, 100, func(s *runqueue.Start) { s.Pseudo = model.PseudoSyscall }), 0},
		{"stop to start", refsched.CostLocal, start(runqueue.SourceLocal, 120, nil), 120},
		{"a fresh proc", refsched.CostLocal, start(runqueue.SourceLocal, 120, fresh), 0},
		{"stop to start", refsched.CostGlobal, start(runqueue.SourceGlobal, 130, nil), 130},
		{"stop to start", refsched.CostDirect, start(runqueue.SourceSystem, 140, nil), 140},
		{"handed over by a poll", refsched.CostDirect, start(runqueue.SourceNetpoll, 50, func(s *runqueue.Start) { s.Since = began }), 50},
		{"after a stop", refsched.CostSteal, start(runqueue.SourceSteal, 200, nil), 200},
		{"with a fresh proc", refsched.CostSteal, start(runqueue.SourceSteal, 200, fresh), 200},
		{"after a sleep", refsched.CostSteal, start(runqueue.SourceSteal, 60_000, nil), 0},
		{"kicked into the queue meanwhile", refsched.CostBackOff, start(runqueue.SourceSteal, 60_000+aroundSleep, nil), 60_000},
		{"its runnext", refsched.CostBackOff, start(runqueue.SourceStealRunnext, 60_000+aroundSleep, fresh), 60_000},
		{"with real-time priority", refsched.CostBackOff, start(runqueue.SourceStealRunnext, 15_000+aroundSleep, nil), 15_000},
		{"without sleep", refsched.CostBackOff, start(runqueue.SourceStealRunnext, 900, nil), 0},
		{"handed over", refsched.CostLocked, start(runqueue.SourceLocked, 2300, fresh), 2500},
		{"woken", refsched.CostWake, wakeup(true, false), 6000},
		{"handed over", refsched.CostWake, wakeup(true, true), 6000},
		{"nobody known", refsched.CostWake, wakeup(false, false), 0},
	} {
		var c calibrator
		for range minSamples {
			test.round(&c)
		}
		if got := typical(c.costs(), test.cost); got < test.want-test.want/100 || got > test.want+test.want/100 {
			t.Errorf("%s, cost %d: got %d, want %d", test.about, test.cost, got, test.want)
		}
	}
}

// typical returns the median of what is drawn for a cost, 0 if nothing is.
func typical(c refsched.Costs, k refsched.Cost) model.Duration {
	if q := c.Drawn[k]; len(q) > 0 {
		return q[len(q)/2]
	}
	return 0
}

// TestFewSamples checks that a cost keeps its default below minSamples.
func TestFewSamples(t *testing.T) {
	for n := range minSamples + 2 {
		var c calibrator
		for range n {
			c.add(refsched.CostRunnext, 100)
		}
		if got := c.costs().Drawn[refsched.CostRunnext]; (got != nil) != (n >= minSamples) {
			t.Errorf("of %d samples is drawn %v", n, got)
		}
	}
}

func TestSampleQuantiles(t *testing.T) {
	var c calibrator
	for i := range 1000 {
		c.add(refsched.CostWake, model.Duration(i*100-500))
	}
	for i, d := range c.costs().Drawn[refsched.CostWake] {
		rank := dist.Rank((float64(i)+0.5)/numQuantiles, 1000)
		want := max(0, model.Duration(rank-1)*100-500)
		if d < want-want/100 || d > want+want/100 {
			t.Errorf("quantile %d is %d, want %d", i, d, want)
		}
	}
}

func TestWakeQuantiles(t *testing.T) {
	var c calibrator
	for i := range 1000 {
		d := model.Duration(1000 + 10*i)
		if i >= 995 {
			d = 1_000_000_000 // the operating system
		}
		c.Wakeup(&runqueue.Wakeup{Caused: true, Got: model.Time(d)})
	}
	costs := c.costs()
	q := costs.Drawn[refsched.CostWake]
	if len(q) != numQuantiles || !slices.IsSorted(q) {
		t.Fatalf("quantiles %v", q)
	}
	if n := numQuantiles; q[0] < 1000 || q[0] > 1100 || q[n*99/100] < 10_500 || q[n*99/100] > 11_000 || q[n-1] < 990_000_000 {
		t.Errorf("quantiles from %d to %d, %d", q[0], q[n*99/100], q[n-1])
	}
	if tail := costs.Tail[refsched.CostWake]; !slices.IsSorted(tail) || tail[0] < 990_000_000 || costs.Quiet().Tail[refsched.CostWake] != nil {
		t.Errorf("the longest are from %d to %d", tail[0], tail[len(tail)-1])
	}
	if quiet := costs.Quiet().Drawn[refsched.CostWake]; quiet[len(quiet)-1] > 11_000 {
		t.Errorf("without the operating system up to %d", quiet[len(quiet)-1])
	}
}
