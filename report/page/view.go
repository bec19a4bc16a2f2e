package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// view is the page before it is text.
type view struct {
	in *Input
	r  *result.Report

	Title    string
	Facts    []string // what was read
	Warnings []string // what was not
	Policy   string
	Sections []*section
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
	Heading  string
	Text     string
	List     []string
	Table    *table
	Fold     *table // a table that is folded up
	Chart    *chart
	Tiles    []tile
	Findings []finding
	Bar      *bar
	Waits    []wait
	Found    []pathology
	Terms    []term
	Timeline bool
}

// chart is a picture that a script draws; the table holds what it shows.
type chart struct {
	ID     string
	Label  string // what is seen, for who does not see it
	Height string // class
	Table  *table
}

func newView(in *Input) *view {
	p := &view{in: in, r: in.Report, Policy: policy(in.Live)}
	p.head()
	for _, s := range []*section{p.verdict(), p.traces(), p.causes(), p.overTime(), p.timeline(), p.spectrum(), p.worst(), p.antagonists(),
		p.pathologies(), p.queues(), p.handoffs(), p.network(), p.collector(), p.goroutines(), p.tasks(), p.procs(), p.notes(), p.glossary()} {
		if s != nil && len(s.Pieces) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
	return p
}

func (s *section) add(b piece) { s.Pieces = append(s.Pieces, b) }

// text adds a paragraph, nothing if it is empty.
func (s *section) text(format string, args ...any) {
	if t := fmt.Sprintf(format, args...); t != "" {
		s.add(piece{Text: t})
	}
}

// table adds a table under a heading, nothing if it has no rows.
func (s *section) table(heading string, t *table) {
	if t != nil && len(t.Rows) > 0 {
		s.add(piece{Heading: heading, Table: t})
	}
}

// fold adds a table that is folded up at first.
func (s *section) fold(t *table) {
	if t != nil && len(t.Rows) > 0 {
		s.add(piece{Fold: t})
	}
}

// several reports whether the report is one of more than one trace.
func (p *view) several() bool { return len(p.r.Traces) > 1 }

// interactive reports whether the page has a timeline that links can lead to.
func (p *view) interactive() bool { return p.in.Live || p.in.Timeline != nil }

// link returns a link to a time on the timeline, "" if there is none.
func (p *view) link(trace int, from, length, goroutine int64) string {
	if !p.interactive() || p.several() || trace != 0 {
		return ""
	}
	s := "#t=" + exact(max(from, 0)) + "," + exact(max(length, 1))
	if goroutine >= 0 {
		s += "&g=" + strconv.FormatInt(goroutine, 10)
	}
	return s
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

// traceName is the name of a trace as it was given.
func (p *view) traceName(i int) string {
	if i < 0 || i >= len(p.r.Traces) {
		return "trace " + strconv.Itoa(i+1)
	}
	return textui.Clean(p.r.Traces[i].Name)
}

// goroutine names a goroutine of a trace.
func (p *view) goroutine(trace int, id int64, fn string) cell {
	c := function(fn)
	who := "G" + strconv.FormatInt(id, 10)
	if id < 0 {
		who = "several"
	}
	c.Text = who + " " + c.Text
	if p.several() {
		c.Text += " of trace " + strconv.Itoa(trace+1)
	}
	return c
}
