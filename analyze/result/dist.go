package result

import (
	"fmt"
	"reflect"

	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/hdr"
	"github.com/schedscope/schedscope/model"
)

// Dist is a distribution of lengths of time, percentiles by nearest rank.
type Dist struct {
	Count int64          `json:"count"`    // Number of samples.
	Total model.Duration `json:"total_ns"` // Sum of the samples, in nanoseconds.
	Min   model.Duration `json:"min_ns"`   // The shortest, in nanoseconds; 0 if there are none.
	// Half of the samples are no longer, in nanoseconds; by nearest rank, as the other
	// percentiles.
	P50   model.Duration `json:"p50_ns"`
	P90   model.Duration `json:"p90_ns"`    // 90 % of the samples are no longer, in nanoseconds.
	P99   model.Duration `json:"p99_ns"`    // 99 % of the samples are no longer, in nanoseconds.
	P999  model.Duration `json:"p99_9_ns"`  // 99.9 % of the samples are no longer, in nanoseconds.
	Max   model.Duration `json:"max_ns"`    // The longest, in nanoseconds; always exact.
	MaxAt model.Time     `json:"max_at_ns"` // When the longest was.
	Exact bool           `json:"exact"`     // False: percentiles are within 0.4 %.
	Sketch
}

// Sizes is a distribution of numbers of goroutines.
type Sizes struct {
	Count int64 `json:"count"` // Number of steals.
	Total int64 `json:"total"` // Number of goroutines in all.
	P50   int64 `json:"p50"`   // Median number of goroutines.
	P99   int64 `json:"p99"`   // 99 % of the steals took no more goroutines.
	Max   int64 `json:"max"`   // The greatest number of goroutines.
	Sketch
}

// Bounds is a distribution of upper bounds.
type Bounds struct {
	Count int64          `json:"count"`     // Number of bounds.
	P50   model.Duration `json:"p50_ns"`    // Half of the bounds are no longer, in nanoseconds.
	P90   model.Duration `json:"p90_ns"`    // 90 % of the bounds are no longer, in nanoseconds.
	P99   model.Duration `json:"p99_ns"`    // 99 % of the bounds are no longer, in nanoseconds.
	Max   model.Duration `json:"max_ns"`    // The greatest bound, in nanoseconds.
	MaxAt model.Time     `json:"max_at_ns"` // When the greatest was.
	Sketch
}

// Sketch is the whole distribution, for merging.
type Sketch struct {
	// The distribution itself: an HdrHistogram of 2 significant digits in the V2
	// compressed encoding, base64. Left out if there are fewer than two samples.
	HDR string `json:"hdr,omitempty"`
	// Percentiles are not known, and 0: it was merged with a report without them. Left out
	// if they are known.
	Unknown bool `json:"unknown,omitempty"`

	// Of one of these, HDR and percentiles are set when the report is written. Without, HDR has the values.
	values *dist.Dist // of an analysis
	counts hdr.Packed // of what was merged
}

// NewDist returns the distribution d, which belongs to the result from now on.
func NewDist(d *dist.Dist) Dist {
	v := Dist{Sketch: Sketch{values: d}}
	v.settle()
	return v
}

// NewSizes returns the distribution d of numbers.
func NewSizes(d *dist.Dist) Sizes {
	v := Sizes{Sketch: Sketch{values: d}}
	v.settle()
	return v
}

// NewBounds returns the distribution d of upper bounds.
func NewBounds(d *dist.Dist) Bounds {
	v := Bounds{Sketch: Sketch{values: d}}
	v.settle()
	return v
}

// Values returns the distribution itself, exact or from its histogram; nil if it is not
// known. It must not be changed.
func (d *Dist) Values() *dist.Dist { return load(d) }

// Values is like that of Dist.
func (b *Bounds) Values() *dist.Dist { return load(b) }

// distribution is a Dist, Sizes or Bounds.
type distribution interface {
	sketch() *Sketch
	// extremes returns what is exact whether or not the values are. What is not kept is 0 and taken
	// by nobody, or nil for the least.
	extremes() (count *int64, total, least, greatest *model.Duration, at *model.Time)
	// settle sets all fields from the values.
	settle()
}

func (s *Sketch) sketch() *Sketch { return s }

func (d *Dist) extremes() (count *int64, total, least, greatest *model.Duration, at *model.Time) {
	return &d.Count, &d.Total, &d.Min, &d.Max, &d.MaxAt
}

func (s *Sizes) extremes() (count *int64, total, least, greatest *model.Duration, at *model.Time) {
	return &s.Count, (*model.Duration)(&s.Total), nil, (*model.Duration)(&s.Max), new(model.Time)
}

func (b *Bounds) extremes() (count *int64, total, least, greatest *model.Duration, at *model.Time) {
	return &b.Count, new(model.Duration), nil, &b.Max, &b.MaxAt
}

func (d *Dist) settle() {
	x := d.values
	q := x.Quantiles(0.5, 0.9, 0.99, 0.999)
	d.Count, d.Total, d.Min, d.Max, d.MaxAt, d.Exact = x.Count(), x.Total(), x.Min(), x.Max(), x.MaxAt(), x.Exact()
	d.P50, d.P90, d.P99, d.P999 = q[0], q[1], q[2], q[3]
}

