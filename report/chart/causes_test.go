package chart

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// analysed returns what the pictures of a fixture are made of.
func analysed(t *testing.T, name string) *Input {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rd, err := session.Stream(f).Read(ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{Report: resulttest.Read(t, name)}
	in.Histories = NewHistories(in.Report)
	if err := rd.Run(t.Context(), func() { in.Histories.Observe(rd.Machine, rd.Origin) }, nil); err != nil {
		t.Fatal(err)
	}
	return in
}

// TestCauses checks that the areas of the bands are all the waiting there was.
func TestCauses(t *testing.T) {
	in := analysed(t, "http.trace")
	c := &in.Report.Causes
	bands, legend := causeBands(c)
	if len(bands) < 4 || bands[0].name != "behind goroutines" || len(legend) != len(bands) {
		t.Fatalf("bands %v", bands)
	}
	area := 0.0
	for _, b := range bands {
		own, want := 0.0, 0.0
		for _, v := range b.height.v {
			own += v * b.height.dx
		}
		for _, r := range c.Rows {
			if result.CauseGroups[groupOf(r.Cause)].Label == b.name {
				want += float64(r.Total)
			}
		}
		if math.Abs(own-want) > 1 {
			t.Errorf("%s: an area of %g ns, want %g", b.name, own, want)
		}
		area += own
	}
	if want := float64(c.Total); math.Abs(area-want) > 1 {
		t.Errorf("areas add up to %g ns, want %g", area, want)
	}
	if w := words(t, in.causes()); !strings.Contains(w, legend[0].name) {
		t.Errorf("%q is not in the picture: %q", legend[0].name, w)
	}
	old := analysed(t, "foreign/trace.go1.19.trace").causes()
	if w := words(t, old); !strings.HasPrefix(old.Missing, "run queues") || !strings.Contains(w, old.Missing) {
		t.Errorf("old format: missing %q, says %q", old.Missing, w)
	}
}

// TestBars checks that each column is a bar of its own, as high as its bands, with a gap to
// the next.
func TestBars(t *testing.T) {
	p := newPicture("x", "", "", 180, "", func(c canvas) {
		f := frame{canvas: c, x: axis{min: 0, max: 3}, y: axis{min: 0, max: 4}}
		drawBars(f, []band{{col: blue, height: series{dx: 1, v: []float64{3, 3, 0}}}, {col: orange, height: series{dx: 1, v: []float64{1}}}})
	})
	img, err := png.Decode(bytes.NewReader(render(t, p, "png", 72)))
	if err != nil {
		t.Fatal(err)
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	column := func(x int) map[color.Color]int {
		count := map[color.Color]int{}
		for y := range h {
			count[color.NRGBAModel.Convert(img.At(x, y))]++
		}
		return count
	}
	if c := column(w / 6); c[blue]+c[orange] < 130 || c[blue] < 3*c[orange]-4 || c[blue] > 3*c[orange]+4 {
		t.Errorf("%d and %d pixels, want three times as many", c[blue], c[orange])
	}
	var bars []int // widths of bars
	last := false
	for x := range w {
		drawn := column(x)[blue] > 0
		if drawn && !last {
			bars = append(bars, 0)
		}
		if last = drawn; drawn {
			bars[len(bars)-1]++
		}
	}
	if len(bars) != 2 || bars[0] < w/3-10 || bars[0] > w/3-1 {
		t.Errorf("bars are %d pixels wide, want two of almost %d", bars, w/3)
	}
}

// TestCauseGroups checks that each cause is in a group, and that no two look alike.
func TestCauseGroups(t *testing.T) {
	for c := range result.NumCauses {
		if groupOf(c.String()) < 0 {
			t.Errorf("%v is in no group", c)
		}
	}
	if len(causeColours) != len(result.CauseGroups) {
		t.Errorf("%d colours of %d groups", len(causeColours), len(result.CauseGroups))
	}
	for i, a := range causeColours {
		if slices.Contains(causeColours[:i], a) {
			t.Errorf("%s has no colour of its own", result.CauseGroups[i].Label)
		}
	}
}

// TestLosses checks that the strip of a wait names all that it shows, in it or behind it.
func TestLosses(t *testing.T) {
	x := waitOn(procHistory{p: 0, slices: []slice{sliceOf(750, 3250, result.UseUser, 5)}})
	picture := func(cells ...result.CauseTotal) *Picture {
		x.wait.Causes = cells
		return All(&Input{Report: &result.Report{WorstWaits: []result.Wait{*x.wait}}, Histories: &Histories{of: []*history{x}}})[5]
	}
	without := picture()
	if strings.Contains(words(t, without), "WHY IT WAITED") {
		t.Error("a strip without causes")
	}
	large, small, least := result.CauseTotal{Cause: result.CauseGoroutine.String(), Total: 1500}, result.CauseTotal{Cause: result.CauseOSGap.String(), Total: 490}, result.CauseTotal{Cause: result.CausePickup.String(), Total: 10}
	for _, tt := range []struct {
		cells []result.CauseTotal
		want  []string
	}{
		{[]result.CauseTotal{large}, []string{"behind a goroutine 1.5µs"}},
		{[]result.CauseTotal{large, least}, []string{"behind a goroutine 1.5µs", "pick-up 10ns"}},
		{[]result.CauseTotal{large, small, least}, []string{"behind a goroutine 1.5µs", "OS gap (suspected) 490ns", "pick-up 10ns"}},
		{[]result.CauseTotal{large, least, least, least}, []string{"behind a goroutine 1.5µs", "pick-up 10ns"}},
	} {
		p := picture(tt.cells...)
		if p.height <= without.height {
			t.Errorf("the strip takes no room: %g points with it, %g without", p.height, without.height)
		}
		w := words(t, p)
		for _, want := range tt.want {
			if !strings.Contains(w, want+"\n") {
				t.Errorf("%v: %q is not in %q", tt.cells, want, w)
			}
		}
	}
}
