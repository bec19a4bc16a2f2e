package workload_test

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// extract takes the work out of a fixture in windows of cutAt
// events (0: one window), and checks each.
func extract(tb testing.TB, name string, cutAt int) []*workload.Workload {
	tb.Helper()
	f, err := fixtures.Open(name)
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
	e := workload.NewExtractor(rd.Tables(), version)
	m.Observe(e)
	var list []*workload.Workload
	var spans []model.GoSpan
	m.Observe(spanFunc(func(s *model.GoSpan) {
		if s.State == model.GoRunning {
			spans = append(spans, *s)
		}
	}))
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
	sums := make([]model.Duration, len(list))
	for _, s := range spans {
		i, _ := slices.BinarySearchFunc(list, s.Start, func(w *workload.Workload, t model.Time) int { return cmp.Compare(w.End, t) })
		for ; i < len(list) && list[i].Start < s.End; i++ {
			if d := min(s.End, list[i].End).Sub(max(s.Start, list[i].Start)); d > 0 {
				sums[i] += d
			}
		}
	}
	for i, w := range list {
		if err := workloadtest.Check(w); err != nil {
			tb.Errorf("%s: window %d: %v", name, i, err)
		}
		ids := map[model.GoID]bool{}
		for k := range w.Goroutines {
			if id := w.Goroutines[k].ID; ids[id] {
				tb.Errorf("%s: window %d: several goroutines have the ID %d", name, i, id)
			} else {
				ids[id] = true
			}
		}
		if sums[i] != w.Recorded.Running {
			tb.Errorf("%s: window %d: %d running, want %d as the Machine counts", name, i, w.Recorded.Running, sums[i])
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
			w := extract(t, name, 0)[0]
			if len(w.Goroutines) == 0 || w.Recorded.Starts == 0 {
				t.Errorf("got %d goroutines, %d starts", len(w.Goroutines), w.Recorded.Starts)
			}
		})
	}
}

// TestWindows takes windows one after the other, each with the states that the one
// before left.
func TestWindows(t *testing.T) {
	for _, name := range fixtures.Real() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			extract(t, name, 5003)
		})
	}
}

func TestOldFormat(t *testing.T) {
	e := workload.NewExtractor(model.NewTables(), 21)
	e.Begin(0)
	if _, err := e.Finish(1); !errors.Is(err, workload.ErrOldFormat) {
		t.Errorf("got %v, want %v", err, workload.ErrOldFormat)
	}
}

// TestSame extracts twice: the order of maps must not show.
func TestSame(t *testing.T) {
	for _, name := range []string{"relay.go1.26.p4.trace", "http.trace"} {
		a, b := extract(t, name, 0)[0], extract(t, name, 0)[0]
		a.Tables, b.Tables = nil, nil
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: two extractions differ", name)
		}
	}
}

// TestDamaged extracts from what can be read of invalid and truncated traces.
func TestDamaged(t *testing.T) {
	for _, name := range append(fixtures.HandMade(), fixtures.Broken()...) {
		t.Run(name, func(t *testing.T) {
			f, err := fixtures.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			rd, err := ingest.NewReader(f, ingest.Options{})
			if err != nil || rd.Header().Version < 22 {
				t.Skip("nothing to extract")
			}
			m := model.NewMachine(rd.Tables(), model.Config{Version: rd.Header().Version})
			e := workload.NewExtractor(rd.Tables(), rd.Header().Version)
			m.Observe(e)
			begun := false
			err = ingest.Each(rd, func(ev *model.Event) error {
				if !begun {
					begun = true
					e.Begin(ev.Time)
				}
				_ = m.Apply(ev) // contradictions are what is wanted here
				return nil
			})
			var empty *ingest.EmptyError
			if errors.As(err, &empty) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w, err := e.Finish(m.Now())
			if err != nil {
				t.Fatal(err)
			}
			if err := workloadtest.Check(w); err != nil {
				t.Error(err)
			}
		})
	}
}
