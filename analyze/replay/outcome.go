package replay

import (
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Outcome is the predicted effect of a variant.
type Outcome struct {
	Name         string
	Basis        Basis // of figures of waits
	RequestBasis Basis // of those of requests, unless Basis is BasisUnknown
	// Figures, if Basis is not BasisUnknown.
	Figures [NumFigures]Figure
	Waits   Range // simulated
	// Unfinished is how many of Runs did not come to the end of the work. They are left out, unless
	// none did.
	Unfinished, Runs int
	// Refused says why nothing is said of the variant, usually "".
	Refused string
	// Recording says how to record what the variant asks for, "" if that is not possible.
	Recording string

	widths widths
}

// Basis is the evidence for an outcome's figures.
type Basis int

// Bases of outcomes.
const (
	// BasisSpread: the ranges are the spread of the simulation over seeds. How far simulations of
	// such a variant are from the truth has not been measured.
	BasisSpread Basis = iota
	// BasisChecked: the ranges are intervals whose coverage has been measured on recordings. That is so between one proc
	// and two, and of what happens with two on a quiet machine or, to requests, under a quota: see intervals.go.
	BasisChecked
	// BasisUnknown: nothing can be said, see Outcome.Refused.
	BasisUnknown
)

// String returns the basis as JSON has it.
func (b Basis) String() string { return [...]string{"spread", "checked", "unknown"}[b] }

// FigureKind is a figure of a schedule.
type FigureKind int

// Figures of schedules. A median is not among them: waits of most programs are of two kinds, short
// and long, and where as many are of the one as of the other it jumps between them.
const (
	FigureSpan FigureKind = iota // the run time: from the beginning to the end of the last work
	FigureMean                   // of the waits
	FigureP90
	FigureP99
	FigureLong // the part of the waits that take longer than [Long]
	NumFigures
)

// Long is the length from which a wait counts as long.
const Long model.Duration = 10_000

// String returns the figure's name as tables print it.
func (k FigureKind) String() string {
	return [...]string{"run time", "mean", "p90", "p99", ">10µs"}[k]
}

// Figure is a figure of an outcome, in nanoseconds or as a part of one.
type Figure struct {
	// Value is the figure that is to be expected where the recording has the measured one: that,
	// changed as the variant changes the simulation. Its ends are what [Basis] says.
	Value Range
	// Change is by how much Value differs from what was measured, as a part of that: 0.1 is a tenth
	// more. Of FigureLong it is the difference. Lengths below [Floor] count as that.
	Change Range
}

// figures returns the figures of a schedule.
func figures(s *Schedule) []float64 {
	q := s.Waits.Quantiles(0.9, 0.99)
	return []float64{float64(s.Span), mean(s.Waits), float64(q[0]), float64(q[1]), LongPart(s.Waits)}
}

// LongPart returns the part of waits that take longer than [Long].
func LongPart(waits *dist.Dist) float64 {
	return float64(longer(waits, Long)) / float64(max(1, waits.Count()))
}

// longer returns how many take longer than that.
func longer(d *dist.Dist, than model.Duration) (count int64) {
	d.Each(func(v model.Duration, n int64) {
		if v > than {
			count += n
		}
	})
	return count
}

// MeasuredFigures returns the figures of the recording.
func (r *Result) MeasuredFigures() []float64 { return figures(r.Measured) }

// SimulatedFigures returns the figures of the recorded schedule as it was simulated, each that in the middle of all seeds.
func (r *Result) SimulatedFigures() []float64 {
	values := make([][]float64, NumFigures)
	for _, s := range r.totals(0) {
		for k, v := range figures(s) {
			values[k] = append(values[k], v)
		}
	}
	return each(values, func(list []float64) float64 { return rangeOf(list).Mid })
}

// outcomes fills Outcomes.
func (r *Result) outcomes() {
	r.Outcomes = nil
	measured := figures(r.Measured)
	for i := range r.options.Variants {
		v := &r.options.Variants[i]
		o := Outcome{Name: v.Name, Recording: v.Recording()}
		if v.changes("quiet") && r.Outages.Count == 0 && r.Outages.Standstills == 0 {
			o.Basis, o.Refused, o.Recording = BasisUnknown, NoOutages, ""
			r.Outcomes = append(r.Outcomes, o)
			continue
		}
		o.compare(r.totals(1+i), r.totals(0), measured)
		if o.widths = r.widths(v); o.widths.waits != nil {
			o.Basis = BasisChecked
			o.widen([NumFigures]float64(measured), r.All)
		}
		if o.widths.requests != nil {
			o.RequestBasis = BasisChecked
		}
		r.Outcomes = append(r.Outcomes, o)
	}
}

// NoOutages is the reason why a quiet machine has no figures.
const NoOutages = "the trace does not show that the operating system ran anything else on the program's threads"

// Finished reports whether any simulation came to the end of the work.
func (o *Outcome) Finished() bool { return o.Unfinished < o.Runs }

// compare sets the figures from the variant's schedules and those of the baseline, seed by seed.
func (o *Outcome) compare(runs, base []*Schedule, measured []float64) {
	o.Runs = len(runs)
	for i, s := range runs {
		if !s.Finished() || !base[i].Finished() {
			o.Unfinished++
		}
	}
	var waits []float64
	for i, s := range runs {
		if o.counts(s, base[i]) {
			waits = append(waits, float64(s.Waits.Count()))
		}
	}
	o.Waits = rangeOf(waits)
	for k, value := range o.expected(runs, base, measured, int(FigureP99), figures) {
		o.Figures[k] = newFigure(FigureKind(k), value, measured[k])
	}
}

// counts reports whether a simulation is not left out.
func (o *Outcome) counts(s, base *Schedule) bool {
	return !o.Finished() || s.Finished() && base.Finished()
}

// expected returns the figures that are to be expected, of which the one before p99 is a lower percentile: those
// measured, changed as the variant changes the simulation.
func (o *Outcome) expected(runs, base []*Schedule, measured []float64, p99 int, of func(*Schedule) []float64) []Range {
	values := make([][]float64, len(measured))
	for i, s := range runs {
		if !o.counts(s, base[i]) {
			continue
		}
		was := of(base[i])
		for k, v := range of(s) {
			value := textui.Either(FigureKind(k) == FigureLong, min(1, max(0, measured[k]+v-was[k])), measured[k]*floored(v)/floored(was[k]))
			values[k] = append(values[k], value)
		}
		// Each is scaled by itself, where a p99 may shrink more than a lower one.
		last := len(values[p99]) - 1
		values[p99][last] = max(values[p99][last], values[p99-1][last])
	}
	return each(values, rangeOf)
}

// newFigure returns a figure with its change against the measured one.
func newFigure(k FigureKind, value Range, measured float64) Figure {
	change := func(v float64) float64 {
		if k == FigureLong {
			return v - measured
		}
		return floored(v)/floored(measured) - 1
	}
	return Figure{value, Range{change(value.Mid), change(value.Low), change(value.High)}}
}

// floored returns a length of time that counts as [Floor] at least.
func floored(ns float64) float64 { return max(ns, float64(Floor)) }
