package replay

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// Dwell is a state in which goroutines of a start function are: the place of a row in a table by Little's law, after
// which the number of those that are somewhere is the rate at which they come times how long they stay. Where the
// simulation of the recorded schedule has goroutines stay for longer or shorter than they did, its model is wrong, and the
// greatest difference is the reason why it does not reproduce the trace.
type Dwell struct {
	Func   string `json:"function"` // start function
	State  string `json:"state"`    // waiting, syscall, running or runnable
	Reason string `json:"reason"`   // of the wait
	Frame  string `json:"frame"`    // the function in which it waits, the first outside of the runtime and package sync
}

// DwellRow compares how long goroutines were in a state, in all.
type DwellRow struct {
	Dwell
	Measured  model.Duration `json:"measured_ns"`
	Simulated Lengths        `json:"simulated_ns"`
}

// Excess returns by how much the simulation holds them too long, in nanoseconds.
func (r *DwellRow) Excess() float64 { return r.Simulated.Mid - float64(r.Measured) }

// dwells adds up whole intervals of the program's goroutines while they are observed.
type dwells map[dwellKey]model.Duration

type dwellKey struct {
	fn, reason model.StringID
	stack      model.StackID
	state      model.GoState
}

// GoSpan implements [model.GoSpanObserver].
func (d dwells) GoSpan(s *model.GoSpan) {
	if s.System || s.OpenStart || s.OpenEnd || s.Pseudo != model.NotPseudo {
		return
	}
	k := dwellKey{fn: s.Func, state: s.State}
	if s.State != model.GoRunning && s.State != model.GoRunnable {
		k.reason, k.stack = s.Reason, s.Stack
	}
	d[k] += s.Duration()
}

// named returns the sums by what can be compared between traces.
func (d dwells) named(t *model.Tables) map[Dwell]model.Duration {
	out := map[Dwell]model.Duration{}
	for k, v := range d {
		state := strings.TrimSuffix(strings.ToLower(k.state.String()), "blocked")
		x := Dwell{Func: t.String(k.fn), State: state, Reason: t.String(k.reason)}
		for _, f := range t.Stack(k.stack) {
			x.Frame = f.Func
			if pkg, _, _ := strings.Cut(strings.TrimPrefix(f.Func, "internal/"), "."); pkg != "runtime" && pkg != "sync" {
				break
			}
		}
		out[x] += v
	}
	return out
}

// dwellRows compares by state, the greatest difference first.
func dwellRows(measured *Schedule, free []*Schedule) []DwellRow {
	all := maps.Clone(measured.dwells)
	for _, s := range free {
		for k := range s.dwells {
			all[k] += 0
		}
	}
	var rows []DwellRow
	for k := range all {
		rows = append(rows, DwellRow{k, measured.dwells[k], Lengths(rangeOf(each(free, func(s *Schedule) float64 { return float64(s.dwells[k]) })))})
	}
	slices.SortFunc(rows, func(a, b DwellRow) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Excess()), math.Abs(a.Excess())), cmp.Compare(a.Func, b.Func), cmp.Compare(a.State, b.State),
			cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Frame, b.Frame))
	})
	return rows
}

// WorstDwells returns the waits and system calls, at most two, that the simulation holds too long or too short by the
// most: those before which all others are small.
func (r *Result) WorstDwells() []DwellRow {
	var worst []DwellRow
	for _, row := range r.Dwells {
		if row.State == "running" || row.State == "runnable" {
			continue // what follows from the others
		}
		if len(worst) == 2 || row.Excess() == 0 || len(worst) == 1 && math.Abs(row.Excess()) < math.Abs(worst[0].Excess())/2 {
			break
		}
		worst = append(worst, row)
	}
	return worst
}
