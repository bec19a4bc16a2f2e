package replay

// Outcome is what became of the work under a variant.
type Outcome struct {
	Name    string // "" of the baseline
	Range   string // see [Variant]
	Procs   int    // GOMAXPROCS if the variant sets it, else 0
	Waits   Range  // how many
	Figures [NumFigures]Figure
	// Throughput is the work done per time, as a part of the baseline's: the same work, so
	// the baseline's span by this one's.
	Throughput Range
	Span       Range // ns
	// Unfinished is how many of Runs did not come to the end of the work. They are left out, unless
	// none did; then there is no throughput.
	Unfinished, Runs int
}

// FigureKind is a figure of latency.
type FigureKind int

// Figures of latency.
const (
	FigureP50 FigureKind = iota
	FigureP90
	FigureP99
	FigureMean
	NumFigures
)

// String returns the figure's name as tables print it.
func (k FigureKind) String() string { return [...]string{"p50", "p90", "p99", "mean"}[k] }

// Figure is a figure of latency over all seeds.
type Figure struct {
	Value Range // ns
	// Change is by how much it differs from the baseline with the same seed and way, as a
	// part of that: 0.1 is a tenth more. Lengths below [Floor] count as that.
	Change Range
}

// figures returns the figures of a schedule.
func figures(s *Schedule) [NumFigures]float64 {
	var f [NumFigures]float64
	for i, q := range s.Waits.Quantiles(Quantiles[:]...) {
		f[i] = float64(q)
	}
	f[FigureMean] = mean(s.Waits)
	return f
}

// outcomes fills Outcomes.
func (r *Result) outcomes() {
	base := kindOf(r.runs, runBase, nil)
	if len(base) == 0 {
		return
	}
	baseFigures := each(base, figures)
	r.Outcomes = []Outcome{newOutcome(base, base, baseFigures)}
	for i := range r.variants {
		v := &r.variants[i]
		if v.Bound {
			continue
		}
		o := newOutcome(kindOf(r.runs, runVariant, v), base, baseFigures)
		o.Name, o.Range, o.Procs = v.Name, v.Range, v.Procs()
		r.Outcomes = append(r.Outcomes, o)
	}
}

// Finished reports whether any simulation came to the end of the work.
func (o *Outcome) Finished() bool { return o.Unfinished < o.Runs }

// newOutcome compares a variant's schedules with those of the baseline, run by run.
func newOutcome(runs, base []*Schedule, baseFigures [][NumFigures]float64) Outcome {
	o := Outcome{Runs: len(runs)}
	var throughput, span, waits []float64
	var values, changes [NumFigures][]float64
	finished := func(i int) bool { return runs[i].Finished() && base[i].Finished() }
	for i := range runs {
		if !finished(i) {
			o.Unfinished++
		}
	}
	for i, s := range runs {
		if o.Finished() && !finished(i) {
			continue
		}
		for k, v := range figures(s) {
			values[k] = append(values[k], v)
			changes[k] = append(changes[k], relative(v, baseFigures[i][k]))
		}
		waits = append(waits, float64(s.Waits.Count()))
		span = append(span, float64(s.Span))
		if s.Span > 0 {
			throughput = append(throughput, float64(base[i].Span)/float64(s.Span))
		}
	}
	for k := range o.Figures {
		o.Figures[k] = Figure{rangeOf(values[k]), rangeOf(changes[k])}
	}
	o.Waits, o.Throughput, o.Span = rangeOf(waits), rangeOf(throughput), rangeOf(span)
	return o
}

// relative returns by which part a value differs from another.
func relative(v, base float64) float64 {
	v, base = max(v, float64(Floor)), max(base, float64(Floor))
	return v/base - 1
}
