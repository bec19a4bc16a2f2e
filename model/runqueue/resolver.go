package runqueue

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// OldFormatError says that the trace is of a Go version whose traces do not
// tell enough.
type OldFormatError struct{ Version int }

func (e *OldFormatError) Error() string {
	return fmt.Sprintf("run queues cannot be reconstructed from a trace of Go 1.%d: want Go 1.22 or newer", e.Version)
}

// Resolver replays the run queues.
type Resolver struct {
	tables *model.Tables
	obs    observers
}

// New returns a Resolver for a trace of Go 1.version whose strings are in t. The
// error is an [*OldFormatError].
func New(t *model.Tables, version int) (*Resolver, error) {
	if version < 22 {
		return nil, &OldFormatError{version}
	}
	return &Resolver{tables: t}, nil
}

// Step implements [model.StepObserver].
func (r *Resolver) Step(s *model.Step) {
	if s.Kind == model.StepGo && model.GoState(s.From) == model.GoRunnable && model.GoState(s.To) == model.GoRunning {
		x := Start{Time: s.Time, G: s.G, M: s.M, P: s.P, Func: s.Func, System: s.Flags&model.StepSystem != 0, Since: s.Since,
			Origin: s.Origin, Pseudo: s.Pseudo, FromP: model.NoProc, QueueP: model.NoProc, LastP: model.NoProc,
			Grade: GradeContradicted, Search: s.Time, Tick: -1}
		for _, o := range r.obs.start {
			o.Start(&x)
		}
	}
}

// Finish tells what is still held back. Call it after [model.Machine.Finish].
func (r *Resolver) Finish() {}
