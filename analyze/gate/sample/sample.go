// Package sample makes one sample of one trace: the numbers that rules are about,
// what the trace was recorded on, and where its waiting went. This package promises
// nothing to other modules.
//
// A trace of one process is one sample, however many waits are in it: waits of a
// process depend on each other, and processes differ. Statistics are of samples.
package sample

import (
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
)

// Spec specifies what Read measures.
type Spec struct {
	Workload string
	// Op is what /op counts: "region:NAME" and "task:NAME" that end in the window,
	// goroutines with the start function of "goroutine:FUNC" that end in it, or "count", the
	// number that the environment record has; "" are requests of the kind with the most time.
	// Names may have * for any text.
	Op string
	// Window is what part is measured: "region:NAME", from the first one's begin to the
	// last one's end; "FROM..TO", times from the trace's start, of which either may be left
	// out; "all". A trace that ends long before TO, or in the region, is not whole. ""
	// is region:schedscope.window if there is one, else what lies between
	// environment records in the trace, else the trace without its first tenth.
	Window     string
	Quantities []rule.Quantity
	Requests   []requests.Spec // to look for; all kinds if there are none
}

// WindowRegion is the region that recorders put round the part to be measured.
const WindowRegion = "schedscope.window"

// Sample is the set of measurements of one trace.
type Sample struct {
	Name string `json:"name"` // of the file, without folders
	// Order is its place in the order of all recordings; 0 if not known.
	Order int `json:"order,omitempty"`

	Identity Identity `json:"identity"`
	Noise    *Noise   `json:"noise,omitempty"` // nil: no environment record
	// Whole: no part of the trace is lost. Loss says what is.
	Whole bool   `json:"whole"`
	Loss  string `json:"loss,omitempty"`

	// From and To are the window, in nanoseconds from the trace's start.
	From   model.Duration `json:"from_ns"`
	To     model.Duration `json:"to_ns"`
	Ops    int64          `json:"ops,omitempty"`
	Events int64          `json:"events" range:"1.."`
	// Running is the time that goroutines ran in the window, GC included, and CPU what the
	// operating system says the process had; CPU 0 if not known for the window.
	Running model.Duration `json:"running_ns"`
	CPU     model.Duration `json:"cpu_ns,omitempty"`
	// Capacity is GOMAXPROCS integrated over the window.
	Capacity model.Duration `json:"capacity_ns"`
	// Run is how long the whole trace is, if nothing of it is lost, and the main goroutine started it and stopped it; else
	// 0. Paced: it waited for timers for most of that.
	Run   model.Duration `json:"run_ns,omitempty"`
	Paced bool           `json:"paced,omitempty"`
	Joins []Join         `json:"joins,omitempty"` // of batches, most first

	// Values of the quantities, by their text. What has none is in Missing, with the reason.
	Values  map[string]Value  `json:"values"`
	Missing map[string]string `json:"missing,omitempty"`

	// Where the time went, greatest first, at most MaxClasses each.
	Waits   []Class `json:"waits,omitempty"`
	Blocked []Class `json:"blocked,omitempty"`
	Runs    []Class `json:"runs,omitempty"`
	Causes  []Named `json:"causes,omitempty"` // of waiting to run
	Blame   []Class `json:"blame,omitempty"`  // the code that others waited behind
	// Open are the requests that did not end and may hang; nil if there are none.
	Open  *findings.Open  `json:"open,omitempty"`
	Leak  *findings.Leak  `json:"leak,omitempty"`  // goroutines that pile up
	Held  []findings.Held `json:"held,omitempty"`  // what holds goroutines up that no request shows; never empty, except in older sets
	Worst []Stretch       `json:"worst,omitempty"` // windows of the trace with the most waiting
	// Requests are those of the kind with the most time; nil if there are none.
	Requests *Requests `json:"requests,omitempty"`
}

// MaxClasses is the number of classes of a kind that a sample keeps. If there are more, the
// last is Others, so that they add up to the total.
const MaxClasses = 40

// Value is the value of a quantity in one trace.
type Value struct {
	X float64 `json:"x"`
	// N is how many values it is made of: of a total how many times it was added to, of
	// processor time per op the ops; 0 if not known.
	N int64 `json:"n,omitempty"`
	// Least is, of a quantile with too few values beyond it, the greatest below it that has enough: it is at least that.
	Least float64 `json:"least,omitempty"`
	// Of waits behind code: which part of X is estimated, and of which part of all waits
	// behind code it is unknown.
	Estimated float64 `json:"estimated,omitempty"`
	Unknown   float64 `json:"unknown,omitempty"`
}

// EnoughBeyond is the least number of values beyond a meaningful quantile.
const EnoughBeyond = 10

