//go:build !unix

package savedfile

// There are no flags with which no pipe is waited for, and no link followed.
const noWait, noFollow = 0, 0
