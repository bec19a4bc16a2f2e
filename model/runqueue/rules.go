package runqueue

import (
	"slices"
	"strings"

	"github.com/schedscope/schedscope/model"
)

// rules are the differences between Go versions that matter here.
type rules struct {
	// stwRunnext: a goroutine preempted for a stop-the-world stays in its proc's
	// runnext (runtime/proc.go: goschedImpl, since Go 1.26).
	stwRunnext bool
	// injectWakes: after a list has been put into queues with a proc, one more
	// thread is woken (runtime/proc.go: injectglist, since Go 1.23).
	injectWakes bool
	// idleLowFirst: when the world goes on, the idle proc with the lowest id is taken
	// first (runtime/proc.go: procresize, until Go 1.25).
	idleLowFirst bool
}

func rulesOf(version int) rules {
	return rules{stwRunnext: version >= 26, injectWakes: version >= 23, idleLowFirst: version < 26}
}

// entry says into which queue the runtime puts a goroutine that becomes
// runnable.
type entry uint8

const (
	entryUnknown entry = iota // runnable when the trace began
	entryRunnext              // runqput(next=true)
	entryTail                 // runqput(next=false)
	entryGlobal               // globrunqput
	entryInject               // injectglist with a proc
	entryPoll                 // injectglist of a poll, or the runnext of a network deadline
	entryNone                 // in hand: no queue
)

// words are the strings that the rules compare with.
type words struct {
	assistWait, preempted, systemWait, cycleWait, scavenger, callback, network, sleep model.StringID
}

func newWords(t *model.Tables) words {
	return words{
		assistWait: t.AddString("GC mark assist wait for work"),
		preempted:  t.AddString("preempted"),
		systemWait: t.AddString("system goroutine wait"),
		sleep:      t.AddString("sleep"),
		network:    t.AddString("network"),
		callback:   t.AddString("runtime.cgocallback"),
		scavenger:  t.AddString("runtime.bgscavenge"),
		cycleWait:  t.AddString("wait until GC ends"),
	}
}

// entryOf finds where a goroutine that becomes runnable by s is put.
func (f *lookahead) entryOf(s *model.Step) entry {
	if s.Flags&model.StepStatus != 0 {
		return entryUnknown
	}
	if s.G == f.stopper {
		return entryNone // runtime/proc.go: procresize, which records a move to another proc as a Gosched
	}
	e := entryUnknown
	switch s.Origin {
	case model.OriginCreated, model.OriginGoroutine, model.OriginTimer, model.OriginExternal:
		e = entryRunnext // newproc, goready
	case model.OriginNetpoll:
		e = entryPoll
		if s.By != model.NoGoroutine {
			e = entryInject // pollWork, startTheWorldWithSema
		}
	case model.OriginSyscall, model.OriginPreempted, model.OriginGosched:
		e = entryGlobal // exitsyscallNoP, goschedImpl
	case model.OriginSTW:
		e = entryGlobal
		if f.rules.stwRunnext {
			e = entryRunnext
		}
	case model.OriginGoyield:
		e = entryTail // goyield_m
	case model.OriginGC:
		e = f.entryGC(s)
	case model.OriginInjected:
		e = f.entryRuntime(s)
	}
	if s.P == model.NoProc && e != entryUnknown && e != entryNone {
		return entryGlobal
	}
	return e
}

// entryRuntime is where goroutines go that the runtime wakes on its own account.
// The scavenger, cleanups and those that wait for a cycle of the garbage
// collector are injected; the sweeper, finalizers and waiters on the runtime's
// semaphores go to runnext.
func (f *lookahead) entryRuntime(s *model.Step) entry {
	switch {
	case s.Func == f.words.scavenger:
		return entryInject // runtime/mgcscavenge.go: wake
	case s.By == model.NoGoroutine:
		return entryRunnext // wakefing in findRunnable
	case s.Reason == f.words.systemWait, s.Reason == f.words.cycleWait:
		return entryInject
	case s.Reason == 0 && !f.endsMarking(s.Stack):
		return entryInject // waiting since before the trace: the scavenger, woken by gcStart
	}
	return entryRunnext
}

func (f *lookahead) entryGC(s *model.Step) entry {
	switch {
	case s.Flags&model.StepWorker != 0:
		return entryNone // findRunnableGCWorker and idle workers
	case s.Reason == f.words.preempted:
		return entryRunnext // runtime/preempt.go: resumeG
	case s.Reason == f.words.assistWait && !f.endsMarking(s.Stack):
		return entryTail // runtime/mgcmark.go: gcFlushBgCredit
	}
	return entryInject // gcWakeAllAssists
}

// endsMarking reports whether a wake belongs to the end of a mark phase.
func (f *lookahead) endsMarking(id model.StackID) bool {
	return slices.ContainsFunc(f.tables.Stack(id), func(x model.Frame) bool {
		return strings.HasPrefix(x.Func, "runtime.gcMarkDone") || strings.HasPrefix(x.Func, "runtime.gcMarkTermination")
	})
}
