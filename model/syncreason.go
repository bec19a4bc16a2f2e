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

// IsSync reports whether a reason to wait is one of those that the runtime records as "sync".
func IsSync(reason string) bool {
	return reason == "sync" || reason == ReasonGCSemaphore || reason == ReasonRuntimeSemaphore ||
		strings.HasPrefix(reason, "sync.") && reason != "sync.(*Cond).Wait"
}
