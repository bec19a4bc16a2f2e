package chart

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// fact is a number or name in the strip above the lanes of a wait: a function
// and what is said before and after it, all of which may be empty.
type fact struct {
	name, before, fn string
	after            []string // the most important first
}

// value returns what the fact says.
func (f fact) value() string { return f.before + f.fn + strings.Join(f.after, "") }

// fit returns the value in at most a width of w: the end of what comes after the
// function goes first, then part of the function, then more of the end.
func (f fact) fit(sty draw.TextStyle, w vg.Length) string {
	for all := len(f.after); ; f.after = f.after[:len(f.after)-1] {
		rest := strings.Join(f.after, "")
		if s := f.before + f.fn + rest; sty.Width(s) <= w {
			return s
		}
		if all > 1 && len(f.after) == all {
			continue
		}
		if s := fitName(sty, f.fn, w-sty.Width(f.before+rest)); s != "" {
			return f.before + s + rest
		}
		if len(f.after) == 0 {
			return fit(sty, strings.TrimRight(f.before, ",: "), w)
		}
	}
}

// facts writes the strip of names and values at the canvas' top.
func (c canvas) facts(fs []fact) {
	small, bold := style(smallSize, slate), boldStyle(headingSize, ink)
	const gap = 18
	values, widths := fitFacts(fs, bold, small, c.width()-gap*vg.Length(max(0, len(fs)-1)))
	x := c.Min.X
	for i, f := range fs {
		c.say(small, x, c.Max.Y-10, fit(small, f.name, widths[i]+1))
		c.say(bold, x, c.Max.Y-23, values[i])
		x += widths[i] + gap
	}
}

// fitFacts returns the values of facts such that they, with their names, take
// at most free, and how wide each is. What one leaves of its share is given to
// others, from the last on: it says most.
func fitFacts(fs []fact, value, name draw.TextStyle, free vg.Length) (values []string, widths []vg.Length) {
	widths = make([]vg.Length, len(fs))
	for i, f := range fs {
		widths[i] = max(name.Width(f.name), value.Width(f.value()))
	}
	shrink(widths, free)
	values = make([]string, len(fs))
	fitTo := func(i int, w vg.Length) {
		const rounding = 1e-6
		values[i] = fs[i].fit(value, w+rounding)
		widths[i] = min(w, max(name.Width(fs[i].name), value.Width(values[i])))
		free -= widths[i]
	}
	for i := range fs {
		fitTo(i, widths[i])
	}
	for i := len(fs) - 1; i >= 0; i-- {
		free += widths[i]
		fitTo(i, free)
	}
	return values, widths
}

// shrink cuts the greatest of widths to one common width, such that all
// together take at most free.
func shrink(widths []vg.Length, free vg.Length) {
	order := sortedIndex(len(widths), func(a, b int) bool { return widths[a] < widths[b] })
	for k, i := range order {
		fair := free / vg.Length(len(order)-k)
		widths[i] = max(0, min(widths[i], fair))
		free -= widths[i]
	}
}
