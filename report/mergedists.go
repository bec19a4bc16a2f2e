package report

import (
	"fmt"
	"reflect"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/hdr"
	"github.com/schedscope/schedscope/model"
)

// merge adds o.
func (d *V1Dist) merge(o *V1Dist) {
	if o.Count == 0 {
		return
	}
	if d.Count == 0 {
		*d = *o
		return
	}
	d.join(&o.V1Sketch)
	if o.Max > d.Max || o.Max == d.Max && o.MaxAt < d.MaxAt {
		d.Max, d.MaxAt = o.Max, o.MaxAt
	}
	d.Min = min(d.Min, o.Min)
	d.Count += o.Count
	d.Total += o.Total
	d.Exact = false
}

func (s *V1Sizes) merge(o *V1Sizes) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = *o
		return
	}
	s.join(&o.V1Sketch)
	s.Max = max(s.Max, o.Max)
	s.Count += o.Count
	s.Total += o.Total
}

func (b *V1Bounds) merge(o *V1Bounds) {
	if o.Count == 0 {
		return
	}
	if b.Count == 0 {
		*b = *o
		return
	}
	b.join(&o.V1Sketch)
	if o.Max > b.Max || o.Max == b.Max && o.MaxAt < b.MaxAt {
		b.Max, b.MaxAt = o.Max, o.MaxAt
	}
	b.Count += o.Count
}

// join adds the values of o. Both have some.
func (s *V1Sketch) join(o *V1Sketch) {
	if !s.whole || !o.whole {
		*s = V1Sketch{Unknown: true}
		return
	}
	if s.merged == nil {
		s.merged = &hdr.Histogram{}
		s.merged.MergePacked(s.packed)
	}
	s.merged.MergePacked(o.packed)
}

// unpack prepares the values of a distribution for being joined.
func (s *V1Sketch) unpack(count, greatest int64) error {
	switch {
	case s.HDR != "":
		p, err := hdr.Unpack(s.HDR)
		if err != nil {
			return err
		}
		if p.Total != count {
			return fmt.Errorf("histogram: of %d values where the count is %d", p.Total, count)
		}
		s.whole, s.packed = true, p
	case count == 1:
		s.whole, s.packed = true, hdr.Pack(greatest)
	}
	return nil
}

// forget gives up what unpack and join keep.
func (s *V1Sketch) forget() { s.whole, s.packed, s.merged = false, hdr.Packed{}, nil }

// unknownLeast stands for the least value where it is not kept: that of its bucket is taken.
const unknownLeast = -1

// dist returns the distribution that was merged, nil if there is none.
func (s *V1Sketch) dist(total, least, greatest, maxAt int64) *analyze.Dist {
	if s.merged == nil {
		return nil
	}
	if least == unknownLeast {
		least = min(s.merged.Least(), greatest)
	}
	return analyze.DistOf(s.merged, model.Duration(total), model.Duration(least), model.Duration(greatest), model.Time(maxAt))
}

func (d *V1Dist) dist() *analyze.Dist { return d.V1Sketch.dist(d.Total, d.Min, d.Max, d.MaxAt) }

// seal sets percentiles and the histogram of what was merged.
func (d *V1Dist) seal() {
	if x := d.dist(); x != nil {
		*d = v1Dist(x)
	} else if d.Unknown {
		d.P50, d.P90, d.P99, d.P999 = 0, 0, 0, 0
	}
	d.forget()
}

func (s *V1Sizes) seal() {
	if x := s.dist(s.Total, unknownLeast, s.Max, 0); x != nil {
		*s = v1Sizes(x)
	} else if s.Unknown {
		s.P50, s.P99 = 0, 0
	}
	s.forget()
}

func (b *V1Bounds) seal() {
	if x := b.dist(0, unknownLeast, b.Max, b.MaxAt); x != nil {
		*b = v1Bounds(x)
	} else if b.Unknown {
		b.P50, b.P90, b.P99 = 0, 0, 0
	}
	b.forget()
}