func (s *Sizes) settle() {
	x := s.values
	q := x.Quantiles(0.5, 0.99)
	s.Count, s.Total, s.Max = x.Count(), int64(x.Total()), int64(x.Max())
	s.P50, s.P99 = int64(q[0]), int64(q[1])
}

func (b *Bounds) settle() {
	x := b.values
	q := x.Quantiles(0.5, 0.9, 0.99)
	b.Count, b.Max, b.MaxAt = x.Count(), x.Max(), x.MaxAt()
	b.P50, b.P90, b.P99 = q[0], q[1], q[2]
}

// load returns the values of d, nil if they are not known.
func load(d distribution) *dist.Dist {
	s := d.sketch()
	count, _, _, greatest, at := d.extremes()
	switch {
	case s.values != nil:
		return s.values
	case *count == 0:
		return &dist.Dist{}
	case *count == 1 && s.HDR == "":
		one := &dist.Dist{}
		one.Add(*greatest, *at)
		return one
	}
	p, ok := packed(d)
	if !ok {
		return nil
	}
	h := &hdr.Histogram{}
	h.MergePacked(p)
	return ofHistogram(d, h)
}

// packed returns the counts of d, or that they are not known.
func packed(d distribution) (p hdr.Packed, ok bool) {
	s := d.sketch()
	count, _, _, greatest, _ := d.extremes()
	switch {
	case s.counts.Total > 0:
		return s.counts, true
	case s.values != nil:
		return s.values.Histogram().Pack(), true
	case s.HDR != "":
		p, err := hdr.Unpack(s.HDR)
		return p, err == nil && p.Total == *count // as in all that is read
	case *count == 1:
		h := &hdr.Histogram{}
		h.Add(int64(*greatest), 1)
		return h.Pack(), true
	}
	return p, *count == 0
}

// ofHistogram returns the distribution d, of which h is the histogram.
func ofHistogram(d distribution, h *hdr.Histogram) *dist.Dist {
	_, total, least, greatest, at := d.extremes()
	if least == nil {
		least = new(min(model.Duration(h.At(1)), *greatest))
	}
	return dist.Of(h, *total, *least, *greatest, *at)
}

// check reports whether the histogram is one of so many values.
func check(d distribution) error {
	count, _, _, _, _ := d.extremes()
	s := d.sketch()
	if s.HDR == "" {
		return nil
	}
	p, err := hdr.Unpack(s.HDR)
	if err != nil {
		return err
	}
	if p.Total != *count {
		return fmt.Errorf("histogram: of %d values where the count is %d", p.Total, *count)
	}
	return nil
}

// mergeDist adds the values of from to into, as histograms: what was saved meanwhile makes no
// difference. Percentiles are set by [Complete].
func mergeDist(into, from distribution) {
	count, total, least, greatest, at := into.extremes()
	n, sum, lo, hi, when := from.extremes()
	if *n == 0 {
		return
	}
	if *count == 0 {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from).Elem())
		return
	}
	a, known := packed(into)
	b, ok := packed(from)
	if least != nil {
		*least = min(*least, *lo)
	}
	if *hi > *greatest || *hi == *greatest && *when < *at {
		*at = *when
	}
	*greatest = max(*greatest, *hi)
	add((*int64)(total), int64(*sum))
	add(count, *n)
	*into.sketch() = Sketch{Unknown: true}
	if known && ok {
		*into.sketch() = Sketch{counts: a.Plus(b)}
	}
}

// Complete sets the percentiles and histograms of all distributions that v points to.
func Complete(v any) {
	each(reflect.ValueOf(v), "", func(x reflect.Value, _ string) error {
		d := distOf(x)
		if d == nil {
			return nil
		}
		complete(d)
		return nil
	})
}

// complete is [Complete] of one distribution.
func complete(d distribution) {
	s := d.sketch()
	switch {
	case s.Unknown:
		forget(d)
	case s.counts.Total > 0:
		s.values = load(d)
		d.settle()
		s.HDR, s.values, s.counts = s.counts.Encode(), nil, hdr.Packed{}
	case s.values != nil && s.HDR == "":
		d.settle()
		if s.values.Count() > 1 {
			s.HDR = s.values.Histogram().Encode()
		}
	}
}

// pack is Complete for what is read like a report that was saved: from histograms.
func pack(v any) {
	Complete(v)
	each(reflect.ValueOf(v), "", func(x reflect.Value, _ string) error {
		if d := distOf(x); d != nil {
			d.sketch().values = nil
		}
		return nil
	})
}

// forget sets percentiles to 0: they are not known.
func forget(d distribution) {
	switch d := d.(type) {
	case *Dist:
		d.P50, d.P90, d.P99, d.P999, d.Exact = 0, 0, 0, 0, false
	case *Sizes:
		d.P50, d.P99 = 0, 0
	case *Bounds:
		d.P50, d.P90, d.P99 = 0, 0, 0
	}
}

// distOf returns the distribution that x is, nil if it is none.
func distOf(x reflect.Value) distribution {
	if x.Kind() != reflect.Struct || !isDist(x.Type()) {
		return nil
	}
	return x.Addr().Interface().(distribution)
}

// isDist reports whether t is a distribution and not a struct that embeds one.
func isDist(t reflect.Type) bool {
	return t == reflect.TypeFor[Dist]() || t == reflect.TypeFor[Sizes]() || t == reflect.TypeFor[Bounds]()
}
