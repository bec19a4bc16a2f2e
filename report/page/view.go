package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// pageView is the page before it is text.
type pageView struct {
	in *Input
	r  *result.Report
	d  *document.Document // all sections of the report

	Title    string
	Facts    []string // what was read
	Warnings []string // what was not
	Policy   string
	drawn    *packedRequests
	First    []*section // what is seen at once
	Sections []*section // all numbers, folded
}

// section is a part of the page with a heading.
type section struct {
	ID, Title string
	Lead      string // what is shown, in small
	Inferred  bool   // all of it is reconstructed
	Pieces    []piece
}

// piece is one thing in a section; one of its fields is set.
type piece struct {
	Text     string
	HTML     template.HTML // of a section of a document
	Chart    *chart
	Tiles    []tile
	Terms    []term
	Timeline bool
}

// chart is a picture that a script draws.
type chart struct {
	ID     string
	Label  string // what it shows
	Height string // class
}

// newView lays the page out: sections of the report's document, and charts where they
// belong.
func newView(in *Input) *pageView {
	p := &pageView{in: in, r: in.Report, d: view.Report(in.Report), Policy: policy(in.Live)}
	p.head()
	p.drawn = p.requests()
	l := &p.r.Latency
	s := p.section("verdict", "Verdict", "")
	p.add(s, view.Verdict(p.r))
	p.add(s, view.RequestGroups(p.r, 0))
	if x := p.d.Section("diagnoses"); x != nil {
		s.Pieces = append(s.Pieces, piece{HTML: `<div class="findings">` + p.render(x, true) + "</div>\n"})
		if x := p.d.Section("also-found"); x != nil {
			s.Pieces = append(s.Pieces, p.folded("Also found", x))
		}
	}
	p.add(s, view.RuledOut(p.r))
	if x := p.d.Section("requests"); x != nil {
		s = p.section("requests", x.Title, "")
		if p.drawn != nil {
			p.chart(s, "requests-chart", "middle", "Requests by when they began and how long they took")
			s.Pieces = append(s.Pieces, piece{HTML: "<div id=\"chosen\"></div>\n"})
		}
		if slow := view.SlowestByGroup(p.r); slow != nil {
			s.Pieces = append(s.Pieces, p.folded("The slowest", slow))
		}
		s.Pieces = append(s.Pieces, p.folded("In tables", x))
	}
	p.timeline()
	if x := p.d.Section("blame"); x != nil {
		s = p.section("blame", x.Title, "")
		s.Pieces = append(s.Pieces, piece{HTML: "<div id=\"flame\"></div>\n"}, p.folded("In tables", x))
	}
	p.First, p.Sections = p.Sections, nil
	s = p.section("key", "Key figures", "")
	s.Pieces = append(s.Pieces, piece{Tiles: p.tiles()})
	p.section("traces", "Traces", "Points in time count from the start of each trace.", "traces")
	s = p.section("causes", "Where the waiting went", "")
	causes := view.Causes(p.r)
	if s.Inferred = causes.Inferred; s.Inferred {
		s.Lead = "Each wait is cut into cells with one cause each; together they are all of the waiting, to the nanosecond."
	}
	p.add(s, causes)
	if s.Inferred {
		p.chart(s, "causes-chart", "tall", "Goroutines waiting to run over time, by cause")
		p.parts(s, "causes-origin", "causes-function")
	}
	p.overTime()
	s = p.section("latency", "Scheduling latency", "From runnable to running, of the program's own goroutines. To the right each step leaves a tenth of the waits.")
	if l.All.Count == 0 {
		s.Pieces = append(s.Pieces, piece{Text: "No goroutine of the program was seen to wait from beginning to end."})
	} else {
		if len(p.curves()) > 0 { // there are none of ten waits or fewer
			p.chart(s, "spectrum-chart", "tall", "Scheduling latency by percentile")
		}
		p.parts(s, "latency-origin", "latency-function")
	}
	p.parts(p.section("worst", "The longest waits", "", "worst"), "goroutines-waited")
	s = p.section("found", "Pathologies", "", "found")
	if len(s.Pieces) == 0 {
		s.Pieces = append(s.Pieces, piece{Text: "None of those that are looked for was found."})
	}
	p.section("queues", "Run queues and steals", "", "queues").Inferred = true
	p.section("handoffs", "System calls and handoffs", "How procs left threads in system calls, and how long they then had no thread.", "handoffs", "syscalls")
	p.section("network", "Network poller and timers", "", "netpoll", "lateness")
	p.section("gc", "Garbage collection and stop-the-world", "", "stw", "gc")
	p.section("goroutines", "Goroutines", "", "goroutines", "waiting", "bursts")
	p.section("tasks", "Tasks and regions", "What the program marked by runtime/trace.", "tasks", "regions")
	s = p.section("threads", "Procs and threads", "")
	p.add(s, view.Procs(p.r))
	p.parts(s, "threads")
	for _, x := range view.Auto(p.r) {
		if x != nil {
			p.section(x.ID, x.Title, "", x.ID)
		}
	}
	p.section("notes", "How far to trust it", "", "notes", "limits")
	s = p.section("glossary", "What the numbers mean", "")
	s.Pieces = append(s.Pieces, piece{Terms: glossary(view.MetricsHelp())})

	// Those without content vanish.
	p.Sections = slices.DeleteFunc(p.Sections, func(s *section) bool { return len(s.Pieces) == 0 })
	return p
}