// unpackAll prepares all distributions of a report. After an error it is not to be merged.
func unpackAll(v *V1) error {
	return eachDist(reflect.ValueOf(v).Elem(), func(x any) error {
		switch x := x.(type) {
		case *V1Dist:
			return x.unpack(x.Count, x.Max)
		case *V1Sizes:
			return x.unpack(x.Count, x.Max)
		case *V1Bounds:
			return x.unpack(x.Count, x.Max)
		}
		return nil
	})
}

// sealAll completes all distributions of a merged report.
func sealAll(v *V1) {
	eachDist(reflect.ValueOf(v).Elem(), func(x any) error {
		x.(interface{ seal() }).seal()
		return nil
	})
}

// forgetAll undoes unpackAll.
func forgetAll(v *V1) {
	eachDist(reflect.ValueOf(v).Elem(), func(x any) error {
		x.(interface{ forget() }).forget()
		return nil
	})
}

// eachDist calls f with each *V1Dist, *V1Sizes and *V1Bounds in v, until one fails.
func eachDist(v reflect.Value, f func(any) error) error {
	switch v.Kind() {
	case reflect.Struct:
		switch v.Type() {
		case reflect.TypeFor[V1Dist](), reflect.TypeFor[V1Sizes](), reflect.TypeFor[V1Bounds]():
			return f(v.Addr().Interface())
		}
		for i := range v.NumField() {
			if err := eachDist(v.Field(i), f); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct {
			return nil
		}
		for i := range v.Len() {
			if err := eachDist(v.Index(i), f); err != nil {
				return err
			}
		}
	}
	return nil
}

// mergedSpectra draws the spectra of what was merged anew.
func mergedSpectra(l *V1Latency) {
	for i := range l.Spectra {
		s := &l.Spectra[i]
		d := &l.All
		if s.Name != "all" {
			d = namedDist(l.ByOrigin, s.Name)
		}
		switch {
		case d == nil:
		case d.Unknown:
			s.Points = []V1Quantile{}
		default:
			if x := d.dist(); x != nil {
				*s = v1Spectrum(s.Name, x)
			}
		}
	}
}

// namedDist returns the distribution of that name, nil if there is none.
func namedDist(list []V1Named, name string) *V1Dist {
	for i := range list {
		if list[i].Name == name {
			return &list[i].V1Dist
		}
	}
	return nil
}

// mergeNamed merges distributions by name.
func mergeNamed(into *[]V1Named, from []V1Named) {
	mergeList(into, from, func(n *V1Named) string { return n.Name }, func(n *V1Named) { n.Name = analyze.OtherNames },
		func(into, from *V1Named) { into.V1Dist.merge(&from.V1Dist) })
}

// mergeList adds each entry of from to that of the same key, or as it is if there is
// none. Beyond the limit of names it is made other first, if other is not nil.
func mergeList[T any, K comparable](into *[]T, from []T, key func(*T) K, other func(*T), merge func(into, from *T)) {
	if len(from) == 0 {
		return
	}
	index := make(map[K]int, len(*into)+len(from))
	for i := range *into {
		index[key(&(*into)[i])] = i
	}
	for i := range from {
		x := &from[i]
		at, ok := index[key(x)]
		if !ok && other != nil && len(*into) >= maxMergedNames {
			other(x)
			at, ok = index[key(x)]
		}
		if ok {
			merge(&(*into)[at], x)
			continue
		}
		index[key(x)] = len(*into)
		*into = append(*into, *x)
	}
}

func (t *V1Tally) merge(o *V1Tally) {
	if o.Count == 0 {
		return
	}
	if t.Count == 0 || o.Max > t.Max {
		t.Max, t.MaxAt = o.Max, o.MaxAt
	}
	t.Count += o.Count
	t.Total += o.Total
}

func (c *V1Censored) merge(o *V1Censored) {
	c.AtStart.merge(&o.AtStart)
	c.AtEnd.merge(&o.AtEnd)
}
