package calibrate

import (
	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/model"
)

// Estimate is one parameter as the trace shows it.
type Estimate struct {
	Name    string // as [Set] takes it
	Field   string // of refsched.Costs
	Help    string // what it is
	Value   model.Duration
	Default model.Duration
	Samples int64
	// Calibrated: Value is from the trace; else it is the default, for want of samples.
	Calibrated bool
	How        string // which samples, and which quantile of them
}

// Estimates returns all parameters in a fixed order.
func (c *Calibrator) Estimates() []Estimate {
	list := make([]Estimate, len(params))
	for i := range params {
		list[i] = c.estimate(&params[i])
	}
	return list
}

func (c *Calibrator) estimate(p *param) Estimate {
	defaults := c.defaults
	e := Estimate{Name: p.name, Field: p.field, Help: p.help, Default: *p.of(&defaults), Samples: c.samples[p.kind].count, How: p.how}
	e.Value, e.Calibrated = c.measured(p.kind)
	if !e.Calibrated {
		e.Value, e.Calibrated = c.derived(p.kind)
	}
	if !e.Calibrated {
		e.Value = e.Default
	}
	return e
}

// measured returns what the samples of this kind say, if there are enough.
func (c *Calibrator) measured(k sampleKind) (model.Duration, bool) {
	p, s := &params[k], &c.samples[k]
	if s.count < c.options.MinSamples {
		return 0, false
	}
	var d model.Duration
	if p.part == middle80 {
		d = s.midMean()
	} else {
		d = s.quantile(p.part, 100)
	}
	return c.less(k, d), true
}

// value returns what is measured, or else the default.
func (c *Calibrator) value(k sampleKind) model.Duration {
	if d, ok := c.measured(k); ok {
		return d
	}
	defaults := c.defaults
	return *params[k].of(&defaults)
}

// derived returns a parameter that another determines: a thief's sleep is 3 us and the timer
// slack (runtime/proc.go: runqgrab).
func (c *Calibrator) derived(k sampleKind) (model.Duration, bool) {
	switch k {
	case ofWake:
		return c.handed.quantile(50, 100), c.handed.count >= c.options.MinSamples
	case ofSlack:
		d, ok := c.measured(ofBackOff)
		return max(0, d-refsched.StealBackOff), ok
	case ofBackOff:
		d, ok := c.measured(ofSlack)
		return d + refsched.StealBackOff, ok
	}
	return 0, false
}

// Costs returns the defaults with all that the trace shows often enough in their
// place.
func (c *Calibrator) Costs() refsched.Costs {
	costs := c.defaults
	for i := range params {
		if e := c.estimate(&params[i]); e.Calibrated {
			*params[i].of(&costs) = e.Value
		}
		if p := &params[i]; p.drawn != nil && c.samples[p.kind].count >= c.options.MinSamples {
			*p.drawn(&costs.Quantiles) = c.quantiles(p.kind)
		}
	}
	return costs
}

// quantiles returns values at the middles of equal parts of the distribution below its 99th
// percentile: i-th at (i+1/2)/NumQuantiles of 99 %. What is longer is a thread
// that the operating system did not let run, which belongs to the recording, not to
// the program.
func (c *Calibrator) quantiles(k sampleKind) []model.Duration {
	q := make([]model.Duration, NumQuantiles)
	for i := range q {
		q[i] = c.less(k, c.samples[k].quantile(int64(2*i+1)*99, 2*NumQuantiles*100))
	}
	return q
}

// less takes off what else is in a sample: before a thief slept it asked everybody
// three times; after it, it took what was there.
func (c *Calibrator) less(k sampleKind, d model.Duration) model.Duration {
	if k != ofBackOff {
		return d
	}
	return max(0, d-c.value(ofSteal)-c.value(ofSpin)*(refsched.StealPasses-1)/refsched.StealPasses)
}
