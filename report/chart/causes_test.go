package chart

import (
	"math"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// analysed returns the finished report of a fixture.
func analysed(t *testing.T, name string) *analyze.Report {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	r := analyze.New(in.Tables(), analyze.Options{Version: in.Header().Version})
	r.Observe(m)
	err = ingest.Each(in, func(ev *model.Event) error {
		r.Event(ev)
		return m.Apply(ev)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	r.Finish(m.Start(), m.Now())
	return r
}

// madeUpCauses returns what a picture with all groups of causes shows.
func madeUpCauses() lostTime {
	const bins = 50
	x := lostTime{span: 700e6, traces: 1}
	for g := range numCauseGroups {
		b := band{name: causeGroups[g].name, col: causeGroups[g].col, height: series{dx: x.span / bins, v: make([]float64, bins)}}
		for i := range b.height.v {
			b.height.v[i] = float64((i * (int(g) + 3)) % 7)
			if i%10 == 9 {
				b.height.v[i] = 0 // nothing waits
			}
		}
		x.bands, x.shares = append(x.bands, b), append(x.shares, 1/float64(numCauseGroups))
	}
	return x
}

// TestCausesSizes draws all groups in the smallest of pictures too.
func TestCausesSizes(t *testing.T) {
	p := newCauses("Scheduling latency by cause", "x.trace", madeUpCauses())
	words := svgWords(t, p.Name, render(t, p, SVG, Options{}))
	for _, g := range causeGroups {
		if !strings.Contains(words, g.name+" 10%") {
			t.Errorf("the legend lacks %q", g.name)
		}
	}
	render(t, p, PNG, Options{DPI: 36, Width: minWidth, Height: minHeight})
}

// TestLostTime checks that the areas of the bands are all the waiting there was.
func TestLostTime(t *testing.T) {
	r := analysed(t, "http.trace")
	x := lostTimeOf(r)
	if x.notice != "" || len(x.bands) < 4 || x.bands[0].name != "behind goroutines" {
		t.Fatalf("notice %q, bands %v", x.notice, x.bands)
	}
	area, shares := 0.0, 0.0
	for i, b := range x.bands {
		own := 0.0
		for _, v := range b.height.v {
			own += v * b.height.dx
		}
		if want := x.shares[i] * float64(r.Causes.Total); math.Abs(own-want) > 1 {
			t.Errorf("%s: an area of %g ns, want %g", b.name, own, want)
		}
		area += own
		shares += x.shares[i]
	}
	if want := float64(r.Causes.Total); math.Abs(area-want) > 1 || math.Abs(shares-1) > 1e-9 {
		t.Errorf("areas add up to %g ns, want %g; shares to %g", area, want, shares)
	}
	parts := x.parts(axis{min: x.start, max: x.start + x.span}, 100)
	for k := range 100 {
		sum := 0.0
		for _, b := range parts {
			sum += b.height.v[k]
		}
		if sum != 0 && math.Abs(sum-1) > 1e-9 {
			t.Errorf("part %d: shares add up to %g", k, sum)
		}
	}
}

// TestCauseGroups checks that no cause is shown as unresolved that is not, and
// that no two groups look alike.
func TestCauseGroups(t *testing.T) {
	for c := range result.NumCauses {
		if got := groupOf(c) == groupUnresolved; got != (c == result.CauseUnresolved) {
			t.Errorf("%v is shown as %s", c, causeGroups[groupOf(c)].name)
		}
	}
	for i, a := range causeGroups {
		for _, b := range causeGroups[:i] {
			if a.name == b.name || a.col == b.col {
				t.Errorf("%s and %s look alike", a.name, b.name)
			}
		}
	}
}

// TestCausesWords checks what the picture says, also if there is nothing to show.
func TestCausesWords(t *testing.T) {
	for _, tt := range []struct {
		name, trace string
		want        string
	}{
		{"web server", "http.trace", "behind goroutines"},
		{"old format", "foreign/trace.go1.19.trace", "not known: run queues"},
	} {
		p := Causes(analysed(t, tt.trace), "x.trace")
		svg := svgWords(t, p.Name, render(t, p, SVG, Options{}))
		if !strings.Contains(svg, tt.want) {
			t.Errorf("%s: %q is not in the picture:\n%s", tt.name, tt.want, svg)
		}
	}
}

// TestLosses checks that the strip of a wait names what it shows, in it or beside.
func TestLosses(t *testing.T) {
	w := waitOn(analyze.ProcDuring{P: 0, Slices: []analyze.ProcSlice{slice(750, 3250, result.UseUser, 5)}})
	without := newWait(storyOf(w))
	w.Cells = []analyze.Cell{{Cause: result.CauseGoroutine, Total: 1990}, {Cause: result.CausePickup, Total: 10}}
	with := newWait(storyOf(w))
	if with.height <= without.height {
		t.Errorf("the strip takes no room: %g points with it, %g without", with.height, without.height)
	}
	words := svgWords(t, "wait", render(t, with, SVG, Options{}))
	if !strings.Contains(words, "behind a goroutine 1.99µs") || !strings.Contains(words, "pick-up 10ns") {
		t.Errorf("the strip says:\n%s", words)
	}
	if strings.Contains(svgWords(t, "wait", render(t, without, SVG, Options{})), "LOST TO") {
		t.Error("a strip without causes")
	}
}
