package modeltest

import (
	"testing"

	"github.com/schedscope/schedscope/model"
)

// Apply folds events into a new Machine for the format of Go 1.version, with a
// [Validator] and the given observers attached, and finishes it at the last
// event. Observers with a method Event get each event after the Machine. The test fails if an event is rejected, or if the Validator or
// [model.Machine.Check] find anything wrong.
func Apply(tb testing.TB, tables *model.Tables, version int, events []model.Event, observers ...any) *model.Machine {
	tb.Helper()
	m := model.NewMachine(tables, model.Config{Version: version})
	v := NewValidator(tables)
	m.Observe(v)
	for _, o := range observers {
		m.Observe(o)
	}
	for i := range events {
		v.Event(&events[i])
		if err := m.Apply(&events[i]); err != nil {
			tb.Errorf("event %d: %v", i, err)
		}
		for _, o := range observers {
			if x, ok := o.(interface{ Event(*model.Event) }); ok {
				x.Event(&events[i])
			}
		}
	}
	if err := m.Finish(m.Now()); err != nil {
		tb.Errorf("finishing: %v", err)
	}
	if err := m.Check(); err != nil {
		tb.Errorf("checking: %v", err)
	}
	if err := v.Err(); err != nil {
		tb.Errorf("validating: %v", err)
	}
	return m
}
