package model_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// record keeps all that a Machine tells.
type record struct {
	goSpans  []model.GoSpan
	ends     map[model.GoID]model.Goroutine
	procs    []model.ProcSpan
	threads  []model.ThreadSpan
	summary  []model.Thread
	starts   []model.ThreadStart
	counts   []model.Counts
	handoffs []model.Handoff
	exits    []model.SyscallExit
	polls    []model.NetpollWake
	stws     []model.STW
	ranges   []model.RangeSpan
	tasks    []model.Task
	regions  []model.Region
	metrics  []model.MetricSample
}

func (r *record) GoSpan(s *model.GoSpan) {
	r.goSpans = append(r.goSpans, *s)
}

func (r *record) GoEnd(g *model.Goroutine) {
	if r.ends == nil {
		r.ends = map[model.GoID]model.Goroutine{}
	}
	r.ends[g.ID] = *g
}
func (r *record) ProcSpan(s *model.ProcSpan)       { r.procs = append(r.procs, *s) }
func (r *record) ThreadSpan(s *model.ThreadSpan)   { r.threads = append(r.threads, *s) }
func (r *record) Thread(t *model.Thread)           { r.summary = append(r.summary, *t) }
func (r *record) ThreadStart(s *model.ThreadStart) { r.starts = append(r.starts, *s) }
func (r *record) Counts(c *model.Counts)           { r.counts = append(r.counts, *c) }
func (r *record) Handoff(h *model.Handoff)         { r.handoffs = append(r.handoffs, *h) }
func (r *record) SyscallExit(s *model.SyscallExit) { r.exits = append(r.exits, *s) }
func (r *record) Netpoll(w *model.NetpollWake)     { r.polls = append(r.polls, *w) }
func (r *record) STW(s *model.STW)                 { r.stws = append(r.stws, *s) }
func (r *record) Range(s *model.RangeSpan)         { r.ranges = append(r.ranges, *s) }
func (r *record) Task(t *model.Task)               { r.tasks = append(r.tasks, *t) }
func (r *record) Region(s *model.Region)           { r.regions = append(r.regions, *s) }
func (r *record) Metric(s *model.MetricSample)     { r.metrics = append(r.metrics, *s) }

// replay runs a stream, validated, and returns what was told.
func replay(t *testing.T, b *modeltest.Builder) *record {
	t.Helper()
	r := &record{}
	modeltest.Apply(t, b.Tables, 26, b.Events(), r)
	return r
}

// replayRaw is replay for events that contradict each other, in ways that the Machine does not refuse: intervals of goroutines
// and procs need not fit together.
func replayRaw(t *testing.T, b *modeltest.Builder) *record {
	t.Helper()
	r := &record{}
	m := model.NewMachine(b.Tables, model.Config{Version: 26})
	m.Observe(r)
	for _, ev := range b.Events() {
		if err := m.Apply(&ev); err != nil {
			t.Error(err)
		}
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Error(err)
	}
	return r
}

// of returns the intervals of goroutine g, only those in a state if one is given.
func (r *record) of(g model.GoID, states ...model.GoState) []model.GoSpan {
	var out []model.GoSpan
	for _, s := range r.goSpans {
		if s.G == g && (len(states) == 0 || s.State == states[0]) {
			out = append(out, s)
		}
	}
	return out
}

// only returns the single element of a list.
func only[T any](t *testing.T, what string, list []T) T {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("%s: got %d, want 1: %+v", what, len(list), list)
	}
	return list[0]
}

// oneProc is a stream with a goroutine that runs on the only proc.
func oneProc() (*modeltest.Builder, *modeltest.Thread) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).Running(1, "runtime.main")
	return b, m
}

// twoProcs is a stream with a goroutine that runs on proc 0, and proc 1 idle.
func twoProcs() (*modeltest.Builder, *modeltest.Thread) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).IdleProc(1).Running(1, "runtime.main")
	return b, m
}
