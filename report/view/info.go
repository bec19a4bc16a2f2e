package view

import (
	"fmt"
	"io"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
)

// Info writes a description of a trace for people.
func Info(w io.Writer, v *result.About, o document.TextOptions) error {
	o.Top = 0
	d := &document.Document{Title: v.Name}
	d.Add(about(v), generations(v), document.Statements("not-in-it", "Not in it", v.Missing))
	return document.Text(w, d, o)
}

// about are the facts on a trace.
func about(v *result.About) *document.Section {
	size := textui.Either(v.Bytes >= 0, textui.Bytes(v.Bytes), "unknown size") + textui.If(v.Compression != "", ", "+v.Compression)
	facts := document.Facts{{Name: "format", Value: fmt.Sprintf("%s (%s)", v.Format, size)}}
	facts.Add("recorded", v.Recorded)
	facts.Add("span", textui.If(len(v.Generations) > 0, textui.Duration(v.Span)))
	s := document.New("about", "")
	s.Add(facts)
	return s
}

// generations lists the first and the last generations of a trace.
func generations(v *result.About) *document.Section {
	const shown = 10 // from either end
	s := document.New("generations", "Generations")
	t := s.Table("t-generations", document.Count("number"), document.Instant("start"), document.Duration("length"), document.Bytes("bytes"),
		document.Bytes("events"), document.Bytes("stacks"), document.Bytes("strings"), document.Bytes("samples"), document.Word(""))
	n := len(v.Generations)
	for i, g := range v.Generations {
		if n > 2*shown && i >= shown && i < n-shown {
			if i == shown {
				t.Row(document.Shown("…", 0))
			}
			continue
		}
		end := g.End
		if i+1 < n && v.Generations[i+1].Start > 0 {
			end = v.Generations[i+1].Start
		}
		state := textui.If(!g.Complete, "incomplete")
		t.Row(document.Shown(fmt.Sprint(g.Number), float64(g.Number)), g.Start, end-g.Start, g.Bytes, g.EventBytes, g.StackBytes, g.StringBytes, g.SampleBytes, state)
	}
	return s.OrNil()
}
