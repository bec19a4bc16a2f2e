package report

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// validate checks what those who show a report rely on, and makes lists that are not
// there empty.
func validate(v *V1) error {
	if len(v.Traces) == 0 {
		return errors.New("it is of no trace")
	}
	c := numbers{traces: int64(len(v.Traces))}
	if err := c.value(reflect.ValueOf(v).Elem(), "", false); err != nil {
		return err
	}
	for _, check := range []func(*V1) error{validSeries, validHeat, validCauseSeries, validWaits} {
		if err := check(v); err != nil {
			return err
		}
	}
	return validSpectra(v)
}

// orNone are the numbers that are -1 where there is none.
var orNone = map[string]bool{
	"size_bytes": true, "goroutine": true, "worst_goroutine": true, "waker": true, "proc": true, "readied_on_proc": true, "ran_on_proc": true,
}

// traceFields hold places in the list of traces.
var traceFields = map[string]bool{"trace": true, "min_trace": true, "max_trace": true}

// shareFields are between 0 and 1.
var shareFields = map[string]bool{"share": true, "q": true, "utilisation": true}

// numbers checks numbers by the names of their fields.
type numbers struct{ traces int64 }

// badValue is a value that cannot be, and where it stands: "latency.by_origin[2].count".
type badValue struct{ path, text string }

func (e *badValue) Error() string { return strings.TrimPrefix(e.path, ".") + " " + e.text }

// within puts the place of err in front of that within it.
func within(place string, err error) error {
	var bad *badValue
	if errors.As(err, &bad) {
		bad.path = place + bad.path
	}
	return err
}

// value checks v, which is of a field of that name, and all that is in it. Lists that are
// nil become empty, unless keepNil.
func (c *numbers) value(v reflect.Value, name string, keepNil bool) error {
	switch v.Kind() {
	case reflect.Struct:
		return c.fields(v)
	case reflect.Pointer:
		if !v.IsNil() {
			return c.value(v.Elem(), name, false)
		}
	case reflect.Slice:
		if v.IsNil() && !keepNil {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		return c.elements(v, name)
	case reflect.Array:
		return c.elements(v, name)
	case reflect.Int, reflect.Int64:
		return c.integer(v.Int(), name)
	case reflect.Float64:
		return c.float(v.Float(), name)
	}
	return nil
}

func (c *numbers) fields(v reflect.Value) error {
	if v.Type() == distType {
		d := v.Addr().Interface().(*V1Dist)
		if !d.Unknown && !ordered(d.Min, d.P50, d.P90, d.P99, d.P999, d.Max) {
			return &badValue{"", "has percentiles that fall"}
		}
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		place := "." + name
		if field.Anonymous {
			place = ""
		}
		if err := c.value(v.Field(i), name, options == "omitempty"); err != nil {
			return within(place, err)
		}
	}
	return nil
}

var distType = reflect.TypeFor[V1Dist]()

func ordered(list ...int64) bool {
	for i := 1; i < len(list); i++ {
		if list[i] < list[i-1] {
			return false
		}
	}
	return true
}

func (c *numbers) elements(v reflect.Value, name string) error {
	for i := range v.Len() {
		if err := c.value(v.Index(i), name, false); err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

func (c *numbers) integer(n int64, name string) error {
	switch {
	case n < -1, n < 0 && !orNone[name]:
		return &badValue{"", fmt.Sprintf("is %d", n)}
	case traceFields[name] && n >= c.traces:
		return &badValue{"", fmt.Sprintf("is %d, of %d traces", n, c.traces)}
	}
	return nil
}

func (c *numbers) float(x float64, name string) error {
	// Evidence may be of any kind. What else there is are means of integers.
	if name != "value" && (x < 0 || x > math.MaxInt64) || shareFields[name] && x > 1 {
		return &badValue{"", fmt.Sprintf("is %v", x)}
	}
	return nil
}

// validTimes checks that n bins are no more than the most, have a width, and end in time.
func validTimes(name string, start, width int64, n, most int) error {
	switch {
	case n > most:
		return fmt.Errorf("%s has %d bins, more than %d", name, n, most)
	case n > 0 && (width <= 0 || width > (math.MaxInt64-start)/int64(n)):
		return fmt.Errorf("%s has bins of %d ns from %d ns on", name, width, start)
	}
	return nil
}

func validSeries(v *V1) error {
	s := &v.Series
	n := len(s.Covered)
	if err := validTimes("series", s.Start, s.Width, n, seriesBins); err != nil {
		return err
	}
	lengths := []int{len(s.Procs), len(s.Runnable), len(s.MaxRunnable), len(s.Heap), len(s.Goal)}
	for _, list := range s.Uses.lists() {
		lengths = append(lengths, len(*list))
	}
	for _, l := range lengths {
		if l != n {
			return fmt.Errorf("the lists of series have %d and %d bins", n, l)
		}
	}
	return nil
}

func validHeat(v *V1) error {
	h := &v.Heat
	if !ordered(h.Bounds...) {
		return errors.New("heat.bounds_ns falls")
	}
	cols, rows := int64(0), int64(len(h.Bounds))
	for i, cell := range h.Cells {
		if cell[0] >= heatCols || cell[1] >= rows || cell[2] == 0 {
			return fmt.Errorf("heat.cells[%d] is %v: there are %d columns and %d rows", i, cell, heatCols, rows)
		}
		cols = max(cols, cell[0]+1)
	}
	return validTimes("heat", h.Start, h.Width, int(cols), heatCols)
}

func validCauseSeries(v *V1) error {
	s := &v.Causes.Series
	for i := range s.Causes {
		n := len(s.Causes[i].Bins)
		if err := validTimes("causes.series", s.Start, s.Width, n, maxSeries); err != nil {
			return err
		}
		if first := len(s.Causes[0].Bins); n != first {
			return fmt.Errorf("the lists of causes.series have %d and %d bins", first, n)
		}
	}
	return nil
}

func validWaits(v *V1) error {
	for i := range v.WorstWaits {
		if w := &v.WorstWaits[i]; w.Start > w.End || w.Duration != w.End-w.Start {
			return fmt.Errorf("worst_waits[%d] is from %d to %d ns and %d ns long", i, w.Start, w.End, w.Duration)
		}
	}
	return nil
}

func validSpectra(v *V1) error {
	lists := [][]V1Spectrum{v.Latency.Spectra}
	for i := range v.Traces {
		if r := v.Traces[i].Reference; r != nil {
			lists = append(lists, r.Spectra)
		}
	}
	for _, list := range lists {
		for i := range list {
			points := list[i].Points
			for k := 1; k < len(points); k++ {
				if points[k].Q <= points[k-1].Q || points[k].Value < points[k-1].Value {
					return fmt.Errorf("point %d of a spectrum falls", k)
				}
			}
		}
	}
	return nil
}
