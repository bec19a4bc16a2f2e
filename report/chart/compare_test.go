package chart

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// sideOf returns a side of synthetic recordings.
func sideOf(name string, syns ...synthetic) Side {
	side := Side{Name: name}
	for _, x := range syns {
		side.Recordings = append(side.Recordings, NewRecording(x.input().Report))
	}
	return side
}

// recordingOf returns a recording of waits of 1µs, 2µs ... nµs, each times a factor.
func recordingOf(n int, times float64) *Recording {
	return &Recording{span: 1e6, waits: stretchedDist(n, times)}
}

func twoSides() *Comparison {
	return &Comparison{
		Base:  sideOf("old", synthetic{waits: 3000, procs: 5, span: 700 * ms}, synthetic{waits: 2000, procs: 5, span: 600 * ms}),
		Cand:  sideOf("new", synthetic{waits: 2500, procs: 5, span: 400 * ms}, synthetic{waits: 2100, procs: 5, span: 410 * ms}, synthetic{waits: 40, procs: 5, span: 300 * ms}),
		Limit: ms,
	}
}

// TestComparisonWords checks what the pictures say.
func TestComparisonWords(t *testing.T) {
	words := func(c *Comparison) string { return words(t, c.Pictures()[0]) }
	several := words(twoSides())
	single := words(&Comparison{Base: sideOf("", synthetic{waits: 500, procs: 1, span: ms}), Cand: sideOf("x\x1b\u202e", synthetic{waits: 1, procs: 1, span: 5 * ms})})
	for _, tt := range []struct{ in, want string }{
		{several, "new: 3 traces, 4,640 waits"},
		{several, "old: 2 traces, 5,000 waits"},
		{several, "limit 1ms: longer are"},
		{several, "single traces of new"},
		{several, "for looking, not for a verdict"},
		{several, "ends at 410ms"},
		{several, "waits per cell and trace"},
		{single, "x□: 1 wait\n"},
		{single, "old: 500 waits"},
		{single, "differences may be chance"},
		{single, "ends at 1ms"},
		{single, "waits per cell\n"},
		{words(&Comparison{}), noWaits},
	} {
		if !strings.Contains(tt.in, tt.want) {
			t.Errorf("got %q, want %q in it", tt.in, tt.want)
		}
	}
	if strings.Contains(single, "single traces") || strings.Contains(single, "limit") || strings.ContainsAny(single, "\x1b\u202e") {
		t.Errorf("one trace a side: %q", single)
	}
}

// TestBandOf checks how far bands reach, and that they hold every recording.
func TestBandOf(t *testing.T) {
	if b := bandOf([]*Recording{recordingOf(100, 1)}); len(b.least) != 0 {
		t.Errorf("one recording: a band of %d points", len(b.least))
	}
	for _, tt := range []struct {
		sizes []int
		end   float64 // log10 of the waits of the shortest of those that reach
	}{
		{[]int{1000, 100}, 2},
		{[]int{1000, 1000, 10}, 3},
		{[]int{10, 10000, 100, 1000, 0}, 3},
	} {
		var rs []*Recording
		for i, n := range tt.sizes {
			rs = append(rs, recordingOf(n, 1+float64(i)))
		}
		b := bandOf(rs)
		if n := len(b.least); n != max(int(tt.end*60), 300) {
			t.Errorf("%v: %d points, want those up to %g", tt.sizes, n, tt.end)
		}
		for i := range b.least {
			x := b.least[i].x
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, r := range rs {
				if n := float64(r.waits.Count()); n > 0 && math.Log10(n) >= x-1e-9 {
					y := log10ns(float64(r.waits.Quantile(1 - math.Pow(10, -x))))
					lo, hi = min(lo, y), max(hi, y)
				}
			}
			if b.least[i].y != lo || b.most[i].y != hi {
				t.Fatalf("%v at %g: got %g to %g, want %g to %g", tt.sizes, x, b.least[i].y, b.most[i].y, lo, hi)
			}
		}
	}
}

// TestSpectraShade checks that nothing is shaded beyond which fewer than 10 waits lie.
func TestSpectraShade(t *testing.T) {
	spectra := func(base, cand *Recording) *spectrum {
		return newSpectra((&Side{Recordings: []*Recording{base}}).pool("old"), (&Side{Recordings: []*Recording{cand}}).pool("new"), 0)
	}
	s := spectra(recordingOf(1000, 1), recordingOf(500, 4))
	if last := s.a[len(s.a)-1]; len(s.a) != len(s.b) || last.x > math.Log10(50) || last.x < math.Log10(50)-0.05 {
		t.Errorf("shaded up to %g", last.x)
	}
	if over, under := s.differ(); !over || under {
		t.Errorf("twice as long: over %v, under %v", over, under)
	}
	if few := spectra(recordingOf(9, 1), recordingOf(500, 2)); len(few.a) != 0 {
		t.Errorf("of 9 waits %d points are shaded", len(few.a))
	}
}

