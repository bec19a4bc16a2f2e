package page

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// finding is one statement of the verdict.
type finding struct {
	Severity, Grade string
	Text            string
	Evidence        []pair
}

// pair is a number with its name.
type pair struct{ Name, Value string }

// tile is a number to be seen first.
type tile struct {
	Name, Value string
	More        string
	Term        string // the entry of the glossary
}

// head says what was read, and what not.
func (p *view) head() {
	t := &p.r.Totals
	if p.several() {
		p.Title = textui.Plural(len(p.r.Traces), "trace")
		p.Facts = append(p.Facts, "merged into one report")
	} else {
		p.Title = lastOf(p.traceName(0))
	}
	if len(p.r.Traces) == 1 {
		tr := &p.r.Traces[0]
		p.Facts = append(p.Facts, strings.Replace(textui.Clean(tr.Format), "go ", "Go ", 1)+" trace format")
		if tr.Bytes >= 0 {
			p.Facts = append(p.Facts, textui.Bytes(tr.Bytes))
		}
		if name := p.traceName(0); name != p.Title {
			p.Facts = append(p.Facts, name)
		}
		if tr.Start > 0 {
			p.Facts = append(p.Facts, fmt.Sprintf("from %s to %s", textui.Instant(tr.Start), textui.Instant(tr.Start+model.Time(tr.Span))))
		}
	}
	p.Facts = append(p.Facts, textui.Duration(t.Span), p.gomaxprocs(), textui.Plural(t.Goroutines, "goroutine"),
		textui.Plural(t.Threads, "thread"), textui.Plural(t.Events, "event"))
	p.losses()
}

// lastOf returns the last element of a path.
func lastOf(path string) string {
	if i := strings.LastIndexAny(path, `/\\`); i >= 0 && i+1 < len(path) {
		return path[i+1:]
	}
	return path
}

// losses says what could not be read.
func (p *view) losses() {
	warn := func(format string, args ...any) {
		p.Warnings = append(p.Warnings, textui.Clean(fmt.Sprintf(format, args...)))
	}
	for i := range p.r.Traces {
		t := &p.r.Traces[i]
		switch {
		case t.EndedEarly != "":
			warn("%s is incomplete: %s", t.Name, t.EndedEarly)
		case t.Loss != nil:
			warn("%s is incomplete: read up to %s, lost %s: %s", t.Name, textui.Instant(t.Loss.After), textui.Bytes(t.Loss.Bytes), t.Loss.Cause)
		}
		if t.Inconsistent > 0 {
			warn("%s contradicts itself in %s; numbers around them may be wrong", t.Name, textui.Plural(t.Inconsistent, "event"))
		}
	}
	for _, s := range p.r.Skipped {
		warn("%s was skipped: %s", s.Name, s.Cause)
	}
}

// gomaxprocs says how many procs there were.
func (p *view) gomaxprocs() string {
	steps := p.r.Totals.GOMAXPROCS
	if len(steps) == 0 {
		return textui.Plural(p.r.Totals.Procs, "proc") + " seen"
	}
	lo, hi := steps[0].Procs, steps[0].Procs
	for _, s := range steps {
		lo, hi = min(lo, s.Procs), max(hi, s.Procs)
	}
	if lo == hi {
		return fmt.Sprintf("GOMAXPROCS %d", lo)
	}
	return fmt.Sprintf("GOMAXPROCS %d to %d", lo, hi)
}

func (p *view) verdict() *section {
	s := &section{ID: "verdict", Title: "Verdict"}
	var list []finding
	for i := range p.r.Findings {
		f := &p.r.Findings[i]
		x := finding{Severity: severity(f.Severity.String()), Grade: f.Grade.String(), Text: textui.Clean(f.Text)}
		for k := range f.Evidence {
			x.Evidence = append(x.Evidence, pair{textui.Clean(f.Evidence[k].Name), evidence(&f.Evidence[k])})
		}
		list = append(list, x)
	}
	if len(list) == 0 {
		s.text("Nothing stands out.")
	} else {
		s.add(piece{Findings: list})
	}
	s.add(piece{Tiles: p.tiles()})
	return s
}

// severity returns what styles know: a saved report may have anything.
func severity(s string) string {
	if s == "notable" || s == "serious" {
		return s
	}
	return "info"
}

