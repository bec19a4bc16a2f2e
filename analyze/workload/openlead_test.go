package workload

import (
	"math"
	"slices"
	"testing"
)

// TestLongArrivals checks that waits of which the sum overflows are not found to end at times of their own.
func TestLongArrivals(t *testing.T) {
	w := &window{Workload: Workload{Goroutines: []Goroutine{{Segments: []Segment{{End: EndExternal, Delay: 1}}}}}}
	w.nets = slices.Repeat([]waiting{{to: math.MaxInt64 / 2}}, arrivalsLeast+1)
	w.inferArrivals()
	if s := w.Goroutines[0].Segments[0]; s.Absolute || s.Delay != 1 {
		t.Errorf("%+v of %d, lead %g", s, len(w.nets), openLead(w.nets))
	}
}
