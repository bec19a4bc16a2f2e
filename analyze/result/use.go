package result

import (
	"encoding/json"
	"strconv"

	"github.com/schedscope/schedscope/model"
)

// Use classifies a proc's time: by its state, and for Running by the kind of work, as far as
// pictures and reports distinguish kinds.
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

var useNames = []string{"user", "GC", "GC assist", "runtime", "syscall", "searching", "stopped", "idle", "unknown"}

// String returns the use's name as reports for programs have it; people see
// [Use.Label].
func (u Use) String() string { return model.NameOf(useNames, u) }

// UseOf returns the use of a proc's time in a state, by the kind of work.
func UseOf(state model.ProcState, work model.WorkKind) Use {
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

// Uses is the procs' time by use.
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
	var part model.Duration
	for _, x := range uses {
		part += u[x]
	}
	return Ratio(part, u.Total())
}

// Ratio returns part/whole, 0 if whole is not positive.
func Ratio[T ~int64](part, whole T) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Add adds the durations of o.
func (u *Uses) Add(o *Uses) {
	for i, d := range o {
		u[i] += d
	}
}

// UseFields are the fields of the JSON by use.
var UseFields = []string{
	"user",      // Goroutines of the program, proc-nanoseconds.
	"gc",        // Mark workers of the garbage collector, proc-nanoseconds.
	"gc_assist", // Goroutines that had to help the garbage collector, proc-nanoseconds.
	"runtime",   // Other goroutines of the runtime, proc-nanoseconds.
	"syscall",   // System calls that kept the proc, proc-nanoseconds.
	"searching", // A thread had the proc and no goroutine, proc-nanoseconds.
	"stopped",   // Stop-the-world phases, proc-nanoseconds.
	"idle",      // Idle, proc-nanoseconds.
	"unknown",   // Not known, proc-nanoseconds.
}

// MarshalJSON returns an object with a field for each use.
func (u Uses) MarshalJSON() ([]byte, error) { return marshalFields(UseFields, u[:]) }

// UnmarshalJSON parses the output of MarshalJSON.
func (u *Uses) UnmarshalJSON(data []byte) error { return unmarshalFields(UseFields, u[:], data) }

// JSONFields returns the fields of the JSON.
func (Uses) JSONFields() []string { return UseFields }

// UsesSeries is the procs' time by use, in bins.
type UsesSeries [NumUses][]int64

// MarshalJSON returns an object with a list for each use.
func (u UsesSeries) MarshalJSON() ([]byte, error) { return marshalFields(UseFields, u[:]) }

// UnmarshalJSON parses the output of MarshalJSON.
func (u *UsesSeries) UnmarshalJSON(data []byte) error { return unmarshalFields(UseFields, u[:], data) }

// JSONFields returns the fields of the JSON.
func (UsesSeries) JSONFields() []string { return UseFields }

// States are totals by state of goroutines.
type States [model.NumGoStates]model.Duration

// stateFields are the fields of the JSON, of the states in stateOrder.
var (
	stateFields = []string{
		"undetermined_ns",    // Time before the first event of a goroutine, whose state is not known, goroutine-nanoseconds.
		"running_ns",         // Running, goroutine-nanoseconds.
		"runnable_ns",        // Runnable, goroutine-nanoseconds.
		"waiting_ns",         // Waiting, goroutine-nanoseconds.
		"syscall_ns",         // In system calls, with a proc, goroutine-nanoseconds.
		"syscall_blocked_ns", // In system calls, without a proc, goroutine-nanoseconds.
	}
	stateOrder = []model.GoState{model.GoUndetermined, model.GoRunning, model.GoRunnable, model.GoWaiting, model.GoSyscall, model.GoSyscallBlocked}
)

// MarshalJSON returns an object with a field for each state.
func (s States) MarshalJSON() ([]byte, error) {
	return marshalFields(stateFields, Each(stateOrder, func(state *model.GoState) model.Duration { return s[*state] }))
}

// UnmarshalJSON parses the output of MarshalJSON.
func (s *States) UnmarshalJSON(data []byte) error {
	values := make([]model.Duration, len(stateOrder))
	err := unmarshalFields(stateFields, values, data)
	for i, state := range stateOrder {
		s[state] = values[i]
	}
	return err
}

// JSONFields returns the fields of the JSON.
func (States) JSONFields() []string { return stateFields }

// marshalFields returns a JSON object with a field for each value.
func marshalFields[T any](names []string, values []T) ([]byte, error) {
	out := []byte{'{'}
	for i, name := range names {
		value, err := json.Marshal(values[i])
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, name), ':'), value...)
	}
	return append(out, '}'), nil
}

// unmarshalFields reads what marshalFields wrote; fields that are not there stay as they are.
func unmarshalFields[T any](names []string, values []T, data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for i, name := range names {
		if raw, ok := fields[name]; ok {
			if err := json.Unmarshal(raw, &values[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
