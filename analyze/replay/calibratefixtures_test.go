package replay

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// calibrateFixture calibrates from a fixture, as far as it can be read; nil if it is no
// trace, or too old.
func calibrateFixture(t *testing.T, name string) *calibrator {
	t.Helper()
	f, err := os.Open(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var empty *ingest.EmptyError
	in, err := ingest.NewReader(f, ingest.Options{})
	if errors.As(err, &empty) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	version := in.Header().Version
	m := model.NewMachine(in.Tables(), model.Config{Version: version})
	c := new(calibrator)
	r, err := runqueue.New(in.Tables(), version)
	if err != nil {
		return nil
	}
	r.Observe(c)
	m.Observe(r)
	err = ingest.Each(in, func(ev *model.Event) error {
		_ = m.Apply(ev) // what contradicts itself is the model's business
		return nil
	})
	if err != nil && !errors.As(err, &empty) {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	return c
}

// bounds are what a cost typically is at least and at most on any machine that the
// fixtures were recorded on, in nanoseconds.
var bounds = map[refsched.Cost][2]model.Duration{
	refsched.CostRunnext: {32, 5000}, refsched.CostLocal: {32, 5000}, refsched.CostGlobal: {32, 20_000}, refsched.CostSteal: {64, 10_000},
	refsched.CostDirect: {32, 20_000}, refsched.CostBackOff: {3000, 1_000_000}, refsched.CostWake: {500, 2_000_000}, refsched.CostLocked: {500, 500_000},
}

func TestCalibrateFixtures(t *testing.T) {
	seen := map[refsched.Cost]int{}
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			c := calibrateFixture(t, name)
			if c == nil {
				t.Skip("not a trace whose queues can be replayed")
			}
			costs := c.costs()
			for k, q := range costs.Drawn {
				if q == nil {
					continue
				}
				k := refsched.Cost(k)
				seen[k]++
				if b, ok := bounds[k]; !ok || typical(costs, k) < b[0] || typical(costs, k) > b[1] {
					t.Errorf("cost %d is %d ns, of %d samples", k, typical(costs, k), c.samples[k].Total())
				}
				if !slices.IsSorted(q) || q[0] < 0 {
					t.Errorf("quantiles are %v", q)
				}
			}
			if !reflect.DeepEqual(costs, calibrateFixture(t, name).costs()) {
				t.Error("another reading gives other estimates")
			}
		})
	}
	for k := range bounds {
		if seen[k] == 0 {
			t.Errorf("no fixture gives enough samples of cost %d", k)
		}
	}
}
