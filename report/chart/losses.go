package chart

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// loss is a part of a wait by what it was lost to.
type loss struct {
	cause  result.Cause
	length float64 // in ns
}

// lostRoom is the height of the strip of losses, if there are any.
func (s story) lostRoom() vg.Length {
	if len(s.lost) == 0 {
		return 0
	}
	return 22
}

// Sizes of the strip of losses: its height, the gap between parts and the space
// around text.
const (
	lossHeight = 14
	lossGap    = 1
	lossPad    = 4
)

// losses draws, at the canvas' top, a strip whose parts are as wide as what was
// lost to each cause, greatest first, in the colours of the picture of causes.
// It is not in the order of time, which is not kept.
func (c canvas) losses(ls []loss) {
	total := 0.0
	for _, l := range ls {
		total += l.length
	}
	if !(total > 0) {
		return
	}
	caption := aligned(style(smallSize, slate), text.XLeft, text.YCenter)
	y := c.Max.Y - lossHeight/2
	c.say(caption, c.Min.X, y, "LOST TO")
	x := c.Min.X + caption.Width("LOST TO") + 8
	sty := aligned(style(textSize, ink), text.XLeft, text.YCenter)
	labels, rest := lossLabels(sty, ls, total, c.Max.X-x)
	free := c.Max.X - x
	if rest != "" {
		free -= sty.Width(rest) + 2*lossPad
		c.say(aligned(sty, text.XRight, text.YCenter), c.Max.X, y, rest)
	}
	for i, l := range ls {
		w := free * vg.Length(l.length/total)
		col := causeGroups[groupOf(l.cause)].col
		c.fill(col, x, y-lossHeight/2, x+max(w-lossGap, 0.5), y+lossHeight/2)
		if i < len(labels) {
			sty.Color = onColour(col)
			c.say(sty, x+lossPad, y, labels[i])
		}
		x += w
	}
}

// lossLabels returns what is written into the first parts of a strip of width
// free, and beside the strip of those that are too small for it.
func lossLabels(sty draw.TextStyle, ls []loss, total float64, free vg.Length) (labels []string, rest string) {
	for n := len(ls); ; n-- {
		labels = labels[:0]
		room := free
		if rest = restLabel(ls[n:]); rest != "" {
			room -= sty.Width(rest) + 2*lossPad
		}
		for _, l := range ls[:n] {
			label := lossLabel(sty, l, room*vg.Length(l.length/total)-lossGap-2*lossPad)
			if label == "" {
				break
			}
			labels = append(labels, label)
		}
		if len(labels) == n {
			return labels, rest
		}
	}
}

// lossLabel returns what says most of a part in a width of w, "" if nothing does.
func lossLabel(sty draw.TextStyle, l loss, w vg.Length) string {
	if s := l.cause.String() + " " + durationLabel(l.length); sty.Width(s) <= w {
		return s
	}
	return fitName(sty, l.cause.String(), w)
}

// restLabel sums up parts without a label; the only one is named.
func restLabel(ls []loss) string {
	sum := 0.0
	for _, l := range ls {
		sum += l.length
	}
	switch len(ls) {
	case 0:
		return ""
	case 1:
		return ls[0].cause.String() + " " + durationLabel(sum)
	}
	return fmt.Sprintf("%d others %s", len(ls), durationLabel(sum))
}
