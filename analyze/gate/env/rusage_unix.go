//go:build unix

package env

import "syscall"

// self returns the counters of this process, nil if they cannot be had.
func self() *Process {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return nil
	}
	return &Process{UserNS: u.Utime.Nano(), SystemNS: u.Stime.Nano(), Nvcsw: int64(u.Nvcsw), Nivcsw: int64(u.Nivcsw)}
}

// switches returns the context switches of a process that ended: usage is that of
// [os.ProcessState.SysUsage].
func switches(usage any) (voluntary, involuntary int64) {
	u, ok := usage.(*syscall.Rusage)
	if !ok {
		return 0, 0
	}
	return int64(u.Nvcsw), int64(u.Nivcsw)
}
