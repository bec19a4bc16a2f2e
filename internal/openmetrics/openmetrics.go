// Package openmetrics writes gauges in the text format of OpenMetrics 1.0.
package openmetrics

import (
	"fmt"
	"io"
	"strings"
)

// A Family is a metric family of gauges: its samples stand together.
type Family struct {
	Name string // ends in _Unit if there is one
	Unit string // "seconds", "ratio" or ""
	Help string // plain text, one line
	// samples are whole lines.
	samples []string
}

// Add adds a sample. Labels are those that [Labels] returns, of which there must not be
// the same twice; value is a number as the format has them.
func (f *Family) Add(labels, value string) {
	f.samples = append(f.samples, f.Name+labels+" "+value+"\n")
}

// Write writes the families that have samples, and the end.
func Write(w io.Writer, families ...*Family) error {
	var b strings.Builder
	for _, f := range families {
		f.write(&b)
	}
	_, err := io.WriteString(w, b.String()+"# EOF\n")
	return err
}

func (f *Family) write(b *strings.Builder) {
	if len(f.samples) == 0 {
		return
	}
	fmt.Fprintf(b, "# TYPE %s gauge\n", f.Name)
	if f.Unit != "" {
		fmt.Fprintf(b, "# UNIT %s %s\n", f.Name, f.Unit)
	}
	fmt.Fprintf(b, "# HELP %s %s\n", f.Name, escapes.Replace(f.Help))
	for _, s := range f.samples {
		b.WriteString(s)
	}
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Labels returns {name="value",...} of pairs, without those that have an empty value, which
// means that there is no label.
func Labels(pairs ...string) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, pairs[i]+`="`+escapes.Replace(pairs[i+1])+`"`)
		}
	}
	if out == nil {
		return ""
	}
	return "{" + strings.Join(out, ",") + "}"
}
