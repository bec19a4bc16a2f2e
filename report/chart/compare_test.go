package chart

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// sideOf returns a side of synthetic recordings.
func sideOf(name string, syns ...synthetic) Side {
	side := Side{Name: name}
	for _, x := range syns {
		side.Recordings = append(side.Recordings, x.input().Report.Latency.All.Values())
	}
	return side
}

func twoSides() *Comparison {
	return &Comparison{
		Base:  sideOf("old", synthetic{waits: 3000, procs: 5, span: 700 * ms}, synthetic{waits: 2000, procs: 5, span: 600 * ms}),
		Cand:  sideOf("new", synthetic{waits: 2500, procs: 5, span: 400 * ms}, synthetic{waits: 2100, procs: 5, span: 410 * ms}, synthetic{waits: 40, procs: 5, span: 300 * ms}),
		Limit: ms,
	}
}

// TestComparisonWords checks what the picture says.
func TestComparisonWords(t *testing.T) {
	words := func(c *Comparison) string { return words(t, c.Picture()) }
	several := words(twoSides())
	single := words(&Comparison{Base: sideOf("", synthetic{waits: 500, procs: 1, span: ms}), Cand: sideOf("x\x1b\u202e", synthetic{waits: 1, procs: 1, span: 5 * ms})})
	for _, tt := range []struct{ in, want string }{
		{several, "new: 3 traces, 4,640 waits"},
		{several, "old: 2 traces, 5,000 waits"},
		{several, "limit 1ms: longer are"},
		{several, "single traces of new"},
		{several, "for looking, not for a verdict"},
		{single, "x□: 1 wait\n"},
		{single, "old: 500 waits"},
		{single, "differences may be chance"},
		{words(&Comparison{}), noWaits},
		{words(&Comparison{Base: twoSides().Base, Cand: twoSides().Cand, Requests: "POST /order"}), "How long requests took: POST /order"},
		{words(&Comparison{Base: twoSides().Base, Cand: twoSides().Cand, Requests: "POST /order"}), "new: 3 traces, 4,640 requests"},
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
	if b := bandOf([]*dist.Dist{stretchedDist(100, 1)}); len(b.least) != 0 {
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
		var rs []*dist.Dist
		for i, n := range tt.sizes {
			rs = append(rs, stretchedDist(n, 1+float64(i)))
		}
		b := bandOf(rs)
		if n := len(b.least); n != max(int(tt.end*60), 300) {
			t.Errorf("%v: %d points, want those up to %g", tt.sizes, n, tt.end)
		}
		for i := range b.least {
			x := b.least[i].x
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, r := range rs {
				if n := float64(r.Count()); n > 0 && math.Log10(n) >= x-1e-9 {
					y := log10ns(float64(r.Quantile(1 - math.Pow(10, -x))))
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
	spectra := func(base, cand *dist.Dist) *spectrum {
		return newSpectra((&Side{Recordings: []*dist.Dist{base}}).pool("old", "wait"), (&Side{Recordings: []*dist.Dist{cand}}).pool("new", "wait"), 0)
	}
	s := spectra(stretchedDist(1000, 1), stretchedDist(500, 4))
	if last := s.a[len(s.a)-1]; len(s.a) != len(s.b) || last.x > math.Log10(50) || last.x < math.Log10(50)-0.05 {
		t.Errorf("shaded up to %g", last.x)
	}
	if over, under := s.differ(); !over || under {
		t.Errorf("twice as long: over %v, under %v", over, under)
	}
	if few := spectra(stretchedDist(9, 1), stretchedDist(500, 2)); len(few.a) != 0 {
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
			p := c.Picture()
			if words := words(t, p); !strings.Contains(words, compareTitle) || strings.Contains(words, "NaN") || strings.Contains(words, "Inf") {
				t.Errorf("it says %q", words)
			}
			if a := render(t, p, "png", 30); !bytes.Equal(a, render(t, p, "png", 30)) {
				t.Error("different when drawn again")
			}
		})
	}
}

func TestComparisonOfNothing(t *testing.T) {
	if p := (&Comparison{}).Picture(); p.Missing == "" || p.height > minHeight {
		t.Errorf("missing %q, %g points high", p.Missing, float64(p.height))
	}
}

// TestSpectraRoom checks that the label of the longest wait finds room above its line, and
// that the uppermost of the axis is not at the frame's very end.
func TestSpectraRoom(t *testing.T) {
	c := twoSides()
	s := newSpectra(c.Base.pool("old", "wait"), c.Cand.pool("new", "wait"), ms)
	lo, hi, _ := s.ends()
	longest := max(s.curves[0].last().y, s.curves[1].last().y)
	const height = 300 // about that of the frame
	if room := (hi - longest) / (hi - lo) * height; room < textSize+10 {
		t.Errorf("%g points above the longest wait", room)
	}
}
