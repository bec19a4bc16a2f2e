package replay

import (
	"math"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestDwells checks the times that are known of the fake's schedules: each goroutine waits to run for 1, 2 or 3 us, and runs
// for 500 ns.
func TestDwells(t *testing.T) {
	r, err := replayed(t, t.Context(), "http.trace", Options{Seeds: 3, simulate: fake})
	if err != nil {
		t.Fatal(err)
	}
	var runnable, running Range
	var measured model.Duration
	last := math.Inf(1)
	for _, row := range r.Dwells {
		switch row.State {
		case "runnable":
			runnable.Mid += row.Simulated.Mid
			runnable.Low += row.Simulated.Low
			runnable.High += row.Simulated.High
		case "running":
			running.Mid += row.Simulated.Mid
		default:
			if row.Simulated != (Lengths{}) {
				t.Errorf("the fake has %+v", row)
			}
		}
		if row.Measured < 0 || math.Abs(row.Excess()) > last {
			t.Errorf("%+v follows on a difference of %g", row, last)
		}
		measured += row.Measured
		last = math.Abs(row.Excess())
	}
	if n := running.Mid / 500; n < 10 || runnable != (Range{2000 * n, 1000 * n, 3000 * n}) {
		t.Errorf("running %v, runnable %v", running, runnable)
	}
	if measured < r.Work {
		t.Errorf("%d ns in states, %d of work", measured, r.Work)
	}
}

// TestDwellsConserved checks that what a replay takes as recorded takes as long under the reference: computing.
func TestDwellsConserved(t *testing.T) {
	for _, name := range []string{"forkjoin.p1", "forkjoin.p2", "workers.p1", "tree.p2"} {
		r, err := replayed(t, t.Context(), stored(name), Options{Seeds: 3})
		if err != nil {
			t.Fatal(err)
		}
		var running, excess float64
		for _, row := range r.Dwells {
			if row.State == "running" {
				running += float64(row.Measured)
				excess += row.Excess()
			}
		}
		if running == 0 || math.Abs(excess) > 0.02*running {
			t.Errorf("%s: goroutines run for %g ns longer than the recorded %g", name, excess, running)
		}
	}
}

// TestWorstDwells checks that one difference is named if all others are small, that two are at most, and that what
// follows from waits is not.
func TestWorstDwells(t *testing.T) {
	row := func(state, frame string, measured model.Duration, simulated float64) DwellRow {
		return DwellRow{Dwell{Func: "f", State: state, Frame: frame}, measured, Lengths{Mid: simulated}}
	}
	for _, tt := range []struct {
		rows []DwellRow
		want []string
	}{
		{nil, nil},
		{[]DwellRow{row("runnable", "", 1000, 0), row("waiting", "a", 0, 900), row("waiting", "b", 900, 460)}, []string{"a"}},
		{[]DwellRow{row("waiting", "a", 0, 900), row("syscall", "b", 900, 440), row("waiting", "c", 0, 440)}, []string{"a", "b"}},
		{[]DwellRow{row("running", "", 1000, 0), row("waiting", "a", 900, 900)}, nil},
	} {
		var got []string
		for _, w := range (&Result{Dwells: tt.rows}).WorstDwells() {
			got = append(got, w.Frame)
		}
		if len(got) != len(tt.want) || len(got) > 0 && got[0] != tt.want[0] || len(got) > 1 && got[1] != tt.want[1] {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
