package refsched_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/refsched/recovery"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
)

// recoverable returns a schedule under the runtime's own rules with usual costs.
func recoverable(seed uint64) (*recovery.Schedule, error) {
	w := workloadtest.Random(seed, workloadtest.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return recovery.Record(ctx, w, refsched.Config{Seed: seed, Costs: refsched.DefaultCosts()})
}

// TestRecovery: what the simulator's events leave of its schedule is enough to tell where
// starts came from. Not for all of them: whether an idle proc has been woken already does not
// show, and so neither into which queue a list goes; which is why grades exist.
func TestRecovery(t *testing.T) {
	var mu sync.Mutex
	total := &recovery.Score{}
	forAll(t, 200, func(seed uint64) error {
		s, err := recoverable(seed)
		if err != nil {
			return err
		}
		score, err := s.Resolve(s.Events)
		if err != nil {
			return err
		}
		mu.Lock()
		total.Add(score)
		mu.Unlock()
		if score.Longest > refsched.RunqSize {
			err = fmt.Errorf("a local queue of %d", score.Longest)
		}
		if score.Lost > 0 || score.Invalid > 0 {
			err = errors.Join(err, fmt.Errorf("of %d starts %d are lost, %d events are invalid: %s", score.Starts, score.Lost, score.Invalid, wrong(score)))
		}
		return err
	})
	t.Logf("%d starts: source %d, via %d, place %d, victim %d, batch %d, whole %d, certain %d (%d right)", total.Starts, total.Source, total.Via,
		total.Place, total.Victim, total.Batch, total.Whole, total.Certain, total.CertainRight)
	if 100*total.Source < 99*total.Starts || 10*total.Certain < 9*total.Starts || 1000*total.CertainRight < 999*total.Certain {
		t.Errorf("of %d starts %d have the right source; %d are certain and %d of these right; want 99 %%, 90 %% and 99.9 %%",
			total.Starts, total.Source, total.Certain, total.CertainRight)
	}
	for i := range total.First {
		t.Logf("not whole:\nwant %+v\ngot  %+v", total.First[i][0], total.First[i][1])
	}
}

func wrong(s *recovery.Score) string {
	var b strings.Builder
	for k, n := range s.Wrong {
		fmt.Fprintf(&b, " %v as %v: %d;", k[0], k[1], n)
	}
	if len(s.First) > 0 {
		fmt.Fprintf(&b, "\nwant %+v\ngot  %+v", s.First[0][0], s.First[0][1])
	}
	return b.String()
}

// TestCurve: disorder of the time stamps of 2 us costs next to nothing.
func TestCurve(t *testing.T) {
	var list []*recovery.Schedule
	for seed := range uint64(properties(t, 60)) {
		s, err := recoverable(seed)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	var b strings.Builder
	if err := recovery.Curve(&b, list, []model.Duration{0, 64, 128, 256, 512, 1000, 2000, 4000, 8000}, 64); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", b.String())
	rows := strings.Split(strings.TrimSpace(b.String()), "\n")[1:]
	for _, row := range rows {
		var eps, starts int
		var source float64
		if _, err := fmt.Sscanf(row, "%dns %d %f %%", &eps, &starts, &source); err != nil {
			t.Errorf("%q: %v", row, err)
		}
		if starts == 0 || eps <= 2000 && source < 98 {
			t.Errorf("%d ns of disorder: of %d starts %.2f %% have the right source, want 98 %%", eps, starts, source)
		}
	}
}
