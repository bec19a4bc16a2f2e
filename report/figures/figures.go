package figures

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// A Figure is one number of a report.
type Figure struct {
	Name string // "latency_p99"
	// By and Of say of what it is: "origin" and "goroutine". Both are empty for a figure
	// of the whole report. Of is printable: what a terminal would obey is escaped.
	By, Of string
	Unit   Unit
	Better Better
	Doc    string // what it is, in a line

	// One of them is the value, by Unit.Whole.
	Int  int64
	Real float64
}

// Unit is the unit of a figure.
type Unit string

// Units.
const (
	Nanoseconds Unit = "ns"
	Count       Unit = "count"
	Share       Unit = "share"  // between 0 and 1
	Number      Unit = "number" // a mean of counts
)

// Whole reports whether figures of the unit are integers.
func (u Unit) Whole() bool { return u == Nanoseconds || u == Count }

// Better is the direction in which a figure improves.
type Better string

// Directions.
const (
	Neither Better = ""
	Lower   Better = "lower"
)

// Value returns the number as JSON has it.
func (f *Figure) Value() string {
	return textui.Either(f.Unit.Whole(), strconv.FormatInt(f.Int, 10), strconv.FormatFloat(f.Real, 'g', -1, 64))
}

// number returns the value, of integers above 2^53 the nearest that there is.
func (f *Figure) number() float64 { return textui.Either(f.Unit.Whole(), float64(f.Int), f.Real) }

// Of returns the figures of a report, sorted by name; those of one name are in the order
// of the report. No two have the same name and are of the same: of a second function with
// the name f it says "f (2)".
func Of(v *result.Report) []Figure {
	c := &collector{}
	c.fields(reflect.ValueOf(v).Elem())
	for i := range v.PerTrace {
		c.by, c.of = byTrace, v.Traces[v.PerTrace[i].Trace].Name
		c.fields(reflect.ValueOf(&v.PerTrace[i]).Elem())
	}
	c.distinguish()
	slices.SortStableFunc(c.list, func(a, b Figure) int { return strings.Compare(a.Name, b.Name) })
	return c.list
}

// maxOf is how many columns a name has at most.
const maxOf = 1000

// distinguish makes what figures are of printable and different from each other.
func (c *collector) distinguish() {
	type key struct{ name, by, of string }
	last := map[key]int{} // the greatest number that a name has got
	for f := range result.Refs(c.list) {
		// As encoding/json writes what is not UTF-8.
		name := textui.Shorten(textui.Clean(string([]rune(f.Of))), maxOf)
		f.Of = name
		first := key{f.Name, f.By, name}
		for last[key{f.Name, f.By, f.Of}] > 0 {
			last[first]++
			f.Of = fmt.Sprintf("%s (%d)", name, last[first])
		}
		last[key{f.Name, f.By, f.Of}] = 1
	}
}