func TestBeyond(t *testing.T) {
	for limit, want := range map[model.Duration]string{0: "100%", 1000: "99.9%", 500e3: "50%", 999e3: "0.10%", 1000e3: "0%"} {
		if got := beyond(distOf(1000), limit); got != want {
			t.Errorf("beyond %d: got %s, want %s", limit, got, want)
		}
	}
}

// TestHeatPair checks that both maps have the same cells and lose no wait, and that colours
// are those of waits per trace.
func TestHeatPair(t *testing.T) {
	c := twoSides()
	c.Cand = sideOf("new", synthetic{waits: 900, procs: 1, span: 20 * s}, synthetic{waits: 300, procs: 1, span: ms})
	p := newHeatPair(c.Base.pool("old"), c.Cand.pool("new"), 0)
	if a, b := p.maps[0], p.maps[1]; a.dx != b.dx || a.dy != b.dy || a.y0 != b.y0 || a.x0 != 0 || b.x0 != 0 {
		t.Errorf("cells differ: %+v and %+v", a, b)
	}
	for i, want := range []int64{5000, 1200} {
		if n, _ := p.maps[i].total(); n != want {
			t.Errorf("side %d has %d waits, want %d", i, n, want)
		}
	}
	if a, b := p.sides[0].span, p.sides[1].span; a != 700e6 || b != 20e9 {
		t.Errorf("spans %g and %g", a, b)
	}
	f := frame{x: axis{min: 0, max: 20e9}, y: axis{min: 2, max: 7}}
	f.Max.X, f.Max.Y = 400, 100
	scale := newHeatScale(f, p.maps[:]...)
	_, most := p.maps[0].merged(scale.kx, scale.ky).total()
	if scale.least != 0.5 || scale.most < float64(most)/2 {
		t.Errorf("scale from %g to %g, want 0.5 to at least %d/2", scale.least, scale.most, most)
	}
	if scale.shade(scale.least) != 0 || math.Abs(scale.shade(scale.most)-1) > 1e-9 && scale.most/scale.least > 30 {
		t.Errorf("shades %g to %g", scale.shade(scale.least), scale.shade(scale.most))
	}
}

// TestComparisonExtremes draws what is empty, short or long twice.
func TestComparisonExtremes(t *testing.T) {
	for name, c := range map[string]*Comparison{
		"nothing":       {},
		"no candidate":  {Base: sideOf("a", synthetic{waits: 300, procs: 1, span: ms})},
		"no waits":      {Base: sideOf("a", synthetic{procs: 1, span: ms}), Cand: sideOf("b", synthetic{procs: 1, span: 0})},
		"one wait":      {Base: sideOf("a", synthetic{waits: 1, procs: 1, span: ms}), Cand: sideOf("b", synthetic{procs: 1, span: ms})},
		"no time":       {Base: sideOf("a", synthetic{waits: 9, procs: 1, span: 0}), Cand: sideOf("b", synthetic{waits: 9, procs: 1, span: 64})},
		"far apart":     {Base: sideOf("a", synthetic{waits: 2000, procs: 64, span: 3600 * s}), Cand: sideOf("b", synthetic{waits: 50, procs: 1, span: ms}), Limit: 64},
		"great limit":   {Base: sideOf("a", synthetic{waits: 20, procs: 64, span: s}), Cand: sideOf("b", synthetic{waits: 50, procs: 1, span: ms}), Limit: 3600 * s},
		"hostile names": {Base: sideOf(strings.Repeat("日本</text>\x00", 900), synthetic{waits: 20, procs: 4, span: s}), Cand: sideOf("\xff\u202e", synthetic{waits: 50, procs: 1, span: ms})},
		"limit only":    {Limit: model.Duration(ms)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range c.Pictures() {
				if words := words(t, p); !strings.Contains(words, compareTitle) || strings.Contains(words, "NaN") || strings.Contains(words, "Inf") {
					t.Errorf("%s says %q", p.Name, words)
				}
				if a := render(t, p, "png", 30); !bytes.Equal(a, render(t, p, "png", 30)) {
					t.Errorf("%s: different when drawn again", p.Name)
				}
			}
		})
	}
}

func TestComparisonOfNothing(t *testing.T) {
	for _, p := range (&Comparison{}).Pictures() {
		if p.Missing == "" || p.height > minHeight {
			t.Errorf("%s of nothing: missing %q, %g points high", p.Name, p.Missing, float64(p.height))
		}
	}
}

// TestSpectraRoom checks that the label of the longest wait finds room above its line, and
// that the uppermost of the axis is not at the frame's very end.
func TestSpectraRoom(t *testing.T) {
	c := twoSides()
	s := newSpectra(c.Base.pool("old"), c.Cand.pool("new"), ms)
	lo, hi, _ := s.ends()
	longest := max(s.curves[0].last().y, s.curves[1].last().y)
	const height = 300 // about that of the frame
	if room := (hi - longest) / (hi - lo) * height; room < textSize+10 {
		t.Errorf("%g points above the longest wait", room)
	}
}
