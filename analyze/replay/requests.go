package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// What a faster function does for requests is asked twice:
//
//  1. First order: each request takes less by what the function saves on its critical path, and of
//     that in run queues by the part that it saves of all computing. That does not know that queues
//     get shorter, too, nor that another way through the program becomes the longest.
//  2. The simulator: where a request begins and ends in the work is known, so that a simulation of
//     the work, as it was and scaled, says how long each takes. The measured figures are changed as
//     the simulated ones change.
//
// The answer is the second, where it is known. It is a point where the two changes are within
// [Agreed] of each other; there is an interval in any case.
const Agreed = 0.05

// The interval is the expected figure, times and divided by a factor. Its logarithm is
// IntervalLeast, and IntervalGrows of the logarithm of the change and of that by which the two
// estimates differ. Nine servers were recorded with a function 0.5, 0.75, 1.25 and 1.5 times as
// fast, at three loads; with these constants intervals hold 90 % of what was then measured (80 %
// are promised), those of each server by constants from the other eight. The command prints the
// factors that are needed:
//
//	go -C fixtures/validation run . requests -speedup
const (
	IntervalLeast = 0.05
	IntervalGrows = 0.6
)

// queueing is by which part a slower function may have requests wait longer in queues. Beyond that
// procs, or what else is waited for, are nearly saturated: simulated queues grow several times as
// long as measured ones then.
const queueing = 0.5

// fewTails is how many requests a p99 needs.
const fewTails = 500

// handed is the part of requests that change goroutines from which on each wake is for whom it was:
// another member of a pool would do the work of another request.
const handed = 0.1

// RequestFigures are how long requests take, in nanoseconds, and requests per second.
type RequestFigures [len(RequestFigureNames)]float64

// RequestFigureNames name them.
var RequestFigureNames = [...]string{"p50", "p90", "p99", "mean", "throughput"}

// Indices of RequestFigures.
const (
	requestP90 = 1 + iota
	requestP99
	requestMean
	requestThroughput
)

// served are requests of a window, or several.
type served struct {
	durations dist.Dist
	span      model.Duration // from the beginning of the first to the end of the last, added up
}

func (s *served) figures() (f RequestFigures) {
	if s.durations.Count() == 0 {
		return f
	}
	for i, q := range s.durations.Quantiles(0.5, 0.9, 0.99) {
		f[i] = float64(q)
	}
	f[requestMean] = mean(&s.durations)
	f[requestThroughput] = float64(s.durations.Count()) / max(float64(s.span), 1) * 1e9
	return f
}

func (s *served) merge(o *served) {
	s.durations.Merge(&o.durations)
	s.span += o.span
}

// add adds requests by when they began and ended, 1 at the earliest.
func (s *served) add(list [][2]int64) {
	first, last := int64(math.MaxInt64), int64(0)
	for _, x := range list {
		if x[0] > 0 && x[1] >= x[0] {
			s.durations.Add(model.Duration(x[1]-x[0]), model.Time(x[1]))
			first, last = min(first, x[0]), max(last, x[1])
		}
	}
	s.span += model.Duration(max(last-first, 0))
}

// asked is a request of a window.
type asked struct {
	kind       string
	from, g    model.GoID
	start, end model.Time
	ran        []ran
	waited     []ran
	queued     model.Duration // on its path, for procs
}

// ran is when a goroutine ran, or waited, on a request's critical path.
type ran struct {
	g        model.GoID
	index    int32 // of the goroutine, set by follow; -1: it is not in the work
	from, to model.Time
	lock     bool // the request waited for a lock that it had
}

// collect takes a request that is over.
func (r *Replay) collect(q *requests.Request) {
	if !q.Complete || q.Truncated || !r.begun || q.Start < r.start {
		return
	}
	x := asked{kind: q.Kind, from: q.From, g: q.G, start: q.Start, end: q.End}
	for p := range q.Parts() {
		switch p.Kind {
		case requests.Running:
			x.ran = append(x.ran, ran{p.G, 0, p.From, p.To, p.Depth > 0 && p.Wait == requests.Lock})
		case requests.Runnable:
			x.queued += p.To.Sub(p.From)
		default:
			x.waited = append(x.waited, ran{p.G, 0, p.From, p.To, false})
		}
	}
	r.asked = append(r.asked, x)
}

