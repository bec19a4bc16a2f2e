package model

import "strings"

// What the runtime's own waits for a semaphore are called, which it records as "sync" like those
// of a program's locks: to begin a garbage collection or to end its mark phase
// (runtime/mgc.go: gcStart, gcMarkDone), and the rest, such as to stop the world.
const (
	ReasonGCSemaphore      = "GC semaphore"
	ReasonRuntimeSemaphore = "runtime semaphore"
)

// SyncReason divides the waits that the runtime records as "sync" (runtime/traceruntime.go:
// traceBlockSync, Go 1.22 to 1.26) by the innermost frames, where the goroutine stopped:
//
//  1. In the runtime: a semaphore of its own.
//  2. Else what the program called in package sync, such as "sync.(*Mutex).Lock": the
//     outermost of the frames that the stack begins with, since a lock may be part of
//     another, as in sync.(*Once).Do.
//  3. Else "sync": the lock of a file or connection, or no stack.
func SyncReason(frames []Frame) string {
	reason := "sync"
	for i, f := range frames {
		internal := strings.HasPrefix(f.Func, "internal/sync.")
		switch {
		case i == 0 && strings.HasPrefix(f.Func, "runtime.gc"):
			return ReasonGCSemaphore
		case i == 0 && strings.HasPrefix(f.Func, "runtime."):
			return ReasonRuntimeSemaphore
		case strings.HasPrefix(f.Func, "sync.(*"):
			reason = f.Func
		case internal && strings.HasPrefix(f.Func, "internal/sync.(*Mutex)."):
			reason = "sync.(*Mutex).Lock"
		case !internal && !strings.HasPrefix(f.Func, "sync.runtime_"):
			return reason
		}
	}
	return reason
}

// ParkReason says what a goroutine waits for by the stack of its state, which has no reason in a trace but begins where
// the runtime parked it (runtime/proc.go: gopark, Go 1.22 to 1.26). It is "" for other stacks, and what is not known.
func ParkReason(frames []Frame) string {
	if len(frames) == 0 || frames[0].Func != "runtime.gopark" {
		return ""
	}
	for ; len(frames) > 0 && strings.HasPrefix(frames[0].Func, "runtime."); frames = frames[1:] {
		if reason := parks[frames[0].Func]; reason != "" {
			return reason
		}
	}
	switch reason := SyncReason(frames); {
	case len(frames) > 0 && frames[0].Func == "time.Sleep":
		return "sleep"
	case strings.HasPrefix(reason, "sync."):
		return reason
	}
	return ""
}

// parks are the reasons of the runtime's functions that park a goroutine of a program.
var parks = map[string]string{"runtime.chanrecv": "chan receive", "runtime.chansend": "chan send", "runtime.selectgo": "select", "runtime.block": "forever", "runtime.netpollblock": "network"}

// Wait classifies what a goroutine waits for.
type Wait uint8

// Those from WaitSync on end when another goroutine lets them.
const (
	WaitOther     Wait = iota // none of those below
	WaitSystem                // of goroutines of the runtime, which idle
	WaitSleep                 // time.Sleep
	WaitNetwork               // the network poller
	WaitGC                    // mark assists, and waits for the collector
	WaitPreempted             // suspended, so that its stack can be scanned
	WaitRuntime               // a semaphore of the runtime, such as to stop the world
	WaitCoroutine             // a switch of iter.Pull
	WaitForever               // on a nil channel, or in select {}
	WaitSync                  // a lock of a file or connection, or one without a stack
	WaitLock                  // sync.Mutex, sync.RWMutex and the like
	WaitGroup                 // sync.WaitGroup, with what is built on it
	WaitCond                  // sync.Cond
	WaitSend                  // to send on a channel
	WaitReceive               // to receive from one
	WaitSelect
	NumWaits
)

var waits = map[string]Wait{
	"system goroutine wait": WaitSystem, "sleep": WaitSleep, "network": WaitNetwork, "wait until GC ends": WaitGC,
	"preempted": WaitPreempted, ReasonRuntimeSemaphore: WaitRuntime, "coroutine switch": WaitCoroutine, "forever": WaitForever,
	"sync": WaitSync, "sync.(*WaitGroup).Wait": WaitGroup, "sync.(*Cond).Wait": WaitCond,
	"chan send": WaitSend, "chan receive": WaitReceive, "select": WaitSelect,
}

// WaitOf returns the Wait of a reason, which is the runtime's or from [SyncReason].
func WaitOf(reason string) Wait {
	w, ok := waits[reason]
	switch {
	case ok:
		return w
	case strings.HasPrefix(reason, "GC "):
		return WaitGC
	case strings.HasPrefix(reason, "sync."):
		return WaitLock
	}
	return WaitOther
}

// Waits is a lookup table of [WaitOf] by the numbers of reasons.
type Waits struct {
	tables *Tables
	known  []Wait // NumWaits: not looked up
}

// NewWaits returns Waits of the reasons in t.
func NewWaits(t *Tables) Waits { return Waits{tables: t} }

// Of returns the Wait of a reason.
func (w *Waits) Of(reason StringID) Wait {
	if int(reason) < len(w.known) && w.known[reason] != NumWaits {
		return w.known[reason]
	}
	return w.learn(reason)
}

func (w *Waits) learn(reason StringID) Wait {
	for int(reason) >= len(w.known) {
		w.known = append(w.known, NumWaits)
	}
	w.known[reason] = WaitOf(w.tables.String(reason))
	return w.known[reason]
}

// HeldUp reports whether the wait ends when another goroutine lets it: it is for a lock of the
// program, a channel, a condition.
func (w Wait) HeldUp() bool { return w >= WaitSync }

// Lock reports whether it is for a lock of the program.
func (w Wait) Lock() bool { return w == WaitSync || w == WaitLock }
