package replay

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

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
	c := newCalibrator()
	m.Observe(c)
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

// bounds are what a parameter is at least and at most on any machine that the
// fixtures were recorded on, in nanoseconds.
var bounds = map[string][2]model.Duration{
	"runnext": {32, 5000}, "local": {32, 5000}, "global": {32, 20_000}, "steal": {64, 10_000}, "poll": {64, 20_000}, "direct": {32, 20_000},
	"backoff": {3000, 1_000_000}, "wake": {500, 2_000_000}, "locked": {500, 500_000},
	"slack": {500, 1_000_000},
}

func TestCalibrateFixtures(t *testing.T) {
	seen := map[string]int{}
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			c := calibrateFixture(t, name)
			if c == nil {
				t.Skip("not a trace whose queues can be replayed")
			}
			for _, e := range estimates(c) {
				if e.From != "trace" {
					continue
				}
				seen[e.Kind.String()]++
				t.Logf("%-8s %7d ns (default %6d) of %d", e.Kind.String(), e.Value, e.Default, e.Samples)
				if b, ok := bounds[e.Kind.String()]; !ok || e.Value < b[0] || e.Value > b[1] {
					t.Errorf("%s is %d ns, of %d samples", e.Kind.String(), e.Value, e.Samples)
				}
			}
			for _, q := range calibrated(c).Drawn {
				if !slices.IsSorted(q) || len(q) > 0 && q[0] < 0 {
					t.Errorf("quantiles are %v", q)
				}
			}
			again := calibrateFixture(t, name)
			if !reflect.DeepEqual(estimates(c), estimates(again)) || !reflect.DeepEqual(calibrated(c), calibrated(again)) {
				t.Error("another reading gives other estimates")
			}
		})
	}
	for _, name := range []string{"runnext", "local", "global", "steal", "poll", "backoff", "wake", "locked"} {
		if seen[name] == 0 {
			t.Errorf("no fixture gives enough samples of %s", name)
		}
	}
}
