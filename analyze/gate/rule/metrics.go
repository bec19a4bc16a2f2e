package rule

import "strings"

// Kind is the kind of a metric's values.
type Kind uint8

// Kinds.
const (
	// Distribution has a value per occurrence: all aggregations. Of /op and /s only
	// mean, which is the total of the values per op or second.
	Distribution Kind = iota
	// Total is one number per trace: sum, and with /op or /s mean.
	Total
)

// Metric is a name that rules can use.
type Metric struct {
	Name string
	Kind Kind
	Unit Unit // of its values
	// Keys are the selectors that it takes.
	Keys []string
	// Env: it needs an environment record, not the trace alone.
	Env bool
	Doc string
}

// MetricDefs is the version of the definitions below. Values of different versions
// are never compared.
const MetricDefs = "2026.1"

// Metrics are all metrics, in the order in which help shows them.
var Metrics = []Metric{
	{Name: "runnable", Keys: []string{"func", "origin", "cause", "behind"}, Doc: "waits to run of the program's goroutines, whole ones; func is the start function, origin how the goroutine became runnable (schedscope help metrics). With cause or behind, the parts of waits lost to it: sum, mean with /op or /s, and share only. behind is the function of the program that ran or stopped the world meanwhile, as in the table blame: with what is estimated, without what is unknown"},
	{Name: "wait", Kind: Total, Keys: []string{"func", "origin", "cause", "behind"}, Doc: "the total of runnable, of waits cut off by the window's ends too"},
	{Name: "blocked", Keys: []string{"func", "reason"}, Doc: "intervals in which the program's goroutines waited for something: reason is the runtime's, with sync divided by the function, such as sync.(*Mutex).Lock (sync: all of them), chan receive, select, sleep, network"},
	{Name: "running", Keys: []string{"func"}, Doc: "turns of the program's goroutines on a proc, from start to stop"},
	{Name: "run", Kind: Total, Keys: []string{"func"}, Doc: "the total of running: by the wall clock, also where the operating system ran something else"},
	{Name: "syscall", Keys: []string{"func"}, Doc: "system calls that the trace shows with begin and end"},
	{Name: "op", Doc: "lengths of the ops that the budget's op names, if they are regions or tasks"},
	{Name: "request", Keys: []string{"kind", "name"}, Doc: "lengths of the requests that begin and end in the window, as analyze finds them: of kind http, grpc, rpc, tcp, message or task, by default of the one with the most time in the trace; name is the handler or task; a handler is seen where a request blocks, is preempted or is sampled in it, so that the fast ones are missing. request.KIND is a part of each, 0 if it has none: p99(request.lock) is the 99th percentile, over requests, of the time for which its goroutine waited for locks. request.path.KIND is that part of its critical path, where a wait is what they did who ended it: request.path.lock is of locks whose holder is not known. KIND is " + strings.Join(RequestKinds, ", ") + " (schedscope help tables)"},
	{Name: "requests", Kind: Total, Unit: Number, Keys: []string{"kind", "name"}, Doc: "number of these requests; mean(requests/s) is the throughput"},
	{Name: "region", Keys: []string{"name"}, Doc: "lengths of user regions begun and ended in the window"},
	{Name: "task", Keys: []string{"name"}, Doc: "lengths of user tasks begun and ended in the window"},
	{Name: "stw", Keys: []string{"reason"}, Doc: "stop-the-world phases, until the world was seen running again"},
	{Name: "cpu", Kind: Total, Env: true, Doc: "processor time of the process, user and system, by the operating system"},
	{Name: "wakes", Kind: Total, Unit: Number, Keys: []string{"func", "origin"}, Doc: "how often goroutines of the program became runnable by being created or woken"},
	{Name: "starts", Kind: Total, Unit: Number, Keys: []string{"func"}, Doc: "how often goroutines of the program began to run"},
	{Name: "preemptions", Kind: Total, Unit: Number, Keys: []string{"func"}, Doc: "how often they were preempted"},
	{Name: "steals", Kind: Total, Unit: Number, Doc: "steals between run queues, as inferred"},
	{Name: "handoffs", Kind: Total, Unit: Number, Keys: []string{"cause"}, Doc: "procs handed off or retaken"},
	{Name: "gc", Kind: Total, Unit: Number, Doc: "concurrent mark phases of the garbage collector begun"},
	{Name: "created", Kind: Total, Unit: Number, Keys: []string{"func"}, Doc: "goroutines created"},
	{Name: "ops", Kind: Total, Unit: Number, Doc: "ops done; ops/s is the throughput"},
}

// RequestKinds are the kinds of time that requests consist of.
var RequestKinds = strings.Fields("running others runnable lock waitgroup cond channel connection dial timer sleep network syscall gc stw coroutine queued unknown")

func init() {
	for _, prefix := range []string{"request.", "request.path."} {
		for _, kind := range RequestKinds {
			Metrics = append(Metrics, Metric{Name: prefix + kind, Keys: []string{"kind", "name"}})
		}
	}
}

// OfRequests reports whether the metric is of requests, of which kind of their time, "" for all,
// and whether by their critical paths.
func (m *Metric) OfRequests() (kind string, path, ok bool) {
	name, kind, _ := strings.Cut(m.Name, ".")
	kind, path = strings.CutPrefix(kind, "path.")
	return kind, path, name == "request" || name == "requests"
}
