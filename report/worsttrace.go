package report

import (
	"slices"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
)

// worstTraceKind is the kind of the finding that names the worst of several traces.
const worstTraceKind = "worst-trace"

// Judge sets the findings: those on all traces together, and of several which is the worst,
// which their common numbers may hide.
func (d *Document) Judge() {
	if len(d.Traces) > 1 {
		d.Report.Names = d.names()
	}
	d.Findings = analyze.Verdict(d.Report)
	if f, ok := result.WorstTrace(d.figures(), d.names()); ok {
		at := 1 + slices.IndexFunc(d.Findings[1:], func(x result.Finding) bool { return x.Severity <= f.Severity })
		if at == 0 {
			at = len(d.Findings)
		}
		d.Findings = slices.Insert(d.Findings, at, f)
	}
}

// names are the traces' short names.
func (d *Document) names() []string {
	return result.TraceNames(result.Each(d.Traces, func(t *Trace) string { return t.Name }))
}
