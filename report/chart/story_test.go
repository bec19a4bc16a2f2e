package chart

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/vg"
)

// sliceOf makes an interval of a proc's history.
func sliceOf(start, end model.Time, use result.Use, g model.GoID) slice {
	s := slice{start: start, end: end, use: use, g: g, fn: fmt.Sprintf("main.f%d", g)}
	s.uses[use] = end.Sub(start)
	if g != model.NoGoroutine {
		s.gTime = end.Sub(start)
	}
	return s
}

// waitOn returns a wait of goroutine 7 from 1000 to 3000 on these procs.
func waitOn(procs ...procHistory) *history {
	return &history{procs: procs, uses: result.Uses{result.UseUser: 1500, result.UseGC: 1400, result.UseIdle: 600},
		ran: map[model.GoID]*result.Uses{9: {result.UseGC: 1500}, 5: {result.UseUser: 1200}},
		wait: &result.Wait{
			Goroutine: 7, Function: "main.waiter", Origin: model.OriginGoroutine.String(), Start: 1000, End: 3000, Duration: 2000,
			Waker: 3, WakerFunction: "a/b/main.waker", ReadiedOn: 0, RanOn: 1,
		}}
}

func TestStoryBars(t *testing.T) {
	none := model.NoGoroutine
	x := waitOn(
		procHistory{p: 0, slices: []slice{sliceOf(900, 1100, result.UseSyscall, 5), sliceOf(1100, 2300, result.UseUser, 5), sliceOf(2400, 3000, result.UseIdle, none), sliceOf(3000, 3250, result.UseUser, 8)}},
		procHistory{p: 1, slices: []slice{sliceOf(750, 3000, result.UseGC, 9), sliceOf(3000, 3250, result.UseUser, 7)}},
	)
	s := x.story()
	want := []string{
		"-250 -100 unknown", "-100 100 in syscalls", "100 1300 ran instead", "1300 1400 unknown", "1400 2000 idle", "2000 2250 user code",
		"-250 2000 GC", "2000 2250 the waiting goroutine",
	}
	var got []string
	for _, l := range s.lanes {
		for _, b := range l.bars {
			got = append(got, fmt.Sprintf("%g %g %s", b.start, b.end, occupations[b.occ].name))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("bars:\n got %q\nwant %q", got, want)
	}
	if s.from != 0 || s.to != 1 || s.length != 2000 || s.lo != -250 || s.hi != 2250 {
		t.Errorf("got from %d to %d, length %g, shown %g to %g", s.from, s.to, s.length, s.lo, s.hi)
	}
	facts := map[string]string{}
	for _, f := range s.facts {
		facts[f.name] = f.value
	}
	for name, want := range map[string]string{
		"WAITED": "2µs", "FUNCTION": "main.waiter", "BECAME RUNNABLE": "readied by goroutine 3, main.waker",
		"BECAME READY ON": "P0 at 1.00000µs", "RAN ON": "P1 at 3.00000µs", "PROCS MEANWHILE": "user code 43%",
	} {
		if facts[name] != want {
			t.Errorf("%s: got %q, want %q", name, facts[name], want)
		}
	}
}

func TestStoryWithoutHistory(t *testing.T) {
	x := waitOn()
	w := x.wait
	w.ReadiedOn, w.RanOn, w.Waker, w.Origin, x.ran = model.NoProc, model.NoProc, model.NoGoroutine, model.NumOrigins.String(), nil
	s := x.story()
	if s.from != -1 || s.to != -1 || len(s.lanes) != 0 {
		t.Errorf("got from %d to %d with %d lanes", s.from, s.to, len(s.lanes))
	}
	if got, want := s.facts[2].value, "made runnable in an unknown way"; got != want {
		t.Errorf("origin: got %q, want %q", got, want)
	}
}

func TestJoinedParts(t *testing.T) {
	j := slice{start: 0, end: 1000, use: result.UseUser, g: 5, gTime: 300, joined: true,
		uses: result.Uses{result.UseUser: 500, result.UseIdle: 250, result.UseGC: 100, result.UseAssist: 150}}
	b := barOf(&result.Wait{Goroutine: 7}, &j, 5)
	for o, want := range map[occupation]float64{occUser: 0.2, occMarked: 0.3, occupation(result.UseIdle): 0.25, occupation(result.UseGC): 0.1, occupation(result.UseAssist): 0.15} {
		if math.Abs(b.parts[o]-want) > 1e-12 {
			t.Errorf("%s: got %g, want %g", occupations[o].name, b.parts[o], want)
		}
	}
}

// TestColumns checks that a lane whose bars cover it fills each column exactly.
func TestColumns(t *testing.T) {
	l := lane{procs: 1}
	for i := range 97 {
		b := bar{start: float64(i), end: float64(i + 1)}
		b.parts[i%int(numOccupations)] = 1
		l.bars = append(l.bars, b)
	}
	for w := 1; w < 300; w += 13 {
		for i, c := range l.columns(axis{min: 0, max: 97}, w) {
			sum := 0.0
			for _, s := range c {
				sum += s
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%d columns: column %d is covered %g times", w, i, sum)
			}
		}
	}
}

func TestCompact(t *testing.T) {
	lanes := func(n int, busy ...int) []lane {
		ls := make([]lane, n)
		for i := range ls {
			ls[i] = lane{name: fmt.Sprintf("P%d", i), procs: 1, bars: []bar{{start: 0, end: 1, occ: occupation(result.UseIdle)}}}
		}
		for _, i := range busy {
			ls[i].bars[0].occ = occUser
		}
		return ls
	}
	for _, tt := range []struct {
		name     string
		lanes    []lane
		from, to int
		wantLen  int
		wantFrom string
		wantTo   string
	}{
		{"all busy", lanes(3, 0, 1, 2), 0, 2, 3, "P0", "P2"},
		{"one idle stays", lanes(3, 0, 2), 0, 2, 3, "P0", "P2"},
		{"idle joined", lanes(64, 10, 63), 10, 63, 4, "P10", "P63"},
		{"too many although idle ones are joined", lanes(192, seq(128)...), 5, 127, 64, "P3–P5", "P126–P128"},
		{"grouped", lanes(128, seq(128)...), 5, 127, 64, "P4–P5", "P126–P127"},
	} {
		s := story{lanes: tt.lanes, from: tt.from, to: tt.to}
		s.compact()
		if len(s.lanes) != tt.wantLen || s.lanes[s.from].name != tt.wantFrom || s.lanes[s.to].name != tt.wantTo {
			t.Errorf("%s: %d lanes from %s to %s, want %d, %s, %s", tt.name, len(s.lanes), s.lanes[s.from].name, s.lanes[s.to].name, tt.wantLen, tt.wantFrom, tt.wantTo)
		}
	}
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestShrink(t *testing.T) {
	widths := []vg.Length{100, 300, 50}
	shrink(widths, 250)
	if want := []vg.Length{100, 100, 50}; !slices.Equal(widths, want) {
		t.Errorf("got %v, want %v", widths, want)
	}
}
