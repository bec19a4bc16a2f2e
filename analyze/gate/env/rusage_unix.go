//go:build unix

package env

import "syscall"

// self returns the counters of this process, nil if they cannot be had.
func self() *Process {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return nil
	}
	return &Process{UserNS: u.Utime.Nano(), SystemNS: u.Stime.Nano(), Nivcsw: int64(u.Nivcsw)}
}

// switches returns the involuntary context switches of a process that ended: usage is that
// of [os.ProcessState.SysUsage].
func switches(usage any) int64 {
	if u, ok := usage.(*syscall.Rusage); ok {
		return int64(u.Nivcsw)
	}
	return 0
}
