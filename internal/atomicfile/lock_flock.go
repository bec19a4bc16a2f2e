//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// lock locks a file or folder until the result is closed or the program ends, however it does. It
// returns errLocked if another lock is on it, unless it may wait; fs.ErrNotExist if the name
// is gone, or another file's by now; and another error where there are no locks.
func lock(name string, wait bool) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // of a pipe, too
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = flock(int(f.Fd()), how)
	}
	if err == syscall.EWOULDBLOCK {
		err = errLocked
	}
	if err == nil {
		mine, _ := f.Stat()
		if there, _ := os.Lstat(name); !os.SameFile(mine, there) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// flock is a variable for tests of file systems without.
var flock = syscall.Flock

// ownerOf returns the number of the user who owns a file.
func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
