package env

import "syscall"

// self returns the counters of this process, nil if they cannot be had. Windows does
// not count context switches by process.
func self() *Process {
	var created, exited, kernel, user syscall.Filetime
	p, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(p, &created, &exited, &kernel, &user) != nil {
		return nil
	}
	return &Process{UserNS: elapsed(user), SystemNS: elapsed(kernel)}
}

// elapsed returns nanoseconds of a length of time: units of 100 ns.
func elapsed(t syscall.Filetime) int64 {
	return (int64(t.HighDateTime)<<32 | int64(t.LowDateTime)) * 100
}

func switches(any) int64 { return 0 }
