package chart

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"gonum.org/v1/plot/vg"
)

// TestSeries compares means and peaks with sums over a thousand samples of
// every part.
func TestSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s := series{x0: r.Float64()*10 - 5, dx: 0.1 + r.Float64()}
		for range 1 + r.IntN(40) {
			s.v = append(s.v, float64(r.IntN(9)))
		}
		a := axis{min: s.x0 - r.Float64()*3, max: s.x0 + s.dx*float64(len(s.v)) + r.Float64()*3}
		n := 1 + r.IntN(60)
		means, peaks := s.over(a, n, false), s.over(a, n, true)
		for i := range n {
			const samples = 1000
			sum, known, most := 0.0, 0.0, 0.0
			for k := range samples {
				x := a.value((float64(i) + (float64(k)+0.5)/samples) / float64(n))
				if c := math.Floor((x - s.x0) / s.dx); c >= 0 && int(c) < len(s.v) {
					sum, known, most = sum+s.v[int(c)], known+1, max(most, s.v[int(c)])
				}
			}
			if known > 20 && math.Abs(means[i]-sum/known) > 8*1/known+0.02 {
				t.Fatalf("part %d of %d: mean %g, want %g", i, n, means[i], sum/known)
			}
			if peaks[i] < most {
				t.Fatalf("part %d of %d: peak %g, want %g", i, n, peaks[i], most)
			}
		}
	}
	if got := (series{}).over(axis{0, 1, nil}, 3, false); got[0] != 0 || len(got) != 3 {
		t.Errorf("no series: means %v", got)
	}
}

func TestPaintColumn(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 1, 4))
	paintColumn(img, 0, 4, []float64{0, 1.5, 3}, []band{{col: blue}, {col: orange}})
	for y, want := range []struct{ r, a uint8 }{{0, 0}, {orange.R, 255}, {mix(blue, orange, 0.5).R, 255}, {blue.R, 255}} {
		if got := img.NRGBAAt(0, y); got.R != want.r || got.A != want.a {
			t.Errorf("row %d: got %v, want red %d alpha %d", y, got, want.r, want.a)
		}
	}
}

func TestHeatmap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	h := heatmap{cols: 37, rows: 23, x0: 5, dx: 2, y0: 1.8, dy: 1. / 12, count: make([]int64, 37*23)}
	for range 500 {
		h.count[r.IntN(len(h.count))]++
	}
	sum, _ := h.total()
	for _, k := range [][2]int{{1, 1}, {2, 3}, {5, 23}, {40, 40}} {
		m := h.merged(k[0], k[1])
		if got, _ := m.total(); got != sum {
			t.Errorf("merged by %v: %d waits, want %d", k, got, sum)
		}
		for i := range h.cols { // a cell's middle is in the cell that it was merged into
			x, y := h.x0+(float64(i)+0.5)*h.dx, h.y0+3.5*h.dy
			if got, want := m.cellAt(x, y), m.count[i/k[0]*m.rows+3/k[1]]; got != want {
				t.Fatalf("merged by %v: cellAt column %d = %d, want %d", k, i, got, want)
			}
		}
	}
	for _, p := range []point{{4.9, 2}, {5 + 74.1, 2}, {6, 1.7}, {6, 1.8 + 23./12 + 0.01}, {math.NaN(), 2}} {
		if got := h.cellAt(p.x, p.y); got != 0 {
			t.Errorf("cellAt(%v) outside = %d", p, got)
		}
	}
}

func TestLatencyRange(t *testing.T) {
	h := heatmap{cols: 2, rows: 24, y0: 2, dy: 0.25, count: make([]int64, 48)}
	if lo, hi := h.latencyRange(); lo != 2 || hi != 7 {
		t.Errorf("no waits: %g to %g", lo, hi)
	}
	h.count[24+4], h.count[8] = 1, 2
	if lo, hi := h.latencyRange(); lo != 3 || hi != 4.5 {
		t.Errorf("%g to %g, want 3 to 4.5", lo, hi)
	}
}

