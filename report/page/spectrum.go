package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report"
)

// spectrum is latency as distributions: by percentile beside the reference, and by length.
func (p *view) spectrum() *section {
	l := &p.r.Latency
	s := &section{ID: "latency", Title: "Scheduling latency", Lead: "From runnable to running, of the program's own goroutines. To the right each step leaves a tenth of the waits."}
	if l.All.Count == 0 {
		s.text("No goroutine of the program was seen to wait from beginning to end.")
		return s
	}
	if len(p.curves()) > 0 { // there are none of ten waits or fewer
		s.add(piece{Chart: &chart{ID: "spectrum-chart", Height: "tall", Label: "Scheduling latency by percentile, measured and simulated", Table: p.spectrumTable()}})
	}
	s.add(piece{Chart: &chart{ID: "histogram-chart", Height: "low", Label: "Number of waits by length", Table: p.histogramTable()}})
	origins := p.distTable("t-latency-origin", "Scheduling latency by origin", "origin", l.ByOrigin, func(n string) cell { return words(report.OriginLabel(n)) })
	origins.total(append([]cell{words("all")}, p.distCells(&l.All)...)...)
	s.table("By origin: how the goroutine became runnable", origins)
	s.table("By start function", p.distTable("t-latency-function", "Scheduling latency by start function", "function", l.ByFunction, function))
	return s
}

// curve is a spectrum of the picture.
type curve struct {
	label string
	*result.Spectrum
}

// curves are all spectra that have points, those of the reference last. With several
// traces the references, which are each of one trace, are left out.
func (p *view) curves() []curve {
	var list []curve
	for i := range p.r.Latency.Spectra {
		x := &p.r.Latency.Spectra[i]
		if len(x.Points) > 0 {
			list = append(list, curve{textui.Clean(report.OriginLabel(x.Name)), x})
		}
	}
	if len(p.r.Traces) != 1 || p.r.Traces[0].Reference == nil {
		return list
	}
	ref := p.r.Traces[0].Reference
	labels := map[string]string{"go_rules": "simulated: Go's rules", "ideal": "simulated: ideal scheduler"}
	for i := range ref.Spectra {
		x := &ref.Spectra[i]
		if label, ok := labels[x.Name]; ok && len(x.Points) > 0 {
			list = append(list, curve{label, x})
		}
	}
	return list
}

// percentiles are the rows of the spectrum's table.
var percentiles = []struct {
	name string
	q    float64
}{{"p50", .5}, {"p75", .75}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p99.5", .995}, {"p99.9", .999}, {"p99.95", .9995}, {"p99.99", .9999}, {"p99.999", .99999}}

// spectrumTable says what each curve is at some percentiles. It has no cell where a curve
// has no point of just that percentile.
func (p *view) spectrumTable() *table {
	t := &table{ID: "t-spectrum", Caption: "Scheduling latency by percentile", Columns: []column{{"percentile", "", ""}}}
	list := p.curves()
	for _, c := range list {
		t.Columns = append(t.Columns, column{c.label, "ns", ""})
	}
	for _, x := range percentiles {
		cells, any := []cell{words(x.name)}, false
		for _, c := range list {
			at, ok := c.at(x.q)
			cells, any = append(cells, at), any || ok
		}
		if any {
			t.add(cells...)
		}
	}
	return t
}

// at returns the length at a percentile, if the curve has a point there.
func (c *curve) at(q float64) (cell, bool) {
	for _, point := range c.Points {
		if math.Abs(point.Q-q) < 1e-12 {
			return duration(int64(point.Value)), true
		}
	}
	return cell{}, false
}

func (p *view) histogramTable() *table {
	l := &p.r.Latency
	t := &table{ID: "t-histogram", Caption: "Waits by length", Columns: []column{{"from", "ns", ""}, {"to", "ns", ""}, {"waits", "n", ""}, {"share", "share", ""}}}
	for _, b := range l.Histogram {
		t.add(duration(int64(b.From)), duration(int64(b.To)), count(b.Count), ratio(b.Count, l.All.Count))
	}
	return t
}

// wait is one of the longest waits.
type wait struct {
	Number  int
	Title   string
	Link    string
	Story   string
	Parts   []part
	Causes  []pair
	Behind  []pair
	Procs   string
	Ran     []pair
	Stopped []frame
	Woken   []frame
	WokenBy string
}

// frame is a frame of a stack.
type frame struct{ Func, Where, Path string }

func frames(stack []result.Frame) []frame {
	var list []frame
	for i := range stack {
		f := &stack[i]
		x := frame{Func: textui.Clean(f.Function)}
		if f.File != "" {
			x.Path = fmt.Sprintf("%s:%d", textui.Clean(f.File), f.Line)
			x.Where = lastTwo(x.Path)
		}
		list = append(list, x)
	}
	return list
}

// lastTwo returns the last two elements of a path.
func lastTwo(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[strings.LastIndexByte(path[:i], '/')+1:]
	}
	return path
}

