package replay

import (
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// hand makes steps by hand. Its clock is moved by the cases.
type hand struct {
	c  *calibrator
	at model.Time
}

func newHand() *hand { return &hand{c: newCalibrator(), at: 1000} }

func (h *hand) after(d model.Duration) *hand {
	h.at += model.Time(d)
	return h
}

func (h *hand) goStep(g, by model.GoID, m model.ThreadID, from, to model.GoState) *hand {
	h.c.Step(&model.Step{Kind: model.StepGo, Time: h.at, G: g, By: by, M: m, P: 0, From: uint8(from), To: uint8(to)})
	return h
}

func (h *hand) stop(m model.ThreadID) *hand {
	return h.goStep(1, 1, m, model.GoRunning, model.GoWaiting)
}

func (h *hand) wake(m model.ThreadID) *hand {
	return h.goStep(3, model.NoGoroutine, m, model.GoWaiting, model.GoRunnable)
}

// start makes goroutine 2 run on m, and has the resolver tell its source.
func (h *hand) start(m model.ThreadID, s runqueue.Source) *hand {
	h.goStep(2, model.NoGoroutine, m, model.GoRunnable, model.GoRunning)
	h.c.Start(&runqueue.Start{Time: h.at, G: 2, M: m, Source: s})
	return h
}

func (h *hand) move(p model.ProcID, by, from, to model.ThreadID) *hand {
	h.c.Step(&model.Step{Kind: model.StepMove, Time: h.at, G: model.NoGoroutine, By: model.NoGoroutine, M: by, P: p, FromM: from, ToM: to})
	return h
}

func (h *hand) got(m model.ThreadID) *hand    { return h.move(0, m, model.NoThread, m) }
func (h *hand) giveUp(m model.ThreadID) *hand { return h.move(0, m, m, model.NoThread) }

func (h *hand) wakeup(m model.ThreadID, d model.Duration, change func(*runqueue.Wakeup)) *hand {
	w := runqueue.Wakeup{M: m, Caused: true, Trigger: h.at, Got: h.at + model.Time(d)}
	h.after(d).got(m)
	if change != nil {
		change(&w)
	}
	h.c.Wakeup(&w)
	return h
}

const idle = model.NoThread

// TestEstimators checks for each parameter which samples count. A case does
// one round of steps; the parameter must be want after 40 of them, counted n times each.
func TestEstimators(t *testing.T) {
	for _, test := range []struct {
		about string
		name  string
		round func(*hand, int)
		want  model.Duration
		n     int64
	}{
		{"stop to start", "runnext", func(h *hand, _ int) { h.stop(5).after(100).start(5, runqueue.SourceRunnext) }, 100, 1},
		{"half the time a tick more", "runnext", func(h *hand, i int) {
			h.stop(5).after(model.Duration(64+64*(i%2))).start(5, runqueue.SourceRunnext)
		}, 96, 1},
		{"another thread's stop", "runnext", func(h *hand, _ int) { h.stop(6).after(100).start(5, runqueue.SourceRunnext) }, 0, 0},
		{"timers fired before", "runnext", func(h *hand, _ int) {
			h.stop(5).after(100).wake(5).after(10).start(5, runqueue.SourceRunnext)
		}, 0, 0},
		{"stop to start", "local", func(h *hand, _ int) { h.stop(5).after(120).start(5, runqueue.SourceLocal) }, 120, 1},
		{"a fresh proc", "local", func(h *hand, _ int) { h.got(5).after(120).start(5, runqueue.SourceLocal) }, 0, 0},
		{"stop to start", "global", func(h *hand, _ int) { h.stop(5).after(130).start(5, runqueue.SourceGlobal) }, 130, 1},
		{"stop to start", "direct", func(h *hand, _ int) { h.stop(5).after(140).start(5, runqueue.SourceSystem) }, 140, 1},
		{"after a stop", "steal", func(h *hand, _ int) { h.stop(5).after(200).start(5, runqueue.SourceSteal) }, 200, 1},
		{"after a sleep", "steal", func(h *hand, _ int) { h.got(5).after(60_000).start(5, runqueue.SourceSteal) }, 0, 0},
		{"kicked into the queue meanwhile", "backoff", func(h *hand, _ int) { h.got(5).after(61_225).start(5, runqueue.SourceSteal) }, 60_000, 1},
		{"mostly late", "steal", func(h *hand, i int) {
			h.got(5).after(model.Duration(200+1000*(i%3))).start(5, runqueue.SourceSteal)
		}, 200, 1},
		{"its own wakes", "poll", func(h *hand, _ int) {
			h.stop(5).after(200).wake(5).after(20).wake(5).after(50).start(5, runqueue.SourceNetpoll)
		}, 200, 1},
		{"handed over by a poll", "direct", func(h *hand, _ int) {
			h.got(5).after(200).wake(5).after(20).wake(5).after(50).start(5, runqueue.SourceNetpoll)
		}, 50, 1},
		{"by a thread that slept", "poll", func(h *hand, _ int) {
			h.got(5).after(200).wake(5).after(50).start(5, runqueue.SourceNetpoll)
		}, 0, 0},
		{"less the defaults of steal and spin", "backoff", func(h *hand, _ int) { h.got(5).after(61_225).start(5, runqueue.SourceStealRunnext) }, 60_000, 1},
		{"with real-time priority", "backoff", func(h *hand, _ int) { h.got(5).after(16_225).start(5, runqueue.SourceStealRunnext) }, 15_000, 1},
		{"without sleep", "backoff", func(h *hand, _ int) { h.got(5).after(900).start(5, runqueue.SourceStealRunnext) }, 0, 0},
		{"from a back-off", "slack", func(h *hand, _ int) { h.got(5).after(61_225).start(5, runqueue.SourceStealRunnext) }, 57_000, 0},
		{"woken", "wake", func(h *hand, _ int) { h.got(5).giveUp(5).after(1000).wakeup(5, 6000, nil) }, 6000, 1},
		{"handed over", "wake", func(h *hand, _ int) {
			h.got(5).giveUp(5).wakeup(5, 6000, func(w *runqueue.Wakeup) { w.Handoff = true })
		}, 6000, 1},
		{"nobody known", "wake", func(h *hand, _ int) {
			h.got(5).giveUp(5).wakeup(5, 6000, func(w *runqueue.Wakeup) { w.Caused = false })
		}, 0, 0},
		{"handed over", "locked", func(h *hand, _ int) {
			h.got(5).stop(5).after(100).giveUp(5).after(2000).got(6).after(300).start(6, runqueue.SourceLocked)
		}, 2300, 1},
		{"sysmon", "slack", func(h *hand, _ int) { h.after(73_000).move(1, 9, 7, idle) }, 55_000, 1},
		{"sysmon's second look", "slack", func(h *hand, _ int) {
			h.after(300_000).move(0, 5, model.NoThread, 5).goStep(5, 4, 6, model.GoRunning, model.GoSyscall).after(80_000).move(0, 9, 5, model.NoThread)
		}, 60_000, 1},
		{"one round of sysmon", "slack", func(h *hand, _ int) {
			h.after(300_000).move(1, 9, 7, idle).after(500).move(2, 9, 8, idle)
		}, 0, 0},
		{"taken by one that runs goroutines", "slack", func(h *hand, _ int) {
			h.start(9, runqueue.SourceLocal).after(75_000).move(1, 9, 7, idle)
		}, 0, 0},
	} {
		t.Run(test.name+"/"+test.about, func(t *testing.T) {
			h := newHand()
			h.stop(5).stop(6).wakeBefore(9)
			const rounds = 40
			for i := range rounds {
				test.round(h, i)
				h.after(2000)
			}
			e := h.estimate(t, test.name)
			if test.want == 0 {
				if e.From != "default" || e.Value != e.Default {
					t.Fatalf("%s is %d of %d samples, want the default", e.Kind, e.Value, e.Samples)
				}
				return
			}
			// The first round may lack its beginning, and values above 256 ns lie in buckets.
			if e.From != "trace" || e.Samples < (rounds-1)*test.n || e.Samples > rounds*test.n {
				t.Fatalf("%s has %d samples, from %s", e.Kind, e.Samples, e.From)
			}
			if d := e.Value - test.want; d > test.want/100 || -d > test.want/100 {
				t.Fatalf("%s is %d, want %d", e.Kind, e.Value, test.want)
			}
		})
	}
}

// wakeBefore makes a thread known.
func (h *hand) wakeBefore(m model.ThreadID) *hand { return h.wake(m).after(1) }

func (h *hand) estimate(t *testing.T, name string) estimated {
	t.Helper()
	for _, e := range estimates(h.c) {
		if e.Kind.String() == name {
			return e
		}
	}
	t.Fatalf("no estimate of %s", name)
	return estimated{}
}

// estimated is what a cost was estimated as.
type estimated struct {
	Kind           refsched.Cost
	Value, Default model.Duration
	Samples        int64
	From           string // trace or default
}

func estimates(c *calibrator) (list []estimated) {
	costs, usual := c.costs(), refsched.DefaultCosts()
	for k := range refsched.NumCosts {
		e := estimated{k, costs.Single[k], usual.Single[k], c.samples[k].n, "default"}
		if _, ok := c.estimate(k); ok {
			e.From = "trace"
		}
		list = append(list, e)
	}
	return list
}

func calibrated(c *calibrator) refsched.Costs { return c.costs() }

// TestFewSamples checks that a parameter keeps its default below minSamples.
func TestFewSamples(t *testing.T) {
	for n := range minSamples + 2 {
		h := newHand()
		for range n {
			h.stop(5).after(100).start(5, runqueue.SourceRunnext).after(1000)
		}
		want := refsched.DefaultCosts().Single[refsched.CostRunnext]
		if n >= minSamples {
			want = 100
		}
		if got := calibrated(h.c).Single[refsched.CostRunnext]; got != want {
			t.Errorf("with %d samples runnext costs %d, want %d", n, got, want)
		}
	}
}

func TestWakeQuantiles(t *testing.T) {
	h := newHand()
	for i := range 1000 {
		d := model.Duration(1000 + 10*i)
		if i >= 995 {
			d = 1_000_000_000 // the operating system
		}
		h.got(5).giveUp(5).after(1000).wakeup(5, d, nil)
	}
	q := calibrated(h.c).Drawn[refsched.CostWake]
	if len(q) != numQuantiles || !slices.IsSorted(q) {
		t.Fatalf("quantiles %v", q)
	}
	if n := numQuantiles; q[0] < 1000 || q[0] > 1100 || q[n*99/100] < 10_500 || q[n*99/100] > 11_000 || q[n-1] < 990_000_000 {
		t.Errorf("quantiles from %d to %d, %d", q[0], q[n*99/100], q[n-1])
	}
	costs := calibrated(h.c)
	if tail := costs.Tail[refsched.CostWake]; !slices.IsSorted(tail) || tail[0] < 990_000_000 || costs.Quiet().Tail[refsched.CostWake] != nil {
		t.Errorf("the longest are from %d to %d", tail[0], tail[len(tail)-1])
	}
	if quiet := costs.Quiet().Drawn[refsched.CostWake]; quiet[len(quiet)-1] > 11_000 {
		t.Errorf("without the operating system up to %d", quiet[len(quiet)-1])
	}
}

// TestBackOffQuantiles checks that what a thief does apart from its sleep is taken off.
func TestBackOffQuantiles(t *testing.T) {
	h := newHand()
	for i := range 1000 {
		h.got(5).after(model.Duration(60_000+10*i)).start(5, runqueue.SourceStealRunnext)
	}
	q, less := calibrated(h.c).Drawn[refsched.CostBackOff], model.Duration(700+525)
	if len(q) != numQuantiles || !slices.IsSorted(q) || q[0] < 60_000-less-300 || q[0] > 60_200-less+300 || q[numQuantiles-1] > 70_000-less+300 {
		t.Errorf("quantiles %v", q)
	}
}

// TestHeld checks that starts that the resolver never tells do not pile up, and
// that the newest of them are kept.
func TestHeld(t *testing.T) {
	h := newHand()
	for range 3 * maxHeld {
		h.stop(5).after(100).goStep(2, model.NoGoroutine, 5, model.GoRunnable, model.GoRunning).after(100)
	}
	if len(h.c.picks) > maxHeld {
		t.Errorf("%d starts are held", len(h.c.picks))
	}
	for range minSamples {
		h.stop(5).after(100).start(5, runqueue.SourceRunnext).after(100)
	}
	if e := h.estimate(t, "runnext"); e.From != "trace" {
		t.Errorf("%+v", e)
	}
}
