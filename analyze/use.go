package analyze

import "github.com/schedscope/schedscope/model"

// Use is what a proc's time went to: its state, and for Running the kind of
// work, in as many kinds as pictures and reports tell apart.
type Use uint8

// Uses of a proc.
const (
	UseUser      Use = iota // runs a goroutine of the program
	UseGC                   // runs a mark worker
	UseAssist               // runs a goroutine of the program that assists marking
	UseRuntime              // runs another goroutine of the runtime
	UseSyscall              // kept by a goroutine in a system call
	UseSearching            // held by a thread without a goroutine: in the scheduler
	UseStopped              // stopped by a stop-the-world
	UseIdle                 // no thread has it
	UseUnknown              // not known
	NumUses
)

// String returns the use's name as reports for programs have it; people see
// [Use.Label].
func (u Use) String() string {
	names := [...]string{"user", "GC", "GC assist", "runtime", "syscall", "searching", "stopped", "idle", "unknown"}
	if int(u) < len(names) {
		return names[u]
	}
	return "Use(?)"
}

// useOf returns the use of a proc's time in a state, by the kind of work.
func useOf(state model.ProcState, work model.WorkKind) Use {
	switch state {
	case model.ProcRunning:
		switch work {
		case model.WorkUser:
			return UseUser
		case model.WorkGCAssist:
			return UseAssist
		case model.WorkGCDedicated, model.WorkGCFractional, model.WorkGCIdle:
			return UseGC
		}
		return UseRuntime
	case model.ProcSyscall:
		return UseSyscall
	case model.ProcSearching:
		return UseSearching
	case model.ProcStopped:
		return UseStopped
	case model.ProcIdle:
		return UseIdle
	}
	return UseUnknown
}

// Uses are durations by use.
type Uses [NumUses]model.Duration

// Total returns the sum over all uses.
func (u *Uses) Total() model.Duration {
	var sum model.Duration
	for _, d := range u {
		sum += d
	}
	return sum
}

// Share returns the given uses' part of the total, 0 if there is none.
func (u *Uses) Share(uses ...Use) float64 {
	total := u.Total()
	if total <= 0 {
		return 0
	}
	var part model.Duration
	for _, x := range uses {
		part += u[x]
	}
	return float64(part) / float64(total)
}

func (u *Uses) merge(o *Uses) {
	for i, d := range o {
		u[i] += d
	}
}
