package model_test

import (
	"maps"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// part is a part of time that sums of procs' times must not cross.
const part = 1 << 16

// use is what a proc's time is summed up by.
type use struct {
	part  model.Time
	state model.ProcState
	work  model.WorkKind
}

// times sums up procs' times by part.
type times struct {
	sums  map[use]model.Duration
	spans int
}

func (x *times) ProcSpan(s *model.ProcSpan) {
	x.spans++
	for at := s.Start; at < s.End; {
		end := min(s.End, (at/part+1)*part)
		x.sums[use{at / part, s.State, s.Work}] += end.Sub(at)
		at = end
	}
}

// sums gets simple procs' times in sums.
type sums struct{ times }

func (x *sums) PartEnd(t model.Time) model.Time { return (t/part + 1) * part }

// TestUses checks that sums of procs' times are those of their intervals, in each part of time.
func TestUses(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Real()) {
		each, summed := times{sums: map[use]model.Duration{}}, sums{times{sums: map[use]model.Duration{}}}
		for _, o := range []any{&each, &summed} {
			var machine *model.Machine
			machineOf(t, name, func(m *model.Machine) {
				machine = m
				m.Observe(o)
			})
			if err := machine.Finish(machine.Now() + 3*part); err != nil {
				t.Fatal(err)
			}
		}
		if !maps.Equal(each.sums, summed.sums) {
			t.Errorf("%s: sums differ from those of intervals", name)
		}
		if summed.spans > each.spans+len(summed.sums) {
			t.Errorf("%s: %d sums of %d intervals", name, summed.spans, each.spans)
		}
	}
}
