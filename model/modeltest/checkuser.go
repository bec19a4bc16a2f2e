package modeltest

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// checkRanges checks ranges, and goroutines' totals of them. Ranges of procs
// (sweeps) may count for a goroutine as well; their names are left out.
func (v *Validator) checkRanges() {
	ofProcs := map[model.StringID]bool{}
	for i := range v.ranges {
		r := &v.ranges[i]
		ofProcs[r.Name] = ofProcs[r.Name] || r.Scope == model.ScopeProc
		what := fmt.Sprintf("range %d at %d", r.Name, r.Start)
		v.checkInterval(what, r.Start, r.End, true)
		v.checkOpenEnd(what, r.End, r.OpenEnd)
	}
	for l := range v.allLives() {
		end := v.end
		if l.exit {
			end = l.final.Ended
		}
		var want []model.ReasonTime
		got := slices.DeleteFunc(l.final.Ranges, func(r model.ReasonTime) bool { return ofProcs[r.Reason] })
		for i := range v.ranges {
			r := &v.ranges[i]
			if r.Scope == model.ScopeGoroutine && r.G == l.id && r.Start >= l.from && r.End <= end {
				want = addReason(want, r.Name, r.End.Sub(r.Start))
			}
		}
		v.checkReasons(fmt.Sprintf("goroutine %d: range", l.id), got, want)
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
