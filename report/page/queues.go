package page

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report"
)

func (p *view) queues() *section {
	q := &p.r.Queues
	s := &section{ID: "queues", Title: "Run queues and steals", Inferred: true, Lead: "Not recorded in a trace, but replayed by the rules of the Go version that wrote it, with the runtime's own goroutines."}
	if q.Refused != "" {
		s.text("Run queues are not known: %s.", textui.Clean(q.Refused))
	}
	if q.Starts == 0 {
		s.Lead, s.Inferred = "", false
		return s
	}
	s.table("Where starts took their goroutine from", p.sources())
	s.table("Steals and other moves", p.moves())
	s.table("Idle procs woken", p.wakeups())
	if q.Uncaused+q.Fruitless > 0 {
		s.text("%s of idle procs found nothing to run; of %s the cause is not known.", textui.Plural(q.Fruitless, "wakeup"), textui.Count(q.Uncaused))
	}
	s.table("Length of the queues, without runnext", p.lengths())
	s.text("Evidence for where starts came from: %s.", p.grades())
	return s
}

func (p *view) grades() string {
	var list []string
	for _, g := range p.r.Queues.ByGrade {
		list = append(list, fmt.Sprintf("%s %s", textui.Ratio(g.Count, p.r.Queues.Starts), textui.Clean(g.Name)))
	}
	return strings.Join(list, ", ")
}

func (p *view) sources() *table {
	q := &p.r.Queues
	t := &table{ID: "t-sources", Caption: "Sources of starts", Columns: []column{{"taken from", "", ""}, {"starts", "n", ""}, {"share", "share", ""}}}
	for _, x := range q.BySource {
		t.add(words(report.SourceLabel(x.Name)), count(x.Count), ratio(x.Count, q.Starts))
	}
	t.total(words("all"), count(q.Starts), share(1))
	return t
}

func (p *view) moves() *table {
	q := &p.r.Queues
	t := &table{ID: "t-moves", Caption: "Steals and other moves", Columns: []column{{"", "", ""}, {"count", "n", ""}}}
	sizes := &q.StealSizes
	for _, x := range []struct {
		name  string
		count int64
	}{
		{"steals", q.Steals},
		{"of those, of a runnext", q.RunnextSteals},
		{"goroutines that the others took, p50", sizes.P50},
		{"at most", sizes.Max},
		{"overflows of local queues into the global one", q.Overflows},
		{"picks from the global queue by the 61st tick", q.FairPicks},
		{"lists of goroutines made runnable at once", q.Injections},
		{"goroutines in them", q.Injected},
		{"of those, put into local queues", q.InjectedLocal},
	} {
		n := count(x.count)
		if sizes.Unknown && strings.HasSuffix(x.name, "p50") {
			n = notKnown
		}
		t.add(words(x.name), n).Indent = strings.HasPrefix(x.name, "of those") || x.name == "at most"
	}
	return t
}

func (p *view) wakeups() *table {
	return p.distTable("t-wakeups", "From what woke an idle proc until its thread had it", "woken for", p.r.Queues.Wakeups, func(n string) cell { return words(report.OriginLabel(n)) })
}

func (p *view) lengths() *table {
	q := &p.r.Queues
	t := &table{ID: "t-lengths", Caption: "Lengths of run queues", Columns: []column{{"queue", "", ""}, {"mean", "mean", ""}, {"max", "n", ""}, {"max at", "at", ""}}}
	for i := range append([]result.Length{q.Global}, q.Local...) {
		x, name := &q.Global, "global"
		if i > 0 {
			x = &q.Local[i-1]
			name = fmt.Sprintf("proc %d", x.Proc)
		}
		at := instant(int64(x.MaxAt))
		at.Link = p.link(0, int64(x.MaxAt)-1e6, 2e6, -1)
		t.add(words(name), mean(x.Mean, 3), count(x.Max), at)
	}
	return t
}