// follow has simulations of a window report its requests, of the kind with the most time, and
// returns those.
func (r *Replay) follow(w *workload.Workload) []asked {
	all := r.asked
	if r.asked, r.handed = nil, false; len(all) == 0 {
		return nil
	}
	if r.result.Requests.Kind == "" {
		sums := map[string]model.Duration{}
		for _, x := range all {
			sums[x.kind] += x.end.Sub(x.start)
			if k := &r.result.Requests.Kind; sums[x.kind] > sums[*k] || sums[x.kind] == sums[*k] && x.kind < *k {
				*k = x.kind
			}
		}
	}
	index := map[model.GoID]int32{}
	for i := range w.Goroutines {
		index[w.Goroutines[i].ID] = int32(i)
	}
	place := func(g model.GoID) int32 {
		if i, ok := index[g]; ok {
			return i
		}
		return -1
	}
	var list []workload.Interval
	all = slices.DeleteFunc(all, func(x asked) bool {
		from, g := place(x.from), place(x.g)
		if x.kind != r.result.Requests.Kind || x.start < compareFrom(w) || from < 0 || g < 0 {
			return true
		}
		for i := range x.ran {
			x.ran[i].index = place(x.ran[i].g)
		}
		list = append(list, workload.Interval{From: from, G: g, Start: x.start, End: x.end})
		return false
	})
	var times [][2]int64
	found, moved := w.Follow(list), 0
	own := map[int32][]workload.Wait{}
	for _, x := range all {
		for _, y := range x.waited {
			if i := place(y.g); i >= 0 {
				own[i] = append(own[i], workload.Wait{From: y.from, To: y.to})
			}
		}
	}
	for _, list := range own {
		slices.SortFunc(list, func(a, b workload.Wait) int { return cmp.Compare(a.To, b.To) })
	}
	w.Pin(own)
	at := w.Split(list)
	followed := all[:0]
	for i, x := range all {
		if !found[i] {
			r.result.Requests.Lost++
			continue
		}
		for k := range x.ran {
			if y := &x.ran[k]; y.index >= 0 {
				y.index = at(y.index, y.from)
			}
		}
		followed = append(followed, x)
		if x.from != x.g {
			moved++
		}
		times = append(times, [2]int64{int64(x.start.Sub(w.Start)) + 1, int64(x.end.Sub(w.Start)) + 1})
	}
	r.result.Requests.measured.add(times)
	r.handed = float64(moved) > handed*float64(len(followed))
	return followed
}

// saved is what scaled work saves while it runs on critical paths, in all and of that while it has
// locks.
type saved struct{ all, locked model.Duration }

// firstOrder adds how long requests take by first order, and returns what is saved.
func (s *served) firstOrder(w, scaled *workload.Workload, list []asked) (sum saved) {
	part := 1 - float64(workOf(scaled, true))/float64(max(workOf(w, true), 1))
	for _, x := range list {
		d := x.end.Sub(x.start) - model.Duration(float64(x.queued)*part)
		for _, y := range x.ran {
			if y.index >= 0 {
				g := &w.Goroutines[y.index]
				less := scaled.Saved(y.index, g.CPUAt(y.from), g.CPUAt(y.to))
				d -= less
				if sum.all += less; y.lock {
					sum.locked += less
				}
			}
		}
		s.durations.Add(max(d, 0), x.end)
	}
	return sum
}

// Requests are those that simulations follow.
type Requests struct {
	Kind string // http, grpc, task ...; "" if there are none
	Lost int64  // whose ends were not found in the work
	// What follows is set by finish.
	Count     int64
	Measured  RequestFigures
	Simulated RequestFigures // of the trace itself, in the middle
	Relative  float64        // W1 between measured and simulated durations as a part of the mean
	// Refused says why the simulator is not asked about them, Few why nothing is said at all; both
	// are "" usually.
	Refused, Few string

	measured served
}

