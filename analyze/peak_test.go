package analyze

import (
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestPeak readies goroutines by two others, twice: the second time more, of
// which some end their wait before the peak and some begin it later.
func TestPeak(t *testing.T) {
	r := newRecords()
	broadcast := r.tables.AddStack([]model.Frame{{Func: "sync.(*Cond).Broadcast"}, {Func: "main.main"}})
	p := NewPeak(r.tables)
	p.Begin(1000)
	g := r.goroutine(9, "main.waiter")
	wave := func(at model.Duration, n int) {
		p.PeakAt(model.Time(at), n)
		for i := range n {
			s := goSpan(g, model.GoRunnable, at-5, 50)
			s.Waker, s.WakerStack = 1, broadcast
			if i%10 == 0 {
				s.Waker, s.WakerStack = 2, 0
			}
			p.GoSpan(s)
		}
		for _, around := range []model.Duration{at - 200, at + 1} {
			s := goSpan(g, model.GoRunnable, around, 100)
			s.Waker = 1
			p.GoSpan(s)
		}
		p.GoSpan(goSpan(g, model.GoRunnable, at-5, 50)) // readied by nobody
	}
	wave(10_000, 200)
	wave(20_000, 300)
	p.Finish()
	equal(t, "runnable", p.Runnable, 300)
	equal(t, "at", p.At, 19_000)
	if want := []result.PeakWaker{{Goroutine: 1, Function: "main.main", Count: 270}, {Goroutine: 2, Function: result.NoName, Count: 30}}; !reflect.DeepEqual(p.Wakers, want) {
		t.Errorf("wakers %+v, want %+v", p.Wakers, want)
	}

	few := NewPeak(r.tables)
	few.PeakAt(0, 50)
	few.Finish()
	for _, list := range [][]*result.Report{{resultOf(few), resultOf(p)}, {resultOf(p), resultOf(few)}} {
		trace := slices.IndexFunc(list, func(v *result.Report) bool { return v.Procs.Peak.Runnable == 300 })
		v, err := result.Merge(list)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "trace of the higher peak", v.Procs.Peak.Trace, trace)
		equal(t, "merged", v.Procs.Peak.Runnable, 300)
	}
}
