package chart

import (
	"image/color"
	"math"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"gonum.org/v1/plot/vg"
)

// causeGroup is what a picture tells apart of causes: more than ten colours
// cannot be told apart.
type causeGroup uint8

const (
	groupGoroutine causeGroup = iota
	groupSyscall
	groupGC
	groupRuntime
	groupStopped
	groupWaking
	groupIdle
	groupScheduler
	groupOS
	groupUnresolved
	numCauseGroups
)

// causeGroups are the names and colours: those of what a proc does (see
// occupations) where a goroutine waits for it to be done, others elsewhere.
var causeGroups = [numCauseGroups]struct {
	name string
	col  color.NRGBA
}{
	groupGoroutine:  {"behind goroutines", blue},
	groupSyscall:    {"proc held by syscall", purple},
	groupGC:         {"behind GC", orange},
	groupRuntime:    {"behind the runtime", sky},
	groupStopped:    {"stop-the-world", slate},
	groupWaking:     {"waking an idle proc", lime},
	groupIdle:       {"idle proc not used", vermil},
	groupScheduler:  {"the scheduler itself", color.NRGBA{0xB9, 0xC6, 0xD0, 0xff}},
	groupOS:         {"OS (suspected)", yellow},
	groupUnresolved: {"unresolved", brown},
}

// groupOf returns the group of a cause.
func groupOf(c result.Cause) causeGroup {
	switch {
	case c.Suspected():
		return groupOS
	case c.IdleProc():
		return groupIdle
	}
	switch c {
	case result.CauseGoroutine:
		return groupGoroutine
	case result.CauseSyscall:
		return groupSyscall
	case result.CauseGCDedicated, result.CauseGCFractional, result.CauseGCIdle, result.CauseAssist:
		return groupGC
	case result.CauseRuntime:
		return groupRuntime
	case result.CauseSTW:
		return groupStopped
	case result.CauseWaking:
		return groupWaking
	case result.CausePickup, result.CauseBackoff, result.CauseSearching, result.CauseSwitching:
		return groupScheduler
	}
	return groupUnresolved
}

// lostTime is what the picture of causes shows: goroutines waiting over time, by
// group, those that occur.
type lostTime struct {
	start, span float64 // of the time axis, in ns
	bands       []band
	shares      []float64 // of all waiting, for each band
	notice      string    // why there is nothing to show, "" if there is
	missing     string    // why the causes are not known, "" if they are
	traces      int
}

// Causes returns the picture that shows over time to what the time of waiting
// goroutines was lost.
func Causes(r *analyze.Report, source string) *Picture {
	return newCauses("Scheduling latency by cause", summary(r, source), lostTimeOf(r))
}

// lostTimeOf copies what the picture needs.
func lostTimeOf(r *analyze.Report) lostTime {
	t := timelineOf(r)
	x := lostTime{start: t.start, span: t.span, traces: r.Totals.Traces}
	switch {
	case t.waits == 0:
		x.notice = noWaits
		return x
	case r.Causes.Total == 0:
		x.missing = printable(r.Causes.Refused)
		x.notice = "not known: " + x.missing
		return x
	}
	s := r.Causes.Series()
	for g := range numCauseGroups {
		b := band{name: causeGroups[g].name, col: causeGroups[g].col,
			height: series{x0: float64(s.Start), dx: float64(s.Width), v: make([]float64, len(s.Bins))}}
		sum := 0.0
		for i := range s.Bins {
			for c, d := range s.Bins[i] {
				if groupOf(result.Cause(c)) == g {
					b.height.v[i] += float64(d) / float64(s.Width)
					sum += float64(d)
				}
			}
		}
		if sum > 0 {
			x.bands = append(x.bands, b)
			x.shares = append(x.shares, sum/float64(r.Causes.Total))
		}
	}
	return x
}

// newCauses returns the picture of lost time.
func newCauses(title, subtitle string, x lostTime) *Picture {
	p := &Picture{Name: "causes", Title: title, Missing: x.missing, width: 760, height: 440}
	p.draw = func(c canvas) {
		c = c.page(title, subtitle)
		if x.notice != "" {
			c.notice(x.notice)
			return
		}
		c = c.inset(0, 0, 0, c.legendRows(x.legend()))
		end := x.start + x.span
		clock := "time since the beginning of the trace"
		if x.traces > 1 {
			clock = "time since the beginning of each trace"
		}
		c.drawPanels(axis{x.start, end, linearTicks(x.start, end, int(c.width()/70), clockLabel)}, clock, 0,
			[]panel{x.heightPanel(), x.sharePanel()})
	}
	return p
}

// legend returns an entry for each band, with its share of all waiting.
func (x lostTime) legend() []entry {
	var es []entry
	for i, b := range x.bands {
		es = append(es, entry{name: b.name + " " + textui.Percent(x.shares[i]), col: b.col})
	}
	return es
}

// legendRows writes entries in as many lines as they need at the canvas' top and
// returns how high those are.
func (c canvas) legendRows(es []entry) vg.Length {
	const pitch = 13
	height := vg.Length(2)
	for len(es) > 0 {
		n := 1
		for n < len(es) && legendWidth(es[:n+1]) <= c.width() {
			n++
		}
		height += pitch
		c.legend(c.Min.X, c.Max.Y-height+4, es[:n])
		es = es[n:]
	}
	return height + 4
}

// heightPanel shows how many goroutines waited.
func (x lostTime) heightPanel() panel {
	top := 0.0
	for i := range x.bands[0].height.v {
		sum := 0.0
		for _, b := range x.bands {
			sum += b.height.v[i]
		}
		top = max(top, sum)
	}
	top = max(top*1.05, 1)
	note := "mean number, by cause"
	if x.traces > 1 {
		note = "sum over all traces of their mean number, by cause"
	}
	return panel{
		heading: "Goroutines waiting to run",
		note:    note,
		weight:  3,
		y:       func(h vg.Length) axis { return axis{0, top, wholeTicks(top, int(h/18))} },
		draw:    func(f frame) { drawBands(f, x.bands) },
	}
}

// sharePanel shows the same as parts of a whole.
func (x lostTime) sharePanel() panel {
	ticks := []tick{{at: 0, label: "0%"}, {at: 0.5, label: "50%"}, {at: 1, label: "100%"}}
	return panel{
		heading: "Share of the waiting",
		note:    "at that time, however little it was",
		weight:  2,
		y:       func(vg.Length) axis { return axis{0, 1, ticks} },
		draw:    func(f frame) { drawBands(f, x.parts(f.x, f.pixels(f.width()))) },
	}
}

// parts returns the bands over n equal parts of an axis as shares of their sum
// there, so that time without waiting does not count.
func (x lostTime) parts(a axis, n int) []band {
	sum := make([]float64, n)
	out := make([]band, len(x.bands))
	for i, b := range x.bands {
		out[i] = band{b.name, b.col, series{a.min, (a.max - a.min) / float64(n), b.height.means(a, n)}}
		for k, v := range out[i].height.v {
			sum[k] += v
		}
	}
	for i := range out {
		for k := range out[i].height.v {
			if sum[k] > 0 {
				out[i].height.v[k] = math.Min(out[i].height.v[k]/sum[k], 1)
			}
		}
	}
	return out
}
