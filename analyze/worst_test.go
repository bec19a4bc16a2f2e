package analyze

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestWorst checks what is said of one wait.
func TestWorst(t *testing.T) {
	r := newRecords()
	w := NewWorst(r.tables, 1)
	origin := model.Duration(50)
	w.Begin(model.Time(origin))
	span := goSpan(r.goroutine(7, "main.victim"), model.GoRunnable, origin+10*ms, 8*ms)
	span.Origin, span.Waker, span.WakerProc, span.P, span.M = model.OriginGoroutine, 1, 0, 1, 11
	span.Stack = r.tables.AddStack([]model.Frame{{Func: "main.recv"}, {Func: "main.victim"}})
	span.WakerStack = r.tables.AddStack([]model.Frame{{Func: "main.send"}, {Func: "main.hog"}})
	w.GoSpan(span)
	w.Finish()

	waits := w.Waits()
	if len(waits) != 1 {
		t.Fatalf("%d waits, want 1", len(waits))
	}
	x := waits[0]
	equal(t, "start", x.Start, model.Time(10*ms))
	equal(t, "duration", x.Duration, 8*ms)
	equal(t, "function", x.Function, "main.victim")
	equal(t, "waker's function", x.WakerFunction, "main.hog")
	equal(t, "stack", x.Stack[0].Function, "main.recv")
	equal(t, "readied on", x.ReadiedOn, 0)
	equal(t, "ran on", x.RanOn, 1)
}

// TestWorstIsExact compares the waits found with all waits sorted.
func TestWorstIsExact(t *testing.T) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		r := newRecords()
		w := NewWorst(r.tables, 10)
		type wait struct{ start, end model.Time }
		var waits []wait
		for i := range model.Duration(13_000) {
			now, length := i*20*us, model.Duration(rnd.ExpFloat64()*float64(100*us))
			if seed == 1 {
				length = now / 3 // longer and longer: every one is the worst so far
			}
			start := max(now-length, 0)
			w.GoSpan(goSpan(r.goroutine(model.GoID(100+rnd.IntN(5)), "main.w"), model.GoRunnable, start, now-start))
			waits = append(waits, wait{model.Time(start), model.Time(now)})
		}
		w.Finish()
		slices.SortFunc(waits, func(a, b wait) int {
			return cmp.Or(cmp.Compare(b.end.Sub(b.start), a.end.Sub(a.start)), cmp.Compare(a.start, b.start))
		})
		for i, x := range w.Waits() {
			if x.Start != waits[i].start || x.End != waits[i].end {
				t.Errorf("seed %d: wait %d is %d-%d, want %d-%d", seed, i, x.Start, x.End, waits[i].start, waits[i].end)
			}
		}
	}
}

func TestWorstMerge(t *testing.T) {
	r := newRecords()
	find := func(lengths ...model.Duration) *Worst {
		w := NewWorst(r.tables, 3)
		for i, d := range lengths {
			w.GoSpan(goSpan(r.goroutine(model.GoID(i), "f"), model.GoRunnable, model.Duration(i)*ms, d))
		}
		w.Finish()
		return w
	}
	v, err := result.Merge([]*result.Report{resultOf(find(10, 20, 30)), resultOf(find(20, 40)), resultOf(find(50))})
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]int
	for _, x := range v.WorstWaits[:3] {
		got = append(got, [2]int{x.Trace, int(x.Duration)})
	}
	if want := [][2]int{{2, 50}, {1, 40}, {0, 30}}; !reflect.DeepEqual(got, want) {
		t.Errorf("trace and length of merged waits = %v, want %v", got, want)
	}
}
