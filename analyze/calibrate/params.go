package calibrate

import (
	"fmt"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
)

// param is one of the costs: how it is called, and which samples estimate it.
type param struct {
	name  string
	field string // of refsched.Costs
	help  string
	of    func(*refsched.Costs) *model.Duration
	drawn func(*refsched.Quantiles) *[]model.Duration // nil: the value does
	kind  sampleKind
	// part is the quantile, in percent, that estimates it, or middle80.
	part int64
	how  string
}

// middle80 stands for the mean of the middle 80 %, where a quantile would: of times
// that are a few ticks of the clock long.
const middle80 = -1

// sampleKind says what was measured.
type sampleKind uint8

const (
	ofRunnext sampleKind = iota
	ofLocal
	ofGlobal
	ofSteal
	ofPoll
	ofDirect
	ofSpin
	ofBackOff
	ofWake
	ofWaker
	ofClone
	ofLocked
	ofSlack
	ofPreempt
	ofNotice // not seen in a trace
	ofExit
	ofEpoll
	ofSend
	numKinds
)

// params are the parameters in the order in which they are printed.
var params = [...]param{
	{"runnext", "Runnext", "stop of a goroutine to the start of that in runnext",
		func(c *refsched.Costs) *model.Duration { return &c.Runnext },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Runnext }, ofRunnext, middle80,
		"mean of the middle 80 % of stop to start on the same thread"},
	{"local", "Local", "stop to the start of the local queue's head",
		func(c *refsched.Costs) *model.Duration { return &c.Local },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Local }, ofLocal, middle80,
		"mean of the middle 80 % of stop to start on the same thread"},
	{"global", "Global", "stop to the start of the global queue's head",
		func(c *refsched.Costs) *model.Duration { return &c.Global },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Global }, ofGlobal, middle80,
		"mean of the middle 80 % of stop to start on the same thread"},
	{"steal", "Steal", "search to the start of a stolen goroutine",
		func(c *refsched.Costs) *model.Duration { return &c.Steal },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Steal }, ofSteal, 25,
		"p25 of stop, or getting a proc, to start, if less than a back-off takes"},
	{"poll", "Poll", "stop to what a poll of the network found becoming runnable",
		func(c *refsched.Costs) *model.Duration { return &c.Poll },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Poll }, ofPoll, middle80,
		"mean of the middle 80 % of stop to the first wake by a poll that did not sleep"},
	{"direct", "Direct", "start of what is in hand: from a poll, a mark worker, the trace reader",
		func(c *refsched.Costs) *model.Duration { return &c.Direct },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Direct }, ofDirect, middle80,
		"mean of the middle 80 % of the poll's last wake to start, and of stop to start of mark workers and the trace reader"},
	{"spin", "Spin", "fruitless search to giving up the proc",
		func(c *refsched.Costs) *model.Duration { return &c.Spin }, nil, ofSpin, 50,
		"p50 of getting a proc to giving it up, if less than a back-off takes"},
	{"backoff", "BackOff", "sleep of a thief before it takes from another's runnext",
		func(c *refsched.Costs) *model.Duration { return &c.BackOff },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.BackOff }, ofBackOff, 50,
		"p50 of search to start of what was stolen after a sleep, less steal and 3/4 of spin; else 3 us and slack"},
	{"wake", "Wake", "waking a thread to its having the proc",
		func(c *refsched.Costs) *model.Duration { return &c.Wake },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Wake }, ofWake, 50,
		"p50, and quantiles, of a goroutine's becoming runnable to a known thread's getting an idle proc, while nobody spins; else p50 of the loss of a proc to a system call to another thread's having it"},
	{"waker", "Waker", "waking a thread, for the goroutine that does it",
		func(c *refsched.Costs) *model.Duration { return &c.Waker },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Waker }, ofWaker, 50,
		"p50, and quantiles, of the time to the next event beyond what is usual at the same place"},
	{"clone", "Clone", "the same with a thread that must be created",
		func(c *refsched.Costs) *model.Duration { return &c.Clone }, nil, ofClone, 50,
		"p50 of the same where the thread was never seen and has the highest number so far"},
	{"locked", "Locked", "giving a proc to a locked goroutine's thread, to its start",
		func(c *refsched.Costs) *model.Duration { return &c.Locked },
		func(q *refsched.Quantiles) *[]model.Duration { return &q.Locked }, ofLocked, 50,
		"p50 of the proc's being given up to start"},
	{"slack", "Slack", "by which a sleeping thread is late",
		func(c *refsched.Costs) *model.Duration { return &c.Slack }, nil, ofSlack, 10,
		"p10 of the time between two retakes by sysmon, and from the beginning of a system call to its losing its proc, of those of 20 to 200 us, less 20 us; else backoff less 3 us"},
	{"preempt", "Preempt", "request of a preemption to its landing",
		func(c *refsched.Costs) *model.Duration { return &c.Preempt }, nil, ofPreempt, 50,
		"p50 of the request to stop the world to the stop of each goroutine that ran"},
	{"notice", "Notice", "sysmon's request to give way to its landing",
		func(c *refsched.Costs) *model.Duration { return &c.Notice }, nil, ofNotice, 50,
		"the default: a trace does not show when sysmon asks"},
	{"exit", "Exit", "return from a system call, with a proc to be had, to running on",
		func(c *refsched.Costs) *model.Duration { return &c.Exit }, nil, ofExit, middle80,
		"mean of the middle 80 % of getting a proc to running on"},
	{"epoll", "Epoll", "arrival of data to a thread that sleeps in epoll getting a proc",
		func(c *refsched.Costs) *model.Duration { return &c.Epoll }, nil, ofEpoll, 25,
		"p25 of the end of the program's own latest network write to the poller's getting a proc"},
	{"send", "Send", "end of a send to the arrival of data within the program",
		func(c *refsched.Costs) *model.Duration { return &c.Send }, nil, ofSend, 50,
		"0 if the program writes to the network: the kernel delivers on loopback within the call"},
}

// Names returns the names of all parameters, in the order of [Calibrator.Estimates].
func Names() []string {
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].name
	}
	return names
}

// Help returns what the parameter of this name is, in a line; "" if there is none.
func Help(name string) string {
	if p := paramOf(name); p != nil {
		return p.help
	}
	return ""
}

func paramOf(name string) *param {
	for i := range params {
		if params[i].name == name {
			return &params[i]
		}
	}
	return nil
}

// maxCost is more than any cost can sensibly be.
const maxCost = time.Minute

// Set sets a parameter from text such as "wake=5us" or "steal=0", to exactly that: it
// empties the Quantiles of the same name.
func Set(c *refsched.Costs, text string) error {
	name, value, ok := strings.Cut(text, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok {
		return fmt.Errorf("cost %q is not of the form name=duration, such as wake=5us", text)
	}
	p := paramOf(name)
	if p == nil {
		return fmt.Errorf("no cost is named %q: there are %s", name, strings.Join(Names(), ", "))
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("cost %s: %q is not a duration such as 300ns or 5us", name, value)
	}
	if d < 0 || d > maxCost {
		return fmt.Errorf("cost %s: %s is not between 0 and %s", name, value, maxCost)
	}
	*p.of(c) = model.Duration(d)
	if p.drawn != nil {
		*p.drawn(&c.Quantiles) = nil
	}
	return nil
}
