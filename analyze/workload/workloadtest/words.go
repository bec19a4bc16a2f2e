package workloadtest

import (
	"strings"

	"github.com/schedscope/schedscope/model"
)

// words interns strings and stacks as traces have them.
type words struct {
	tables  *model.Tables
	version int
	stacks  map[string]model.StackID
}

func newWords(t *model.Tables, version int) *words {
	return &words{tables: t, version: version, stacks: map[string]model.StackID{}}
}

func (w *words) name(s string) model.StringID { return w.tables.AddString(s) }

// stack returns the stack of a goroutine with start function fn, innermost frame first.
func (w *words) stack(fn string, frames ...string) model.StackID {
	key := fn + "<" + strings.Join(frames, "<")
	if id, ok := w.stacks[key]; ok {
		return id
	}
	var list []model.Frame
	for _, f := range append(frames[:len(frames):len(frames)], fn) {
		file := "main.go"
		if strings.HasPrefix(f, "runtime.") {
			file = "proc.go"
		}
		list = append(list, model.Frame{PC: pc(f), Func: f, File: file, Line: pc(f)%900 + 1})
	}
	id := w.tables.AddStack(list)
	w.stacks[key] = id
	return id
}

// pc returns an address for a function: the same one for the same name.
func pc(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return 0x400000 + h%(1<<22)
}

// goyield returns the innermost frames of a goroutine that yields to the one it handed
// a semaphore to (runtime/sema.go: semrelease1).
func (w *words) goyield() []string {
	if w.version >= 25 {
		return []string{"runtime.goyield", "runtime.semrelease1", "sync.runtime_Semrelease", "sync.(*Mutex).Unlock"}
	}
	return []string{"runtime.semrelease1", "sync.runtime_Semrelease", "sync.(*Mutex).Unlock"}
}
