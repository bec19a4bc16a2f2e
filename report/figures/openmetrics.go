package figures

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
)

// OpenMetrics writes the figures as gauges in the text format of OpenMetrics 1.0. Times
// are seconds, as that format wants them, with all digits of the nanoseconds.
func OpenMetrics(w io.Writer, v *result.Report) error {
	var b strings.Builder
	family := ""
	for _, f := range Of(v) {
		name, unit, value := metric(&f)
		if name != family {
			family = name
			fmt.Fprintf(&b, "# TYPE %s gauge\n", name)
			if unit != "" {
				fmt.Fprintf(&b, "# UNIT %s %s\n", name, unit)
			}
			fmt.Fprintf(&b, "# HELP %s %s\n", name, escapes.Replace(f.Doc))
		}
		if f.By != "" { // a label without a value is not one
			name += fmt.Sprintf(`{%s="%s"}`, f.By, escapes.Replace(cmp.Or(f.Of, "(none)")))
		}
		fmt.Fprintf(&b, "%s %s\n", name, value)
	}
	_, err := io.WriteString(w, b.String()+"# EOF\n")
	return err
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

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
