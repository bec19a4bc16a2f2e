package analyze

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

func TestTimelineByHand(t *testing.T) {
	r := newRecords()
	tl := NewTimeline()
	tl.Begin(1000)
	tl.BeginAt(2000)
	equal(t, "width", tl.Width(), 1024)
	tl.ProcSpan(r.procSpan(0, 1, "main.f", 2000, 512))
	tl.ProcSpan(r.procSpan(0, 1, "main.f", 2512, 1024)) // half in each of two bins
	assist := r.procSpan(0, 1, "main.f", 3536, 512)
	assist.Work = model.WorkGCAssist
	tl.ProcSpan(assist)
	tl.Counts(&model.Counts{Start: 2000, End: 4048, Procs: 2, Idle: 1, Runnable: 3})
	tl.Metric(&model.MetricSample{Time: 2100, Name: "/memory/classes/heap/objects:bytes", Value: 70})
	tl.Metric(&model.MetricSample{Time: 2200, Name: "/memory/classes/heap/objects:bytes", Value: 50})
	tl.Metric(&model.MetricSample{Time: 3100, Name: "/gc/heap/goal:bytes", Value: 99})

	equal(t, "start", tl.Start(), 1000)
	want := []TimeBin{
		{Uses: Uses{result.UseUser: 1024, result.UseIdle: 1024}, Covered: 1024, Runnable: 3072, MaxRunnable: 3, Procs: 2048, Heap: 70},
		{Uses: Uses{result.UseUser: 512, result.UseAssist: 512, result.UseIdle: 1024}, Covered: 1024, Runnable: 3072, MaxRunnable: 3, Procs: 2048, Goal: 99},
		{}, // begins where the last interval ends
	}
	if !reflect.DeepEqual(tl.Used(), want) {
		t.Errorf("bins =\n%+v\nwant\n%+v", tl.Used(), want)
	}
}

// slowTimeline divides intervals into bins of a width known beforehand.
func slowTimeline(counts []model.Counts, width model.Duration) []TimeBin {
	bins := make([]TimeBin, int(counts[len(counts)-1].End)/int(width)+1)
	for _, c := range counts {
		for i := range bins {
			lo, hi := model.Time(i)*model.Time(width), model.Time(i+1)*model.Time(width)
			if d := min(c.End, hi).Sub(max(c.Start, lo)); d > 0 {
				b := &bins[i]
				b.Covered += d
				b.Uses[result.UseIdle] += d * model.Duration(c.Idle)
				b.Runnable += d * model.Duration(c.Runnable)
				b.Procs += d * model.Duration(c.Procs)
				b.MaxRunnable = max(b.MaxRunnable, c.Runnable)
			}
		}
	}
	return bins
}

func TestTimelineDoubles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for _, span := range []model.Time{1, 3 * 1024, sums.MostBins*1024 - 1, sums.MostBins * 1024, 50_000_000} {
		tl := NewTimeline()
		tl.BeginAt(0)
		var counts []model.Counts
		for now := model.Time(0); now < span; {
			c := model.Counts{Start: now, End: min(span, now+model.Time(1+rnd.Int64N(int64(span)/50+1))), Procs: 4, Idle: rnd.IntN(5), Runnable: rnd.IntN(100)}
			tl.Counts(&c)
			counts = append(counts, c)
			now = c.End
		}
		if n := len(tl.Used()); n > sums.MostBins || tl.Width() > 1024 && n <= sums.MostBins/2 {
			t.Errorf("span %d: %d bins of %d ns", span, n, tl.Width())
		}
		if want := slowTimeline(counts, tl.Width()); !reflect.DeepEqual(tl.Used(), want) {
			t.Errorf("span %d: bins of %d ns differ from those made by hand", span, tl.Width())
		}
	}
}

func TestHeatRows(t *testing.T) {
	lo, _ := HeatBounds(0)
	_, hi := HeatBounds(HeatRows - 1)
	if lo != 64 || hi < 100_000*ms {
		t.Errorf("rows reach from %d to %d ns", lo, hi)
	}
	for row := range HeatRows {
		lo, hi := HeatBounds(row)
		if lo >= hi || heatRow(lo) != row || row+1 < HeatRows && (heatRow(hi-1) != row || heatRow(hi) != row+1) {
			t.Errorf("row %d from %d to %d: rows of its bounds are %d and %d", row, lo, hi, heatRow(lo), heatRow(hi-1))
		}
	}
	for d, want := range map[model.Duration]int{-1: 0, 0: 0, 1: 0, 640: heatPerDecade, 1<<63 - 1: HeatRows - 1} {
		equal(t, "row", heatRow(d), want)
	}
}

func TestHeat(t *testing.T) {
	r := newRecords()
	h := NewHeat()
	h.Begin(10)
	h.BeginAt(10)
	g, sys := r.goroutine(1, "main.f"), r.goroutine(2, "runtime.bgsweep")
	sys.System = true
	h.GoSpan(goSpan(g, model.GoRunnable, 10, 640))
	h.GoSpan(goSpan(g, model.GoRunnable, 20, 640))
	h.GoSpan(goSpan(g, model.GoRunning, 20, 640))
	h.GoSpan(goSpan(sys, model.GoRunnable, 20, 640))
	equal(t, "columns", h.Cols(), 1)
	equal(t, "count", h.Count(0, heatPerDecade), 2)
	h.GoSpan(goSpan(g, model.GoRunnable, 10, 1024*HeatCols+5)) // one column too far
	equal(t, "width", h.Width(), 2048)
	equal(t, "columns", h.Cols(), HeatCols/2+1)
	equal(t, "count", h.Count(0, heatPerDecade), 2)
	equal(t, "last count", h.Count(HeatCols/2, heatRow(1024*HeatCols+5)), 1)
}
