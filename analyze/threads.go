package analyze

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// Threads sums up what the threads did.
type Threads struct{ result.Threads }

// Thread implements [model.ThreadObserver].
func (t *Threads) Thread(x *model.Thread) {
	t.Count++
	if x.Created {
		t.Created++
	}
	t.Starts += x.Starts
	t.Acquired += x.Acquired
	t.Unknown += x.Times[model.ThreadUnknown]
	t.Running += x.Times[model.ThreadRunning]
	t.Searching += x.Times[model.ThreadSearching]
	t.Syscall += x.Times[model.ThreadSyscall]
	t.SyscallBlocked += x.Times[model.ThreadSyscallBlocked]
	t.NoProc += x.Times[model.ThreadNoProc]
}

// ThreadStart implements [model.ThreadStartObserver].
func (t *Threads) ThreadStart(*model.ThreadStart) { t.SeenCreated++ }

// Result adds what was found to v.
func (t *Threads) Result(v *result.Report) { v.Threads = t.Threads }
