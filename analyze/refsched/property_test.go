package refsched_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/bound"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// properties returns how many random workloads a property is tested on: few, or
// as many as SCHEDSCOPE_PROPERTIES says.
func properties(t testing.TB, few int) int {
	if s := os.Getenv("SCHEDSCOPE_PROPERTIES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("SCHEDSCOPE_PROPERTIES=%s: want a number", s)
		}
		return n
	}
	if testing.Short() {
		return few / 4
	}
	return few
}

// firstSeed is where the seeds of a run begin: SCHEDSCOPE_SEED repeats a failure.
func firstSeed(t testing.TB) uint64 {
	s := os.Getenv("SCHEDSCOPE_SEED")
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("SCHEDSCOPE_SEED=%s: want a number", s)
	}
	return n
}

// forAll tests a property on n seeds, on all cores, and names the seeds that fail.
func forAll(t *testing.T, few int, property func(seed uint64) error) {
	t.Helper()
	n, first := properties(t, few), firstSeed(t)
	var next, failed atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(n) || failed.Load() >= 10 {
					return
				}
				seed := first + uint64(i)
				if err := try(property, seed); err != nil {
					failed.Add(1)
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
	wg.Wait()
}

// try turns a panic into an error that names its seed.
func try(property func(uint64) error, seed uint64) (err error) {
	defer func() {
		if x := recover(); x != nil {
			buf := make([]byte, 4096)
			err = fmt.Errorf("panic: %v\n%s", x, buf[:runtime.Stack(buf, false)])
		}
	}()
	return property(seed)
}

// ordinary returns a random configuration under which all work is done as the
// workload says.
func ordinary(seed uint64, w *workload.Workload) refsched.Config {
	rnd := rand.New(rand.NewPCG(seed, 0xc0f))
	c := refsched.Config{Seed: rnd.Uint64(), Costs: refsched.DefaultCosts(), Procs: 1 + rnd.IntN(16)}
	c.Costs.Single[refsched.CostWaker] = 0 // the check knows of computing only
	if rnd.IntN(2) == 0 {
		c.Procs = w.Procs
	}
	c.AsRecorded = true
	r := &c.Rules
	r.Version = w.Version
	switch rnd.IntN(3) {
	case 0:
		c.Costs = refsched.Costs{}
	case 1:
		c.Costs.Drawn[refsched.CostWake] = []model.Duration{2500, 4000, 5000, 6000, 9000, 40_000}
	}
	if rnd.IntN(3) == 0 {
		r.NoGC = rnd.IntN(4) == 0
	}
	return c
}

// run is a simulation with what it told.
type run struct {
	*refsched.Result
	events []model.Event
	starts []runqueue.Start
}

// maxEvents is more than any of the random workloads makes.
const maxEvents = 1_000_000

func simulate(w *workload.Workload, cfg refsched.Config) (*run, error) {
	r := &run{}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cfg.Decide = func(s *runqueue.Start) { r.starts = append(r.starts, *s) }
	res, err := refsched.Run(ctx, w, cfg, func(ev *model.Event) {
		if r.events = append(r.events, *ev); len(r.events) > maxEvents {
			cancel()
		}
	})
	r.Result = res
	return r, err
}

// judged are judges of a stream of events.
type judge interface{ Event(*model.Event) }

func (r *run) judge(list ...judge) {
	for i := range r.events {
		for _, j := range list {
			j.Event(&r.events[i])
		}
	}
}

// folded folds the events into a Machine and has a Validator judge what it makes of them.
func (r *run) folded(w *workload.Workload, version int) error {
	m := model.NewMachine(w.Tables, model.Config{Version: version})
	v := modeltest.NewValidator()
	m.Observe(v)
	for i := range r.events {
		v.Event(&r.events[i])
		if err := m.Apply(&r.events[i]); err != nil {
			return err
		}
	}
	return errors.Join(m.Finish(m.Now()), m.Check(), v.Err())
}

// slice returns how long a goroutine may run at a stretch where nobody is short of cores: sysmon
// sees it begin up to a period late, and that its time is over as late again.
func slice(c *refsched.Config) model.Duration {
	return refsched.ForcePreempt + 2*(refsched.SysmonMax+c.Costs.Single[refsched.CostSlack]) + c.Costs.Single[refsched.CostPreempt] + 1000
}

// TestProperties: whatever the workload and the rules, each program is carried out whole and
// in order, nobody runs twice at once, and all events make sense to a Machine.
func TestProperties(t *testing.T) {
	forAll(t, 400, func(seed uint64) error {
		w := workloadtest.Random(seed, workloadtest.Options{})
		c := ordinary(seed, w)
		r, err := simulate(w, c)
		if err != nil {
			return err
		}
		checker := workloadtest.NewChecker()
		program := workloadtest.NewProgram(w, workloadtest.Expect{Exit: c.Costs.Single[refsched.CostExit]})
		slices := &workloadtest.Slices{Most: slice(&c), Exempt: exempt(w), Checker: checker}
		r.judge(slices, checker, program)
		if !r.Finished {
			err = fmt.Errorf("not finished: %d stuck of %d", r.Stuck, len(w.Goroutines))
		}
		return errors.Join(err, checker.Err(), program.Err(), slices.Err(), r.fair(w, &c), r.folded(w, c.Rules.Version))
	})
}

// exempt tells who is not preempted as goroutines of the program are: mark workers.
func exempt(w *workload.Workload) func(model.GoID) bool {
	ids := map[model.GoID]bool{}
	stops := map[model.GoID]bool{}
	for i := range w.Goroutines {
		g := &w.Goroutines[i]
		ids[g.ID] = true
		for k := range g.Ops {
			if op := &g.Ops[k]; op.Kind == workload.OpStop || op.Kind == workload.OpCycle {
				stops[g.ID] = true // waits for the others to stop
			}
		}
	}
	return func(id model.GoID) bool { return !ids[id] || stops[id] }
}

// fair judges in which order goroutines leave their queues.
func (r *run) fair(w *workload.Workload, c *refsched.Config) error {
	if r.Overflows > 0 {
		return nil // a goroutine that overflows comes to the global queue later than it became runnable
	}
	f := &workloadtest.Fair{Most: refsched.FairTick + 1}
	q := &workloadtest.Queues{Late: 2*c.Costs.Single[refsched.CostGlobal] + 1000}
	for i := range r.starts {
		f.Start(&r.starts[i])
		q.Start(&r.starts[i])
	}
	if len(w.Cycles) > 0 {
		return f.Err() // and so does one that a dedicated worker hands back
	}
	return errors.Join(f.Err(), q.Err())
}

// TestDeterminism: the same input gives the same events.
func TestDeterminism(t *testing.T) {
	forAll(t, 60, func(seed uint64) error {
		var runs [2]*run
		for i := range runs {
			w := workloadtest.Random(seed, workloadtest.Options{})
			c := ordinary(seed, w)
			c.AsRecorded = seed%3 == 0
			if seed%3 == 0 {
				c.Quota = model.Duration(c.Procs) * 20_000_000
			}
			r, err := simulate(w, c)
			if err != nil {
				return err
			}
			runs[i] = r
		}
		if a, b := runs[0], runs[1]; a.Hash != b.Hash || !slices.Equal(a.events, b.events) {
			return fmt.Errorf("%d and %d events, hashes %x and %x", len(a.events), len(b.events), a.Hash, b.Hash)
		}
		return nil
	})
}

// TestRelabelling: other ids of goroutines change nothing but the ids in the events.
func TestRelabelling(t *testing.T) {
	forAll(t, 60, func(seed uint64) error {
		w := workloadtest.Random(seed, workloadtest.Options{})
		c := ordinary(seed, w)
		other, ids := workloadtest.Relabel(w, seed)
		a, err := simulate(w, c)
		if err != nil {
			return err
		}
		b, err := simulate(other, c)
		if err != nil {
			return err
		}
		if len(a.events) != len(b.events) {
			return fmt.Errorf("%d and %d events", len(a.events), len(b.events))
		}
		for i, x := range a.events {
			if to, ok := ids[x.G]; ok {
				x.G = to
			}
			if to, ok := ids[model.GoID(x.ID)]; ok && (x.Kind == model.EventGoTransition || x.Kind == model.EventLabel ||
				model.Scope(x.From) == model.ScopeGoroutine && x.Kind >= model.EventRangeBegin && x.Kind <= model.EventRangeEnd) {
				x.ID = int64(to)
			}
			if x != b.events[i] {
				return fmt.Errorf("event %d:\n  %+v\nrelabelled, but\n  %+v", i, x, b.events[i])
			}
		}
		return nil
	})
}

// unstopped are features that an ideal scheduler's bounds do not know.
const unstopped = workloadtest.GC | workloadtest.Stops

// TestIdeal: an ideal scheduler wastes nothing, keeps the bound of any scheduler that
// wastes nothing (Graham, Brent), and beats the lower bound no more than any other.
func TestIdeal(t *testing.T) {
	forAll(t, 300, func(seed uint64) error {
		w := workloadtest.Random(seed, workloadtest.Options{Without: unstopped})
		c := refsched.Config{Procs: 1 + int(seed%16), AsRecorded: true, Rules: refsched.Rules{Version: w.Version, Ideal: true}}
		r, err := simulate(w, c)
		if err != nil {
			return err
		}
		checker := workloadtest.NewChecker()
		program := workloadtest.NewProgram(w, workloadtest.Expect{Punctual: true})
		conserving := &workloadtest.Conserving{Checker: checker, Procs: c.Procs}
		r.judge(conserving, checker, program)
		err = errors.Join(conserving.Err(), checker.Err(), program.Err(), r.folded(w, w.Version))
		n := model.Duration(c.Procs)
		work := workloadtest.Work(w)
		least, _ := workloadtest.Chains(w, 1, 1)
		rest, _ := workloadtest.Chains(w, int64(n-1), int64(n))
		last := program.End()
		if n*last > work+rest {
			err = errors.Join(err, fmt.Errorf("takes %d on %d procs, want at most %d", last, n, (work+rest)/n))
		}
		if b := bound.Of(w, c.Procs); r.Span > b.UpperCut {
			err = errors.Join(err, fmt.Errorf("takes %d on %d procs, the upper bound is %+v", r.Span, n, b))
		}
		if r.Span < least || n*r.Span < work {
			err = errors.Join(err, fmt.Errorf("takes %d on %d procs, want at least %d and %d", r.Span, n, least, work/n))
		}
		return err
	})
}

// TestLowerBound: no schedule is shorter than the longest chain or the work that each proc
// must do.
func TestLowerBound(t *testing.T) {
	forAll(t, 200, func(seed uint64) error {
		w := workloadtest.Random(seed, workloadtest.Options{Without: workloadtest.GC})
		c := ordinary(seed, w)
		r, err := simulate(w, c)
		if err != nil {
			return err
		}
		least, _ := workloadtest.Chains(w, 1, 1)
		if work := workloadtest.Work(w); r.Span < least || r.Span*model.Duration(c.Procs) < work {
			return fmt.Errorf("takes %d, the longest chain is %d and the work %d on %d procs", r.Span, least, work, c.Procs)
		}
		if b := bound.Of(w, c.Procs); r.Span < b.Lower || b.Unreached+b.Odd > 0 {
			return fmt.Errorf("takes %d on %d procs, the lower bound is %+v", r.Span, c.Procs, b)
		}
		return nil
	})
}

// moves are the transitions of goroutines, with the times between which each was.
type move struct {
	lo, hi   model.Time
	g        int64
	from, to uint8
}

func (r *run) moves() []move {
	var list []move
	exact := model.Time(0)
	for i := range r.events {
		ev := &r.events[i]
		if ev.Flags&model.EventSyntheticTime == 0 {
			exact = ev.Time
		}
		if ev.Kind == model.EventGoTransition && model.GoState(ev.From) != model.GoUndetermined && ev.From != ev.To {
			list = append(list, move{exact, ev.Time, ev.ID, ev.From, ev.To})
		}
	}
	return list
}

// sameMoves compares two executions, one of which takes scale times as long.
func sameMoves(a, b []move, start, scale model.Time) error {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		lo, hi := start+(x.lo-start)*scale, start+(x.hi-start)*scale
		if x.g != y.g || x.from != y.from || x.to != y.to || lo > y.hi || y.lo > hi {
			return fmt.Errorf("move %d is %+v and %+v, scale %d", i, x, y, scale)
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("%d and %d moves", len(a), len(b))
	}
	return nil
}

// TestScaling: with an ideal scheduler, work that takes longer all alike takes longer by as
// much.
func TestScaling(t *testing.T) {
	forAll(t, 60, func(seed uint64) error {
		w := workloadtest.Random(seed, workloadtest.Options{Without: workloadtest.GC})
		c := refsched.Config{Procs: 1 + int(seed%8), AsRecorded: true, Rules: refsched.Rules{Version: w.Version, Ideal: true}}
		const scale = 7
		a, err := simulate(w, c)
		if err != nil {
			return err
		}
		b, err := simulate(workloadtest.Scale(w, scale), c)
		if err != nil {
			return err
		}
		if b.Span != scale*a.Span {
			return fmt.Errorf("takes %d, scaled %d", a.Span, b.Span)
		}
		return sameMoves(a.moves(), b.moves(), w.Start, scale)
	})
}

// TestSerialChain: where one goroutine runs at a time, more procs are of no use and do
// no harm.
func TestSerialChain(t *testing.T) {
	forAll(t, 60, func(seed uint64) error {
		w := workloadtest.Chain(seed, workloadtest.Options{})
		var first *run
		for _, procs := range []int{1, 2, 3, 16} {
			r, err := simulate(w, refsched.Config{Procs: procs, AsRecorded: true, Rules: refsched.Rules{Version: w.Version, Ideal: true}})
			if err != nil {
				return err
			}
			if first == nil {
				first = r
				continue
			}
			if r.Span != first.Span {
				return fmt.Errorf("takes %d on %d procs, %d on one", r.Span, procs, first.Span)
			}
		}
		return nil
	})
}

// TestClasses: where waits are served by class, who runs and what is done may differ, but
// nobody is lost.
func TestClasses(t *testing.T) {
	forAll(t, 200, func(seed uint64) error {
		w := workloadtest.Random(seed, workloadtest.Options{})
		c := ordinary(seed, w)
		r, err := simulate(w, c)
		if err != nil {
			return err
		}
		checker := workloadtest.NewChecker()
		program := workloadtest.NewProgram(w, workloadtest.Expect{Exit: c.Costs.Single[refsched.CostExit], Classes: true})
		r.judge(checker, program)
		if !r.Finished || r.Forced > 0 {
			err = fmt.Errorf("finished %v, %d stuck of %d, %d forced", r.Finished, r.Stuck, len(w.Goroutines), r.Forced)
		}
		return errors.Join(err, checker.Err(), program.Err(), r.folded(w, c.Rules.Version))
	})
}

// TestScarce: with a quota all is done as well, only later.
func TestScarce(t *testing.T) {
	forAll(t, 200, func(seed uint64) error {
		w := workloadtest.Random(seed, workloadtest.Options{})
		c := ordinary(seed, w)
		c.Quota = model.Duration(c.Procs) * 2_000_000 * model.Duration(1+seed%10)
		r, err := simulate(w, c)
		if err != nil {
			return err
		}
		checker := workloadtest.NewChecker()
		r.judge(checker)
		if !r.Finished {
			err = fmt.Errorf("not finished: %d stuck of %d", r.Stuck, len(w.Goroutines))
		}
		took := r.events[len(r.events)-1].Time.Sub(w.Start)
		most := (took/100_000_000 + 1) * (c.Quota + model.Duration(c.Procs)*1_000_000) // its use is looked at every ms
		if work := workloadtest.Work(w); work > most || work > took*model.Duration(c.Procs) {
			err = fmt.Errorf("takes %d with a quota of %d, the work is %d", took, c.Quota, work)
		}
		return errors.Join(err, checker.Err(), r.folded(w, c.Rules.Version))
	})
}
