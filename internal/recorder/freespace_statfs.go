//go:build linux || darwin || freebsd

package recorder

import (
	"os"
	"syscall"
)

// freeSpace returns how many bytes can still be written into a folder, and whether that is
// known.
func freeSpace(folder string) (uint64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil || s.Blocks == 0 { // 0: it does not count them
		return 0, false
	}
	blocks := max(int64(s.Bavail), 0)
	if os.Geteuid() == 0 {
		blocks = int64(s.Bfree) // with what is reserved
	}
	return uint64(blocks) * uint64(s.Bsize), true
}
