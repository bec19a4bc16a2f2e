package perfetto_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
	. "github.com/schedscope/schedscope/report/perfetto"
)

// An exported trace is what was written of it and, from the Machine itself, what
// should be in there.
type exported struct {
	data       []byte
	start, end model.Time
	want       *truth
}

// truth is what a Machine and a Resolver tell.
type truth struct {
	origin   model.Time
	states   map[model.GoID][model.NumGoStates]model.Duration
	running  map[model.ProcID]model.Duration // of goroutines, by proc
	nowhere  model.Duration                  // run without a proc
	procs    map[model.ProcID]model.Duration // the same as the procs tell it
	steals   int
	handoffs int // that found a thread
	wakes    int // by goroutines, of such as then ran
	stws     int
	tasks    int
	regions  int
	logs     int
	runnable []sample
	idle     []sample
	lengths  map[model.ProcID][]sample
}

// sample is a value from a time on.
type sample struct {
	at    model.Time
	value int64
}

func (x *truth) GoSpan(s *model.GoSpan) {
	switch {
	case s.State == model.GoRunning && s.P == model.NoProc:
		x.nowhere += s.Duration()
	case s.State == model.GoRunning:
		x.running[s.P] += s.Duration()
	case s.State == model.GoRunnable && s.Waker != model.NoGoroutine && !s.OpenEnd:
		x.wakes++
	}
}

func (x *truth) GoEnd(g *model.Goroutine) {
	t := x.states[g.ID]
	for i, d := range g.Times {
		t[i] += d
	}
	x.states[g.ID] = t
}

func (x *truth) ProcSpan(s *model.ProcSpan) {
	if s.State == model.ProcRunning {
		x.procs[s.P] += s.Duration()
	}
}

func (x *truth) Steal(*runqueue.Steal) { x.steals++ }

func (x *truth) Handoff(h *model.Handoff) {
	if !h.Open {
		x.handoffs++
	}
}

func (x *truth) STW(*model.STW)       { x.stws++ }
func (x *truth) Task(*model.Task)     { x.tasks++ }
func (x *truth) Region(*model.Region) { x.regions++ }

func (x *truth) Counts(c *model.Counts) {
	x.runnable = append(x.runnable, sample{c.Start, int64(c.Runnable)})
	x.idle = append(x.idle, sample{c.Start, int64(c.Idle)})
}

func (x *truth) Lengths(l *runqueue.Lengths) {
	x.lengths[l.P] = append(x.lengths[l.P], sample{l.Time, int64(l.Len + l.Next)})
}

// constructor is one of the package.
type constructor func(io.Writer, *model.Tables, Options) (*Writer, error)

// export writes a trace of which the first generations may be skipped. It returns nil
// if it is none.
func export(t testing.TB, data []byte, create constructor, o ingest.Options) *exported {
	t.Helper()
	in, err := ingest.NewReader(bytes.NewReader(data), o)
	var empty *ingest.EmptyError
	if errors.As(err, &empty) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	version := in.Header().Version
	m := model.NewMachine(in.Tables(), model.Config{Version: version})
	var out bytes.Buffer
	w, err := create(&out, in.Tables(), Options{Version: version})
	var old *runqueue.OldFormatError
	if (version < 22) != errors.As(err, &old) {
		t.Fatalf("Go 1.%d: %v", version, err)
	}
	w.ObserveSteps(m)
	x := &truth{states: map[model.GoID][model.NumGoStates]model.Duration{}, running: map[model.ProcID]model.Duration{},
		procs: map[model.ProcID]model.Duration{}, lengths: map[model.ProcID][]sample{}}
	var r *runqueue.Resolver
	start, _, windowed := in.Window()
	begun := false
	err = ingest.Each(in, func(ev *model.Event) error {
		if !begun && (!windowed || ev.Time >= start) {
			begun = true
			x.origin = ev.Time
			if windowed {
				x.origin = start - model.Time(o.From)
				m.Begin(start)
			}
			m.Observe(x)
			if !windowed && old == nil {
				r, _ = runqueue.New(in.Tables(), version)
				r.Observe(x)
				m.Observe(r)
			}
			w.Observe(m, x.origin)
		}
		_ = m.Apply(ev)
		if begun {
			w.Event(ev)
			if ev.Kind == model.EventLog && ev.G != model.NoGoroutine {
				x.logs++
			}
		}
		return nil
	})
	if errors.As(err, &empty) || !begun {
		m.Stop()
		m.Wait()
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	if r != nil {
		r.Finish()
	}
	if err := w.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	return &exported{out.Bytes(), m.Start(), m.Now(), x}
}

// fixture returns the bytes of a fixture.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// lasting returns the samples that last a microsecond, without repetitions, and the last
// one once more at the end: what counters are written of.
func lasting(list []sample, end model.Time) []sample {
	var steps []sample // one value each
	for _, s := range list {
		if n := len(steps); n > 0 && steps[n-1].value == s.value {
			continue
		}
		steps = append(steps, s)
	}
	var out []sample
	for i, s := range steps {
		last := i == len(steps)-1
		if (last || steps[i+1].at.Sub(s.at) >= 1000) && (len(out) == 0 || out[len(out)-1].value != s.value) {
			out = append(out, s)
		}
	}
	if n := len(steps); n > 0 {
		out = append(out, sample{end, steps[n-1].value})
	}
	return out
}

// queueName returns the name of a counter of a run queue.
func queueName(p model.ProcID) string {
	if p == model.NoProc {
		return "global run queue"
	}
	return "run queue of proc " + strconv.Itoa(int(p))
}
