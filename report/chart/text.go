package chart

import (
	"sort"
	"strings"
	"unicode"

	"github.com/schedscope/schedscope/internal/textui"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// missingGlyph stands for what cannot or must not be drawn.
const missingGlyph = '\u25a1'

// maxName is how many runes of a name are looked at: more never fits, and a
// hostile trace may hold megabytes.
const maxName = 300

// printable returns s with everything that is not a visible glyph of the font
// replaced: control characters, marks that turn the direction of writing or
// pile up on other letters, invalid UTF-8, scripts that the font lacks.
func printable(s string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		n++
		switch {
		case n > maxName+1 || r > 0x7f && unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me):
			return -1 // invisible by itself
		case n == maxName+1:
			return '…'
		case r >= ' ' && r < 0x7f || unicode.IsPrint(r) && hasGlyph(r):
			return r
		}
		return missingGlyph
	}, s)
}

// hasGlyph reports whether the theme's font can draw r.
func hasGlyph(r rune) bool {
	var buf sfnt.Buffer
	i, err := fonts().Fonts.Lookup(sans, textSize).Face.GlyphIndex(&buf, r)
	return err == nil && i != 0
}

// shortFunc returns a function's name without the directories of its import
// path, and without the type arguments' own, as a label: "chart.(*T).Draw".
func shortFunc(name string) string {
	name = printable(name)
	return textui.Either(name == "", "unknown function", textui.ShortFunc(name))
}

// fit returns s if it is at most w wide in this style; else s with its middle
// replaced by an ellipsis, so that the package at the beginning and the
// function at the end remain; or "" if not even a few letters fit.
func fit(sty draw.TextStyle, s string, w vg.Length) string {
	if sty.Width(s) <= w {
		return s
	}
	r := []rune(s)
	best := ""
	for lo, hi := 4, len(r)-1; lo <= hi; {
		n := (lo + hi) / 2
		head := n * 2 / 5
		t := string(r[:head]) + "…" + string(r[len(r)-(n-head):])
		if sty.Width(t) <= w {
			best, lo = t, n+1
		} else {
			hi = n - 1
		}
	}
	return best
}

// fitName is fit for a function's name: rather than cut it, the package is left
// out, then the type; what would be left too short to be recognised is not
// written at all.
func fitName(sty draw.TextStyle, name string, w vg.Length) string {
	short := name
	for range 3 {
		if sty.Width(short) <= w {
			return short
		}
		if _, method, ok := strings.Cut(short, ")."); ok && short[0] == '(' {
			short = method
		} else if _, plain, ok := strings.Cut(short, "."); ok && short == name && plain != "" {
			short = plain
		}
	}
	const recognisable = 12
	if s := fit(sty, short, w); len([]rune(s)) >= recognisable {
		return s
	}
	return ""
}

// sortedIndex returns the numbers below n in the order of less, equal ones in
// their natural order.
func sortedIndex(n int, less func(a, b int) bool) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return less(order[a], order[b]) })
	return order
}
