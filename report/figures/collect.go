package figures

import (
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// collector collects figures. By and of are those of what is added.
type collector struct {
	list   []Figure
	by, of string
}

func (c *collector) collect(v *result.Report) {
	c.totals(v)
	c.latency(&v.Latency)
	c.causes(&v.Causes)
	c.procs(&v.Procs)
	c.queues(&v.Queues)
	c.handoffs(v.Handoffs)
	c.syscalls(&v.Syscalls)
	c.netpoll(&v.Netpoll)
	c.waiting(&v.Waiting)
	c.bursts(&v.Bursts)
	c.stw(&v.STW)
	c.gc(&v.GC)
	c.pathologies(v.Pathologies)
	c.traces(v)
}

// each adds figures of one thing after another.
func each[T any](c *collector, by string, list []T, name func(*T) string, add func(*T)) {
	for i := range list {
		c.by, c.of = by, name(&list[i])
		add(&list[i])
	}
	c.by, c.of = "", ""
}

func (c *collector) add(f Figure) {
	f.By, f.Of = c.by, c.of
	c.list = append(c.list, f)
}

func (c *collector) ns(name, doc string, n model.Duration, b Better) {
	c.add(Figure{Name: name, Doc: doc, Unit: Nanoseconds, Int: int64(n), Better: b})
}

func (c *collector) count(name, doc string, n int64, b Better) {
	c.add(Figure{Name: name, Doc: doc, Unit: Count, Int: n, Better: b})
}

func (c *collector) real(name, doc string, u Unit, x float64) {
	c.add(Figure{Name: name, Doc: doc, Unit: u, Real: x})
}

// dist adds a distribution. Percentiles that are not known are left out, and those of
// nothing, as the greatest.
func (c *collector) dist(name, doc string, d *result.Dist, b Better) {
	c.count(name+"_samples", doc+": number", d.Count, Neither)
	c.ns(name+"_total", doc+": sum", d.Total, b)
	if d.Count == 0 {
		return
	}
	if !d.Unknown {
		c.ns(name+"_p50", doc+": median", d.P50, b)
		c.ns(name+"_p90", doc+": 90th percentile", d.P90, b)
		c.ns(name+"_p99", doc+": 99th percentile", d.P99, b)
		c.ns(name+"_p99_9", doc+": 99.9th percentile", d.P999, b)
	}
	c.ns(name+"_max", doc+": longest", d.Max, b)
}

func (c *collector) named(by, name, doc string, list []result.Named, b Better) {
	each(c, by, list, func(d *result.Named) string { return d.Name }, func(d *result.Named) { c.dist(name, doc, &d.Dist, b) })
}

func (c *collector) tally(name, doc string, t *result.Tally, b Better) {
	c.count(name+"_samples", doc+": number", t.Count, Neither)
	c.ns(name+"_total", doc+": sum", t.Total, b)
	if t.Count > 0 {
		c.ns(name+"_max", doc+": longest", t.Max, b)
	}
}

func (c *collector) totals(v *result.Report) {
	t := &v.Totals
	c.count("traces", "traces", int64(len(v.Traces)), Neither)
	c.ns("span", docSpan, t.Span, Neither)
	c.count("events", "events", t.Events, Neither)
	c.count("goroutines", "goroutines seen", t.Goroutines, Neither)
	c.count("threads", "threads seen", t.Threads, Neither)
}

const (
	docLatency     = "scheduling latency, runnable until running"
	docSpan        = "length of what was analysed"
	docUtilisation = "share of the procs' time with goroutines"
	docProcs       = "procs, mean"
)

func (c *collector) latency(l *result.Latency) {
	c.dist("latency", docLatency, &l.All, Lower)
	c.named("origin", "latency", docLatency, l.ByOrigin, Lower)
	c.named("function", "latency", docLatency, l.ByFunction, Lower)
}

func (c *collector) causes(x *result.Causes) {
	c.ns("cause_unknown", "waiting in traces that do not tell causes", x.UnknownTime, Neither)
	each(c, "cause", x.Rows, func(r *result.CauseRow) string { return r.Cause }, func(r *result.CauseRow) {
		c.ns("cause_total", "waiting lost to the cause", r.Total, Lower)
		c.real("cause_share", "part of all waiting lost to the cause", Share, r.Share)
		c.count("cause_waits", "waits that lost any time to the cause", r.Waits, Lower)
	})
}

func (c *collector) procs(p *result.Procs) {
	c.real("procs", docProcs, Number, p.Mean)
	c.real("utilisation", docUtilisation, Share, p.Utilisation)
	c.real("runnable_mean", "runnable goroutines, mean", Number, p.MeanRunnable)
	c.count("runnable_max", "runnable goroutines, most", int64(p.MaxRunnable), Lower)
	c.ns("saturated", "time with no proc idle and a goroutine runnable", p.Saturated, Lower)
	i := &p.IdleRunnable
	c.dist("idle_while_runnable", "times with a proc idle and a goroutine runnable", &i.Episodes, Lower)
	c.ns("idle_while_runnable_wall", "time with a proc idle while another was overloaded", i.Wall, Lower)
	c.ns("idle_while_runnable_per_proc", "the same in proc-nanoseconds", i.PerProc, Lower)
	c.ns("idle_while_runnable_per_goroutine", "idle procs while goroutines were runnable, proc-nanoseconds", i.PerGoroutine, Lower)
	for use, name := range result.UseFields {
		c.by, c.of = "use", name
		c.ns("procs_time", "the procs' time by what it went to", p.Uses[use], Neither)
	}
	c.by, c.of = "", ""
}

func (c *collector) queues(q *result.Queues) {
	if q.Refused != "" && q.Starts == 0 {
		return
	}
	c.count("starts", "starts of goroutines", q.Starts, Neither)
	each(c, "source", q.BySource, countName, func(n *result.Count) { c.count("starts", "starts of goroutines", n.Count, Neither) })
	c.count("steals", "steals between procs", q.Steals, Neither)
	c.count("steals_runnext", "steals from a runnext", q.RunnextSteals, Neither)
	c.count("stolen", "goroutines stolen from queues; the table steals and profiles count those from a runnext, too", q.StealSizes.Total, Neither)
	c.count("overflows", "full local queues halved", q.Overflows, Neither)
	c.count("fair_picks", "picks from the global queue by the 61st tick", q.FairPicks, Neither)
	c.count("injected", "goroutines made runnable in lists", q.Injected, Neither)
	c.named("origin", "wakeup", "waking an idle proc", q.Wakeups, Lower)
	c.count("wakeups_uncaused", "wakeups of idle procs without a known cause", q.Uncaused, Neither)
	c.count("wakeups_fruitless", "wakeups of idle procs that found nothing", q.Fruitless, Neither)
	c.length("global", &q.Global)
	for i := range q.Local {
		c.length("proc "+strconv.Itoa(int(q.Local[i].Proc)), &q.Local[i])
	}
}

func countName(n *result.Count) string { return n.Name }

func (c *collector) length(queue string, l *result.Length) {
	c.by, c.of = "queue", queue
	c.real("queue_mean", "goroutines in the queue, mean", Number, l.Mean)
	c.count("queue_max", "goroutines in the queue, most", int64(l.Max), Lower)
	c.by, c.of = "", ""
}

func (c *collector) handoffs(list []result.Handoff) {
	each(c, "handoff", list, func(h *result.Handoff) string { return h.Cause }, func(h *result.Handoff) {
		c.count("handoffs", "handoffs of procs", h.Count, Neither)
		c.dist("handoff_gap", "how long nobody had the proc", &h.Gap, Lower)
	})
}

func (c *collector) syscalls(s *result.Syscalls) {
	c.dist("syscall", "system calls", &s.All, Neither)
	c.dist("syscall_blocked", "system calls, the part without a proc", &s.Blocked, Neither)
	c.named("way_out", "syscall", "system calls", s.ByWayOut, Neither)
}

func (c *collector) netpoll(n *result.Netpoll) {
	const doc = "network wakeup until running"
	c.dist("netpoll", doc, &n.All, Lower)
	each(c, "poller", n.ByPoller, func(p *result.Poller) string { return p.Poller }, func(p *result.Poller) {
		c.count("netpoll_direct", "goroutines run by the poller itself", p.Direct, Neither)
		c.dist("netpoll", doc, &p.ToRun, Lower)
	})
}

func (c *collector) waiting(w *result.Waiting) {
	const doc = "waiting for something"
	c.dist("waiting", doc, &w.All, Neither)
	c.named("reason", "waiting", doc, w.ByReason, Neither)
}

func (c *collector) bursts(b *result.Bursts) {
	c.dist("burst", "running at a time", &b.All, Neither)
	c.tally("burst_over_10ms", "running for over 10 ms at a time", &b.Long, Lower)
}

func (c *collector) stw(s *result.STW) {
	const doc = "stop-the-world phases"
	c.count("stw_phases", doc+", those in part included", s.Count, Neither)
	c.dist("stw", doc, &s.Effective, Lower)
	c.dist("stw_to_stop", "stopping the world", &s.ToStop, Lower)
	each(c, "reason", s.ByReason, func(r *result.STWReason) string { return r.Reason }, func(r *result.STWReason) {
		c.dist("stw", doc, &r.Effective, Lower)
	})
}

func (c *collector) gc(g *result.GC) {
	c.real("gc_share", "share of the procs' time for the garbage collector", Share, g.Share)
	c.dist("gc_mark", "mark phases", &g.Marks, Neither)
	c.tally("gc_assist", "mark assists by the clock", &g.Assists, Lower)
	c.tally("gc_sweep", "incremental sweeps", &g.Sweeps, Neither)
	for _, w := range []struct {
		of string
		ns model.Duration
	}{{"dedicated", g.Dedicated}, {"fractional", g.Fractional}, {"idle", g.Idle}, {"assist", g.Assist}} {
		c.by, c.of = "kind", w.of
		c.ns("gc_work", "the procs' time for marking", w.ns, Neither)
	}
	c.by, c.of = "", ""
}

func (c *collector) pathologies(list []result.Pathology) {
	each(c, "pathology", list, func(p *result.Pathology) string { return p.Name }, func(p *result.Pathology) {
		c.count("pathology_cases", "cases of the pathology", p.Count, Lower)
		c.ns("pathology_total", "their lengths in all, 0 where they are bounds", p.Total, Lower)
		c.ns("pathology_worst", "the worst case", p.Worst, Lower)
	})
}

// traces adds the figures of each of several traces, under the names that they have for
// the whole report.
func (c *collector) traces(v *result.Report) {
	name := func(t *result.TraceFigures) string { return v.Traces[t.Trace].Name }
	each(c, byTrace, v.PerTrace, name, func(t *result.TraceFigures) {
		c.ns("span", docSpan, t.Span, Neither)
		c.real("procs", docProcs, Number, t.Procs)
		c.real("utilisation", docUtilisation, Share, t.Utilisation)
		c.count("latency_samples", docLatency+": number", t.Waits, Neither)
		c.ns("latency_total", docLatency+": sum", t.Total, Lower)
		if t.Waits > 0 {
			c.ns("latency_p50", docLatency+": median", t.P50, Lower)
			c.ns("latency_p99", docLatency+": 99th percentile", t.P99, Lower)
			c.ns("latency_p99_9", docLatency+": 99.9th percentile", t.P999, Lower)
			c.ns("latency_max", docLatency+": longest", t.Max, Lower)
		}
	})
}

// byTrace is By of what is of one of several traces.
const byTrace = "trace"
