package requests

import "github.com/schedscope/schedscope/model"

// Kind classifies a part of a request's time.
type Kind uint8

// Kinds of time. A wait has its kind where nobody's wake-up explains it.
const (
	Running    Kind = iota // the request's goroutine ran
	Others                 // of a path: another goroutine ran
	Runnable               // waited for a proc
	Lock                   // sync.Mutex, sync.RWMutex and the like
	WaitGroup              // sync.WaitGroup, with what is built on it
	Cond                   // sync.Cond
	Channel                // a channel or select
	Connection             // a connection of a pool of net/http or database/sql
	Dial                   // a new connection of net/http
	Timer                  // a channel or select that a timer ended
	Sleep                  // time.Sleep
	Network                // the network poller
	Syscall                // a system call
	GC                     // mark assists, and waits for the collector
	STW                    // runnable while the world was stopped
	Coroutine              // a switch of iter.Pull
	Queued                 // of a task: handed over, not taken up
	Unknown                // not in the trace, or not kept
	NumKinds
)

var kindNames = []string{"running", "others", "runnable", "lock", "waitgroup", "cond", "channel", "connection", "dial", "timer", "sleep",
	"network", "syscall", "gc", "stw", "coroutine", "queued", "unknown"}

// String returns the kind's name as reports print it.
func (k Kind) String() string { return model.NameOf(kindNames, k) }

var kindDocs = []string{"it ran", "other goroutines that it waited for ran", "waited for a proc, or for one to poll the network",
	"waited for a lock", "waited for a WaitGroup", "waited for a Cond", "waited for a channel or in select",
	"waited for a connection of a pool (net/http, database/sql)", "waited for a new connection (net/http)",
	"waited for a channel or in select, until a timer ended it", "time.Sleep", "waited for the network", "system calls",
	"mark assists, and waits for the collector", "waited for a proc while the world was stopped",
	"switches of coroutines", "a task was handed over and not taken up", "not in the trace, or not kept"}

// Doc returns a description of the kind.
func (k Kind) Doc() string { return model.NameOf(kindDocs, k) }

// Times are lengths of time by kind.
type Times [NumKinds]model.Duration

// Total returns the sum.
func (t *Times) Total() (sum model.Duration) {
	for _, d := range t {
		sum += d
	}
	return sum
}

func (t *Times) add(o *Times) {
	for i := range t {
		t[i] += o[i]
	}
}

func (t *Times) sub(o *Times) {
	for i := range t {
		t[i] -= o[i]
	}
}

// deeper makes a path that of somebody who waits for it.
func (t *Times) deeper() { t[Others], t[Running] = t[Others]+t[Running], 0 }

// stateKinds are the kinds of time in states. Of Waiting it depends on what for.
var stateKinds = [model.NumGoStates]Kind{
	model.GoUndetermined: Unknown, model.GoNotExist: Unknown, model.GoRunnable: Runnable, model.GoRunning: Running,
	model.GoWaiting: Unknown, model.GoSyscall: Syscall, model.GoSyscallBlocked: Unknown,
}

// waitKinds are the kinds of waits, by what they are for.
var waitKinds = [model.NumWaits]Kind{
	model.WaitOther: Unknown, model.WaitSystem: Unknown, model.WaitSleep: Sleep, model.WaitNetwork: Network,
	model.WaitGC: GC, model.WaitPreempted: GC, model.WaitRuntime: STW, model.WaitCoroutine: Coroutine, model.WaitForever: Channel,
	model.WaitSync: Lock, model.WaitLock: Lock, model.WaitGroup: WaitGroup, model.WaitCond: Cond,
	model.WaitSend: Channel, model.WaitReceive: Channel, model.WaitSelect: Channel,
}
