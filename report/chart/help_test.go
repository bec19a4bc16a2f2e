package chart

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// TestHelp checks that each function has a row, and what is not known is said to be so.
func TestHelp(t *testing.T) {
	nan := math.NaN()
	h := &Help{Title: "Help", Changes: []Change{
		{"main.f", [3]float64{-0.3, -0.2, -0.1}, [3]float64{-0.3, -0.1, -0.1}, [3]float64{-0.1, -0.1, -0.1}},
		{"main.g", [3]float64{0, 0.1, nan}, [3]float64{0, 0.1, nan}, [3]float64{0, 0.1, nan}},
	}}
	var b bytes.Buffer
	if err := h.Picture().Write(&b, "svg", DefaultDPI); err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{">main.f<": 1, ">main.g<": 1, ">not known<": 1, ">-30%<": 1, ">0<": 1} {
		if got := strings.Count(b.String(), want); got != n {
			t.Errorf("%s: %d times, want %d", want, got, n)
		}
	}
}
