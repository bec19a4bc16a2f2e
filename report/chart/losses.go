package chart

import (
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// loss is a part of a wait by what it was lost to.
type loss struct {
	cause  string
	length float64 // in ns
}

// lostRoom is the height of the strip of losses, if there are any.
func (s story) lostRoom() vg.Length {
	if len(s.lost) == 0 {
		return 0
	}
	return 22
}

// losses draws, at the canvas' top, a strip whose parts are as wide as what was
// lost to each cause. It has no colours: those tell what procs did. Nor is it in
// the order of time, which is not kept.
func (c canvas) losses(ls []loss) {
	total := 0.0
	for _, l := range ls {
		total += l.length
	}
	if !(total > 0) {
		return
	}
	const height, gap, pad = 14, 1, 4
	caption := style(smallSize, slate)
	y := c.Max.Y - height/2
	c.say(aligned(caption, text.XLeft, text.YCenter), c.Min.X, y, "LOST TO")
	x := c.Min.X + caption.Width("LOST TO") + 8
	free := c.Max.X - x
	sty := aligned(style(textSize, ink), text.XLeft, text.YCenter)
	for _, l := range ls {
		w := free * vg.Length(l.length/total)
		c.fill(pale, x, y-height/2, x+max(w-gap, 0.5), y+height/2)
		label := l.cause + " " + durationLabel(l.length)
		if room := w - gap - 2*pad; sty.Width(label) <= room {
			c.say(sty, x+pad, y, label)
		} else {
			c.say(sty, x+pad, y, fitName(sty, l.cause, room))
		}
		x += w
	}
}