// section adds a section of the page with sections of the document. One without a title
// has that of the only section in it.
func (p *pageView) section(id, title, lead string, parts ...string) *section {
	s := &section{ID: id, Title: title, Lead: lead}
	p.Sections = append(p.Sections, s)
	if len(parts) == 1 {
		x := p.d.Section(parts[0])
		if x != nil && title == "" {
			s.Title, s.Inferred = x.Title, true
		}
		p.add(s, x)
		return s
	}
	p.parts(s, parts...)
	return s
}

// parts adds sections of the document under their titles.
func (p *pageView) parts(s *section, ids ...string) {
	for _, id := range ids {
		if x := p.d.Section(id); x != nil {
			s.Pieces = append(s.Pieces, piece{HTML: template.HTML("<h3>"+template.HTMLEscapeString(textui.Clean(x.Title))+"</h3>\n") + p.html(x)})
		}
	}
}

// add adds a section of a document without its title.
func (p *pageView) add(s *section, x *document.Section) {
	if x != nil && len(x.Blocks) > 0 {
		s.Pieces = append(s.Pieces, piece{HTML: p.html(x)})
	}
}

// folded is a section of a document that shows only a summary at first.
func (p *pageView) folded(summary template.HTML, s *document.Section) piece {
	return piece{HTML: `<details class="fold"><summary>` + summary + "</summary>" + p.html(s) + "</details>\n"}
}

func (p *pageView) html(s *document.Section) template.HTML { return p.render(s, false) }

// render renders a section of a document, its cards open or not. Its templates escape what is not markup.
func (p *pageView) render(s *document.Section, open bool) template.HTML {
	var b strings.Builder
	if err := document.HTML(&b, s, document.HTMLOptions{Link: p.link, Open: open}); err != nil {
		panic("page: " + err.Error()) // a builder does not fail
	}
	return template.HTML(b.String())
}

// chart adds a picture.
func (p *pageView) chart(s *section, id, height, label string) {
	s.Pieces = append(s.Pieces, piece{Chart: &chart{ID: id, Height: height, Label: label}})
}

// several reports whether the report is one of more than one trace.
func (p *pageView) several() bool { return len(p.r.Traces) > 1 }

// interactive reports whether the page has a timeline that links can lead to.
func (p *pageView) interactive() bool { return p.in.Live || p.in.Timeline != nil }

// link returns a link to a time on the timeline, "" if there is none: pages of several
// traces have no timeline.
func (p *pageView) link(m document.Moment) string {
	if !p.interactive() || p.several() {
		return ""
	}
	return "#t=" + exact(max(m.From, 0)) + "," + exact(max(m.Length, 1)) + textui.If(m.Goroutine >= 0, "&g="+strconv.FormatInt(m.Goroutine, 10))
}

// exact returns a length of time with all its digits, in the unit in which it is short.
func exact(ns int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}} {
		if ns >= u.size {
			s := strconv.FormatInt(ns/u.size, 10)
			if rest := ns % u.size; rest > 0 {
				s += "." + strings.TrimRight(fmt.Sprintf("%0*d", len(strconv.FormatInt(u.size, 10))-1, rest), "0")
			}
			return s + u.name
		}
	}
	return strconv.FormatInt(ns, 10) + "ns"
}

func (p *pageView) timeline() {
	s := p.section("timeline", "Timeline", "")
	note := cmp.Or(textui.Clean(p.in.TimelineNote), textui.If(!p.interactive(), "This report has no timeline."))
	if note != "" {
		s.Pieces = append(s.Pieces, piece{Text: note})
	}
	if p.interactive() {
		s.Pieces = append(s.Pieces, piece{Timeline: true})
	}
}
