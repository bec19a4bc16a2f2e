package compare

import (
	"errors"
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// ErrOlder is returned for a saved report without the data that compare needs of each trace.
var ErrOlder = errors.New("an older version wrote the report, without what compare needs of each trace: analyze the traces again")

// AddSaved adds the traces of a saved report: each is a sample, and what they did is known of all
// together. Of one trace, which is called by the name, this is what [NewTrace] has of all of it, without what
// is in no report: processor time, records of the environment, ops, batches, and where goroutines waited to run.
func (s *Side) AddSaved(name string, v *result.Report) error {
	list := v.PerTrace
	if len(list) == 0 && len(v.Traces) == 1 {
		list = []result.TraceFigures{v.Figures()}
	}
	if len(list) == 0 || slices.ContainsFunc(list, func(f result.TraceFigures) bool { return f.Sample == nil }) {
		return ErrOlder
	}
	all := &Trace{Name: name, Sample: sampleOf(&v.Traces[0], &list[0]), of: len(list)}
	all.Reasons = result.Each(v.Waiting.ByReason, func(x *result.Named) sample.Class {
		return sample.Class{Detail: x.Name, Total: x.Total, Count: x.Count}
	})
	x, wait := all.Sample, model.Duration(0)
	x.From, x.To, x.Open, x.Leak, x.Held = 0, v.Totals.Span, findings.OpenRequests(v), findings.LeakOf(v), findings.HeldUp(v)
	for f := range result.Refs(list) {
		t := &Trace{Name: name, Sample: sampleOf(&v.Traces[f.Trace], f), pooled: true}
		if wait += f.Sample.Wait; len(list) > 1 {
			t.Name = textui.Clean(v.Traces[f.Trace].Name)
		}
		s.Traces = append(s.Traces, t)
	}
	if wait > 0 {
		x.Waits = []sample.Class{{Func: sample.Others, Total: wait}}
	}
	for _, c := range v.Causes.Rows {
		if c.Total > 0 {
			x.Causes = append(x.Causes, sample.Named{Name: c.Cause, Total: c.Total})
		}
	}
	x.Blame = sample.Blame(slices.DeleteFunc(slices.Clone(v.Blame.Rows), func(r result.BlameRow) bool {
		k := v.Blame.Kind(r.Kind)
		return k == nil || !k.Runnable()
	}))
	kind := requestKind((&Side{Traces: s.Traces[len(s.Traces)-len(list):]}).samples())
	if x.Requests = nil; kind != "" {
		for i := range v.Requests {
			if k := &v.Requests[i]; k.Kind == kind {
				x.Requests = sample.RequestsOf(k)
			}
		}
	}
	s.saved = append(s.saved, all)
	return nil
}

// whole returns the traces, and what saved reports have of theirs together, for what is known of no
// single one of these.
func (s *Side) whole() []*Trace {
	return append(slices.DeleteFunc(slices.Clone(s.Traces), func(t *Trace) bool { return t.pooled }), s.saved...)
}

// sampleOf returns the sample of a trace of a report, without what it did.
func sampleOf(t *result.Trace, f *result.TraceFigures) *sample.Sample {
	s, seconds := f.Sample, float64(f.Span)/1e9
	x := &sample.Sample{
		Name: t.Name, Whole: t.Complete && t.Inconsistent == 0, From: model.Duration(t.Start), To: model.Duration(t.Start) + f.Span,
		Events: s.Events, Running: s.Running, Capacity: s.Capacity, Values: map[string]sample.Value{},
		Identity: sample.Identity{Go: fmt.Sprintf("go1.%d", t.Version()), MinProcs: s.MinProcs, MaxProcs: s.MaxProcs},
	}
	switch {
	case t.EndedEarly != "":
		x.Loss = t.Early()
	case t.Loss != nil:
		x.Loss = t.Loss.String()
	case t.Inconsistent > 0:
		x.Loss = fmt.Sprintf("%d events contradict what was before, the first: %s", t.Inconsistent, t.FirstInconsistency)
	}
	if s.CPUSamples > 0 {
		x.Identity.Samples = "yes"
	}
	if f.Waits > 0 {
		for q, d := range map[string]model.Duration{"p50(runnable)": f.P50, "p90(runnable)": s.P90, "p99(runnable)": f.P99, "p99.9(runnable)": f.P999, "max(runnable)": f.Max} {
			x.Values[q] = sample.Value{X: float64(d), N: f.Waits}
		}
	}
	duration := func(d model.Duration) *int64 { return new(int64(d)) }
	for q, n := range map[string]*int64{"wait": duration(s.Wait), "run": duration(s.Run), "blocked": duration(s.Blocked), "stw": duration(s.STW), "wakes": s.Wakes, "starts": &s.Starts,
		"preemptions": s.Preemptions, "created": s.Created, "steals": s.Steals, "handoffs": &s.Handoffs, "gc": s.GC} {
		if n != nil && seconds > 0 {
			x.Values["mean("+q+"/s)"] = sample.Value{X: float64(*n) / seconds, N: *n}
		}
	}
	for _, r := range s.Requests {
		set := sample.RequestSet{Count: r.Count, Total: r.Total, P50: r.P50, P99: r.P99}
		if x.Requests == nil {
			x.Requests = &sample.Requests{Kind: s.RequestKind, RequestSet: set}
			continue
		}
		x.Requests.Groups = append(x.Requests.Groups, sample.RequestGroup{Name: r.Name, RequestSet: set})
	}
	return x
}
