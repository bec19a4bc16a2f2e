package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// Rows that tables of Markdown have at most: where they are seen at once, and folded.
const (
	markdownRows   = 8
	markdownFolded = 20
	markdownName   = 120 // columns of a name
)

// Markdown writes a summary for a job or a pull request: the verdict, key figures, where
// the waiting went, the longest waits, what was found and what is missing. The rest is
// folded. Lists that may be long end after some rows, with the number of those left out.
func Markdown(w io.Writer, v *result.Report) error {
	m := &markdownReport{v: v}
	m.head()
	m.figures()
	m.causes()
	m.worst()
	m.found()
	m.missing()
	m.fold("Latency by origin and function", m.latency)
	m.fold("Whom others waited behind", m.antagonists)
	m.fold("Run queues, procs and the runtime", m.runtime)
	m.fold("The traces side by side", m.traces)
	m.fold("What the numbers leave out", m.notes)
	_, err := io.WriteString(w, m.String())
	return err
}

type markdownReport struct {
	strings.Builder
	v *result.Report
}

func (m *markdownReport) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

// words returns a text of which nothing is markup.
func (m *markdownReport) words(s string) string { return textui.Markdown(textui.Clean(s)) }

// name returns a name from the trace, in the type of code.
func (m *markdownReport) name(s string) string {
	if s == "" {
		return ""
	}
	return textui.MarkdownCode(textui.Shorten(textui.Clean(s), markdownName))
}

// fold writes what body writes behind a title, if it is anything.
func (m *markdownReport) fold(title string, body func()) {
	before := m.String()
	m.Reset()
	body()
	inside := m.String()
	m.Reset()
	m.WriteString(before)
	if inside != "" {
		m.printf("<details><summary>%s</summary>\n\n%s</details>\n\n", title, inside)
	}
}

