package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// box is a frame of the picture of blame, as wide as goroutines waited behind it.
type box struct {
	name    string
	unknown bool // the start function, for want of a stack
	col     color.NRGBA
	total   model.Duration
	parts   []*box // the greatest first
}

// Sizes of the picture of blame: boxes in points, frames of a stack, functions that are listed.
const (
	boxHeight   = 16
	maxFrames   = 10
	listedFuncs = 12
	leastBox    = 400 // the part of the width that is drawn: 1/400
	wideBox     = 40  // the part of the width that there is a row for: 1/40
)

// blame returns the picture of the code behind which goroutines waited to run:
//
//  1. The boxes of the first row are causes, those below the frames of the program, the
//     outermost first. Frames of the standard library and the runtime are only in stacks that
//     have no others.
//  2. A part without a stack is a box of its function.
//  3. Of a deep stack the middle is left out, and recursion is one frame.
func (in *Input) blame() *Picture {
	r := in.Report
	root := &box{}
	var known result.BlameBasis
	for _, p := range r.Blame.Parts() {
		if !p.Kind.Runnable() || p.Total <= 0 {
			continue
		}
		*known.Of(p.Basis) += p.Total
		root.total += p.Total
		b := root.part(p.Kind.Kind, false)
		b.total += p.Total
		for _, name := range framesOf(&p) {
			b = b.part(name, p.Basis == result.Unknown)
			b.total += p.Total
		}
	}
	missing := ""
	switch {
	case r.Latency.All.Count == 0:
		missing = noWaits
	case root.total == 0:
		missing = cmp.Or(printable(r.Causes.Refused), "no waiting behind code")
	}
	rows, functions := max(root.sort(root.total/wideBox)-1, 1), blamedFunctions(&r.Blame)
	var kinds []entry
	shades := map[int]float64{} // of a group: the second kind is darker
	for _, b := range root.parts {
		group := groupOf(textui.Either(b.name == result.BlameShortSyscall, result.CauseSyscall.String(), b.name))
		b.paint(mix(causeColours[group], ink, min(shades[group], 0.9)))
		shades[group] += 0.3
		if b.total >= root.total/leastBox {
			kinds = append(kinds, entry{name: b.name + " " + textui.Ratio(b.total, root.total), col: b.col})
		}
	}
	_, above := legendPlaces(kinds, naturalWidth-2*marginSide)
	listed := vg.Length((len(functions)+1)/2) * legendPitch
	height := marginTop + titleRoom + captionRoom + above + 6 + vg.Length(rows)*boxHeight + headingRoom + 3 + listed + marginBottom
	return in.picture("blame", "Scheduling latency by code: what ran meanwhile", max(height, minHeight), missing, func(c canvas) {
		c = c.caption(blameNote(r, &known, root.total))
		c.legend(c.Min.X, c.Max.Y-11, kinds)
		c = c.inset(0, 0, 0, above+6)
		root.draw(c, c.Min.X, c.Max.Y+boxHeight, c.width(), rows, root.total/leastBox)
		c.listFunctions(functions, root.total, c.Max.Y-vg.Length(rows)*boxHeight-16)
	})
}

// part returns the part of this name, a new one at first.
func (b *box) part(name string, unknown bool) *box {
	for _, p := range b.parts {
		if p.name == name && p.unknown == unknown {
			return p
		}
	}
	b.parts = append(b.parts, &box{name: name, unknown: unknown})
	return b.parts[len(b.parts)-1]
}

// paint gives a box and its parts a colour.
func (b *box) paint(col color.NRGBA) {
	b.col = col
	for _, p := range b.parts {
		p.paint(col)
	}
}

// sort puts parts in their order and returns how many rows there are for b and parts that are
// at least so wide.
func (b *box) sort(wide model.Duration) (rows int) {
	slices.SortFunc(b.parts, func(x, y *box) int {
		return cmp.Or(cmp.Compare(y.total, x.total), strings.Compare(x.name, y.name))
	})
	for _, p := range b.parts {
		if n := p.sort(wide); p.total >= wide {
			rows = max(rows, n)
		}
	}
	return rows + 1
}

