package document

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// example is a document with one of everything.
func example() *Document {
	d := &Document{Title: "<i>.trace", About: "a trace"}
	head := New("head", "")
	head.Add(List{{Text: "It waited.", Strong: true, Severity: "serious", Grade: "inferred", Evidence: []Pair{{Name: "p99", Value: "1ms"}}}},
		Facts{{Name: "latency", Value: "12 waits"}, {Name: "", Value: "of them 3 long"}})
	s := New("handoffs", "Handoffs", "what was handed off")
	s.Inferred = true
	t := s.Table("t-handoffs", Function("function").AtMost(20), Word("cause"), Count("count").Drop(1),
		Duration("gap p50").Explain("gap", "until the next"), Share("share"), Instant("max at").Extra(), Bar("causes"), Items("lost to"))
	t.Row("all", "", 3, 2000, 1.0).Total = true
	t.Section("Those <b>")
	t.Row("example.org/m.Run", "sysmon", 2, Link(int64(1234), Moment{From: 5, Length: 6, Goroutine: -1}), 0.25, 77,
		[]Part{{"c-gc", "GC", 1}, {"c-os", "OS", 3}}, []string{"x 50%", "y|z 20%"})
	t.Row("main.f", nil, Unknown, Range(1e6, 1e6, 2e6), math.NaN(), 9, nil, []string{strings.Repeat("a", 40), strings.Repeat("b", 60)}).Indent = true
	s.Text("That was all.")
	s.Table("t-empty", Word("nothing"))
	s.Text("about nothing")
	waits := New("worst", "The longest waits")
	waits.Add(Cards{{ID: "wait-1", Title: "1ms", Summary: ", from 2ms", Fold: true, Moment: &Moment{From: 2}, Bar: []Part{{"c-gc", "GC", 1}},
		Text: []string{"readied"}, Facets: []Facet{{Label: "lost to", Pairs: []Pair{{Name: "GC", Value: "1ms"}, {Name: "OS", Value: "2ms"}}, Most: 1},
			{Label: "had stopped in", Stack: []Frame{{"main.f", "/a/b/c.go", 7}, {"main.g", "", 0}}}}}},
		Cards{{Title: "queue aging", Summary: ", 3 cases", Severity: "notable", Grade: "inferred", Text: []string{"What it means."},
			Facets: []Facet{{Rows: true, Pairs: []Pair{{Name: "starts", Value: "12"}}}}}})
	d.Add(head, s.OrNil(), nil, waits)
	return d
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, example(), TextOptions{Unicode: true, Width: 100, Top: 1}); err != nil {
		t.Fatal(err)
	}
	want := `<i>.trace: a trace
- It waited. (inferred)
latency    12 waits
           of them 3 long

Handoffs (inferred)
  what was handed off
  gap: until the next
  function  cause   count  gap p50  share  lost to
  all                   3   2.00µs   100%
  Those <b>
  m.Run     sysmon      2   1.23µs    25%  x 50%; y|z 20%
  … and 1 more; --top 0 shows all
  That was all.

The longest waits
  1. 1ms, from 2ms
    readied
    lost to: GC 1ms; 1 more
    had stopped in main.f ← main.g
  - queue aging, 3 cases (inferred)
    What it means.
      starts  12
`
	if got := b.String(); got != want {
		t.Errorf("text:\n%s\nwant:\n%s", got, want)
	}
}

// TestTextNarrow checks what a terminal does without, and that files and lists do not.
func TestTextNarrow(t *testing.T) {
	for _, tt := range []struct {
		width      int
		want, lack string
	}{{60, "≥", "count"}, {0, "count", "bbb"}, {170, "bbb", "max at"}} {
		var b bytes.Buffer
		if err := Text(&b, example(), TextOptions{Width: tt.width}); err != nil {
			t.Fatal(err)
		}
		if tt.width != 60 && !strings.Contains(b.String(), tt.want) || strings.Contains(b.String(), tt.lack) {
			t.Errorf("width %d:\n%s", tt.width, b.String())
		}
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, example()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## a trace <code>&#60;i&#62;.trace</code>", "- ❌ **It waited. (inferred)**", "### Handoffs (inferred)",
		"| function | cause | count | gap p50 | share | lost to |\n|---|---|--:|--:|--:|---|\n",
		"| <code>example.org/m.Run</code> | sysmon | 2 | 1.23µs | 25% | x 50%; y&#124;z 20% |", "| **Those &#60;b&#62;** |",
		"- ⚠️ **queue aging**, 3 cases (inferred). What it means.\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "nothing") {
		t.Error("an empty table left something")
	}
}

func TestHTML(t *testing.T) {
	var b bytes.Buffer
	o := HTMLOptions{Link: func(m Moment) string {
		if m.From == 5 {
			return "#t=5"
		}
		return ""
	}}
	for _, s := range example().Sections {
		if err := HTML(&b, s, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`<li class="finding serious"><p><span class="severity">serious</span> It waited. <small class="grade">inferred</small>`,
		`<p class="lead">what was handed off</p>`, `<th scope="col" data-k="ns" title="until the next">gap p50</th>`, `title="example.org/m.Run">m.Run</th>`,
		`data-v="1234"><a href="#t=5">1.23µs</a></td>`, `<rect class="c-os" x="250" y="0" width="750" height="10"><title>OS 75%</title>`,
		"<tfoot>\n<tr><th scope=\"row\" class=\"w\">all</th>", `<tr class="indent">`, `9ns</td>`, `<span title="/a/b/c.go:7">b/c.go:7</span>`,
		`<article class="finding notable"><h3>queue aging <small class="grade">inferred</small></h3>`, `Those &lt;b&gt;`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestOrNil checks that sections without content vanish.
func TestOrNil(t *testing.T) {
	s := New("x", "X", "lead")
	s.Table("t-x", Word("w"))
	if s.OrNil() != nil {
		t.Error("a section of an empty table is there")
	}
	if d := new(Document); d.Section("x") != nil {
		t.Error("an empty document has a section")
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		column Column
		v      any
		want   string
	}{
		{Change("c"), int64(1500), "+1.50µs"}, {Change("c"), -1500.0, "-1.50µs"}, {Bytes("b"), uint64(999_600), "1.00 MB"},
		{Number("n", 2), 1.005, "1.00"}, {Number("n", 1), 3, "3.0"}, {Count("n"), math.Inf(1), "-"}, {Duration("d"), Range(1000, 900, 2000), "1.00µs (900ns..2.00µs)"},
		{Duration("d"), As(KindShare, 0.5), "50%"}, {Count("c"), Shown("~", 1), "~"}, {Function("f"), "a/b.F\x1b", `b.F\x1b`}, {Duration("d"), If(false, 3), "-"},
	} {
		if c := tt.column.cell(tt.v); c.String() != tt.want {
			t.Errorf("%v in a column of kind %d: %q, want %q", tt.v, tt.column.Kind, c.String(), tt.want)
		}
	}
}

// TestBar checks that the parts of months add up to the whole.
func TestBar(t *testing.T) {
	const month = 30 * 24 * 3600 * 1e9
	parts := bar([]Part{{Size: 25 * month}, {Size: 25 * month}, {Size: 0}, {Size: 25 * month}, {Size: 25 * month}})
	if len(parts) != 4 {
		t.Fatalf("%d parts", len(parts))
	}
	for i, p := range parts {
		if p.From != i*250 || p.Width != 250 {
			t.Errorf("part %d is %d wide from %d", i, p.Width, p.From)
		}
	}
}
