package chart

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

// TestSVGMended checks what is changed in the output of vgsvg.
func TestSVGMended(t *testing.T) {
	for _, p := range All(synthetic{waits: 300, procs: 3, span: 5 * ms, name: "a<b>&\"c"}.input()) {
		svg := render(t, p, "svg", DefaultDPI)
		texts := bytes.Count(svg, []byte("<text "))
		for part, want := range map[string]int{
			`textLength="`: texts, "Liberation Sans,Arial,Helvetica,sans-serif;": texts, "data:image/jpg": 0,
			`preserveAspectRatio="none"`: bytes.Count(svg, []byte("<image ")),
		} {
			if got := bytes.Count(svg, []byte(part)); got != want {
				t.Errorf("%s: %d times %s, want %d", p.Name, got, part, want)
			}
		}
		if words := words(t, p); strings.HasPrefix(p.Name, "wait") && !strings.Contains(words, `a<b>&"c`) {
			t.Errorf("%s: the function's name is not there", p.Name)
		}
	}
}

// TestFixText checks the width of an element, with escaped text, in bold.
func TestFixText(t *testing.T) {
	in := `<text x="1" style="font-family:Liberation Sans;font-weight:bold;font-size:8.5px">a&lt;b</text>`
	got := string(fixText([]byte(in)))
	want := strconv.FormatFloat(boldStyle(8.5, ink).Width("a<b").Points(), 'f', 2, 64)
	if !strings.Contains(got, `textLength="`+want+`"`) || !strings.HasSuffix(got, ">a&lt;b</text>") {
		t.Errorf("got %s, want a textLength of %s", got, want)
	}
}
