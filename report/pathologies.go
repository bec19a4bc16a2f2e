package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// foundLines is how many pathologies the summary names.
const foundLines = 3

// foundSummary names the worst pathologies, a line each.
func (t *text) foundSummary() {
	found := t.r.Pathologies.Found()
	for i := range found[:min(foundLines, len(found))] {
		more := ""
		if i == foundLines-1 && len(found) > foundLines {
			more = fmt.Sprintf("; %d more below", len(found)-foundLines)
		}
		line := "found: " + foundLine(&found[i], true) + more
		if textui.Width(line) > t.width-2 {
			line = "found: " + foundLine(&found[i], false) + more
		}
		t.printf("- %s\n", textui.Columns(line, t.width-2, "  "))
	}
}

// foundLine says what was found, its total if that is wanted and there is one.
func foundLine(p *analyze.Pathology, total bool) string {
	s := fmt.Sprintf("%s, %s", pathologyName(p.Name), textui.Plural(p.Count, "case"))
	bound := ""
	if p.Total > 0 {
		if total {
			s += fmt.Sprintf(", %s in all", textui.Duration(p.Total))
		}
	} else {
		bound = "at most "
	}
	s += fmt.Sprintf(", worst %s%s at %s", bound, textui.Duration(p.Worst), textui.Duration(p.At))
	if p.Grade == result.Inferred {
		s += " (inferred)"
	}
	return s
}

// pathologyName turns a stable name into words.
func pathologyName(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words {
		switch w {
		case "gc", "cpu", "stw":
			words[i] = strings.ToUpper(w)
		}
	}
	return strings.Join(words, " ")
}

// pathologies shows what was found, each with what it rests on.
func (t *text) pathologies() {
	found := t.r.Pathologies.Found()
	if len(found) == 0 {
		return
	}
	t.section("Found", "known ways of scheduling going wrong, the worst first")
	for i := range found {
		t.pathology(&found[i])
	}
}

func (t *text) pathology(p *analyze.Pathology) {
	s := foundLine(p, true)
	if t.r.Totals.Traces > 1 {
		s += fmt.Sprintf(", in trace %d", p.Trace+1)
	}
	t.printf("  - %s\n", textui.Columns(t.bold(s), t.width-4, "    "))
	for _, paragraph := range []string{p.Meaning, p.Advice} {
		if paragraph != "" {
			t.printf("    %s\n", textui.Columns(paragraph, t.width-4, "    "))
		}
	}
	tb := t.table("lr")
	tb.Indent = "      "
	for _, e := range p.Evidence {
		tb.Row(e.Name, evidence(e))
	}
	t.b.WriteString(tb.String())
	for i := range p.Who[:min(antagonistsShown, len(p.Who))] {
		t.printf("      %s\n", textui.Columns(t.party(&p.Who[i]), t.width-6, "        "))
	}
}

// evidence returns a number with its unit.
func evidence(e result.Evidence) string {
	number := textui.Count(int64(math.Round(e.Value)))
	if e.Value < 10 && e.Value != math.Trunc(e.Value) {
		number = strconv.FormatFloat(e.Value, 'f', 2, 64)
	}
	switch e.Unit {
	case "ns":
		return textui.Duration(model.Duration(e.Value))
	case "share":
		return textui.Percent(e.Value)
	case "per second":
		return number + "/s"
	}
	return number
}

// party says who took part and where.
func (t *text) party(w *analyze.Party) string {
	s := w.Role
	if w.Func != "" {
		s += ": " + t.name(w.Func)
	}
	if w.Place != "" {
		s += " in " + t.name(w.Place)
	}
	if w.Proc != model.NoProc {
		s += " on " + procName(w.Proc)
	}
	s += ", " + textui.Plural(w.Count, "time")
	if w.Total > 0 {
		s += ", " + textui.Duration(w.Total)
	}
	return s
}

// lateness shows what lies before the waits.
func (t *text) lateness() {
	l := t.r.Pathologies.Late
	if l.Network.Count()+l.Timers.Count()+l.Asleep+l.UnboundedTimers == 0 {
		return
	}
	t.section("Outside Runnable: how late goroutines may have become runnable",
		"upper bounds of single wakeups, no measurements; they are part of no other number and must not be added up")
	tb := t.table("lrrrrrr", "at most", "count", "p50", "p90", "p99", "max", "at")
	row := func(name string, d *dist.Dist) {
		if d.Count() > 0 {
			q := d.Quantiles(0.5, 0.9, 0.99)
			tb.Row(name, textui.Count(d.Count()), textui.Duration(q[0]), textui.Duration(q[1]), textui.Duration(q[2]),
				textui.Duration(d.Max()), textui.Instant(d.MaxAt()))
		}
	}
	row("network events", &l.Network)
	for p := range l.ByPoller {
		row("  "+model.Poller(p).String(), &l.ByPoller[p])
	}
	row("timers on a busy proc", &l.Timers)
	t.b.WriteString(tb.String())
	if l.Asleep > 0 {
		t.note("%s more network events woke a thread that slept in the poller: late by no more than that takes", textui.Count(l.Asleep))
	}
	if l.UnboundedTimers > 0 {
		t.note("%s more timers fired after a sleep or by another proc: nothing is known of them", textui.Count(l.UnboundedTimers))
	}
}
