package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// everything is all that a reader hands out.
type everything struct {
	events []model.Event
	texts  string // of strings and stacks, in order of their numbers
	loss   string
	err    string
}

// drainReader reads to the end.
func drainReader(r *Reader) everything {
	var all everything
	err := Each(r, func(e *model.Event) error {
		all.events = append(all.events, *e)
		return nil
	})
	all.texts = tablesText(r.Tables())
	all.err = fmt.Sprint(err)
	if r.Loss() != nil {
		all.loss = fmt.Sprintf("%+v", *r.Loss())
	}
	return all
}

func tablesText(t *model.Tables) string {
	var b bytes.Buffer
	for id := model.StringID(1); t.String(id) != ""; id++ {
		fmt.Fprintf(&b, "%d %q\n", id, t.String(id))
	}
	for id := range model.StackID(t.NumStacks()) {
		fmt.Fprintf(&b, "%d %v\n", id, t.Stack(id))
	}
	return b.String()
}

func (a *everything) diff(b *everything) error {
	for i := range min(len(a.events), len(b.events)) {
		if a.events[i] != b.events[i] {
			return fmt.Errorf("event %d: %+v, want %+v", i, a.events[i], b.events[i])
		}
	}
	switch {
	case len(a.events) != len(b.events):
		return fmt.Errorf("%d events, want %d", len(a.events), len(b.events))
	case a.texts != b.texts:
		return errors.New("strings or stacks differ")
	case a.loss != b.loss:
		return fmt.Errorf("loss %s, want %s", a.loss, b.loss)
	case a.err != b.err:
		return fmt.Errorf("error %s, want %s", a.err, b.err)
	}
	return nil
}

// TestSameEvents: the events do not depend on how the trace is read.
func TestSameEvents(t *testing.T) {
	ways := []struct {
		name string
		opts Options
		wrap func(io.Reader) io.Reader // nil: read as a file
	}{
		{"4 workers", Options{Workers: 4}, nil},
		{"little memory", Options{Workers: 3, MaxInFlight: 1}, nil},
		{"stream", Options{Workers: 3}, func(r io.Reader) io.Reader { return r }},
		{"stream, one worker", Options{Workers: 1}, func(r io.Reader) io.Reader { return r }},
		{"stream in small pieces", Options{Workers: 2}, iotest.HalfReader},
	}
	check := func(t *testing.T, data []byte) {
		want := drainReader(openBytes(t, data, Options{Workers: 1}))
		for _, way := range ways {
			t.Run(way.name, func(t *testing.T) {
				var r *Reader
				if way.wrap == nil {
					r = openBytes(t, data, way.opts)
				} else {
					var err error
					if r, err = NewReader(way.wrap(bytes.NewReader(data)), way.opts); err != nil {
						t.Fatal(err)
					}
				}
				got := drainReader(r)
				if err := got.diff(&want); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for _, name := range fixtures.Chosen(slices.Concat(fixtures.Real(), fixtures.HandMade(), fixtures.Foreign())) {
		t.Run(name, func(t *testing.T) { check(t, fixture(t, name)) })
	}
	data := recordedTrace(t)
	t.Run("recorded", func(t *testing.T) { check(t, data) })
	t.Run("recorded, truncated", func(t *testing.T) { check(t, data[:len(data)*2/3]) })
}

// TestRawTimes: with raw times, no event is before the one before it, marked
// ones are at the boundary, and unmarked ones have the times of their own
// generation's reader.
func TestRawTimes(t *testing.T) {
	data := recordedTrace(t)
	r := openBytes(t, data, Options{})
	x := r.Index()
	last, generation, clamped := model.Time(0), -1, 0
	err := Each(r, func(e *model.Event) error {
		if e.Time < last {
			t.Errorf("time %d after %d", e.Time, last)
		}
		before := last
		last = e.Time
		if e.Kind == model.EventSync {
			generation++
		}
		if e.Flags&model.EventClamped != 0 {
			clamped++
			if generation+1 < len(x.Generations) && e.Time != x.Generations[generation+1].First && e.Time != before {
				t.Errorf("%+v is not at a boundary", e)
			}
		}
		if unit := model.Time(x.Generations[0].Unit()); unit > 0 && e.Flags == 0 && e.Kind != model.EventSync && e.Time%unit != 0 {
			t.Errorf("%+v: time is no multiple of %d but not flagged", e, unit)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if clamped == 0 {
		t.Error("no event was clamped: 300 idle goroutines are listed late in each generation")
	}
}

// TestClose: a reader can be left at any time.
func TestClose(t *testing.T) {
	data := recordedTrace(t)
	for n := range 5 {
		r := openBytes(t, data, Options{Workers: 3})
		for range n {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		if _, err := r.Next(); err == nil || err == io.EOF {
			t.Errorf("after Close: error %v, want one that says so", err)
		}
	}
}
