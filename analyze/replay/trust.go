package replay

import (
	"fmt"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/textui"
)

// Limits of what is claimed.
const (
	closeFit = 0.10 // W1 as a part of the mean up to which a trace counts as reproduced
	roughFit = 0.25 // and as roughly so
	farFit   = 0.75 // and up to which something is said with wider intervals
	fewWaits = 100
	farApart = 1.00 // W1 of recordings, as a part of the mean wait, beyond which they are not of one program
	// outside is the part of wakes by timers and from outside beyond which throughput is
	// theirs, not the scheduler's.
	outside = 0.90
	// broken is the part of events, by starts, that may contradict themselves.
	broken = 0.01
)

// Fit grades how well the reference reproduces a trace.
type Fit int

// Fits.
const (
	FitUnknown Fit = iota // too few waits
	FitClose
	FitRough
	FitPoor
)

// String returns the fit as JSON has it.
func (f Fit) String() string { return [...]string{"unknown", "close", "rough", "poor"}[f] }

// Noise measures how much recordings of the same program differ.
type Noise struct {
	Pairs    int     `json:"pairs"`      // of recordings
	W1       Lengths `json:"w1_ns"`      // of pairs
	Relative Range   `json:"w1_of_mean"` // W1 by the mean of all recordings' waits
}

// noiseOf compares recordings whose waits have a mean with each other; nil if there is one only.
func noiseOf(results []*Result, all float64) *Noise {
	var pairs, relative []float64
	for i, a := range results {
		for _, b := range results[:i] {
			if w := W1(a.Measured.Waits, b.Measured.Waits); !math.IsNaN(w) && all > 0 {
				pairs = append(pairs, w)
				relative = append(relative, w/all)
			}
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return &Noise{len(pairs), Lengths(rangeOf(pairs)), rangeOf(relative)}
}

// Alike reports whether the recordings are near enough to each other to be taken for chance: of
// others, being no farther away than they are says nothing.
func (n *Noise) Alike() bool { return n != nil && n.Relative.Mid <= roughFit }

// Fit returns how well the reference reproduces the trace: in view of how far its recordings are from each other, if there are
// several, and of a noise that may be nil.
func (r *Result) Fit(n *Noise) Fit {
	if r.All.Measured.Count < fewWaits || !r.All.Comparable() {
		return FitUnknown
	}
	switch rel := r.All.Relative.Mid; {
	case rel <= closeFit || n.Alike() && r.All.W1.Mid <= 2*n.W1.Mid:
		return FitClose
	case rel <= roughFit:
		return FitRough
	}
	return FitPoor
}

// share returns the part of the wakes whose class is one of those that f picks.
func (r *Result) share(f func(workload.Class) bool) float64 {
	var n, all int64
	for c, k := range r.Wakes {
		all += k
		if f(workload.Class(c)) {
			n += k
		}
	}
	return float64(n) / float64(max(all, 1))
}

// TimeDependent returns the part of the wakes for which another schedule may
// have other edges.
func (r *Result) TimeDependent() float64 { return r.share(workload.Class.TimeDependent) }

// Outside returns the part of the wakes that timers and the outside cause.
func (r *Result) Outside() float64 {
	return r.share(func(c workload.Class) bool { return c == workload.ClassExternal || c == workload.ClassTimer })
}

// Trust limits the claims about variants.
type Trust struct {
	// Refused says why no figure may; usually it is "".
	Refused string
	// NoSpan says why the run time may not be claimed; usually it is "".
	NoSpan string
}

// over writes a part of one that is more than a limit, so that it does not look like it.
func over(share, limit float64) string {
	if s := textui.Percent(share); s != textui.Percent(limit) {
		return s
	}
	return fmt.Sprintf("%.1f%%", share*100)
}

// apart says why recordings are not of the same work under the same conditions, "" if they may be.
func (r *Result) apart() string {
	switch {
	case r.Traces > 1 && r.MinProcs != r.MaxProcs:
		return fmt.Sprintf("the recordings have GOMAXPROCS %d to %d: give those of one", r.MinProcs, r.MaxProcs)
	case r.Noise != nil && r.Noise.Relative.Mid > farApart:
		return fmt.Sprintf("the recordings are %s of the mean wait apart: too far to be of the same work", textui.Percent(r.Noise.Relative.Mid))
	}
	return ""
}

// mostOff returns how far the simulated recording may be from the recorded one for anything to be said of waits, or of
// requests, under the variants: farther if all have intervals with which that was measured, of waits those of a quiet machine.
func (r *Result) mostOff(waits bool) float64 {
	if v := r.options.Variants; len(v) > 0 && !slices.ContainsFunc(v, func(v Variant) bool { return waits && !v.only("quiet") || r.widths(&v).requests == nil }) {
		return farFit
	}
	return roughFit
}

// broken reports whether too much of the trace contradicts itself.
func (r *Result) broken() bool { return float64(r.Inconsistent) > broken*float64(r.Measured.Starts) }

// Trust returns the limits of claims about variants.
func (r *Result) Trust() (t Trust) {
	switch waits := r.All.Measured.Count; {
	case waits < fewWaits:
		t.Refused = fmt.Sprintf("the trace has %s to compare, too few to say what another schedule would do to them (want at least %d): record for longer, or under load",
			textui.Plural(waits, "wait"), fewWaits)
	case r.broken():
		t.Refused = fmt.Sprintf("the trace contradicts itself in %s: too much of it is missing to take the program's work out of it", textui.Plural(r.Inconsistent, "place"))
		t.NoSpan = t.Refused
		return t
	case r.apart() != "":
		t.Refused = r.apart()
	case r.Fit(r.Noise) == FitPoor && r.All.Relative.Mid > r.mostOff(true):
		t.Refused = fmt.Sprintf("simulating the recording itself is off by %s of the mean wait", over(r.All.Relative.Mid, r.mostOff(true)))
	}
	if s := r.Outside(); s > outside {
		t.NoSpan = fmt.Sprintf("%s of the wakes come from timers or from outside of the program: how much work is done per time is decided there", over(s, outside))
	}
	return t
}
