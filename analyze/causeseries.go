package analyze

import (
	"math/bits"

	"github.com/schedscope/schedscope/model"
)

// causeBins collects time lost over time, in bins of equal width.
type causeBins struct{ bins[CauseTotals] }

// add adds the time between start and end, weight times.
func (c *causeBins) add(cause Cause, start, end model.Time, weight int64) {
	c.addClock(cause, start, end, end.Sub(start), weight, func(t model.Time) model.Duration { return t.Sub(start) })
}

// addClock adds length, weight times, which passed between start and end on a
// clock of its own: clockAt tells how much of it had passed at a time.
func (c *causeBins) addClock(cause Cause, start, end model.Time, length model.Duration, weight int64, clockAt func(model.Time) model.Duration) {
	if length == 0 || weight == 0 {
		return
	}
	from, to := c.reach(start, end)
	first, last := from>>c.shift, to>>c.shift
	passed := model.Duration(0)
	for i := first; i < last; i++ {
		until := clockAt(c.start + model.Time((i+1)<<c.shift))
		c.cells[i][cause] += (until - passed) * model.Duration(weight)
		passed = until
	}
	c.cells[last][cause] += (length - passed) * model.Duration(weight)
}

// spread adds lengths of which is only known that they passed between start and
// end, evenly.
func (c *causeBins) spread(cause Cause, start, end model.Time, length model.Duration) {
	c.addClock(cause, start, end, length, 1, func(t model.Time) model.Duration {
		hi, lo := bits.Mul64(uint64(length), uint64(t.Sub(start)))
		q, _ := bits.Div64(hi, lo, uint64(end.Sub(start)))
		return model.Duration(q)
	})
}
