package chart

import (
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// story is what one wait's picture shows. Times are in ns relative to the
// moment at which the goroutine became runnable.
type story struct {
	name, title, subtitle string
	length                float64 // of the wait
	lo, hi                float64 // of what is shown
	lanes                 []lane
	antagonist            string // what the legend calls the goroutine with a colour of its own
	from, to              int    // lanes where it became runnable and where it ran; -1: none
	facts                 []fact
	lost                  []loss // to what, greatest first; none if not known
	note                  string // what is not exact, "" if nothing
}

// Heights of the parts of a wait's picture, in points.
const (
	factRoom    = 38
	legendRoom  = 18
	bracketRoom = 20
	waitFrame   = titleRoom + factRoom + legendRoom + bracketRoom + bottomRoom + marginTop + marginBottom
)

// lanePitch returns the distance of lanes in a picture of its natural height.
func lanePitch(n int) vg.Length {
	switch {
	case n <= 8:
		return 30
	case n <= 16:
		return 20
	}
	return 10
}

// newWait returns the picture of one wait.
func newWait(s story) *Picture {
	n := max(len(s.lanes), 1)
	p := &Picture{Name: s.name, Title: s.title, width: 760}
	p.height = waitFrame + s.lostRoom() + max(60, lanePitch(n)*vg.Length(n))
	p.draw = func(c canvas) { s.draw(c) }
	return p
}

// draw draws the whole picture.
func (s story) draw(c canvas) {
	c = c.page(s.title, s.subtitle)
	c.facts(s.facts)
	c = c.inset(0, 0, 0, factRoom)
	c.losses(s.lost)
	c = c.inset(0, 0, 0, s.lostRoom())
	c.legend(c.Min.X, c.Max.Y-9, s.legend())
	c = c.inset(leftRoom(axis{ticks: s.laneNames()}), 6, bottomRoom, legendRoom+bracketRoom)

	x := axis{s.lo, s.hi, linearTicks(s.lo, s.hi, int(c.width()/80), clockLabel)}
	f := frame{canvas: c, x: x}
	s.drawLanes(f)
	f.spotlight(0, s.length)
	s.nameBars(f)
	if len(s.lanes) == 0 {
		f.notice("no history was kept for this wait")
	}
	f.bracket(0, s.length, "waited "+durationLabel(s.length))
	s.drawArrow(f)
	f.bottomAxis(true)
	title := "time since it became runnable"
	if s.note != "" {
		title += "  (" + s.note + ")"
	}
	f.bottomTitle(title)
}

// laneNames returns the names as labels, for measuring.
func (s story) laneNames() []tick {
	var ts []tick
	for _, l := range s.lanes {
		ts = append(ts, tick{label: l.name})
	}
	return ts
}

// laneFrame returns the part of f that belongs to lane i, the first being on top.
func (s story) laneFrame(f frame, i int) frame {
	pitch := f.height() / vg.Length(len(s.lanes))
	gap := clampLength(pitch*0.16, 0.6, 4)
	top := f.Max.Y - pitch*vg.Length(i)
	r := vg.Rectangle{Min: vg.Point{X: f.Min.X, Y: top - pitch + gap/2}, Max: vg.Point{X: f.Max.X, Y: top - gap/2}}
	return frame{canvas: f.area(r), x: f.x}
}

func clampLength(v, lo, hi vg.Length) vg.Length { return max(lo, min(v, hi)) }

// drawLanes draws each lane and as many names as there is room for; those of
// lanes that matter come first.
func (s story) drawLanes(f frame) {
	taken := make([]vg.Length, 0, len(s.lanes))
	name := func(i int, bold bool) {
		lf := s.laneFrame(f, i)
		y := (lf.Min.Y + lf.Max.Y) / 2
		for _, t := range taken {
			if math.Abs(float64(t-y)) < textSize+0.5 {
				return
			}
		}
		taken = append(taken, y)
		sty := style(textSize, slate)
		if bold {
			sty = boldStyle(textSize, ink)
		}
		f.say(aligned(sty, text.XRight, text.YCenter), f.Min.X-6, y, s.lanes[i].name)
	}
	for i, l := range s.lanes {
		if l.strong {
			name(i, true)
		}
	}
	for i, l := range s.lanes {
		s.laneFrame(f, i).drawLane(l)
		if !l.strong {
			name(i, false)
		}
	}
}

// nameBars writes names into the bars during the wait, and draws what the
// waiter itself did once more, in full colour.
func (s story) nameBars(f frame) {
	x0, y0, x1, y1 := s.arrowEnds(f)
	arrow := func(x vg.Length) vg.Length {
		if s.to < 0 || x < x0-20 || x > x1+20 || x1 <= x0 {
			return -1e6 // far away
		}
		return y0 + (y1-y0)*clampLength((x-x0)/(x1-x0), 0, 1)
	}
	for i, l := range s.lanes {
		if l.procs > 1 {
			continue
		}
		lf := s.laneFrame(f, i)
		lf.separate(l)
		for _, b := range l.bars {
			if b.occ != occSelf || b.joined {
				lf.nameBar(b, 0, s.length, arrow)
				continue
			}
			in := lf.barFrame(b.start, b.end)
			in.fill(occupations[occSelf].col, in.Min.X, in.Min.Y, max(in.Max.X, in.Min.X+1), in.Max.Y)
			lf.nameBar(b, b.start, b.end, arrow)
		}
	}
}

// arrowEnds returns where the wake-up arrow begins, when and where the goroutine
// became runnable, and where it ends, when and where it ran. Without a proc it
// comes from above.
func (s story) arrowEnds(f frame) (x0, y0, x1, y1 vg.Length) {
	at := func(i int) vg.Length {
		if i < 0 {
			return f.Max.Y
		}
		lf := s.laneFrame(f, i)
		if s.from == s.to { // beneath the names in the bars
			return lf.Min.Y + lf.height()*0.2
		}
		return (lf.Min.Y + lf.Max.Y) / 2
	}
	return f.px(0), at(s.from), f.px(s.length), at(s.to)
}

// drawArrow draws the wake-up, if it is known where the goroutine ran.
func (s story) drawArrow(f frame) {
	if s.to < 0 {
		return
	}
	x0, y0, x1, y1 := s.arrowEnds(f)
	f.arrow(ink, x0, y0, x1, y1)
	f.dot(ink, x0, y0, 2.2)
}

// spotlight veils what is before and after an interval and marks its ends.
func (f frame) spotlight(from, to float64) {
	x0, x1 := f.px(from), f.px(to)
	f.fill(veil, f.Min.X, f.Min.Y, x0, f.Max.Y)
	f.fill(veil, x1, f.Min.Y, f.Max.X, f.Max.Y)
	for _, x := range []vg.Length{x0, x1} {
		f.stroke(line(0.7, ink), x, f.Min.Y, x, f.Max.Y+9)
	}
}

// bracket draws a double-headed line above the frame over an interval, with text.
func (f frame) bracket(from, to float64, s string) {
	x0, x1, y := f.px(from), f.px(to), f.Max.Y+9
	f.stroke(line(0.7, ink), x0, y, x1, y)
	for _, e := range []struct{ x, d vg.Length }{{x0, 1}, {x1, -1}} {
		if x1-x0 > 12 {
			f.FillPolygon(ink, []vg.Point{{X: e.x, Y: y}, {X: e.x + 5*e.d, Y: y + 2.2}, {X: e.x + 5*e.d, Y: y - 2.2}})
		}
	}
	sty := aligned(boldStyle(textSize, ink), text.XCenter, text.YCenter)
	w := sty.Width(s)
	if w+24 < x1-x0 {
		f.fill(white, (x0+x1-w)/2-4, y-5, (x0+x1+w)/2+4, y+5)
		f.say(sty, (x0+x1)/2, y, s)
		return
	}
	// No room between the ends: beside, where it fits.
	sty.XAlign = text.XLeft
	x := x1 + 5
	if x+w > f.Max.X {
		sty.XAlign, x = text.XRight, x0-5
	}
	f.say(sty, x, y, s)
}

// legend returns entries for what occurs in the lanes.
func (s story) legend() []entry {
	var seen [numOccupations]bool
	for _, l := range s.lanes {
		for _, b := range l.bars {
			seen[b.occ] = seen[b.occ] || !b.joined
			for k, part := range b.parts {
				seen[k] = seen[k] || part > 0
			}
		}
	}
	var es []entry
	for k := int(numOccupations) - 1; k > int(occUnknown); k-- {
		if seen[k] {
			e := entry{name: occupations[k].name, col: occupations[k].col}
			if occupation(k) == occAntagonist && s.antagonist != "" {
				e.name = s.antagonist
			}
			es = append(es, e)
		}
	}
	if s.to >= 0 {
		es = append(es, entry{name: "ready → runs", col: ink, mark: markArrow})
	}
	if seen[occUnknown] {
		es = append(es, entry{name: occupations[occUnknown].name, col: grey, mark: markHatch})
	}
	return es
}
