package workload_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// runningTime adds up what the Machine counts as Running in a window.
type runningTime struct {
	from, to model.Time
	sum      model.Duration
}

func (r *runningTime) GoSpan(s *model.GoSpan) {
	if s.State != model.GoRunning {
		return
	}
	if d := min(s.End, r.to).Sub(max(s.Start, r.from)); d > 0 {
		r.sum += d
	}
}

// cutAt splits a trace into windows of at most this many events, 0: one.
func extract(tb testing.TB, name string, o workload.Options, cutAt int) []*workload.Workload {
	tb.Helper()
	path := name
	if !strings.Contains(name, string(os.PathSeparator)) {
		path = fixtures.Path(name)
	}
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	rd, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	version := rd.Header().Version
	m := model.NewMachine(rd.Tables(), model.Config{Version: version})
	e := workload.NewExtractor(rd.Tables(), version, o)
	m.Observe(e)
	var list []*workload.Workload
	var spans []*model.GoSpan
	m.Observe(spanFunc(func(s *model.GoSpan) { c := *s; spans = append(spans, &c) }))
	finish := func(at model.Time) {
		w, err := e.Finish(at)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, w)
	}
	n := 0
	var last model.Time
	err = ingest.Each(rd, func(ev *model.Event) error {
		if n == 0 {
			e.Begin(ev.Time)
		} else if cutAt > 0 && n%cutAt == 0 {
			finish(m.Now())
			e.Begin(m.Now())
		}
		n++
		m.Apply(ev)
		last = m.Now()
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	finish(last)
	if err := m.Finish(last); err != nil {
		tb.Fatal(err)
	}
	for i, w := range list {
		if err := w.Check(); err != nil {
			tb.Errorf("%s: window %d: %v", name, i, err)
		}
		r := runningTime{from: w.Start, to: w.End}
		for _, s := range spans {
			r.GoSpan(s)
		}
		if r.sum != w.Recorded.Running {
			tb.Errorf("%s: window %d: %d running, want %d as the Machine counts", name, i, w.Recorded.Running, r.sum)
		}
	}
	return list
}

type spanFunc func(*model.GoSpan)

func (f spanFunc) GoSpan(s *model.GoSpan) { f(s) }

func TestFixtures(t *testing.T) {
	for _, name := range fixtures.Real() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := extract(t, name, workload.Options{}, 0)[0]
			t.Logf("%d goroutines %d starts %d cycles %d stops %d arrivals %+v", len(w.Goroutines), w.Recorded.Starts, len(w.Cycles), len(w.Stops), len(w.Arrivals), w.Recorded)
			if len(w.Goroutines) == 0 || w.Recorded.Starts == 0 {
				t.Errorf("got %d goroutines, %d starts", len(w.Goroutines), w.Recorded.Starts)
			}
		})
	}
}

// TestWindows takes windows one after the other.
func TestWindows(t *testing.T) {
	for _, name := range fixtures.Real() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			extract(t, name, workload.Options{}, 5003)
		})
	}
}

func TestOldFormat(t *testing.T) {
	e := workload.NewExtractor(model.NewTables(), 21, workload.Options{})
	e.Begin(0)
	var old *workload.OldFormatError
	if _, err := e.Finish(1); !errors.As(err, &old) || old.Version != 21 {
		t.Errorf("got %v, want an OldFormatError for 21", err)
	}
}
