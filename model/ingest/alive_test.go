package ingest

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// aliveEvent returns the event that begins or ends the i-th of a kind that counts.
var aliveEvents = []struct {
	name       string
	weight     int
	begin, end func(i int64) model.Event
}{
	{"goroutines that could run", 4, goEvent(model.GoNotExist, model.GoRunnable, 1), goEvent(model.GoRunnable, model.GoNotExist, 1)},
	{"goroutines that wait", 2, goEvent(model.GoNotExist, model.GoWaiting, 1), goEvent(model.GoWaiting, model.GoNotExist, 1)},
	{"goroutines that wait, far apart", 4, goEvent(model.GoNotExist, model.GoWaiting, 1<<20), goEvent(model.GoWaiting, model.GoNotExist, 1<<20)},
	{"tasks", 1, userEvent(model.EventTaskBegin, 1), userEvent(model.EventTaskEnd, 1)},
	{"regions", 2, userEvent(model.EventRegionBegin, 0), userEvent(model.EventRegionEnd, 0)},
}

func goEvent(from, to model.GoState, apart int64) func(i int64) model.Event {
	return func(i int64) model.Event {
		return model.Event{Kind: model.EventGoTransition, ID: i * apart, From: uint8(from), To: uint8(to), M: model.NoThread}
	}
}

func userEvent(kind model.EventKind, apart int64) func(i int64) model.Event {
	return func(i int64) model.Event { return model.Event{Kind: kind, ID: i * apart, M: model.NoThread} }
}

// TestAlive: a trace may have so much alive at once as its length allows, and any number one
// after another.
func TestAlive(t *testing.T) {
	const length = 1 << 20
	const most = fewAlive + length/perAlive
	for _, k := range aliveEvents {
		t.Run(k.name, func(t *testing.T) {
			s := newStitcher(model.NewTables())
			s.begin(false, length)
			s.initial = false
			for i := range int64(2 * most) {
				b, e := k.begin(i), k.end(i)
				if err := s.apply(&b); err != nil {
					t.Fatal(err)
				}
				if err := s.apply(&e); err != nil {
					t.Fatal(err)
				}
			}
			if s.alive != 0 {
				t.Fatalf("%d count although none is alive", s.alive)
			}
			for i := range int64(2 * most) {
				b := k.begin(i)
				if err := s.apply(&b); err != nil {
					if !strings.Contains(err.Error(), "than a trace of this length can have") {
						t.Error(err)
					}
					// The first of those far apart lie in pages.
					if n := int(i) * k.weight; n > most+goSparePages*2+most/goPerPage*2 || n < most-k.weight {
						t.Errorf("refused after %d that count %d each, want %d", i, k.weight, most/k.weight)
					}
					return
				}
			}
			t.Error("not refused")
		})
	}
}

// TestGoStates compares the table with a map, on ids near each other and far apart.
func TestGoStates(t *testing.T) {
	var s goStates
	want := map[int64]uint8{}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		id := int64(rnd.IntN(1 << 12))
		if rnd.IntN(2) == 0 {
			id = int64(rnd.IntN(1<<12)) << 20
		}
		switch state, old := uint8(1+rnd.IntN(6)), s.get(id); {
		case old != want[id]:
			t.Fatalf("goroutine %d: state %d, want %d", id, old, want[id])
		case old != 0 && rnd.IntN(2) == 0:
			s.remove(id)
			delete(want, id)
		default:
			s.set(id, old, state)
			want[id] = state
		}
	}
	if s.alive != len(want) || len(s.far) == 0 || len(s.pages.values) > goSparePages+s.alive/goPerPage+1<<12/goPageSize {
		t.Errorf("%d alive, want %d; %d pages, %d far", s.alive, len(want), len(s.pages.values), len(s.far))
	}
}

// TestLongStep: no step in time is so long that the times of what is alive add up to more than
// there can be.
func TestLongStep(t *testing.T) {
	const n = 50_000
	for _, k := range aliveEvents {
		t.Run(k.name, func(t *testing.T) {
			s := newStitcher(model.NewTables())
			s.begin(false, 1<<20)
			s.initial = false
			for i := range int64(n) {
				e := k.begin(i)
				if err := s.apply(&e); err != nil {
					t.Fatal(err)
				}
			}
			c := newClock(ClockRaw)
			c.last = 0
			step := int64(longStep)
			for ; c.check(&model.Event{Time: model.Time(step)}, s) == nil; step *= 2 {
				if step > math.MaxInt64/n {
					t.Fatalf("a step of %d is accepted", step)
				}
				c.room = mostTime
			}
			if step < 1<<40 {
				t.Errorf("a step of %d is refused", step)
			}
		})
	}
}
