package refsched_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/bound"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
)

// TestHostile: the simulator and the bounds survive whatever workload passes its check, as
// little sense as that may make, and time goes forward.
func TestHostile(t *testing.T) {
	forAll(t, 600, func(seed uint64) error {
		rnd := rand.New(rand.NewPCG(seed, 0xbad))
		w := workloadtest.Random(seed, workloadtest.Options{Steps: 1 + rnd.IntN(60)})
		for range 1 + rnd.IntN(8) {
			damage(rnd, w)
		}
		if workloadtest.Check(w) != nil {
			return nil
		}
		c := ordinary(seed, w)
		c.AsRecorded = rnd.IntN(3) == 0
		c.NoMeet, c.NoTracer, c.Rules.Ideal = rnd.IntN(3) == 0, rnd.IntN(3) == 0, rnd.IntN(4) == 0
		if rnd.IntN(3) == 0 {
			c.Quota = model.Duration(1+rnd.IntN(c.Procs)) * 10_000_000
		}
		c.Until = 10_000_000_000
		bound.Of(w, c.Procs)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		last := model.Time(math.MinInt64)
		n := 0
		_, err := refsched.Run(ctx, w, c, func(ev *model.Event) {
			if n++; n > maxEvents {
				cancel()
			}
			if ev.Time <= last {
				panic(fmt.Sprintf("time goes back from %d to %d", last, ev.Time))
			}
			last = ev.Time
		})
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("does not end")
		}
		return err
	})
}

// damage changes one thing about a workload.
func damage(rnd *rand.Rand, w *workload.Workload) {
	g := &w.Goroutines[rnd.IntN(len(w.Goroutines))]
	s := &g.Segments[rnd.IntN(len(g.Segments))]
	times := []model.Duration{0, 1, 1000, 50_000_000, 1 << 40, math.MaxInt64}
	flip := func(b *bool) { *b = !*b }
	switch rnd.IntN(14) {
	case 0:
		s.Delay = times[rnd.IntN(len(times))]
	case 1:
		s.End = workload.EndKind(rnd.IntN(int(workload.NumEnds)))
	case 2:
		s.End, s.Target = workload.EndSwitch, int32(rnd.IntN(len(w.Goroutines)+1)-1)
	case 3:
		flip(&s.Meet)
	case 4:
		flip(&s.Sends)
	case 5:
		flip(&s.Absolute)
	case 6:
		flip(&s.Blocking)
	case 7:
		s.Object = int32(rnd.IntN(len(w.Objects)+1) - 1)
	case 8:
		if len(g.Ops) > 0 {
			op := &g.Ops[rnd.IntN(len(g.Ops))]
			flip([]*bool{&op.Meet, &op.Tail, &op.Inject}[rnd.IntN(3)])
		}
	case 9:
		g.Begin = workload.Begin(rnd.IntN(5))
		g.Proc = model.ProcID(rnd.IntN(20) - 1)
	case 10:
		flip([]*bool{&g.Tracer, &g.System, &g.Locked}[rnd.IntN(3)])
	case 11:
		if len(w.Stops) > 0 {
			w.Stops[rnd.IntN(len(w.Stops))].Hold = times[rnd.IntN(len(times))]
		}
		if len(w.Cycles) > 0 {
			c := &w.Cycles[rnd.IntN(len(w.Cycles))]
			*[]*model.Duration{&c.Work, &c.Sweep, &c.Mark, &c.At}[rnd.IntN(4)] = times[rnd.IntN(len(times))]
		}
	case 12:
		if len(w.Objects) > 0 {
			o := &w.Objects[rnd.IntN(len(w.Objects))]
			o.Class = workload.Class(rnd.IntN(int(workload.NumClasses)))
			o.Children = append(o.Children, int32(rnd.IntN(len(w.Goroutines))))
		}
	case 13:
		d := times[rnd.IntN(len(times))] - s.CPU
		if ops := len(g.Ops); ops == 0 {
			s.CPU += d
			w.Recorded.Work += d
			w.Recorded.Running += d
		}
	}
}
