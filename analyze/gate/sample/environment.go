package sample

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// environment is what the records of a recording say, and of which stretch of the trace.
type environment struct {
	run      *env.Run // nil: there is none
	from, to model.Time
	ops      *int64 // that the program counted
	why      string // there is none, or no count
	more     bool   // than what can be read of the trace
	// marked: the window is the region that recorders put round both records. On a busy
	// machine taking one may then take any time.
	marked bool
}

// environment returns the records in the trace, else those next to it, which are of the
// whole process.
func (s *scan) environment(next *env.Run) environment {
	if begin, end, ok := s.pair(); ok {
		e := environment{run: &env.Run{Begin: *begin.Record, End: *end.Record}, from: begin.at, to: end.at}
		e.marked = s.region.wanted && s.region.name == WindowRegion
		e.ops = s.counted()
		fill(e.run, next)
		return e
	}
	if next != nil {
		return environment{run: next, from: s.origin, to: s.end, ops: next.End.Ops, more: s.loss != nil}
	}
	e := environment{why: "no environment record in the trace or next to it"}
	switch {
	case s.bad != nil:
		e.why = s.bad.Error()
	case len(s.records) > 0:
		e.why = "the trace does not have environment records of both the beginning and the end"
	}
	return e
}

// pair returns the first record of a beginning and the last of an end after it.
func (s *scan) pair() (begin, end *loggedRecord, ok bool) {
	for r := range result.Refs(s.records) {
		switch {
		case r.Point == env.Begin && begin == nil:
			begin = r
		case r.Point == env.End && begin != nil && r.MonoNS > begin.MonoNS && r.at > begin.at:
			end = r
		}
	}
	return begin, end, end != nil
}

// counted returns the ops that the program counted, of all pairs of records together; nil
// if it did not.
func (s *scan) counted() *int64 {
	var sum *int64
	for i := range s.records {
		if n := s.records[i].Ops; n != nil && s.records[i].Point == env.End && *n >= 0 {
			if sum == nil {
				sum = new(int64)
			}
			*sum += *n
		}
	}
	return sum
}

// fill sets what records in a trace do not have, if those next to it do: the recorder's
// canary, and the names of what was recorded where.
func fill(run, next *env.Run) {
	if next == nil {
		return
	}
	for _, x := range []struct{ to, from *env.Record }{{&run.Begin, &next.Begin}, {&run.End, &next.End}} {
		x.to.CanaryNS, x.to.Samples = cmp.Or(x.to.CanaryNS, x.from.CanaryNS), cmp.Or(x.to.Samples, x.from.Samples)
		for _, s := range []struct{ to, from *string }{{&x.to.Workload, &x.from.Workload}, {&x.to.Runner, &x.from.Runner},
			{&x.to.Commit, &x.from.Commit}, {&x.to.CPU, &x.from.CPU}, {&x.to.Kernel, &x.from.Kernel}} {
			*s.to = cmp.Or(*s.to, *s.from)
		}
	}
}

// A stretch counts as the window if its ends are off by at most this part of it, or by
// what taking a record may take.
const (
	nearPart = 0.01
	nearTime = 10_000_000
)

// slack is by how much ends may be off that are meant to be those of a window.
func slack(window model.Duration) model.Duration {
	return max(model.Duration(nearPart*float64(window)), nearTime)
}

// about reports whether the stretch is the window, except for the time that taking the
// records took.
func (e *environment) about(from, to model.Time) bool {
	if e.marked && from <= e.from && e.to <= to {
		return !e.more
	}
	off := func(a, b model.Time) bool { return max(a.Sub(b), b.Sub(a)) > slack(to.Sub(from)) }
	return e.run != nil && !e.more && !off(e.from, from) && !off(e.to, to)
}

// cpuUse is the processor time of the process.
type cpuUse struct {
	why    string // it is not known
	total  model.Duration
	length model.Duration // of the stretch that it is of
	ops    int64          // done in it
	opsWhy string         // not known
}

// cpuOf returns the processor time with the ops done meanwhile.
func (e *environment) cpuOf(u *env.Usage, s *scan, m *measured, window [2]model.Time) cpuUse {
	if u == nil || u.CPUNS == nil {
		return cpuUse{why: "the processor time is not known: " + cmp.Or(e.why, "the environment record does not contain it")}
	}
	c := cpuUse{total: model.Duration(*u.CPUNS), length: model.Duration(u.LengthNS), ops: m.ops, opsWhy: m.opsWhy}
	switch {
	case e.more:
		c.ops, c.opsWhy = 0, "the environment record is of more than what can be read of the trace, in which ops are counted"
	case m.op == "count" && e.ops != nil:
		c.ops = *e.ops
	case s.opKind != model.EventBad:
		c.ops = s.opsIn(e.from, e.to)
	case !e.about(window[0], window[1]):
		c.ops = 0
		c.opsWhy = cmp.Or(m.opsWhy, "the environment record is of another stretch than the window, in which ops are not counted; window: all takes in all of the trace")
	}
	return c
}

func (c *cpuUse) value(q rule.Quantity) (Value, error) {
	switch {
	case c.why != "":
		return Value{}, errors.New(c.why)
	case q.Agg == rule.Sum:
		return Value{X: float64(c.total)}, nil
	case q.Per == rule.PerSecond:
		return Value{X: float64(c.total) / (float64(c.length) / 1e9)}, nil
	case c.ops == 0:
		return Value{}, errors.New(cmp.Or(c.opsWhy, "no op ended while processor time was counted"))
	}
	return Value{X: float64(c.total) / float64(c.ops), N: c.ops}, nil
}

// identity says what the trace was recorded on.
func (e *environment) identity(s *scan, spec *Spec, m *measured) Identity {
	id := Identity{Workload: spec.Workload, Op: spec.Op, MetricDefs: rule.MetricDefs, Go: fmt.Sprintf("go1.%d", s.version)}
	if s.sampled {
		id.Samples = "yes"
	}
	var procs []int
	for _, x := range m.report.Totals.GOMAXPROCS {
		if x.Procs <= 1<<20 {
			procs = append(procs, int(x.Procs))
		}
	}
	if len(procs) == 0 {
		procs = append(procs, m.report.Idle.MostProcs)
	}
	id.MinProcs, id.MaxProcs = slices.Min(procs), slices.Max(procs)
	if e.run == nil {
		return id
	}
	r := &e.run.Begin
	id.Workload = cmp.Or(r.Workload, e.run.End.Workload, spec.Workload)
	id.Go = cmp.Or(r.Go, id.Go)
	id.OS, id.Arch, id.CPU, id.NumCPU = r.OS, r.Arch, r.CPU, r.NumCPU
	id.GOGC, id.Memlimit, id.Kernel, id.Runner, id.Commit = r.GOGC, r.Memlimit, r.Kernel, r.Runner, r.Commit
	if r.Samples != nil && !s.sampled { // a program that did not run has none of those that were taken
		id.Samples = map[bool]string{true: "yes", false: "no"}[*r.Samples]
	}
	return id
}
