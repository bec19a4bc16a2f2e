package modeltest

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// checkRanges checks ranges, and goroutines' totals of them.
func (v *Validator) checkRanges() {
	for i := range v.ranges {
		r := &v.ranges[i]
		what := fmt.Sprintf("range %d at %d", r.Name, r.Start)
		v.checkInterval(what, r.Start, r.End, true)
		v.checkOpenEnd(what, r.End, r.OpenEnd)
	}
	for _, id := range v.gids {
		for _, l := range v.lives[id] {
			end := v.end
			if l.exit {
				end = l.final.Ended
			}
			var want []model.ReasonTime
			for i := range v.ranges {
				r := &v.ranges[i]
				if r.Scope == model.ScopeGoroutine && r.G == id && !r.OpenEnd && r.Start >= l.from && r.End <= end {
					want = addReason(want, r.Name, r.End.Sub(r.Start))
				}
			}
			v.checkReasons(fmt.Sprintf("goroutine %d: range", id), l.final.Ranges, want)
		}
	}
}

// checkUser checks tasks and regions. A region's times must be what its
// goroutine's intervals say of that time.
func (v *Validator) checkUser() {
	for i := range v.tasks {
		t := &v.tasks[i]
		what := fmt.Sprintf("task %d", t.ID)
		v.checkInterval(what, t.Start, t.End, true)
		v.checkOpenEnd(what, t.End, t.OpenEnd)
	}
	for i := range v.regions {
		r := &v.regions[i]
		what := fmt.Sprintf("goroutine %d: region %d at %d", r.G, r.Name, r.Start)
		v.checkInterval(what, r.Start, r.End, true)
		var sum model.Duration
		for _, d := range r.Times {
			sum += d
		}
		if sum != r.End.Sub(r.Start) {
			v.errorf("%s: lasts %d, times add up to %d", what, r.End.Sub(r.Start), sum)
		}
		if times := v.within(r.G, r.Start, r.End); times != r.Times {
			v.errorf("%s: times %v, the goroutine's intervals say %v", what, r.Times, times)
		}
		if r.Depth < 0 {
			v.errorf("%s: depth %d", what, r.Depth)
		}
	}
}
