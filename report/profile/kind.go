package profile

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Kind is the kind of a profile: what it counts.
type Kind uint8

// Kinds of profiles.
const (
	Runnable Kind = iota // scheduling latency
	Waiting              // blocked intervals
	Syscalls
	Handoffs
	Blame   // waiting by the code that it is due to; see [OfBlame]
	Slow    // critical paths of the slowest requests; see [OfRequests]
	Typical // those of the middle fifth
	numKinds
)

// sampleType is one of the values that a sample has.
type sampleType struct{ name, unit string }

const (
	maxValues = 3
	maxLabels = 6
)

// kinds are what is known of each kind.
var kinds = [numKinds]struct {
	name   string
	doc    string
	whose  string       // stack a sample has
	waker  string       // the same with Options.Waker; "": there is none
	values []sampleType // in the order of values
	main   string       // the type that is shown unless another is asked for
	labels []string     // in the order of key.labels
}{
	Runnable: {
		"runnable", "waits from Runnable until Running, and what they were lost to",
		"where the goroutine had stopped", "where it was made runnable",
		[]sampleType{{"waits", "count"}, {"runnable", "nanoseconds"}}, "runnable",
		[]string{"cause", "origin", "reason", "source", "proc", "function"},
	},
	Waiting: {
		"waiting", "blocked intervals",
		"where the goroutine stopped", "where it was made runnable again",
		[]sampleType{{"waits", "count"}, {"waiting", "nanoseconds"}}, "waiting",
		[]string{"reason", "function"},
	},
	Syscalls: {
		"syscalls", "system calls, and their time without a proc",
		"of the system call", "",
		[]sampleType{{"syscalls", "count"}, {"syscall", "nanoseconds"}, {"blocked", "nanoseconds"}}, "syscall",
		[]string{"exit", "function"},
	},
	Handoffs: {
		"handoffs", "procs lost in system calls: the time until the loss, and until the next thread had the proc",
		"of the system call", "",
		[]sampleType{{"in_syscall", "nanoseconds"}, {"gap", "nanoseconds"}, {"handoffs", "count"}}, "handoffs",
		[]string{"cause", "proc", "function"},
	},
	Blame: {
		"blame", "waiting by the code that ran meanwhile (runnable), or that ended the wait (blocked)",
		"of the code that it is due to", "",
		[]sampleType{{"turns", "count"}, {"runnable", "nanoseconds"}, {"blocked", "nanoseconds"}}, "runnable",
		[]string{"kind", "basis", "waiter"},
	},
	Slow: {
		"slow-requests", "the mean critical path of the slowest requests (1 %, five of few, or all above --slow)",
		"what ran or blocked, called by where the request waited for it", "",
		[]sampleType{{"path", "nanoseconds"}}, "path", []string{"kind", "wait", "requests"},
	},
	Typical: {
		"typical-requests", "the same of the middle fifth: slow-requests with this as -diff_base is what makes them slow",
		"what ran or blocked, called by where the request waited for it", "",
		[]sampleType{{"path", "nanoseconds"}}, "path", []string{"kind", "wait", "requests"},
	},
}

// Kinds returns the names of all kinds.
func Kinds() []string { return model.Names(numKinds) }

// KindOf returns the kind of a name.
func KindOf(name string) (k Kind, ok bool) {
	i := slices.Index(Kinds(), name)
	return Kind(max(i, 0)), i >= 0
}

// String returns the kind's name.
func (k Kind) String() string { return kinds[k].name }

// Doc returns a description of the kind.
func (k Kind) Doc() string { return kinds[k].doc }

// Labels returns the names of the labels that samples may have.
func (k Kind) Labels() []string { return kinds[k].labels }

// Values returns the names of the values, with the one that pprof shows first.
func (k Kind) Values() []string {
	names := []string{kinds[k].main}
	for _, v := range kinds[k].values {
		if v.name != names[0] {
			names = append(names, v.name)
		}
	}
	return names
}

// HasWaker reports whether the kind can have the waker's stack.
func (k Kind) HasWaker() bool { return kinds[k].waker != "" }