func (p *view) tiles() []tile {
	l, x := &p.r.Latency.All, &p.r.Procs
	wait := tile{"scheduling latency, p99", textui.Duration(l.P99), fmt.Sprintf("p50 %s, max %s at %s", textui.Duration(l.P50), textui.Duration(l.Max), textui.Instant(l.MaxAt)), "Scheduling latency"}
	if l.Unknown {
		wait.Value, wait.More = "not known", "max "+textui.Duration(l.Max)
	}
	if l.Count == 0 {
		wait.Value, wait.More = "no waits", ""
	}
	tiles := []tile{wait,
		{"waiting in all", textui.Duration(l.Total), textui.Plural(l.Count, "wait"), "Scheduling latency"}}
	if ref, ok := p.reference(); ok {
		tiles = append(tiles, ref)
	}
	tiles = append(tiles,
		tile{"procs busy", textui.Percent(x.Utilisation), fmt.Sprintf("of %s; idle %s", p.gomaxprocs(), textui.Ratio(x.Uses[result.UseIdle], model.Duration(totalUses(&x.Uses)))), "procs"},
		tile{"runnable", fmt.Sprintf("%.2f", x.MeanRunnable), fmt.Sprintf("goroutines on average, at most %s at %s", textui.Count(x.MaxRunnable), textui.Instant(x.MaxRunnableAt)), "run queue"},
		p.idleTile(), p.gcTile(), p.stwTile())
	return tiles
}

func (p *view) idleTile() tile {
	e := &p.r.Procs.IdleRunnable
	t := tile{"idle proc beside a runnable goroutine", textui.Ratio(e.Wall, p.r.Totals.Span), "of the time", "idle procs"}
	if e.Episodes.Count > 0 {
		t.More = fmt.Sprintf("of the time; p99 %s, the longest %s", percentile(&e.Episodes, int64(e.Episodes.P99)).Text, textui.Duration(e.Episodes.Max))
	}
	return t
}

func (p *view) gcTile() tile {
	gc := &p.r.GC
	more := "of the procs' time"
	if n := gc.Marks.Count + gc.CensoredMarks.Count; n > 0 {
		more += " in " + textui.Plural(n, "mark phase")
	}
	return tile{"garbage collection", textui.Percent(gc.Share), more, "GC"}
}

func (p *view) stwTile() tile {
	stw := &p.r.STW
	t := tile{"stop-the-world", textui.Duration(stw.Effective.Total), textui.Plural(stw.Count, "time"), "STW"}
	if stw.Effective.Count > 0 {
		t.More += ", the longest " + textui.Duration(stw.Effective.Max)
	}
	return t
}

// reference sets the waiting beside that under the reference scheduler.
func (p *view) reference() (tile, bool) {
	var ideal, rules, measured int64
	part, poor, n := false, false, 0
	for i := range p.r.Traces {
		r := p.r.Traces[i].Reference
		if r == nil || r.Waits == 0 {
			continue
		}
		n++
		ideal, rules, measured = ideal+int64(r.Ideal), rules+int64(r.Rules), measured+int64(r.Measured)
		part, poor = part || !r.Whole, poor || r.Poor
	}
	if n == 0 {
		return tile{}, false
	}
	name := "the same work, simulated"
	if part || n < len(p.r.Traces) {
		name = "a part of the work, simulated"
	}
	if poor || measured <= 0 {
		return tile{name, "no measure", fmt.Sprintf("Go's rules do not reproduce the trace: %s by them, measured %s", textui.Duration(rules), textui.Duration(measured)), "Reference"}, true
	}
	value := textui.Duration(rules)
	if part || n < len(p.r.Traces) {
		value = textui.Ratio(rules, measured) // a length would be taken for one of the whole
	}
	more := []string{fmt.Sprintf("by Go's rules; measured %s, ideal scheduler %s (inferred)", textui.Duration(measured), textui.Duration(ideal))}
	if value != textui.Duration(rules) {
		more = append([]string{"of the waiting measured in that part"}, more...)
		more[1] = textui.Duration(rules) + " " + more[1]
	}
	return tile{name, value, strings.Join(more, "; "), "Reference"}, true
}
