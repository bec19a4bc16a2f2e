package replay

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/internal/dist"
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

// stays are how long goroutines were in a state in all and, of runnable, the waits that are compared.
type stays struct {
	total model.Duration
	waits dist.Dist
}

func (s *stays) merge(o *stays) {
	s.total += o.total
	s.waits.Merge(&o.waits)
}

// stays returns those in a state.
func (s *Schedule) stays(k Dwell) *stays {
	x := s.dwells[k]
	if x == nil {
		x = &stays{}
		s.dwells[k] = x
	}
	return x
}

// dwells adds up whole intervals of the program's goroutines while they are observed.
type dwells struct {
	all map[dwellKey]*stays
	// recent are some of them, each in the place that its key says, as the same ones come over and over.
	recent [256]struct {
		key dwellKey
		at  *stays
	}
}

type dwellKey struct {
	fn, reason model.StringID
	stack      model.StackID
	state      model.GoState
	origin     model.Origin // of runnable
}

func newDwells() *dwells { return &dwells{all: map[dwellKey]*stays{}} }

// add adds an interval, and returns where; nil if it is not one of those that count.
func (d *dwells) add(s *model.GoSpan) *stays {
	if s.System || s.OpenStart || s.OpenEnd || s.Pseudo != model.NotPseudo {
		return nil
	}
	reason, stack, origin := s.Reason, s.Stack, s.Origin
	if s.State == model.GoRunning || s.State == model.GoRunnable {
		reason, stack = 0, 0
	}
	x := &d.recent[((uint32(s.Func)*31+uint32(stack))*8+uint32(s.State)+uint32(origin)*128)*0x9e3779b1>>24]
	// Field by field: a key that was just put together would stall the processor.
	if x.at == nil || x.key.fn != s.Func || x.key.stack != stack || x.key.reason != reason || x.key.state != s.State || x.key.origin != origin {
		x.key = dwellKey{s.Func, reason, stack, s.State, origin}
		if x.at = d.all[x.key]; x.at == nil {
			x.at = &stays{}
			d.all[x.key] = x.at
		}
	}
	x.at.total += s.Duration()
	return x.at
}

// named puts the sums into a schedule by what can be compared between traces.
func (d *dwells) named(t *model.Tables, into *Schedule) {
	for k, v := range d.all {
		state := strings.TrimSuffix(strings.ToLower(k.state.String()), "blocked")
		x := Dwell{Func: t.String(k.fn), State: state, Reason: t.String(k.reason)}
		for _, f := range t.Stack(k.stack) {
			x.Frame = f.Func
			if pkg, _, _ := strings.Cut(strings.TrimPrefix(f.Func, "internal/"), "."); pkg != "runtime" && pkg != "sync" {
				break
			}
		}
		into.stays(x).merge(v)
		into.byOrigin[k.origin].Merge(&v.waits)
	}
}

// dwellRows compares by state, the greatest difference first.
func dwellRows(measured *Schedule, free []*Schedule) []DwellRow {
	total := func(s *Schedule, k Dwell) (sum model.Duration) {
		if x := s.dwells[k]; x != nil {
			sum = x.total
		}
		return sum
	}
	all := maps.Clone(measured.dwells)
	for _, s := range free {
		maps.Copy(all, s.dwells)
	}
	var rows []DwellRow
	for k := range all {
		rows = append(rows, DwellRow{k, total(measured, k), Lengths(rangeOf(each(free, func(s *Schedule) float64 { return float64(total(s, k)) })))})
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
