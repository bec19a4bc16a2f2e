package ingest

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestWindow: within the window the events are those of the whole trace, and no
// generation is decoded in vain.
func TestWindow(t *testing.T) {
	data := recordedTrace(t)
	whole := drainReader(openBytes(t, data, Options{}))
	x := openBytes(t, data, Options{}).Index()
	span := x.Generations[len(x.Generations)-1].Last.Sub(x.Start())
	for _, w := range []struct{ from, to model.Duration }{
		{span / 3, span / 2}, {0, span / 4}, {span / 2, 0}, {span / 2, 10 * span}, {1, 2},
	} {
		for _, stream := range []bool{false, true} {
			opts := Options{From: w.from, To: w.to}
			r := openBytes(t, data, opts)
			if stream {
				r, _ = NewReader(bytes.NewReader(data), opts)
			}
			got := drainReader(r)
			start, end, ok := r.Window()
			if !ok || start != x.Start()+model.Time(w.from) || w.to > 0 && end != x.Start()+model.Time(w.to) {
				t.Errorf("%v: window is %d to %d, %v", w, start, end, ok)
			}
			if got.err != "<nil>" || got.loss != "" {
				t.Errorf("%v: error %s, loss %s", w, got.err, got.loss)
			}
			inside := func(events []model.Event) (times []model.Time) {
				for _, e := range events {
					if e.Kind != model.EventSync && e.Time >= start && (w.to == 0 || e.Time <= end) {
						times = append(times, e.Time)
					}
				}
				return times
			}
			a, b := inside(got.events), inside(whole.events)
			if len(a) != len(b) {
				t.Errorf("%v: %d events in the window, want %d", w, len(a), len(b))
			}
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("%v: event %d at %d, want %d", w, i, a[i], b[i])
					break
				}
			}
			if w.to > 0 && got.events[len(got.events)-1].Time > end && got.events[len(got.events)-1].Kind != model.EventSync {
				t.Errorf("%v: an event after the end", w)
			}
			if want := x.lead(w.from, w.to); want != nil && first(got.events) != want.First {
				t.Errorf("%v: first event at %d, want %d where the generation before begins", w, first(got.events), want.First)
			}
		}
	}
}

// lead returns the generation before the first one of a window, or that one if
// the trace begins with it.
func (x *Index) lead(from, to model.Duration) *Generation {
	gens := x.overlap(from, to)
	if len(gens) == 0 {
		return nil
	}
	i := slices.IndexFunc(x.Generations, func(g Generation) bool { return g.Offset == gens[0].Offset })
	return &x.Generations[max(0, i-1)]
}

func first(events []model.Event) model.Time { return events[0].Time }

// TestWindowBeyond: a window after the trace's end has no events, which is said.
func TestWindowBeyond(t *testing.T) {
	data := fixture(t, "quiet.go1.26.p4.trace")
	r := openBytes(t, data, Options{From: 1e15, To: 2e15})
	n := 0
	err := Each(r, func(*model.Event) error { n++; return nil })
	if err != nil {
		var empty *EmptyError
		if !errors.As(err, &empty) {
			t.Errorf("error %v", err)
		}
	} else if n == 0 {
		t.Error("no events, and no error")
	}
}

// TestCut: a piece is a valid trace to the library as well, with the events of
// the generations that it consists of.
func TestCut(t *testing.T) {
	data := recordedTrace(t)
	x := openBytes(t, data, Options{}).Index()
	span := x.Generations[len(x.Generations)-1].Last.Sub(x.Start())
	for _, w := range []struct{ from, to model.Duration }{{0, 0}, {span / 3, span / 2}, {0, 1}, {span - 1, 0}} {
		var out bytes.Buffer
		res, err := Cut(&out, bytes.NewReader(data), int64(len(data)), w.from, w.to)
		if err != nil {
			t.Fatal(err)
		}
		if res.Damage != nil || res.Bytes != int64(out.Len()) || res.From > w.from || w.to > 0 && res.To < min(w.to, span) {
			t.Errorf("%v: wrote %+v, %d bytes", w, res, out.Len())
		}
		if _, err := readSequentially(out.Bytes()); err != nil {
			t.Errorf("%v: the library says %v", w, err)
		}
		compareSequential(t, out.Bytes())
		if w.from == 0 && w.to == 0 && !bytes.Equal(out.Bytes(), data) {
			t.Errorf("cutting nothing off changes the trace")
		}
	}
	// A trace that is cut off ends with its last complete generation.
	var out bytes.Buffer
	res, err := Cut(&out, bytes.NewReader(data[:len(data)-100]), int64(len(data)-100), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if res.Damage == nil {
		t.Error("it does not say that the trace was cut off")
	}
	if last := x.Generations[len(x.Generations)-1]; int64(out.Len()) != last.Offset {
		t.Errorf("wrote %d bytes, want %d", out.Len(), last.Offset)
	}
}

func TestCutErrors(t *testing.T) {
	old := fixture(t, "foreign/trace.go1.19.trace")
	if _, err := Cut(&bytes.Buffer{}, bytes.NewReader(old), int64(len(old)), 0, 0); err == nil {
		t.Error("no error for a trace without generations")
	}
	if _, err := Cut(&bytes.Buffer{}, bytes.NewReader(old), int64(len(old)), 5, 3); err == nil {
		t.Error("no error for a window that ends before it begins")
	}
}

// TestIndex: the index accounts for every byte.
func TestIndex(t *testing.T) {
	data := recordedTrace(t)
	x := openBytes(t, data, Options{}).Index()
	offset := int64(headerLen)
	for i, g := range x.Generations {
		if g.Offset != offset || !g.Complete || g.Frequency == 0 || g.Wall == 0 || g.First > g.Last {
			t.Errorf("generation %d: %+v", i, g)
		}
		offset += g.Length
		sum := int64(1) // the mark at the end
		for _, b := range g.Batches {
			sum += b.Bytes
		}
		if sum != g.Length {
			t.Errorf("generation %d: batches add up to %d bytes, want %d", i, sum, g.Length)
		}
		if i > 0 && g.First < x.Generations[i-1].First {
			t.Errorf("generation %d begins before the one before it", i)
		}
	}
	if offset != int64(len(data)) || x.Damage != nil || x.Version != 26 {
		t.Errorf("generations end at %d of %d, damage %v, version %d", offset, len(data), x.Damage, x.Version)
	}
}
