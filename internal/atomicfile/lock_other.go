//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package atomicfile

import (
	"errors"
	"os"
)

// lock locks nothing. On Windows an open file cannot be removed, but one that is closed and about
// to be renamed can: Sweep waits an hour here, too.
func lock(name string, wait bool) (*os.File, error) { return nil, errors.ErrUnsupported }
