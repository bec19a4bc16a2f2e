package atomicfile

import (
	"os"
	"sync"
)

var (
	// naming is locked while outputs get their names.
	naming sync.Mutex
	named  bool // some have them

	unfinished struct {
		sync.Mutex
		temps map[*temp]string  // their names
		dirs  map[*Set][]string // made for outputs, the inner ones first
	}
)

func init() {
	unfinished.temps, unfinished.dirs = map[*temp]string{}, map[*Set][]string{}
}

// Abandon removes what is not complete, so that the program can end at once. No output appears
// after it. It returns false, and does nothing, if outputs have got their names: the program is
// about to end by itself.
func Abandon() bool {
	naming.Lock()
	if named {
		naming.Unlock()
		return false
	}
	unfinished.Lock()
	defer unfinished.Unlock()
	for _, name := range unfinished.temps {
		os.RemoveAll(name)
	}
	for _, dirs := range unfinished.dirs {
		for _, dir := range dirs {
			os.Remove(dir)
		}
	}
	return true
}

// Name has f, which renames what is complete, give outputs their names.
func Name(f func() error) error {
	naming.Lock()
	defer naming.Unlock()
	err := f()
	named = named || err == nil
	return err
}

func (t *temp) register(name string) {
	unfinished.Lock()
	defer unfinished.Unlock()
	unfinished.temps[t] = name
}

func (t *temp) forget() {
	unfinished.Lock()
	defer unfinished.Unlock()
	delete(unfinished.temps, t)
}

// register takes note of the folders that s has made.
func (s *Set) register() {
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.dirs[s] = append([]string(nil), s.made...); s.made == nil {
		delete(unfinished.dirs, s)
	}
}
