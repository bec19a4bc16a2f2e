package atomicfile

import (
	"os"
	"sync"
)

var (
	// naming is locked while files get their names.
	naming sync.Mutex
	named  bool // the last outputs have them

	// unfinished is locked while something is made that Abandon is to remove.
	unfinished struct {
		sync.Mutex
		temps map[*temp]bool
		dirs  map[*Set][]string // made for outputs, the inner ones first
	}
)

func init() {
	unfinished.temps, unfinished.dirs = map[*temp]bool{}, map[*Set][]string{}
}

// Abandon removes incomplete outputs, so that the program can end at once. After it, calls
// that create or rename files block until the program ends. It returns false and does nothing
// if the last outputs are in place: the program is about to end by itself.
func Abandon() bool {
	naming.Lock()
	if named {
		naming.Unlock()
		return false
	}
	unfinished.Lock()
	for t := range unfinished.temps {
		os.RemoveAll(t.name)
	}
	for _, dirs := range unfinished.dirs {
		for _, dir := range dirs {
			os.Remove(dir)
		}
	}
	return true
}

// locked calls f, which creates files or folders in a temporary folder or next to outputs. After
// Abandon it blocks until the program ends.
func locked(f func() error) error {
	unfinished.Lock()
	defer unfinished.Unlock()
	return f()
}
