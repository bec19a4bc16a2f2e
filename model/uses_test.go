package model_test

import (
	"maps"
	"math/rand/v2"
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

// TestUsesOfAnything checks the same of events that contradict each other.
func TestUsesOfAnything(t *testing.T) {
	for seed := range uint64(200) {
		data, random := make([]byte, 1000*eventBytes), rand.New(rand.NewPCG(seed, 1))
		for i := range data {
			data[i] = []byte{255, 127, 255, 255, 255, 0, 3, 1, 1, 3, 7, 7}[i%eventBytes] & byte(random.Uint32())
			if i%eventBytes == 2 && data[i] < 192 {
				data[i] = byte(model.EventGoTransition)
			}
		}
		each, summed := times{sums: map[use]model.Duration{}}, sums{times{sums: map[use]model.Duration{}}}
		for _, o := range []any{&each, &summed} {
			tables := model.NewTables()
			for _, s := range []string{"", "preempted", "network", "GC (idle)", "stop-the-world (x)", "GC mark assist", "sleep", "runtime.gcBgMarkWorker"} {
				tables.AddString(s)
				tables.AddStack([]model.Frame{{PC: uint64(len(s)), Func: s}})
			}
			machine := model.NewMachine(tables, model.Config{Version: 19})
			machine.Observe(o)
			for _, ev := range decodeEvents(data, tables) {
				_ = machine.Apply(&ev)
			}
			_ = machine.Finish(machine.Now())
		}
		if len(each.sums) < 10 || !maps.Equal(each.sums, summed.sums) {
			t.Errorf("seed %d: sums differ from those of intervals", seed)
		}
	}
}
