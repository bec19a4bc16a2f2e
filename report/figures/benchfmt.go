package figures

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/schedscope/schedscope/analyze/result"
)

// Benchfmt writes the Go benchmark format, which benchstat reads: a line Sched with the
// figures of the trace, and one for each thing that figures are of, such as
// Sched/origin=goroutine. Of several traces there is a line Sched for each, and what is
// known only of all together is in Sched/traces=all: one sample, of which benchstat can
// say nothing. What figures of all together are of is left out then. The number at the end of the names is
// GOMAXPROCS, if it did not change.
func Benchfmt(w io.Writer, v *result.Report) error {
	list := Of(v)
	several := slices.ContainsFunc(list, isOfTrace)
	if several {
		list = slices.DeleteFunc(list, func(f Figure) bool { return f.By != "" && !isOfTrace(f) })
	}
	var b bytes.Buffer
	out := benchfmt.NewWriter(&b)
	if err := writeUnits(out, list); err != nil {
		return err
	}
	names := benchNames{several: several, next: map[string]int{}}
	for _, group := range groups(list) {
		if err := out.Write(names.result(group)); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func isOfTrace(f Figure) bool { return f.By == byTrace }

// writeUnits writes which units are better when they are lower.
func writeUnits(out *benchfmt.Writer, list []Figure) error {
	last := ""
	for _, f := range list {
		unit := unitName(&f)
		if f.Better == Neither || unit == last {
			continue
		}
		last = unit
		key := benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}
		if err := out.Write(&benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: unit, Value: string(f.Better)}); err != nil {
			return err
		}
	}
	return nil
}

// unitName returns the unit of a figure as benchmarks have it: "latency-p99-ns". Of "-ns"
// benchstat makes "-sec".
func unitName(f *Figure) string {
	s := strings.ReplaceAll(strings.ReplaceAll(f.Name, "p99_9", "p99.9"), "_", "-")
	if f.Unit == Nanoseconds {
		s += "-ns"
	}
	return s
}

// groups returns the figures that are of the same, those of the whole report first, then
// those of single traces.
func groups(list []Figure) [][]Figure {
	type key struct{ by, of string }
	at := map[key]int{}
	var out [][]Figure
	for _, f := range list {
		k := key{f.By, f.Of}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	place := func(g []Figure) string {
		if g[0].By == byTrace {
			return "\x01" // before letters
		}
		return g[0].By
	}
	slices.SortStableFunc(out, func(a, b []Figure) int { return strings.Compare(place(a), place(b)) })
	return out
}

// benchNames gives names to benchmarks.
type benchNames struct {
	several bool           // there are figures of single traces
	procs   int            // of the whole report
	next    map[string]int // the number that distinguishes a name from those before, 0 for a new one
}

// result returns the line of figures that are of the same. Those of the whole report must
// come first.
func (n *benchNames) result(group []Figure) *benchfmt.Result {
	r := &benchfmt.Result{Iters: 1}
	procs := 0
	for _, f := range group {
		r.Values = append(r.Values, benchfmt.Value{Value: f.number(), Unit: unitName(&f)})
		if f.Name == "procs" && f.Real == math.Trunc(f.Real) && f.Real < 1<<20 {
			procs = int(f.Real)
		}
	}
	by, of := group[0].By, group[0].Of
	switch {
	case by == "":
		n.procs = procs
		r.Name = n.name(map[bool]string{true: "/traces=all"}[n.several], procs)
	case by == byTrace:
		r.Name = n.name("", procs) // samples of one benchmark
	default:
		r.Name = n.distinct("/"+by+"="+namePart(of, n.procs == 0), n.procs)
	}
	return r
}

func (n *benchNames) name(part string, procs int) benchfmt.Name {
	s := "Sched" + part
	if procs > 0 {
		s += fmt.Sprintf("-%d", procs)
	}
	return benchfmt.Name(s)
}

// distinct is name for a part that no other benchmark may have.
func (n *benchNames) distinct(part string, procs int) benchfmt.Name {
	unique := part
	for n.next[unique] > 0 {
		unique = fmt.Sprintf("%s#%02d", part, n.next[part])
		n.next[part]++
	}
	n.next[unique] = 1
	return n.name(unique, procs)
}

// numberAtEnd is what would be GOMAXPROCS at the end of a name.
var numberAtEnd = regexp.MustCompile(`-([0-9]+)$`)

// namePart returns s as a part of a benchmark's name, of which slashes separate parts.
// last says that no GOMAXPROCS follows.
func namePart(s string, last bool) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '/', r == '%':
			fmt.Fprintf(&b, "%%%02X", r)
		case unicode.IsSpace(r):
			b.WriteByte('_')
		default:
			b.WriteRune(r)
		}
	}
	if last {
		return numberAtEnd.ReplaceAllString(b.String(), "%2D$1")
	}
	return b.String()
}
