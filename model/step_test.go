package model_test

import (
	"slices"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// stepList keeps steps as an observer gets them.
type stepList []model.Step

func (l *stepList) Step(s *model.Step) { *l = append(*l, *s) }

// machineOf applies the events of a fixture to a Machine that begin has seen before.
func machineOf(t *testing.T, name string, begin func(*model.Machine)) {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
	begin(m)
	if err := ingest.Each(r, m.Apply); err != nil {
		t.Fatal(err)
	}
}

// sameStep compares what observers look at.
func sameStep(a, b model.Step) bool {
	return a.Kind == b.Kind && a.Time == b.Time && a.Since == b.Since && a.G == b.G && a.By == b.By && a.M == b.M &&
		a.FromM == b.FromM && a.ToM == b.ToM && a.P == b.P && a.N == b.N && a.Reason == b.Reason && a.Func == b.Func &&
		a.Stack == b.Stack && a.From == b.From && a.To == b.To && a.Origin == b.Origin && a.Poller == b.Poller &&
		a.Pseudo == b.Pseudo && a.Flags&^model.StepWithProc == b.Flags
}

// TestLogs checks that all logs of a Machine have the same records, whatever the size of their
// batches, and that taken apart these are the steps that an observer gets, with a log or without.
func TestLogs(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Real()) {
		var want, observed stepList
		machineOf(t, name, func(m *model.Machine) { m.Observe(&want) })
		logs, got := make([]model.StepLog, 3), make([][]model.Step, 3)
		take := func(i int) {
			got[i] = append(got[i], logs[i].Steps...)
			logs[i].Steps = logs[i].Steps[:0]
		}
		machineOf(t, name, func(m *model.Machine) {
			m.Observe(&observed)
			for i, size := range []int{1 << 10, 7, 1} {
				logs[i] = model.StepLog{Steps: make([]model.Step, 0, size), Full: func() { take(i) }}
				m.Log(&logs[i])
			}
		})
		for i := range logs {
			take(i)
			if !slices.Equal(got[i], got[0]) {
				t.Errorf("%s: logs 0 and %d differ", name, i)
			}
		}
		var steps []model.Step
		merged := 0
		for _, s := range got[0] {
			var proc model.Step
			from, to, any := s.ProcStates()
			if s.Proc(&proc) {
				merged++
				if !any || from != model.ProcState(proc.From) || to != model.ProcState(proc.To) {
					t.Fatalf("%s: from %v to %v (%v), want %+v", name, from, to, any, proc)
				}
				steps = append(steps, proc)
			}
			steps = append(steps, s)
		}
		if !slices.EqualFunc(steps, want, sameStep) {
			t.Errorf("%s: %d steps of a log are not the %d of an observer", name, len(steps), len(want))
		}
		if !slices.EqualFunc(want, observed, sameStep) {
			t.Errorf("%s: with a log, an observer gets other steps", name)
		}
		if slices.ContainsFunc(observed, func(s model.Step) bool { return s.Kind == model.StepGo && s.Work != model.WorkUser }) {
			t.Errorf("%s: an observer gets the work of a proc with the step of a goroutine", name)
		}
		if merged == 0 {
			t.Errorf("%s: no step of a goroutine has taken in that of its proc", name)
		}
	}
}
