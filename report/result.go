package report

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// Result returns the report as data.
func (d *Document) Result() *result.Report {
	v := d.Report.Result()
	v.Traces = result.Each(d.Traces, traceResult)
	v.Skipped = result.Each(d.Skipped, func(s *Skipped) result.Skipped { return result.Skipped(*s) })
	v.Findings = result.Each(d.Findings, func(f *result.Finding) result.Finding {
		out := *f
		out.Evidence = append([]result.Evidence{}, f.Evidence...)
		return out
	})
	v.PerTrace = d.figures()
	v.Spread = result.SpreadOf(v.PerTrace)
	v.NoReference = d.NoReference
	v.Notes = d.Notes()
	return v
}

func traceResult(t *Trace) result.Trace {
	v := result.Trace{
		Name: t.Name, Format: fmt.Sprintf("go 1.%d", t.Version), Bytes: t.Bytes, Compression: t.Compression,
		Generations: t.Generations, Start: t.Start, Span: t.Span, Windowed: t.Windowed,
		Complete:   t.Loss == nil && t.EndedEarly == "",
		EndedEarly: t.EndedEarly, Inconsistent: t.Inconsistent,
		Captured: NewCapture(t.Capture),
	}
	if l := t.Loss; l != nil {
		v.Loss = &result.Loss{Bytes: l.Bytes, Size: l.Size, Generation: l.Generation, After: l.After, Patchy: l.Patchy, Cause: l.Cause}
	}
	if r := t.Reference; r != nil {
		v.Reference = &result.Reference{From: r.From, Length: r.Length, Whole: r.Whole, Waits: r.Waits, Measured: r.Measured, Rules: r.Rules, Low: r.Low, High: r.High, Poor: r.Poor, Ideal: r.Ideal, Spectra: referenceSpectra(r)}
	}
	return v
}

// referenceSpectra returns the spectra of those schedules that there are.
func referenceSpectra(r *Reference) []result.Spectrum {
	out := []result.Spectrum{}
	for _, x := range []struct {
		name string
		d    *dist.Dist
	}{{"measured", r.MeasuredWaits}, {"go_rules", r.RulesWaits}, {"ideal", r.IdealWaits}} {
		if x.d != nil {
			d := result.NewDist(x.d)
			out = append(out, result.NewSpectrum(x.name, &d))
		}
	}
	return out
}

// figures returns the figures of each trace, nil unless there are several.
func (d *Document) figures() []result.TraceFigures {
	if len(d.Traces) < 2 {
		return nil
	}
	out := make([]result.TraceFigures, len(d.Traces))
	for i := range d.Traces {
		out[i] = d.Traces[i].Figures
		out[i].Trace = i
	}
	return out
}

// Twice says which traces seem to be there more than once.
func (d *Document) Twice() []string {
	return result.Twice(d.figures(), func(i int) string { return d.Traces[i].Name })
}

// traceFigures returns the figures of the report of one trace.
func traceFigures(r *analyze.Report) result.TraceFigures {
	all := result.NewDist(&r.Latency.All)
	f := result.TraceFigures{
		Span: r.Totals.Span, Procs: r.Idle.MeanProcs(), Waits: all.Count, Total: all.Total,
		P50: all.P50, P99: all.P99, P999: all.P999, Max: all.Max, MaxAt: all.MaxAt,
		Utilisation: r.Idle.Utilisation(), Severity: analyze.WaitSeverity(r),
	}
	if f.Span > 0 {
		f.Waiting = float64(f.Total) / float64(f.Span)
	}
	var most model.Duration
	for c := range r.Causes.ByCause {
		if x := &r.Causes.ByCause[c]; x.Waits > 0 && (f.MainCause == "" || x.Total > most) {
			f.MainCause, most = result.Cause(c).String(), x.Total
		}
	}
	return f
}
