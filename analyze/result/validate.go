package result

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Check checks the assumptions of consumers of a report, in addition to [strict.Decode].
func (v *Report) Check() error {
	if len(v.Traces) == 0 {
		return errors.New("it lists no traces")
	}
	if err := each(reflect.ValueOf(v), "", v.checkValue); err != nil {
		return err
	}
	for _, check := range []func(*Report) error{validSeries, validHeat, validCauseSeries, validWaits} {
		if err := check(v); err != nil {
			return err
		}
	}
	return validSpectra(v)
}

// traceFields hold places in the list of traces.
var traceFields = map[string]bool{"trace": true, "min_trace": true, "max_trace": true}

// maxNumber is the greatest integer that JSON readers agree on. No sum of a trace comes near.
const maxNumber = 1 << 53

// checkValue checks one value in v, of a field with that tag in JSON.
func (v *Report) checkValue(x reflect.Value, tag string) error {
	switch x.Kind() {
	case reflect.Struct:
		d := distOf(x)
		if d == nil {
			break
		}
		if x, ok := d.(*Dist); ok && !x.Unknown && !slices.IsSorted([]model.Duration{x.Min, x.P50, x.P90, x.P99, x.P999, x.Max}) {
			return &badValue{"", "has percentiles that fall"}
		}
		if err := check(d); err != nil {
			return &badValue{"", err.Error()}
		}
	case reflect.Int, reflect.Int64:
		switch n, traces := x.Int(), int64(len(v.Traces)); {
		case n > maxNumber:
			return &badValue{"", fmt.Sprintf("is %d, more than 2^53", n)}
		case traceFields[tag] && n >= traces:
			return &badValue{"", fmt.Sprintf("is %d, of %d traces", n, traces)}
		}
	}
	return nil
}

// validTimes checks that n bins are at most as many as there may be, have a width, and end in time.
func validTimes(name string, start model.Time, width model.Duration, n, most int) error {
	switch {
	case n > most:
		return fmt.Errorf("%s has %d bins, more than %d", name, n, most)
	case n > 0 && (width <= 0 || int64(width) > (math.MaxInt64-int64(start))/int64(n)):
		return fmt.Errorf("%s has bins of %d ns from %d ns on", name, width, start)
	}
	return nil
}

func validSeries(v *Report) error {
	s := &v.Series
	n := len(s.Covered)
	if err := validTimes("series", s.Start, s.Width, n, SeriesBins); err != nil {
		return err
	}
	lengths := []int{len(s.Procs), len(s.Runnable), len(s.MaxRunnable), len(s.Heap), len(s.Goal)}
	for _, list := range s.Uses {
		lengths = append(lengths, len(list))
	}
	for _, l := range lengths {
		if l != n {
			return fmt.Errorf("the lists of series have %d and %d bins", n, l)
		}
	}
	return nil
}

// heatRows are more rows than a heat map ever has.
const heatRows = 1000

func validHeat(v *Report) error {
	h := &v.Heat
	if !slices.IsSorted(h.Bounds) || len(h.Bounds) > heatRows {
		return fmt.Errorf("heat.bounds_ns falls, or has more than %d rows", heatRows)
	}
	cols, rows := int64(0), int64(len(h.Bounds))
	for i, cell := range h.Cells {
		if cell[0] >= HeatCols || cell[1] >= rows || cell[2] == 0 {
			return fmt.Errorf("heat.cells[%d] is %v: there are %d columns and %d rows", i, cell, HeatCols, rows)
		}
		cols = max(cols, cell[0]+1)
	}
	return validTimes("heat", h.Start, h.Width, int(cols), HeatCols)
}

func validCauseSeries(v *Report) error {
	s := &v.Causes.Series
	for i := range s.Causes {
		n := len(s.Causes[i].Bins)
		if err := validTimes("causes.series", s.Start, s.Width, n, CauseBins); err != nil {
			return err
		}
		if first := len(s.Causes[0].Bins); n != first {
			return fmt.Errorf("the lists of causes.series have %d and %d bins", first, n)
		}
	}
	return nil
}

func validWaits(v *Report) error {
	for i := range v.WorstWaits {
		if w := &v.WorstWaits[i]; w.Start > w.End || w.Duration != w.End.Sub(w.Start) {
			return fmt.Errorf("worst_waits[%d] is from %d to %d ns and %d ns long", i, w.Start, w.End, w.Duration)
		}
	}
	return nil
}

func validSpectra(v *Report) error {
	for i := range v.Latency.Spectra {
		points := v.Latency.Spectra[i].Points
		for k := 1; k < len(points); k++ {
			if points[k].Q <= points[k-1].Q || points[k].Value < points[k-1].Value {
				return fmt.Errorf("point %d of a spectrum falls", k)
			}
		}
	}
	return nil
}
