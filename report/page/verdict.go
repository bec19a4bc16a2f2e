package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/view"
)

// tile is a number to be seen first.
type tile struct {
	Name, Value string
	More        string
	Term        string // the entry of the glossary
}

// head says what was read, and what not.
func (p *pageView) head() {
	t := &p.r.Totals
	switch len(p.r.Traces) {
	case 0:
		p.Title = "no trace"
	case 1:
		name := textui.Clean(p.r.Traces[0].Name)
		p.Title = cmp.Or(name[strings.LastIndexAny(name, `/\`)+1:], name)
		p.Facts = append(p.Facts, textui.Clean(view.Describe(&p.r.Traces[0])))
		if name != p.Title {
			p.Facts = append(p.Facts, name)
		}
	default:
		p.Title = textui.Plural(len(p.r.Traces), "trace")
		p.Facts = append(p.Facts, "merged into one report")
	}
	p.Facts = append(p.Facts, textui.Duration(t.Span), view.GOMAXPROCS(t), textui.Plural(t.Goroutines, "goroutine"),
		textui.Plural(t.Threads, "thread"), textui.Plural(t.Events, "event"))
	warn := func(format string, args ...any) {
		p.Warnings = append(p.Warnings, textui.Clean(fmt.Sprintf(format, args...)))
	}
	for _, t := range p.r.Traces {
		if missing := view.Missing(&t); missing != "" {
			warn("%s is incomplete: %s", t.Name, missing)
		}
		if t.Inconsistent > 0 {
			warn("%s contradicts itself in %s; numbers around them may be wrong", t.Name, textui.Plural(t.Inconsistent, "event"))
		}
	}
	for _, s := range p.r.Skipped {
		warn("%s was skipped: %s", s.Name, s.Cause)
	}
}

func (p *pageView) tiles() []tile {
	l, x := &p.r.Latency.All, &p.r.Procs
	wait := tile{"scheduling latency, p99", textui.Duration(l.P99), fmt.Sprintf("p50 %s, max %s at %s", textui.Duration(l.P50), textui.Duration(l.Max), textui.Instant(l.MaxAt)), "Scheduling latency"}
	if l.Unknown {
		wait.Value, wait.More = "not known", "max "+textui.Duration(l.Max)
	}
	if l.Count == 0 {
		wait.Value, wait.More = "no waits", ""
	}
	tiles := []tile{wait, {"waiting in all", textui.Duration(l.Total), textui.Plural(l.Count, "wait"), "Scheduling latency"}}
	e := &x.IdleRunnable.Episodes
	idle := tile{"idle proc while a goroutine was runnable", textui.Ratio(e.Total, p.r.Totals.Span), "of the time" + textui.If(e.Count > 0, ", the longest "+textui.Duration(e.Max)), "idle procs"}
	gc, stw := &p.r.GC, &p.r.STW
	marks := gc.Marks.Count + gc.CensoredMarks.Count
	collected := "of the procs' time" + textui.If(marks > 0, " in "+textui.Plural(marks, "mark phase"))
	stopped := textui.Plural(stw.Count, "time") + textui.If(stw.Effective.Count > 0, ", the longest "+textui.Duration(stw.Effective.Max))
	return append(tiles,
		tile{"procs busy", textui.Percent(x.Utilisation), fmt.Sprintf("of %s; idle %s", view.GOMAXPROCS(&p.r.Totals), textui.Percent(x.Uses.Share(result.UseIdle))), "procs"},
		tile{"runnable", fmt.Sprintf("%.2f", x.MeanRunnable), fmt.Sprintf("goroutines on average, at most %s at %s", textui.Count(x.MaxRunnable), textui.Instant(x.MaxRunnableAt)), "run queue"},
		idle,
		tile{"garbage collection", textui.Percent(gc.Share), collected, "GC"},
		tile{"stop-the-world", textui.Duration(stw.Effective.Total), stopped, "STW"})
}
