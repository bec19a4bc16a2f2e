package lockstep

import (
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// Kind is a kind of decision.
type Kind uint8

// Kinds of decisions; see the package's documentation.
const (
	Place Kind = iota
	Pick
	Steal
	Retake
	Preempt
	Wake
	Exit
	GC
	STW
	NumKinds
)

var kindNames = []string{"place", "pick", "steal", "retake", "preempt", "wake", "exit", "gc", "stw"}

// String returns the kind's name as tables print it.
func (k Kind) String() string { return model.NameOf(kindNames, k) }

// rules are where the runtime's source (Go 1.26) has the rule of each kind of decision.
var rules = [NumKinds]string{
	Place: "runtime/proc.go: runqput, injectglist", Pick: "runtime/proc.go: findRunnable", Steal: "runtime/proc.go: runqgrab",
	Retake: "runtime/proc.go: retake", Preempt: "runtime/proc.go: retake, forcePreemptNS", Wake: "runtime/proc.go: wakep",
	Exit: "runtime/proc.go: exitsyscall", GC: "runtime/mgcpacer.go: findRunnableGCWorker", STW: "runtime/proc.go: stopTheWorldWithSema",
}

// Class is the reason why a decision may differ from the rules without breaking them. The
// first class that applies counts.
type Class uint8

// Classes of divergences.
const (
	// Boundary: the first Warmup of the trace, where queues are not known yet, or
	// within GenerationGap of a new generation, whose first events have wrong times.
	Boundary Class = iota
	// OrderRace: right if operations of different threads within Epsilon took effect
	// in another order than the trace shows them.
	OrderRace
	// StaleRead: right if a count or a length was read up to Epsilon before, by sysmon up to
	// the least that it sleeps.
	StaleRead
	// HiddenEvent: right if something happened that no trace shows: a queue that was full to
	// within some places, or one that a dedicated mark worker gave away, or sysmon's look
	// at a system call, during which nobody else can take its proc.
	HiddenEvent
	// OS: the thread stood still for at least Frozen between its entering the scheduler
	// and its start, so that it is not known when it decided; or another one did in a
	// system call, whose proc it might have taken.
	OS
	// VersionRule: right by the rules of another Go version.
	VersionRule
	// Unexplained: none of these.
	Unexplained
	NumClasses
)

var classNames = []string{"boundary", "order-race", "stale-read", "hidden-event", "os", "version-rule", "unexplained"}

// String returns the class's name as tables print it.
func (c Class) String() string { return model.NameOf(classNames, c) }

// Bounds of the classes.
const (
	Epsilon       model.Duration = 6_000      // by which operations of different threads may be out of order
	Warmup        model.Duration = 10_000_000 // from the trace's beginning, as long as a slice
	GenerationGap model.Duration = 200_000    // 45 to 110 us were seen
	Frozen        model.Duration = 200_000    // four times what a thief's back-off takes
)

// Tally counts decisions of one kind.
type Tally struct {
	Judged   int64 // Agreed + all of Diverged
	Agreed   int64
	Diverged [NumClasses]int64
	Excluded int64 // not judged, since the state was not known
	// Waited is for how long the goroutines of unexplained decisions were runnable before.
	Waited model.Duration
}

// Agreement returns the share of judged decisions that agreed; 1 if none was.
func (t *Tally) Agreement() float64 {
	return textui.Either(t.Judged == 0, 1, float64(t.Agreed)/float64(t.Judged))
}

// UnexplainedShare returns the share of judged decisions that diverged for no reason.
func (t *Tally) UnexplainedShare() float64 {
	return float64(t.Diverged[Unexplained]) / float64(max(t.Judged, 1))
}

// Merge adds the counts of o.
func (t *Tally) Merge(o *Tally) {
	t.Judged += o.Judged
	t.Agreed += o.Agreed
	t.Excluded += o.Excluded
	t.Waited += o.Waited
	for i := range t.Diverged {
		t.Diverged[i] += o.Diverged[i]
	}
}

// add counts one verdict.
func (t *Tally) add(v verdict) {
	switch {
	case v.excluded:
		t.Excluded++
		return
	case v.agreed:
		t.Agreed++
	default:
		t.Diverged[v.class]++
	}
	t.Judged++
}

// verdict is what came of one decision.
type verdict struct {
	agreed, excluded bool
	contradicted     bool // excluded, unless there are many; see [Queues.Result]
	class            Class
	did, want        string
	wants            model.GoID // the goroutine that want names, 0 if none
	rule             string     // that asks for it; "": that of the kind of decision
}

// Divergence is a decision that the rules do not explain.
type Divergence struct {
	Kind  Kind
	Class Class
	Time  model.Time
	P     model.ProcID
	M     model.ThreadID
	G     model.GoID
	Did   string // what the runtime did
	Want  string // what the reference would have done
	Rule  string // where the runtime's source says so
	// Waited is for how long G was runnable before, if the decision is about its start.
	Waited model.Duration
	// State is the state of the queues, of Place, Pick and Steal; its Start is nil.
	State *runqueue.Decision
}

// Result is the result of a Checker.
type Result struct {
	Version int // minor version of Go; of merged results the last one's
	Kinds   [NumKinds]Tally
	// Unexplained are the first divergences of class Unexplained, at most Options.MaxListed of each
	// kind, in order of time within a kind; those that contradict how the queues came to be come last.
	Unexplained []Divergence
}

// Merge adds the counts and the listed divergences of o.
func (r *Result) Merge(o *Result) {
	r.Version = o.Version
	for k := range r.Kinds {
		r.Kinds[k].Merge(&o.Kinds[k])
	}
	r.Unexplained = append(r.Unexplained, o.Unexplained...)
}

// Options are the settings of a Checker. The zero value is usual.
type Options struct {
	MaxListed int // unexplained divergences to list of each kind
	// Cores on which threads ran, which a trace does not record; 0: as many as procs. With
	// fewer, preemptions come later.
	Cores int
	// All lists divergences of all classes.
	All bool
}

// Checker judges the decisions of a runtime. It follows a Machine by [Checker.Observe].
type Checker struct {
	queues   Queues
	tables   *model.Tables
	resolver *runqueue.Resolver
	procs    procs
	log      model.StepLog
	proc     model.Step // apart from that of a goroutine
}

// New returns a Checker for a trace of Go 1.version whose strings are in t. The
// error is a *runqueue.OldFormatError.
func New(t *model.Tables, version int, opt Options) (*Checker, error) {
	c := &Checker{queues: Queues{opt: opt, result: Result{Version: version}}, tables: t}
	c.procs = procs{c: c, advancer: model.NoGoroutine, threads: map[model.ThreadID]*lastTwo{}, runs: map[model.GoID]model.Time{}}
	var err error
	if c.resolver, err = runqueue.New(t, version); err != nil {
		return nil, err
	}
	c.resolver.Observe(c)
	return c, nil
}

// Observe registers the Checker with m, from the first event on.
func (c *Checker) Observe(m *model.Machine) {
	c.log = model.StepLog{Steps: make([]model.Step, 0, 256), Full: c.take}
	m.Log(&c.log)
	m.Observe(c)
}

// take judges the steps so far. What looks at the procs for another reason takes them first.
func (c *Checker) take() {
	for i := range c.log.Steps {
		s := &c.log.Steps[i]
		c.queues.Begin(s.Time)
		if s.Proc(&c.proc) {
			c.procs.step(&c.proc)
		}
		c.procs.step(s)
		c.resolver.Step(s)
	}
	c.log.Steps = c.log.Steps[:0]
}

// Metric implements [model.MetricObserver]: each generation begins with GOMAXPROCS.
func (c *Checker) Metric(s *model.MetricSample) {
	if s.Name == "/sched/gomaxprocs:threads" {
		c.take()
		c.queues.Generation(s.Time)
		c.procs.ask()
	}
}

// Finish judges the pending decisions and returns the result. Call it after
// [model.Machine.Finish].
func (c *Checker) Finish() *Result {
	c.take()
	c.resolver.Finish()
	c.procs.finish()
	return c.queues.Result()
}