// TestHeatOf compares the cells of a report with those it was made from.
func TestHeatOf(t *testing.T) {
	v := synthetic{waits: 3000, procs: 2, span: 900 * ms}.input().Report
	h := heatOf(&v.Heat)
	sum, _ := h.total()
	if sum != 3000 {
		t.Errorf("%d waits, want 3000", sum)
	}
	for _, c := range v.Heat.Cells {
		x := float64(v.Heat.Start) + (float64(c[0])+0.5)*float64(v.Heat.Width)
		if got := h.cellAt(x, log10ns(float64(v.Heat.Bounds[c[1]]))+h.dy/2); got != c[2] {
			t.Fatalf("cell %v holds %d", c, got)
		}
	}
	for _, odd := range []result.Heat{{}, {Bounds: []int64{5}, Cells: []result.HeatCell{{0, 0, 1}}}, {Bounds: []int64{5, 5}, Cells: []result.HeatCell{{3, 1, 1}}}} {
		f := frame{x: axis{min: 0, max: 5}, y: axis{min: 2, max: 6}}
		f.Max.X, f.Max.Y = 100, 100
		if s := newHeatScale(f, heatOf(&odd)); s.cells.cols > int(max(1, len(odd.Cells)*4)) {
			t.Errorf("%v: %d columns", odd, s.cells.cols)
		}
	}
}

func TestShade(t *testing.T) {
	for _, most := range []float64{1, 2, 30, 100, 1e6} {
		s := heatScale{most: most}
		last := -1.0
		for n := 1.0; n <= most; n = n*3/2 + 1 {
			v := s.shade(n)
			if v < 0 || v > 1 || v <= last {
				t.Fatalf("shade(%g of %g) = %g after %g", n, most, v, last)
			}
			last = v
		}
	}
}

func TestWiden(t *testing.T) {
	for _, tt := range []struct{ lo, hi, wantLo, wantHi float64 }{
		{2.1, 6.3, 2, 6.5}, {3, 3, 2.5, 4}, {0, 0.1, 0, 1.5}, {2, 4, 2, 4},
	} {
		if lo, hi := widen(tt.lo, tt.hi, 0.5, 1.5); lo != tt.wantLo || hi != tt.wantHi {
			t.Errorf("widen(%g, %g) = %g, %g, want %g, %g", tt.lo, tt.hi, lo, hi, tt.wantLo, tt.wantHi)
		}
	}
}

func TestHeld(t *testing.T) {
	s := &result.Series{Width: 1024, Covered: []int64{9, 9, 9, 9, 9, 0, 0, 9}} // the trace has a gap of two bins
	h := held(s, []uint64{5, 0, 7, 0, 0, 0, 0, 0})
	if want := []float64{5, 5, 7, 7, 7, 0, 0, 0}; !slices.Equal(h.v, want) {
		t.Errorf("heap: got %v, want %v", h.v, want)
	}
	if g := held(s, []uint64{0, 0, 0, 0, math.MaxUint64, 0, 0, 0}); len(g.v) != 0 {
		t.Errorf("goal with GOGC=off: got %v, want none", g.v)
	}
}

// TestDashboardOfTraces checks that several traces get no curve of the heap and
// that means are named.
func TestDashboardOfTraces(t *testing.T) {
	a, b := synthetic{waits: 300, procs: 2, span: 70 * ms}.input(), synthetic{waits: 200, procs: 2, span: 50 * ms}.input()
	if one := words(t, a.dashboard()); !strings.Contains(one, "Heap") || strings.Contains(one, "mean over") {
		t.Errorf("the dashboard of one trace says %q", one)
	}
	v, err := result.Merge([]*result.Report{a.Report, b.Report})
	if err != nil {
		t.Fatal(err)
	}
	both := words(t, (&Input{Report: v}).dashboard())
	for _, want := range []string{"by what they did, mean over up to 2 traces", "with the runtime's own, mean over up to 2 traces", "time since the beginning of each trace", "x.trace and 1 more: 500 waits"} {
		if !strings.Contains(both, want) {
			t.Errorf("the dashboard of two traces does not say %q", want)
		}
	}
	if strings.Contains(both, "Heap") {
		t.Error("the dashboard of two traces has a heap")
	}
}

func TestRoomAbove(t *testing.T) {
	for _, worst := range []float64{1e3, 5e5, 1e6, 9e5} {
		for h := vg.Length(3 * markRoom); h < 500; h += 37 {
			f := frame{y: axis{min: 2, max: roomAbove(2, 6, log10ns(worst), h)}}
			f.Max.Y = h
			if above := f.Max.Y - f.py(log10ns(worst)); above < markRoom-1e-6 || f.y.max < 6 {
				t.Errorf("%g ns in %v: %v above, axis to %g", worst, h, above, f.y.max)
			}
		}
	}
}