// Beyond returns about how many values lie beyond the quantile that v is: above it or, of one
// below the median, below.
func (v Value) Beyond(q rule.Quantity) float64 { return float64(v.N) * min(q.Q, 1-q.Q) }

// Few reports whether v is a quantile with too few values beyond it.
func (v Value) Few(q rule.Quantity) bool {
	return q.Agg == rule.Quantile && v.Beyond(q) < EnoughBeyond-1e-9
}

// Identity is the set of properties that comparable samples share.
type Identity struct {
	Workload   string `json:"workload,omitempty"`
	Op         string `json:"op,omitempty"`
	MetricDefs string `json:"metric_defs"`
	Go         string `json:"go"` // such as go1.26.8; go1.26 if only the format is known
	OS         string `json:"os,omitempty"`
	Arch       string `json:"arch,omitempty"`
	CPU        string `json:"cpu,omitempty"`
	NumCPU     int    `json:"ncpu,omitempty"`
	// GOMAXPROCS in the window, and whether it was the same throughout.
	MinProcs int    `json:"min_procs" range:"1.."`
	MaxProcs int    `json:"max_procs" range:"1.."`
	GOGC     string `json:"gogc,omitempty"`
	Memlimit string `json:"memlimit,omitempty"`
	Kernel   string `json:"kernel,omitempty"`
	Runner   string `json:"runner,omitempty"`
	Commit   string `json:"commit,omitempty"`
	// Samples is "yes" if CPU samples were taken, "no" if not, "" if that is not known.
	Samples string `json:"samples,omitempty"`
}

// Noise is the disturbance of the recording, from its environment record.
type Noise = env.Noise

// Class is a part of a trace's waiting, blocking or running.
type Class struct {
	Func string `json:"func"` // start function; of Blame the function that ran, if At is known
	// Detail is the reason of blocking, of Blame the cause of waiting.
	Detail string `json:"detail,omitempty"`
	// At is where it stopped, and By where the waker was: the innermost frame that is the
	// program's own.
	At    *Frame         `json:"at,omitempty"`
	By    *Frame         `json:"by,omitempty"`
	Total model.Duration `json:"total_ns"`
	Count int64          `json:"count"`
	// Longest is, of Blame, the longest stretch that ran.
	Longest model.Duration `json:"longest_ns,omitempty"`
}

// Join is a function that waits for goroutines with a WaitGroup, as one does that divides a batch among them.
type Join struct {
	Func  string         `json:"func"`
	Count int64          `json:"count"`    // waits for a WaitGroup that ended
	Total model.Duration `json:"total_ns"` // of its waits that goroutines end: for a WaitGroup, a lock, to send
}

// Frame is a place in the source.
type Frame struct {
	Func string `json:"func"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // 0: not known
}

// Named is a part of a total.
type Named struct {
	Name  string         `json:"name"`
	Total model.Duration `json:"total_ns"`
}

// Requests are the requests of one kind.
type Requests struct {
	Kind string `json:"kind"`
	RequestSet
	Path []Named `json:"path"` // by kind of time on their critical paths
	// Groups are those by handler, task or function with the most time, if it is known of enough.
	Groups []RequestGroup `json:"groups,omitempty"`
}

// RequestGroup are the requests of one handler, task or function.
type RequestGroup struct {
	Name string `json:"name"`
	RequestSet
}

// RequestSet are requests that are compared with each other.
type RequestSet struct {
	Count int64          `json:"count"`
	Total model.Duration `json:"total_ns,omitempty"`
	P50   model.Duration `json:"p50_ns,omitempty"`
	P99   model.Duration `json:"p99_ns,omitempty"`
	// Slowest are how many of them are the slowest 1 %, or the slowest five of few, and Tail is
	// what these did; Rest is how long the others took. Middle and Usual are the same of a sample of those of about
	// median length.
	Slowest int64          `json:"slowest"`
	Tail    []Class        `json:"tail"`
	Rest    model.Duration `json:"rest_ns,omitempty"`
	Middle  int64          `json:"middle,omitempty"`
	Usual   []Class        `json:"usual,omitempty"`
}

// Stretch is a part of a trace, in nanoseconds from its start.
type Stretch struct {
	From  model.Duration `json:"from_ns"`
	To    model.Duration `json:"to_ns"`
	Total model.Duration `json:"total_ns"` // of waiting to run
}

// Set are the samples of one side.
type Set struct {
	Design string `json:"design,omitempty"` // "interleaved" or ""
	// Recording distinguishes recordings that were made in turns: sides of two different ones
	// were not. "" if not known.
	Recording string   `json:"recording,omitempty"`
	Samples   []Sample `json:"samples"`
}

// Input is a trace to be read, with the environment record of its recorder, if that kept
// one next to the trace.
type Input struct {
	Name string
	Env  *env.Run
}
