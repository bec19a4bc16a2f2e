package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Threads sums up what the threads did. Of several traces, the same thread
// counts once for each.
type Threads struct {
	Count int64
	// Created is the number of threads whose first event came after the trace's
	// start: an upper bound of those created, for some just slept until then.
	// SeenCreated is the number whose creation itself showed.
	Created, SeenCreated int64
	Starts               int64 // goroutines started
	Acquired             int64 // procs acquired
	// Times are the totals of all threads by state. ThreadNoProc is time
	// parked, polling the network, or looking for a proc.
	Times [model.NumThreadStates]model.Duration
}

// NewThreads returns an empty Threads.
func NewThreads() *Threads { return &Threads{} }

// Thread implements [model.ThreadObserver].
func (t *Threads) Thread(x *model.Thread) {
	t.Count++
	if x.Created {
		t.Created++
	}
	t.Starts += x.Starts
	t.Acquired += x.Acquired
	for i, d := range x.Times {
		t.Times[i] += d
	}
}

// ThreadStart implements [model.ThreadStartObserver].
func (t *Threads) ThreadStart(*model.ThreadStart) { t.SeenCreated++ }

// Result adds what was found to v.
func (t *Threads) Result(v *result.Report) {
	v.Threads = result.Threads{
		Count: t.Count, Created: t.Created, SeenCreated: t.SeenCreated, Starts: t.Starts, Acquired: t.Acquired,
		Unknown: t.Times[model.ThreadUnknown], Running: t.Times[model.ThreadRunning],
		Searching: t.Times[model.ThreadSearching], Syscall: t.Times[model.ThreadSyscall],
		SyscallBlocked: t.Times[model.ThreadSyscallBlocked], NoProc: t.Times[model.ThreadNoProc],
	}
}