// draw draws a box with its upper left corner at (x, y), if it has a name, and its parts in
// so many rows below.
func (b *box) draw(c canvas, x, y, width vg.Length, rows int, least model.Duration) {
	if b.name != "" {
		col := textui.Either(b.unknown, mix(b.col, white, 0.65), b.col)
		c.fill(col, x, y-boxHeight+0.7, x+max(width-0.7, 0.5), y)
		sty := style(smallSize, onColour(col))
		c.say(sty, x+3, y-11, fitName(sty, shortFunc(b.name), width-6))
	}
	y -= boxHeight
	for _, p := range b.parts {
		w := width * vg.Length(float64(p.total)/float64(b.total))
		if rows > 0 && p.total >= least {
			p.draw(c, x, y, w, rows-1, least)
		}
		x += w
	}
}

// framesOf returns the functions of a part as boxes have them, the outermost first.
func framesOf(p *result.BlamePart) []string {
	var best [3][]string // of the runtime, the standard library, the program
	for _, f := range slices.Backward(p.Stack) {
		owner := 1
		switch {
		case result.OfProgram(f.Function):
			owner = 2
		case strings.HasPrefix(f.Function, "runtime."):
			owner = 0
		}
		if list := best[owner]; len(list) == 0 || list[len(list)-1] != f.Function {
			best[owner] = append(list, f.Function)
		}
	}
	for _, list := range slices.Backward(best[:]) {
		if n := len(list); n > maxFrames {
			list = slices.Concat(list[:2], []string{fmt.Sprintf("%d frames", n-maxFrames+1)}, list[n-maxFrames+3:])
		}
		if len(list) > 0 {
			return list
		}
	}
	if p.Row == nil {
		return []string{""}
	}
	return []string{p.Row.Function}
}

// blamedFunctions returns the functions with the greatest times, of all causes together.
func blamedFunctions(b *result.Blame) []*result.BlameRow {
	var list []*result.BlameRow
	for i := range b.Rows {
		x := b.Rows[i]
		if k := b.Kind(x.Kind); k == nil || !k.Runnable() || x.Function == result.OtherNames {
			continue
		}
		at := slices.IndexFunc(list, func(y *result.BlameRow) bool { return y.Function == x.Function && y.File == x.File })
		if at < 0 {
			list = append(list, &x)
			continue
		}
		list[at].Total += x.Total
		list[at].Line = cmp.Or(list[at].Line, x.Line)
	}
	return result.First(list, listedFuncs, func(x, y *result.BlameRow) int { return cmp.Compare(y.Total, x.Total) })
}

// listFunctions writes functions with their places and shares in two columns.
func (c canvas) listFunctions(list []*result.BlameRow, total model.Duration, y vg.Length) {
	c.say(boldStyle(headingSize, ink), c.Min.X, y, "Functions, with all that they called outside the program")
	bold, plain := boldStyle(textSize, ink), style(textSize, ink)
	perColumn := (len(list) + 1) / 2
	for i, f := range list {
		x, y := c.Min.X+vg.Length(i/perColumn)*c.width()/2, y-vg.Length(1+i%perColumn)*legendPitch
		c.say(bold, x, y, textui.Ratio(f.Total, total))
		c.say(plain, x+34, y, fit(plain, printable(textui.Place(cmp.Or(f.Function, "unknown function"), f.File, f.Line)), c.width()/2-44))
	}
}

// blameNote returns how much there is, and how it is known.
func blameNote(r *result.Report, known *result.BlameBasis, total model.Duration) string {
	s := fmt.Sprintf("%s of goroutines behind others, %s of all waiting to run:", textui.Duration(total), textui.Ratio(total, r.Latency.All.Total))
	for _, basis := range result.Bases {
		if d := *known.Of(basis); d > 0 {
			s += " " + textui.Ratio(d, total) + " " + basis + ","
		}
	}
	return strings.TrimSuffix(s, ",") + textui.If(known.Unknown > 0, " (pale)") +
		textui.If(r.Blame.Samples == 0 && 5*(known.Unknown+known.Estimated) > total, "; schedscope record takes CPU samples, which show what ran")
}
