package chart

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/internal/textui"
)

// Replayed returns the pictures of a replayed trace: "reference", and "what-if" if
// variants were simulated. The latter is the first then.
func Replayed(r *replay.Result, source string) []*Picture {
	ref := Reference(r, source)
	if len(r.Outcomes) == 0 {
		return []*Picture{ref}
	}
	return []*Picture{WhatIf(r, source), ref}
}

// Reference returns the percentile spectrum of measured and of simulated latency, the area
// between them shaded. It says in words how well they fit.
func Reference(r *replay.Result, source string) *Picture {
	measured, simulated := r.All.Measured, r.All.Simulated()
	subtitle := fmt.Sprintf("%s in %s, %s", textui.Plural(measured.Count(), "wait"), durationLabel(float64(r.Length)), textui.Plural(r.MinProcs, "proc"))
	if source != "" {
		subtitle = printable(source) + ": " + subtitle
	}
	missing := ""
	// The waits of all seeds together are shown as if they were as many as measured: what
	// those do not reach is not.
	n := min(measured.Count(), simulated.Count())
	if n == 0 {
		missing = "there are no waits to compare"
	}
	s := compareCurves(newCurve("measured", blue, measured.Count(), measured), newCurve("reference", vermil, n, simulated), n, measured, simulated)
	s.legend = []entry{{name: "measured", col: blue, mark: markLine}, {name: "reference", col: vermil, mark: markDash},
		{name: "measured is longer", col: longer}, {name: "reference is longer", col: shorter}}
	return newPicture("reference", "Scheduling latency, measured and under the reference", subtitle, 414, missing,
		func(c canvas) { s.draw(c.caption(fitWords(r))) })
}

// fitWords says how well the reference reproduces the recording.
func fitWords(r *replay.Result) string {
	fit := r.Fit(r.Noise)
	if fit == replay.FitUnknown {
		return "too few waits to say how well the reference reproduces this recording"
	}
	rel, how := r.All.Relative(), "closely"
	if r.Fit(nil) != replay.FitClose {
		how = "as closely as recordings do each other"
	}
	s := map[replay.Fit]string{
		replay.FitClose: "the reference reproduces this recording " + how, replay.FitRough: "the reference reproduces this recording roughly",
		replay.FitPoor: "the reference does not reproduce this recording",
	}[fit] + fmt.Sprintf(": off by %s on average (W1), %s of the mean wait", durationLabel(r.All.W1.Mid), shortPercent(rel.Mid))
	if lo, hi := shortPercent(rel.Low), shortPercent(rel.High); lo != hi {
		s += fmt.Sprintf("; %s to %s over %s", lo, hi, textui.Plural(r.Seeds, "seed"))
	}
	return s
}

// shortPercent writes a part of one for a picture.
func shortPercent(share float64) string {
	if share < 1 {
		return textui.Percent(share)
	}
	return three(share*100) + "%"
}