func (p *view) worst() *section {
	s := &section{ID: "worst", Title: "The longest waits"}
	t := &table{ID: "t-worst", Caption: "The longest waits", Columns: []column{{"length", "ns", ""}, {"from", "at", ""}, {"goroutine", "", ""}, {"origin", "", "how it became runnable"},
		{"ran on", "n", "the proc"}, {"causes", "", ""}, {"why", "", "most first"}}}
	var details []wait
	for i := range p.r.WorstWaits {
		w := &p.r.WorstWaits[i]
		from := instant(int64(w.Start))
		from.Link = p.link(w.Trace, int64(w.Start), int64(w.Duration), int64(w.Goroutine))
		length := duration(int64(w.Duration))
		length.Link = fmt.Sprintf("#wait-%d", i+1)
		t.add(length, from, p.goroutine(w.Trace, int64(w.Goroutine), w.Function), words(report.OriginLabel(w.Origin)), proc(int64(w.RanOn)), causeCell(w.Causes), mostly(w.Causes))
		details = append(details, p.wait(i+1, w))
	}
	s.table("", t)
	if len(details) > 0 {
		s.add(piece{Heading: "One by one", Waits: details})
	}
	s.table("Goroutines that waited the longest in all", p.byGoroutine())
	return s
}

func (p *view) wait(n int, w *result.Wait) wait {
	x := wait{Number: n, Link: p.link(w.Trace, int64(w.Start), int64(w.Duration), int64(w.Goroutine)), Parts: parts(w.Causes),
		Title:   fmt.Sprintf("%s from %s: %s", textui.Duration(w.Duration), textui.Instant(w.Start), p.goroutine(w.Trace, int64(w.Goroutine), w.Function).Text),
		Stopped: frames(w.Stack), Woken: frames(w.WakerStack), WokenBy: "readied in"}
	if w.Origin == "created" {
		x.WokenBy = "created in"
	}
	waker := ""
	if w.Waker >= 0 {
		waker = p.goroutine(w.Trace, int64(w.Waker), w.WakerFunction).Text
	}
	x.Story = report.OriginSentence(w.Origin, waker)
	if w.ReadiedOn >= 0 {
		x.Story += fmt.Sprintf(" on proc %d", w.ReadiedOn)
	}
	if w.RanOn >= 0 {
		x.Story += fmt.Sprintf(", ran on proc %d", w.RanOn)
	}
	x.Story += " at " + textui.Instant(w.End)
	for _, c := range w.Causes {
		x.Causes = append(x.Causes, pair{textui.Clean(c.Cause), textui.Duration(c.Total) + ", " + textui.Ratio(c.Total, w.Duration)})
	}
	for i := range w.Blockers {
		b := &w.Blockers[i]
		x.Behind = append(x.Behind, pair{p.goroutine(w.Trace, int64(b.Goroutine), b.Function).Text + ", " + textui.Clean(report.WorkLabel(b.Work, b.Syscall)), textui.Duration(b.Total)})
	}
	all := totalUses(&w.Uses)
	for _, u := range uses {
		if n := u.total(&w.Uses); all > 0 && 200*n >= all {
			x.Procs += fmt.Sprintf(", %s %s", u.label, textui.Ratio(n, all))
		}
	}
	if x.Procs != "" {
		x.Procs = x.Procs[2:]
		if w.Approximate {
			x.Procs += " (approximate)"
		}
	}
	least := ""
	if w.Unattributed > 0 {
		least = "at least "
	}
	for i := range w.Meanwhile {
		m := &w.Meanwhile[i]
		x.Ran = append(x.Ran, pair{p.goroutine(w.Trace, int64(m.Goroutine), m.Function).Text + ", " + textui.Clean(report.UseLabel(m.Use)), least + textui.Duration(m.Total)})
	}
	return x
}

func (p *view) byGoroutine() *table {
	t := &table{ID: "t-goroutines-waited", Caption: "Goroutines that waited the longest in all", Columns: []column{{"goroutine", "", ""}, {"waits", "n", ""}, {"total", "ns", ""}, {"max", "ns", ""}, {"max at", "at", ""}}}
	for i := range p.r.Latency.ByGoroutine {
		g := &p.r.Latency.ByGoroutine[i]
		at := instant(int64(g.MaxAt))
		at.Link = p.link(g.Trace, int64(g.MaxAt-model.Time(g.Max)), int64(g.Max), int64(g.Goroutine))
		t.add(p.goroutine(g.Trace, int64(g.Goroutine), g.Function), count(g.Count), duration(int64(g.Total)), duration(int64(g.Max)), at)
	}
	return t
}