// requests compares the measured requests with the simulated ones.
func (r *Result) requests() {
	q := &r.Requests
	if q.Count = q.measured.durations.Count(); q.Kind == "" {
		return
	}
	q.Measured = q.measured.figures()
	free := kindOf(r.runs, runFree, nil)
	q.Simulated = middle(free)
	var w1 []float64
	for _, s := range free {
		w1 = append(w1, W1(&q.measured.durations, &s.requests.durations)/max(1, mean(&q.measured.durations)))
	}
	q.Relative = rangeOf(w1).Mid
	q.Few, q.Refused = "", ""
	locks := r.share(func(c workload.Class) bool { return c == workload.ClassLock })
	switch {
	case q.Count < fewWaits:
		q.Few = fmt.Sprintf("the trace has %s from begin to end, want at least %d: record for longer, or under load", textui.Plural(q.Count, "request"), fewWaits)
	case float64(r.Inconsistent) > broken*float64(r.Measured.Starts):
		q.Few = r.Trust().Refused
	case !(q.Relative <= roughFit):
		q.Refused = fmt.Sprintf("the simulation does not reproduce how long requests take: W1 is %s of the mean", over(q.Relative, roughFit))
	case locks > allLocks:
		q.Refused = fmt.Sprintf("%s of the wakes are by locks: whom they serve depends on what changes", over(locks, allLocks))
	}
}

// middle returns the median figures of schedules.
func middle(list []*Schedule) (f RequestFigures) {
	for k := range f {
		f[k] = rangeOf(each(list, func(s *Schedule) float64 { return s.requests.figures()[k] })).Mid
	}
	return f
}

// lockPart is the part of what is saved while locks are held from which on nothing is said of a
// slower function.
const lockPart = 0.1

// silent says why nothing is said of requests under a variant, "" if something is.
func (s *saved) silent() string {
	if s.all < 0 && float64(s.locked) < lockPart*float64(s.all) {
		return "it has locks that requests wait for. Those that found one free leave no event: how many would wait if it had them for longer is not known"
	}
	return ""
}

// Estimate is what becomes of a figure of requests: Change, and an interval from Low to High, as
// values, and as changes.
type Estimate struct {
	Known                 bool
	Low, High             float64
	LowChange, HighChange float64
	FirstOrder, Simulated float64 // the changes; NaN: not known
	Change                float64 // the simulated one if it is known
}

// Agree reports whether the estimate is a point, around which the interval is.
func (e *Estimate) Agree() bool {
	return math.IsNaN(e.FirstOrder) || math.Abs(e.FirstOrder-e.Simulated) <= Agreed
}

// estimates compares first order and simulations with what was measured.
func (r *Result) estimates(first *served, runs, base []*Schedule) (out [len(RequestFigureNames)]Estimate) {
	q := &r.Requests
	if q.Kind == "" || q.Few != "" {
		return out
	}
	once := first.figures()
	for k := range out {
		was, e := q.Measured[k], &out[k]
		e.FirstOrder, e.Simulated = math.NaN(), math.NaN()
		if was <= 0 || k == requestP99 && q.Count < fewTails {
			continue
		}
		var changes []float64
		for i := range runs {
			if a, b := base[i].requests.figures()[k], runs[i].requests.figures()[k]; a > 0 && base[i].Finished() && runs[i].Finished() {
				changes = append(changes, b/a-1)
			}
		}
		if len(changes) > 0 && q.Refused == "" && !(k == requestThroughput && r.Outside() > outside) {
			e.Simulated = rangeOf(changes).Mid
		}
		if k != requestThroughput {
			e.FirstOrder = once[k]/was - 1
		}
		if e.Change = e.Simulated; math.IsNaN(e.Change) {
			e.Change = e.FirstOrder
		}
		e.Known = !math.IsNaN(e.Change)
		change, half := math.Log1p(max(e.Change, -0.99)), 0.0
		if k != requestThroughput {
			half = IntervalLeast + IntervalGrows*(math.Abs(change)+math.Abs(change-math.Log1p(max(e.FirstOrder, -0.99))))
		}
		e.LowChange, e.HighChange = math.Expm1(change-half), math.Expm1(change+half)
		e.Low, e.High = was*(1+e.LowChange), was*(1+e.HighChange)
	}
	return out
}

// saturated says why nothing is said of requests that wait much longer in queues, "" if they do
// not.
func saturated(estimates []Estimate) string {
	for _, k := range []int{requestP90, requestMean} {
		if e := &estimates[k]; (1+e.Simulated)/(1+e.FirstOrder) > 1+queueing {
			return fmt.Sprintf("simulated, queues make requests more than %.0f%% longer than their paths say: so near to saturation their length depends on what a trace does not record, such as who else uses the processors", 100*queueing)
		}
	}
	return ""
}
