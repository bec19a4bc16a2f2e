package chart

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// stretchedDist is distOf with all waits longer by a factor.
func stretchedDist(n int, times float64) *dist.Dist {
	d := &dist.Dist{}
	for i := range n {
		d.Add(model.Duration(times*1000*float64(i+1)), 0)
	}
	return d
}

// replayed is a made up result. Short waits are longer measured, long ones simulated.
func replayed(names ...string) *replay.Result {
	measured := distOf(4000)
	simulated := &dist.Dist{}
	for i := range 4000 {
		simulated.Add(model.Duration(float64(i+1)*(700+float64(i)/8)), 0)
	}
	r := &replay.Result{Length: 2 * s, MinProcs: 4, MaxProcs: 4, Seeds: 1, Measured: &replay.Schedule{Waits: measured},
		All: replay.NewRow("all", measured, []*dist.Dist{simulated})}
	for i, name := range names {
		o := replay.Outcome{Name: name, Runs: 2}
		if n, err := fmt.Sscanf(name, "procs=%d", &o.Procs); n == 1 && err == nil && !strings.Contains(name, ",") {
			if o.Procs < 4 {
				o.Basis = replay.BasisChecked
			}
		}
		for k := range o.Figures {
			v := 20_000 * float64(k+1) / float64(i+2)
			o.Figures[k].Value = replay.Range{Mid: v, Low: 0.7 * v, High: 1.5 * v}
		}
		r.Outcomes = append(r.Outcomes, o)
	}
	return r
}

var byProcs = []string{"procs=2", "procs=3", "procs=4", "procs=5", "procs=6"}

// fitting is a made up result whose waits are off by so many percent.
func fitting(percent float64, names ...string) *replay.Result {
	r := replayed(names...)
	r.All = replay.NewRow("all", stretchedDist(4000, 1), []*dist.Dist{stretchedDist(4000, 1+percent/100)})
	return r
}

// TestReplayedWords checks what the pictures say.
func TestReplayedWords(t *testing.T) {
	got := Replayed(replayed(byProcs...), "a.trace")
	if len(got) != 2 || got[0].Name != "what-if" || got[1].Name != "reference" {
		t.Fatalf("got %d pictures", len(got))
	}
	bound := replayed("procs=8")
	bound.Outcomes[0] = replay.Outcome{Name: "procs=8", Basis: replay.BasisBound, AtMost: 2}
	unfinished := replayed("procs=8")
	unfinished.Outcomes[0].Unfinished = 2
	const missing = "no latency to draw"
	for p, want := range map[*Picture]string{
		got[0]: "procs=6", got[1]: "measured is longer",
		WhatIf(bound, ""):                    missing,
		WhatIf(unfinished, ""):               missing,
		WhatIf(fitting(90, "ideal"), ""):     missing,
		WhatIf(replayed(), ""):               missing,
		WhatIf(replayed("ideal"), ""):        "bars: spread of the simulation",
		WhatIf(replayed(byProcs[:2]...), ""): "bars: 80% intervals",
		WhatIf(replayed(byProcs...), ""):     "bars: 80% intervals of fewer procs, else spread of the simulation",
		Reference(&replay.Result{All: replay.NewRow("all", distOf(0), nil)}, ""): "there are no waits to compare",
		WhatIf(replayed("gc=off", "two\nlines\x1b"), "evil\x1b]0;title"):         "two□lines□",
	} {
		if w := words(t, p); !strings.Contains(w, want) || strings.ContainsAny(w, "\x1b") {
			t.Errorf("%s: got %q, want %q in it", p.Name, w, want)
		}
	}
	short := replayed("ideal")
	short.Outcomes[0].Figures[replay.FigureP90].Value = replay.Range{}
	few := fitting(1)
	few.All = replay.NewRow("all", stretchedDist(10, 1), []*dist.Dist{stretchedDist(10, 1)})
	for want, p := range map[string]*Picture{
		"does not reproduce this recording: off by": Reference(fitting(90), ""),
		"≤64ns":                             WhatIf(short, ""),
		"closely":                           Reference(fitting(1), ""),
		"bars: ":                            got[0],
		"measured":                          WhatIf(short, ""),
		"too few waits to say how well":     Reference(few, ""),
		"reproduces this recording roughly": Reference(fitting(20), ""),
	} {
		if w := words(t, p); !strings.Contains(w, want) {
			t.Errorf("%s: got %q, want %q in it", p.Name, w, want)
		}
	}
	if p := Replayed(replayed(), ""); len(p) != 1 || p[0].Name != "reference" {
		t.Errorf("without variants: %d pictures", len(p))
	}
}

// TestReplayedExtremes draws what is empty, equal, or large.
func TestReplayedExtremes(t *testing.T) {
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("cores=%d,%s", i+1, strings.Repeat("x", i*3))
	}
	zero := replayed("ideal")
	for i := range zero.Outcomes {
		zero.Outcomes[i] = replay.Outcome{Name: "ideal", Runs: 1}
	}
	one := replayed()
	one.All = replay.NewRow("all", distOf(1), []*dist.Dist{distOf(1)})
	few := replayed()
	few.All = replay.NewRow("all", distOf(3), []*dist.Dist{stretchedDist(900, 5)})
	for _, p := range []*Picture{WhatIf(replayed(many...), ""), WhatIf(zero, ""), Reference(one, ""), Reference(few, "")} {
		if a := render(t, p, "png", 30); !bytes.Equal(a, render(t, p, "png", 30)) {
			t.Errorf("%s: different when drawn again", p.Name)
		}
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
