package figures

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/openmetrics"
)

// OpenMetrics writes the figures as gauges in the text format of OpenMetrics 1.0. Times
// are seconds, as that format wants them, with all digits of the nanoseconds.
func OpenMetrics(w io.Writer, v *result.Report) error {
	var families []*openmetrics.Family
	for _, f := range Of(v) {
		name, unit, value := metric(&f)
		if n := len(families); n == 0 || families[n-1].Name != name {
			families = append(families, &openmetrics.Family{Name: name, Unit: unit, Help: f.Doc})
		}
		labels := ""
		if f.By != "" {
			labels = openmetrics.Labels(f.By, orNone(f.Of))
		}
		families[len(families)-1].Add(labels, value)
	}
	return openmetrics.Write(w, families...)
}

// orNone replaces an empty name: a label without a value is no label.
func orNone(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}

// metric returns the name, unit and value of the metric of a figure.
func metric(f *Figure) (name, unit, value string) {
	name = "schedscope_" + f.Name
	switch f.Unit {
	case Nanoseconds:
		return name + "_seconds", "seconds", seconds(f.Int)
	case Share:
		return name + "_ratio", "ratio", f.Value()
	}
	return name, "", f.Value()
}

// seconds returns nanoseconds as seconds, exactly. They are not negative.
func seconds(ns int64) string {
	s := fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
