package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// queues shows where goroutines were taken from to run, and what became of the
// run queues.
func (t *text) queues() {
	q := t.r.Queues
	if q.Starts == 0 {
		return
	}
	t.section("Run queues", "reconstructed, with the runtime's own goroutines; %s: %s",
		textui.Plural(q.Starts, "start"), grades(q))
	tb := t.table("lrr", "taken from", "starts", "share")
	for s := range q.BySource {
		if n := q.BySource[s]; n > 0 {
			tb.Row(sourceName(runqueue.Source(s)), textui.Count(n), textui.Ratio(n, q.Starts))
		}
	}
	t.b.WriteString(tb.String())
	t.moves()
	t.wakeups()
	t.lengths()
}

// sourceName names a source in words.
func sourceName(s runqueue.Source) string {
	switch s {
	case runqueue.SourceRunnext:
		return "own runnext"
	case runqueue.SourceLocal:
		return "own queue"
	case runqueue.SourceGlobal:
		return "global queue"
	case runqueue.SourceSteal:
		return "another proc's queue (stolen)"
	case runqueue.SourceStealRunnext:
		return "another proc's runnext (stolen)"
	case runqueue.SourceNetpoll:
		return "network poller"
	case runqueue.SourceSyscall:
		return "a system call, without queueing"
	case runqueue.SourceSystem:
		return "GC worker or trace reader"
	case runqueue.SourceLocked:
		return "handed to its locked thread"
	case runqueue.SourceDirect:
		return "a park that failed"
	case runqueue.SourceCoroutine:
		return "coroutine switch"
	}
	return s.String()
}

// grades says how good the evidence is.
func grades(q *analyze.Queues) string {
	var parts []string
	for g, n := range q.ByGrade {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", textui.Ratio(n, q.Starts), runqueue.Grade(g)))
		}
	}
	return strings.Join(parts, ", ")
}

// vias says how goroutines came into the queue of the proc that ran them.
func vias(q *analyze.Queues) string {
	names := [runqueue.NumVias]string{runqueue.ViaOwn: "readied there", runqueue.ViaGlobal: "in a batch from the global queue",
		runqueue.ViaSteal: "in a stolen batch", runqueue.ViaNetpoll: "injected"}
	var parts []string
	for v, n := range q.ByVia {
		if names[v] != "" && n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", textui.Count(n), names[v]))
		}
	}
	return strings.Join(parts, ", ")
}

// moves says in a few lines how goroutines moved between queues.
func (t *text) moves() {
	q := t.r.Queues
	t.printf("\n")
	if in := vias(q); in != "" {
		t.note("How those from an own queue came there: %s.", in)
	}
	steals, who := textui.Plural(q.Steals, "steal"), "they"
	if q.RunnextSteals > 0 {
		steals += fmt.Sprintf(", %s of a runnext", textui.Count(q.RunnextSteals))
		who = "the others"
	}
	if s := &q.StealSizes; s.Count() > 0 {
		steals += fmt.Sprintf("; %s took %s each at p50, %s at most", who, textui.Plural(int64(s.Quantile(0.5)), "goroutine"), textui.Count(int64(s.Max())))
	}
	t.note("%s. %s of local queues into the global one, %s from the global queue by the 61st tick.", steals,
		textui.Plural(q.Overflows, "overflow"), textui.Plural(q.FairPicks, "pick"))
	if q.Injections > 0 {
		t.note("%s of goroutines made runnable at once: %s, of which %s went to local queues and the rest to the global one.",
			textui.Plural(q.Injections, "list"), textui.Plural(q.Injected, "goroutine"), textui.Count(q.InjectedLocal))
	}
}

// wakeups shows how long idle procs took to come to work, by what woke them.
func (t *text) wakeups() {
	q := t.r.Queues
	var all dist.Dist
	for o := range q.Wakeups {
		all.Merge(&q.Wakeups[o])
	}
	if all.Count() == 0 {
		return
	}
	t.printf("\n")
	tb := t.distTable("idle procs woken")
	distRow(tb, "all", &all)
	for o := range q.Wakeups {
		if q.Wakeups[o].Count() > 0 {
			distRow(tb, "  "+result.OriginName(model.Origin(o)), &q.Wakeups[o])
		}
	}
	t.b.WriteString(tb.String())
	t.note("from what woke them until the thread had the proc, by how the goroutine became runnable; %s found nothing to run; of %s more the cause is not known",
		textui.Plural(q.FruitlessWakes, "wakeup"), textui.Count(q.Uncaused))
}

// lengths shows how long the queues were, the longest first.
func (t *text) lengths() {
	q := t.r.Queues
	if q.Span <= 0 {
		return
	}
	t.printf("\n")
	tb := t.table("lrrr", "length of queue", "mean", "max", "at")
	row := func(name string, l *analyze.QueueLength) {
		tb.Row(name, fmt.Sprintf("%.3f", l.Mean(q.Span)), textui.Count(l.Max), textui.Instant(l.MaxAt))
	}
	row("global", &q.Global)
	local := q.Local()
	slices.SortStableFunc(local, func(a, b analyze.QueueLength) int { return cmp.Compare(b.Sum, a.Sum) })
	shown := t.limit(len(local))
	for i := range local[:shown] {
		row(procName(local[i].P), &local[i])
	}
	t.b.WriteString(tb.String())
	t.more(shown, len(local))
}
