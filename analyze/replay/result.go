package replay

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Result is the result of replaying one or several traces.
type Result struct {
	Traces  int
	Windows int
	// Length is how much was replayed of all traces, of which Warmup was not compared. LeftOut
	// was at the end too little for another window.
	Length, Warmup, LeftOut model.Duration
	MinProcs, MaxProcs      int // GOMAXPROCS
	Seeds                   int
	// Wakes by class, as recorded. Ends of system calls are none.
	Wakes [workload.NumClasses]int64
	// Work is the time that goroutines computed, on procs: whether the operating system ran their
	// threads then, a trace does not show. Mark is that of the garbage collector's mark workers,
	// which is not in Work.
	Work, Mark model.Duration
	Lost       model.Duration // in system calls that lost their procs
	// Outages are times in which the operating system seems to have run something else.
	Outages workload.Outages
	// Measured is the recorded schedule.
	Measured *Schedule
	// Inconsistent are events of the traces that contradict those before. The reader of
	// the trace sets it.
	Inconsistent int64

	// What follows is set by Finish and Merge.

	Noise *Noise // nil of one trace
	All   Row
	// Outcomes of the variants, in their order.
	Outcomes []Outcome
	// Requests by group, those with the most time first.
	Requests []Requests

	options Options
	runs    []*Schedule // of all windows, by seed: of the recorded schedule, then of each variant
}

// muchTaken is the part of the computing of goroutines from which on it matters that the operating
// system took it: the programs by which the widths of intervals were measured had less.
const muchTaken = 0.1

// Taken returns the part of the computing of goroutines that the operating system seems to have
// taken.
func (r *Result) Taken() float64 {
	return float64(r.Outages.Total+r.Outages.StoodStill) / float64(max(r.Work, 1))
}

// Disturbed reports whether that is so much that figures with it are of another program.
func (r *Result) Disturbed() bool { return r.Taken() >= muchTaken }

// Range is a figure under several seeds: the median, and the least and greatest.
type Range struct {
	Mid  float64 `json:"mid"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Lengths is a range of lengths of time in nanoseconds, whole ones in JSON.
type Lengths Range

// MarshalJSON implements json.Marshaler.
func (r Lengths) MarshalJSON() ([]byte, error) {
	return json.Marshal(Range{math.Round(r.Mid), math.Round(r.Low), math.Round(r.High)})
}

// rangeOf returns the range of some figures; their order is changed.
func rangeOf(list []float64) Range {
	if len(list) == 0 {
		return Range{}
	}
	slices.Sort(list)
	mid := list[len(list)/2]
	if len(list)%2 == 0 {
		mid = (list[len(list)/2-1] + mid) / 2
	}
	return Range{mid, list[0], list[len(list)-1]}
}

// Row compares the measured waits of one kind with the simulated ones.
type Row struct {
	Name         string         `json:"name"`
	Measured     result.Dist    `json:"measured"`
	Count        Range          `json:"simulated_count"`
	Mean         Lengths        `json:"simulated_mean_ns"`
	MeasuredMean model.Duration `json:"measured_mean_ns"`
	MeasuredLong float64        `json:"measured_over_10us"` // part of the waits
	// What follows is nil if nothing was measured or, under one of the seeds, simulated.
	W1       *Lengths `json:"w1_ns,omitempty"`
	Relative *Range   `json:"w1_of_mean,omitempty"` // W1 as a part of the measured mean
}

// Comparable reports whether there are measured and simulated waits.
func (r *Row) Comparable() bool { return r.W1 != nil }

// poor reports whether the simulation is not even roughly like what was measured.
func (r *Row) poor() bool { return r.Comparable() && r.Relative.Mid > roughFit }

// NewRow compares waits of one kind; simulated has one distribution per seed.
func NewRow(name string, measured *dist.Dist, simulated []*dist.Dist) Row {
	m := mean(measured)
	r := Row{Name: name, Measured: result.NewDist(measured), MeasuredMean: model.Duration(math.Round(m)), MeasuredLong: LongPart(measured)}
	var counts, means, w1 []float64
	for _, d := range simulated {
		counts = append(counts, float64(d.Count()))
		means = append(means, mean(d))
		if d.Count() > 0 && measured.Count() > 0 {
			w1 = append(w1, W1(measured, d))
		}
	}
	r.Count, r.Mean = rangeOf(counts), Lengths(rangeOf(means))
	if len(w1) == 0 || len(w1) < len(simulated) {
		return r
	}
	x := rangeOf(w1)
	r.W1, r.Relative = new(Lengths(x)), &Range{}
	if m > 0 {
		r.Relative = &Range{x.Mid / m, x.Low / m, x.High / m}
	}
	return r
}

func newResult(o Options) *Result {
	r := &Result{Seeds: o.Seeds, Traces: 1, Measured: newSchedule(), options: o}
	for range (1 + len(o.Variants)) * o.Seeds {
		r.runs = append(r.runs, newSchedule())
	}
	return r
}

// window adds a window's workload and recorded schedule.
func (r *Result) window(w *workload.Workload, recorded *Schedule) {
	x := Result{Windows: 1, Length: w.End.Sub(w.Start), Warmup: compareFrom(w).Sub(w.Start), MinProcs: w.Procs, MaxProcs: w.Procs,
		Work: w.Recorded.Work, Lost: w.Recorded.Lost, Wakes: w.Recorded.Wakes, Outages: w.Outages, Measured: recorded}
	x.Wakes[workload.ClassSyscall] = 0 // nobody wakes who returns
	x.Mark = result.Sum(w.Cycles, func(c *workload.Cycle) model.Duration { return c.Work })
	r.add(&x)
}

// add adds another one, except for what Finish and Merge set.
func (r *Result) add(x *Result) {
	if r.Windows == 0 {
		r.MinProcs, r.MaxProcs = x.MinProcs, x.MaxProcs
	}
	r.MinProcs, r.MaxProcs = min(r.MinProcs, x.MinProcs), max(r.MaxProcs, x.MaxProcs)
	r.Traces += x.Traces
	r.Windows += x.Windows
	r.Length += x.Length
	r.Warmup += x.Warmup
	r.LeftOut += x.LeftOut
	r.Work += x.Work
	r.Lost += x.Lost
	r.Mark += x.Mark
	r.Inconsistent += x.Inconsistent
	r.Outages.Add(&x.Outages)
	for c, n := range x.Wakes {
		r.Wakes[c] += n
	}
	r.Measured.merge(x.Measured)
	for i, s := range x.runs {
		r.runs[i].merge(s)
	}
}

// totals returns the schedules by seed: 0 for the recorded one, i for that of variant i-1.
func (r *Result) totals(i int) []*Schedule { return r.runs[i*r.options.Seeds : (i+1)*r.options.Seeds] }

// finish compares.
func (r *Result) finish() {
	r.All = NewRow("all", r.Measured.Waits, each(r.totals(0), func(s *Schedule) *dist.Dist { return s.Waits }))
	r.outcomes()
	r.requests()
}

// each maps a list.
func each[S, T any](list []S, f func(S) T) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// Merge returns the result of several traces together, all replayed with the same
// options. They stay as they are.
func Merge(results []*Result) *Result {
	all := newResult(results[0].options)
	all.Traces = 0
	for _, r := range results {
		all.add(r)
	}
	all.Noise = noiseOf(results, mean(all.Measured.Waits))
	all.finish()
	return all
}

// Unfinished returns how many simulations of the recorded schedule did not come to
// the end of the work.
func (r *Result) Unfinished() int {
	return result.CountOf(r.totals(0), func(s **Schedule) bool { return !(*s).Finished() })
}
