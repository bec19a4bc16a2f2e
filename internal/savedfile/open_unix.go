//go:build unix

package savedfile

import "syscall"

// Flags with which no pipe is waited for, and no link followed.
const noWait, noFollow = syscall.O_NONBLOCK, syscall.O_NOFOLLOW
