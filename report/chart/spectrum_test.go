package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/vg"
)

// stretchedDist is distOf with all waits longer by a factor.
func stretchedDist(n int, times float64) *dist.Dist {
	d := &dist.Dist{}
	for i := range n {
		d.Add(model.Duration(times*1000*float64(i+1)), 0)
	}
	return d
}

// distOf returns the distribution of 1µs, 2µs ... nµs.
func distOf(n int) *dist.Dist {
	d := &dist.Dist{}
	for i := range n {
		d.Add(model.Duration(1000*(i+1)), 0)
	}
	return d
}

func curveOf(n int) curve {
	d := distOf(n)
	return newCurve("c", blue, d.Count(), d)
}

// TestCurveEnds checks where the solid part ends and that the tail ends at the
// maximum, whose place is one in n.
func TestCurveEnds(t *testing.T) {
	for _, n := range []int{1, 2, 9, 11, 250, 301, 5000, 100000} {
		c := curveOf(n)
		last := c.last()
		if want := log10ns(1000 * float64(n)); math.Abs(last.x-math.Log10(float64(n))) > 1e-9 || math.Abs(last.y-want) > 1e-9 {
			t.Errorf("%d waits: the curve ends at %v, want (%g, %g)", n, last, math.Log10(float64(n)), want)
		}
		for i, p := range c.solid {
			if beyond := float64(n) * math.Pow(10, -p.x); beyond < enoughBeyond*(1-1e-9) {
				t.Fatalf("%d waits: solid point %d has %g waits beyond", n, i, beyond)
			}
		}
		if n < enoughBeyond && len(c.solid) > 0 {
			t.Errorf("%d waits: %d solid points, want none", n, len(c.solid))
		}
		all := append(c.solid[:len(c.solid):len(c.solid)], c.tail...)
		for i := 1; i < len(all); i++ {
			if all[i].x < all[i-1].x || all[i].y < all[i-1].y {
				t.Fatalf("%d waits: point %d falls: %v after %v", n, i, all[i], all[i-1])
			}
		}
	}
}

func TestCurveMarks(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want []string
	}{
		{1, []string{"max 1µs"}},
		{20, []string{"p50 10µs", "max 20µs"}},
		{1000, []string{"p50 500µs", "p90 900µs", "p99 990µs", "max 1ms"}},
		{10000, []string{"p50 5ms", "p90 9ms", "p99 9.9ms", "p99.9 9.99ms", "max 10ms"}},
	} {
		c := curveOf(tt.n)
		if len(c.marks) != len(tt.want) {
			t.Errorf("%d waits: got %v, want %v", tt.n, c.marks, tt.want)
			continue
		}
		for i, m := range c.marks {
			if m.label != tt.want[i] {
				t.Errorf("%d waits: mark %d: got %q, want %q", tt.n, i, m.label, tt.want[i])
			}
		}
	}
}

func TestSpread(t *testing.T) {
	want := []vg.Length{50, 50, 51, 10, 99, 100}
	got := spread(want, 10, 0, 100)
	for i := range got {
		for j := range got {
			if d := got[i] - got[j]; i != j && d > -10+1e-9 && d < 10-1e-9 {
				t.Errorf("%d and %d are %v apart", i, j, d)
			}
			if want[i] < want[j] && got[i] > got[j] {
				t.Errorf("%d and %d changed places", i, j)
			}
		}
		if got[i] < 0 || got[i] > 100 {
			t.Errorf("%d is at %v", i, got[i])
		}
	}
}

// TestOriginColours checks that no two origins look alike, nor like all of them.
func TestOriginColours(t *testing.T) {
	cols := append(originColours[:], blue)
	for i, a := range cols {
		for j, b := range cols[:i] {
			square := func(x, y uint8) float64 { d := float64(x) - float64(y); return d * d }
			if d := math.Sqrt(square(a.R, b.R) + square(a.G, b.G) + square(a.B, b.B)); d < 50 {
				t.Errorf("colours %d and %d, %v and %v, are only %.0f apart", i, j, a, b, d)
			}
		}
	}
}

func TestWaitsByOrigin(t *testing.T) {
	l := result.Latency{All: result.NewDist(distOf(60))}
	for i, name := range []string{"created", "timer", "netpoll", "new kind\n"} {
		l.ByOrigin = append(l.ByOrigin, result.Named{Name: name, Dist: result.NewDist(distOf(10 * (i%3 + 1)))})
	}
	list, note, missing := waitsByOrigin(&l, 3)
	var names []string
	for _, x := range list {
		names = append(names, x.name)
	}
	if got := strings.Join(names, ", "); got != "All, network poller, timer, created" || note != "; 3 of 4 origins shown" || missing != "" {
		t.Errorf("got %s; note %q, missing %q", got, note, missing)
	}
	if list, note, _ = waitsByOrigin(&l, 4); len(list) != 5 || list[4].name != "new kind□" || note != "" {
		t.Errorf("all: got %v, note %q", list, note)
	}
}

func TestFreeBox(t *testing.T) {
	f := frame{}
	f.Max = vg.Point{X: 300, Y: 200}
	level := []vg.Point{{X: 0, Y: 100}, {X: 300, Y: 100}}
	first, ok := f.freeBox(150, 100, 40, [][]vg.Point{level}, nil, 0)
	if !ok || covered(first, [][]vg.Point{level}) != 0 {
		t.Fatalf("level line: %v, %v", first, ok)
	}
	across := []vg.Point{{X: first.Min.X, Y: first.Min.Y}, {X: first.Max.X, Y: first.Max.Y}}
	if n := covered(first, [][]vg.Point{across}); n < 40 || n > 42 {
		t.Errorf("a diagonal of a box 40 wide and 8.5 high is covered for %v", n)
	}
	second, ok := f.freeBox(150, 100, 40, [][]vg.Point{level, across}, nil, 0)
	if !ok || second == first {
		t.Errorf("a line across the first place: still %v", second)
	}
	third, ok := f.freeBox(150, 100, 40, [][]vg.Point{level}, []vg.Rectangle{first}, 0)
	if !ok || overlap(third, first) {
		t.Errorf("the first place is taken: %v, %v", third, ok)
	}
	if above, ok := f.freeBox(150, 100, 40, [][]vg.Point{level}, nil, 1); !ok || above.Min.Y < 100 {
		t.Errorf("above is %v, %v", above, ok)
	}
	if box, ok := f.freeBox(150, 100, 400, nil, nil, 0); ok {
		t.Errorf("wider than the frame: %v", box)
	}
}

// TestBetween checks where the area between two curves changes its colour.
func TestBetween(t *testing.T) {
	a := []point{{0, 1}, {1, 2}, {2, 3}, {3, 3}}
	b := []point{{0, 0}, {1, 1}, {2, 4}, {3, 4}}
	var got []bool
	for i := 1; i < len(a); i++ {
		got = append(got, above(a, b, i))
	}
	if fmt.Sprint(got) != "[true true false]" {
		t.Errorf("got %v", got)
	}
}