// table writes a table. The first columns are text, the others numbers. Cells are markup.
func (m *markdownReport) table(headings []string, texts int, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	m.printf("| %s |\n|", strings.Join(headings, " | "))
	for i := range headings {
		m.WriteString([]string{"--:|", "---|"}[one(i < texts)])
	}
	m.WriteString("\n")
	for _, r := range rows {
		m.printf("| %s |\n", strings.Join(r, " | "))
	}
	m.WriteString("\n")
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// more says how many rows are left out of n.
func (m *markdownReport) more(shown, n int) {
	if n > shown {
		m.printf("%d more are in the JSON.\n\n", n-shown)
	}
}

func (m *markdownReport) head() {
	m.printf("## schedscope: %s\n\n", m.title())
	for i := range m.v.Findings {
		f := &m.v.Findings[i]
		mark := map[result.Severity]string{result.Serious: "❌ ", result.Notable: "⚠️ "}[f.Severity]
		m.printf("- %s%s\n", mark, m.words(f.Text))
	}
	m.printf("\n%s\n\n", m.words(m.about()))
}

// title names the traces, in few words.
func (m *markdownReport) title() string {
	list := m.v.Traces
	switch len(list) {
	case 0:
		return "no trace"
	case 1:
		return m.name(list[0].Name)
	}
	return fmt.Sprintf("%s and %d more", m.name(list[0].Name), len(list)-1)
}

// about says what was read.
func (m *markdownReport) about() string {
	t := &m.v.Totals
	s := fmt.Sprintf("%s, up to %s, %s, %s", textui.Duration(t.Span), textui.Plural(int64(t.Procs), "proc"),
		textui.Plural(t.Goroutines, "goroutine"), textui.Plural(t.Events, "event"))
	if n := len(m.v.Traces); n > 1 {
		s = fmt.Sprintf("%d traces: %s", n, s)
	} else if n == 1 {
		s = fmt.Sprintf("Trace format %s: %s", m.v.Traces[0].Format, s)
	}
	return s + "."
}

var distHeadings = []string{"count", "total", "p50", "p90", "p99", "p99.9", "max"}

// dist returns the cells of a distribution.
func (m *markdownReport) dist(d *result.Dist) []string {
	cells := []string{textui.Count(d.Count), textui.Duration(d.Total)}
	cells = append(cells, durations(d.Count > 0 && !d.Unknown, d.P50, d.P90, d.P99, d.P999)...)
	return append(cells, durations(d.Count > 0, d.Max)...)
}

// durations returns lengths of time, dashes if they are not known.
func durations(known bool, list ...model.Duration) []string {
	var cells []string
	for _, d := range list {
		if !known {
			cells = append(cells, "-")
			continue
		}
		cells = append(cells, textui.Duration(d))
	}
	return cells
}

// dists returns rows of distributions that are not empty.
func (m *markdownReport) dists(list []result.Named, label func(string) string) [][]string {
	var rows [][]string
	for i := range list {
		if d := &list[i]; d.Count > 0 {
			rows = append(rows, append([]string{label(d.Name)}, m.dist(&d.Dist)...))
		}
	}
	return rows
}

func (m *markdownReport) figures() {
	v := m.v
	m.table(append([]string{""}, distHeadings...), 1, m.dists([]result.Named{
		{Name: "scheduling latency", Dist: v.Latency.All},
		{Name: "idle proc while a goroutine was runnable", Dist: v.Procs.IdleRunnable.Episodes},
		{Name: "network wakeup until running", Dist: v.Netpoll.All},
		{Name: "system calls without a proc", Dist: v.Syscalls.Blocked},
		{Name: "stop-the-world", Dist: v.STW.Effective},
	}, m.words))
	p := &v.Procs
	m.printf("Procs: %s busy, %s on average. Runnable goroutines: %s on average, at most %d. GC: %s of the procs' time.\n\n",
		textui.Percent(p.Utilisation), decimal(p.Mean), decimal(p.MeanRunnable), p.MaxRunnable, textui.Percent(v.GC.Share))
	for i := range v.Traces {
		if r := v.Traces[i].Reference; r != nil && len(v.Traces) == 1 {
			m.reference(r)
		}
	}
}

// reference says what became of the work under the reference scheduler.
func (m *markdownReport) reference(r *result.Reference) {
	poor := ""
	if r.Poor {
		poor = ", which do not reproduce the measured waits"
	}
	m.printf("The same work waits %s under an ideal scheduler and %s under Go's rules (%s to %s)%s; measured %s (inferred).\n\n",
		textui.Duration(r.Ideal), textui.Duration(r.Rules), textui.Duration(r.Low), textui.Duration(r.High), poor, textui.Duration(r.Measured))
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

func (m *markdownReport) causes() {
	c := &m.v.Causes
	if c.Refused != "" {
		of := ""
		if n := old(m.v); 0 < n && n < len(m.v.Traces) {
			of = fmt.Sprintf(" for %s of %s", textui.Count(int64(n)), textui.Plural(int64(len(m.v.Traces)), "trace"))
		}
		m.printf("Where the waiting went is not known%s: %s.\n\n", of, m.words(strings.TrimSuffix(c.Refused, ".")))
	}
	if len(c.Rows) == 0 {
		return
	}
	m.WriteString("### Where the waiting went (inferred)\n\n")
	var rows [][]string
	for i := range c.Rows[:min(markdownRows, len(c.Rows))] {
		r := &c.Rows[i]
		rows = append(rows, []string{m.words(r.Cause), m.words(r.Meaning), textui.Percent(r.Share), textui.Duration(r.Total), textui.Count(r.Waits)})
	}
	m.table([]string{"cause", "meaning", "share", "total", "waits"}, 2, rows)
	m.more(markdownRows, len(c.Rows))
}

// firstWithQueues is the first Go 1.x of whose traces run queues and causes are known.
const firstWithQueues = 22

// old returns how many traces are too old for causes.
func old(v *result.Report) int {
	n := 0
	for i := range v.Traces {
		minor, err := strconv.Atoi(strings.TrimPrefix(v.Traces[i].Format, "go 1."))
		if err == nil && minor < firstWithQueues {
			n++
		}
	}
	return n
}

func (m *markdownReport) worst() {
	if len(m.v.WorstWaits) == 0 {
		return
	}
	m.WriteString("### The longest waits\n\n")
	several := len(m.v.Traces) > 1
	var rows [][]string
	for i := range m.v.WorstWaits[:min(markdownRows, len(m.v.WorstWaits))] {
		w := &m.v.WorstWaits[i]
		at := textui.Instant(w.Start)
		if several {
			at += " of " + m.name(m.v.Traces[w.Trace].Name)
		}
		rows = append(rows, []string{fmt.Sprintf("G%d %s", w.Goroutine, m.name(w.Function)), m.words(OriginLabel(w.Origin)), m.lostTo(w), at, textui.Duration(w.Duration)})
	}
	m.table([]string{"goroutine", "became runnable by", "mostly lost to", "from", "length"}, 4, rows)
}

// lostTo names the greatest cause of a wait, and whom it was behind.
func (m *markdownReport) lostTo(w *result.Wait) string {
	if len(w.Causes) == 0 {
		return ""
	}
	most := &w.Causes[0]
	for i := range w.Causes {
		if w.Causes[i].Total > most.Total {
			most = &w.Causes[i]
		}
	}
	s := fmt.Sprintf("%s %s", m.words(most.Cause), textui.Duration(most.Total))
	if len(w.Blockers) > 0 {
		s += ", most behind " + m.name(w.Blockers[0].Function)
	}
	return s
}

func (m *markdownReport) found() {
	if len(m.v.Pathologies) == 0 {
		return
	}
	m.WriteString("### Found\n\n")
	for i := range m.v.Pathologies[:min(markdownFolded, len(m.v.Pathologies))] {
		p := &m.v.Pathologies[i]
		bound := ""
		if p.Total == 0 {
			bound = "at most "
		}
		inferred := ""
		if p.Grade == result.Inferred {
			inferred = " (inferred)"
		}
		m.printf("- **%s** (%s): %s, worst %s%s at %s%s. %s %s\n", m.words(PathologyLabel(p.Name)), p.Severity,
			textui.Plural(p.Count, "case"), bound, textui.Duration(p.Worst), textui.Duration(p.At), inferred, m.words(p.Meaning), m.words(p.Advice))
	}
	m.WriteString("\n")
}

// missing says which traces are not all there.
func (m *markdownReport) missing() {
	var items []string
	for i := range m.v.Traces {
		if t := &m.v.Traces[i]; t.Loss != nil {
			items = append(items, fmt.Sprintf("%s is damaged: %s; analysed the first %s", m.name(t.Name), m.words(t.Loss.Cause), textui.Duration(t.Loss.After)))
		}
	}
	for i := range m.v.Skipped[:min(markdownFolded, len(m.v.Skipped))] {
		s := &m.v.Skipped[i]
		items = append(items, fmt.Sprintf("%s was skipped: %s", m.name(s.Name), m.words(s.Cause)))
	}
	m.items(items)
	m.more(markdownFolded, len(m.v.Skipped))
}

func (m *markdownReport) notes() {
	var items []string
	for _, n := range m.v.Notes {
		items = append(items, m.words(n))
	}
	m.items(items)
}

// items writes a list. Items are markup.
func (m *markdownReport) items(list []string) {
	for _, s := range list {
		m.printf("- %s\n", s)
	}
	if len(list) > 0 {
		m.WriteString("\n")
	}
}

func (m *markdownReport) latency() {
	l := &m.v.Latency
	m.table(append([]string{"origin"}, distHeadings...), 1, m.dists(l.ByOrigin, func(s string) string { return m.words(OriginLabel(s)) }))
	m.table(append([]string{"function"}, distHeadings...), 1, m.dists(l.ByFunction[:min(markdownFolded, len(l.ByFunction))], m.name))
	m.more(markdownFolded, len(l.ByFunction))
}

func (m *markdownReport) antagonists() {
	list := m.v.Causes.Antagonists
	var rows [][]string
	for i := range list[:min(markdownFolded, len(list))] {
		a := &list[i]
		place := ""
		if len(a.Stacks) > 0 {
			place = m.name(a.Stacks[0].Place)
		}
		rows = append(rows, []string{m.name(a.Function), m.words(WorkLabel(a.Work, a.Syscall)), place, textui.Count(a.Turns), textui.Duration(a.Total)})
	}
	m.table([]string{"function", "did", "mostly stopped in", "turns", "waiting behind it"}, 3, rows)
	m.more(markdownFolded, len(list))
}

func (m *markdownReport) runtime() {
	q := &m.v.Queues
	var rows [][]string
	for _, s := range q.BySource {
		rows = append(rows, []string{m.words(SourceLabel(s.Name)), textui.Count(s.Count)})
	}
	m.table([]string{"starts from", "count"}, 1, rows)
	if q.Starts > 0 {
		m.printf("Steals: %s, of them %s from a runnext. Wakeups of idle procs that found nothing: %s.\n\n",
			textui.Count(q.Steals), textui.Count(q.RunnextSteals), textui.Count(q.Fruitless))
	}
	rows = nil
	for i := range m.v.Handoffs {
		h := &m.v.Handoffs[i]
		rows = append(rows, append([]string{m.words(h.Cause)}, m.dist(&h.Gap)...))
	}
	m.table(append([]string{"handoff of a proc"}, distHeadings...), 1, rows)
	rows = nil
	for i := range m.v.STW.ByReason {
		r := &m.v.STW.ByReason[i]
		rows = append(rows, append([]string{m.words(r.Reason)}, m.dist(&r.Effective)...))
	}
	m.table(append([]string{"stop-the-world"}, distHeadings...), 1, rows)
}

func (m *markdownReport) traces() {
	var rows [][]string
	for i := range m.v.PerTrace[:min(markdownFolded, len(m.v.PerTrace))] {
		t := &m.v.PerTrace[i]
		row := []string{m.name(m.v.Traces[t.Trace].Name), m.words(t.MainCause), textui.Duration(t.Span), textui.Percent(t.Utilisation), textui.Count(t.Waits)}
		rows = append(rows, append(row, durations(t.Waits > 0, t.P50, t.P99, t.P999, t.Max)...))
	}
	m.table([]string{"trace", "most lost to", "length", "busy", "waits", "p50", "p99", "p99.9", "max"}, 2, rows)
	m.more(markdownFolded, len(m.v.PerTrace))
}
