package result

import (
	"io"
	"reflect"
)

// What tests look into.
var (
	NamedDist   = named
	ReadLimited = func(r io.Reader, limit int64) (*Report, error) { return read(r, limit) }
	StateFields = stateFields
)

// DropSketches removes the histograms of all distributions, which older versions did not write.
func DropSketches(v *Report) {
	each(reflect.ValueOf(v), "", func(x reflect.Value, _ string) error {
		if d := distOf(x); d != nil {
			d.sketch().HDR = ""
		}
		return nil
	})
}

// MergeInto merges values of one type.
func MergeInto(into, from mergesItself) { into.merge(from) }
