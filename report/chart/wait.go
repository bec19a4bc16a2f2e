package chart

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// occupation is what a proc is drawn to have done: a [result.Use] or, of two goroutines, whose
// time it was.
type occupation uint8

const (
	occUser        = occupation(result.UseUser)
	occUnknown     = occupation(result.UseUnknown)
	occMarked      = occupation(result.NumUses) // of the goroutine that a wait was behind the longest
	occSelf        = occMarked + 1              // of the goroutine that waited
	numOccupations = occSelf + 1
)

// occupations are the names and colours, by occupation.
var occupations = [numOccupations]struct {
	name string
	col  color.NRGBA
}{
	result.UseUser:      {result.UseUser.Label(), blue},
	result.UseGC:        {result.UseGC.Label(), orange},
	result.UseAssist:    {result.UseAssist.Label(), ochre},
	result.UseRuntime:   {result.UseRuntime.Label(), sky},
	result.UseSyscall:   {result.UseSyscall.Label(), purple},
	result.UseSearching: {result.UseSearching.Label(), color.NRGBA{0xB9, 0xC6, 0xD0, 0xff}},
	result.UseStopped:   {result.UseStopped.Label(), slate},
	result.UseIdle:      {result.UseIdle.Label(), faint},
	result.UseUnknown:   {result.UseUnknown.Label(), grey},
	occMarked:           {"ran instead", crimson},
	occSelf:             {"the waiting goroutine", green},
}

// stacked are the occupations from what matters most to idle and unknown.
var stacked = func() (order []occupation) {
	order = []occupation{occSelf, occMarked}
	for o := range occMarked {
		order = append(order, o)
	}
	return order
}()

// Heights of the parts of a wait's picture, in points.
const (
	factRoom    = 38
	stripRoom   = 20
	legendGaps  = 5 // below a legend
	bracketRoom = 20
)

// height returns the picture's natural height.
func (s *story) height() vg.Length {
	const width = naturalWidth - 2*marginSide
	_, legend := legendPlaces(s.legend(), width)
	h := titleRoom + captionRoom + factRoom + lostRoom(s.lost, width) + legend + legendGaps + bracketRoom + bottomRoom + marginTop + marginBottom
	n, pitch := len(s.lanes), vg.Length(10)
	switch {
	case n <= 8:
		pitch = 30
	case n <= 16:
		pitch = 20
	}
	return h + max(60, pitch*vg.Length(n))
}

// draw draws the whole picture below its title:
//
//  1. how to read the picture, facts, what the wait was lost to, and the legend,
//  2. a lane for each proc, veiled before and after the wait,
//  3. what the waiter itself did once more, in full colour, and names in the bars,
//  4. from where it became runnable an arrow to where it ran.
func (s *story) draw(c canvas) {
	c = c.caption(s.caption)
	c.facts(s.facts)
	c = c.inset(0, 0, 0, factRoom)
	c.losses(s.lost)
	c = c.inset(0, 0, 0, lostRoom(s.lost, c.width()))
	c = c.inset(0, 0, 0, c.legend(c.Min.X, c.Max.Y-9, s.legend())+legendGaps)
	names := axis{ticks: result.Each(s.lanes, func(l *lane) tick { return tick{label: l.name} })}
	c = c.inset(leftRoom(names), 6, bottomRoom, bracketRoom)
	f := frame{canvas: c, x: axis{s.lo, s.hi, linearTicks(s.lo, s.hi, int(c.width()/80), clockLabel)}}

	for i, l := range s.lanes {
		s.laneFrame(f, i).drawLane(l)
	}
	s.nameLanes(f)
	x0, x1 := f.px(0), f.px(s.length)
	f.fill(veil, f.Min.X, f.Min.Y, x0, f.Max.Y)
	f.fill(veil, x1, f.Min.Y, f.Max.X, f.Max.Y)
	for _, x := range []vg.Length{x0, x1} {
		f.stroke(line(0.7, ink), x, f.Min.Y, x, f.Max.Y+9)
	}
	f.bracket(x0, x1, "waited "+durationLabel(s.length))

	for i, l := range s.lanes {
		if l.procs > 1 {
			continue
		}
		lf := s.laneFrame(f, i)
		for _, b := range l.bars {
			from, to := max(b.start, 0), min(b.end, s.length)
			if b.occ == occSelf && !b.joined {
				from, to = b.start, b.end
				in := lf.part(from, to)
				in.fill(occupations[occSelf].col, in.Min.X, in.Min.Y, max(in.Max.X, in.Min.X+1), in.Max.Y)
			}
			lf.nameBar(b, from, to)
		}
	}
	if len(s.lanes) == 0 {
		f.notice("no history was kept for this wait")
	}
	if s.to >= 0 {
		at := func(i int) vg.Length {
			if i < 0 {
				return f.Max.Y // without a proc it comes from above
			}
			lf := s.laneFrame(f, i)
			return lf.Min.Y + lf.height()*0.25 // below the names in the bars
		}
		f.arrow(ink, x0, at(s.from), x1, at(s.to))
		f.dot(ink, x0, at(s.from), 2.2)
	}
	f.bottomAxis(textui.Join("; ", "time since it became ready to run", s.note))
}

// facts writes the strip of names and values at the canvas' top. The widest are cut such
// that all find room.
func (c canvas) facts(fs []fact) {
	small, bold := style(smallSize, slate), boldStyle(headingSize, ink)
	const gap = 18
	widths := result.Each(fs, func(f *fact) vg.Length { return max(small.Width(f.name), bold.Width(f.value)) })
	shrink(widths, c.width()-gap*vg.Length(len(fs)-1))
	x := c.Min.X
	for i, f := range fs {
		c.say(small, x, c.Max.Y-10, fit(small, f.name, widths[i]+1))
		c.say(bold, x, c.Max.Y-23, fit(bold, f.value, widths[i]+1))
		x += widths[i] + gap
	}
}

// shrink cuts the greatest of widths to one common width, such that all
// together take at most free.
func shrink(widths []vg.Length, free vg.Length) {
	order := sortedIndex(len(widths), func(a, b int) bool { return widths[a] < widths[b] })
	for k, i := range order {
		widths[i] = max(0, min(widths[i], free/vg.Length(len(order)-k)))
		free -= widths[i]
	}
}

// The strip of losses: its height, the gap between its parts, the room around labels in them,
// and its caption.
const (
	stripHeight  = 14
	stripGap     = 1
	stripPad     = 4
	stripCaption = "WHY IT WAITED"
)

// stripWidth is what the caption leaves of a width to the strip of losses.
func stripWidth(width vg.Length) vg.Length {
	return width - style(smallSize, slate).Width(stripCaption) - 8
}

// lossParts divides a strip of that width by causes. Labels that are wider than their part
// are entries of a legend below.
func lossParts(cells []result.CauseTotal, width vg.Length) (widths []vg.Length, labels []string, below []entry) {
	total := result.Sum(cells, func(l *result.CauseTotal) model.Duration { return l.Total })
	for _, l := range cells {
		w := width * vg.Length(l.Total) / vg.Length(max(total, 1))
		label := l.Cause + " " + durationLabel(float64(l.Total))
		if style(textSize, ink).Width(label) > w-stripGap-2*stripPad {
			below = append(below, entry{name: label, col: causeColours[groupOf(l.Cause)]})
			label = ""
		}
		widths, labels = append(widths, w), append(labels, label)
	}
	return widths, labels, below
}

// lostRoom is the height that losses need in a canvas of that width.
func lostRoom(cells []result.CauseTotal, width vg.Length) vg.Length {
	if len(cells) == 0 {
		return 0
	}
	_, _, below := lossParts(cells, stripWidth(width))
	_, height := legendPlaces(below, stripWidth(width))
	return stripRoom + height
}

// losses draws, at the canvas' top, a strip whose parts are as wide as what was
// lost to each cause, greatest first, in the colours of the picture of causes.
// It is not in the order of time, which is not kept.
func (c canvas) losses(cells []result.CauseTotal) {
	if len(cells) == 0 {
		return
	}
	small, sty := aligned(style(smallSize, slate), text.XLeft, text.YCenter), aligned(style(textSize, ink), text.XLeft, text.YCenter)
	y := c.Max.Y - stripHeight/2
	c.say(small, c.Min.X, y, stripCaption)
	x := c.Max.X - stripWidth(c.width())
	widths, labels, below := lossParts(cells, c.Max.X-x)
	c.legend(x, y-stripRoom, below)
	for i, w := range widths {
		col := causeColours[groupOf(cells[i].Cause)]
		c.fill(col, x, y-stripHeight/2, x+max(w-stripGap, 0.5), y+stripHeight/2)
		sty.Color = onColour(col)
		c.say(sty, x+stripPad, y, labels[i])
		x += w
	}
}

// legend returns entries for what occurs in the lanes.
func (s *story) legend() []entry {
	var seen [numOccupations]bool
	for _, l := range s.lanes {
		for _, b := range l.bars {
			for k, part := range b.parts {
				seen[k] = seen[k] || part > 0
			}
		}
	}
	var es []entry
	for _, k := range stacked {
		if seen[k] && k != occUnknown {
			es = append(es, entry{name: occupations[k].name, col: occupations[k].col})
			if k == occMarked && s.marked != "" {
				es[len(es)-1].name = s.marked
			}
		}
	}
	if s.to >= 0 {
		es = append(es, entry{name: "from where it became ready to where it ran", col: ink, mark: markArrow})
	}
	if seen[occUnknown] {
		es = append(es, entry{name: occupations[occUnknown].name, col: grey, mark: markHatch})
	}
	return es
}

// laneFrame returns the part of f that belongs to lane i, the first being on top.
func (s *story) laneFrame(f frame, i int) frame {
	pitch := f.height() / vg.Length(len(s.lanes))
	gap := clampLength(pitch*0.16, 0.6, 4)
	top := f.Max.Y - pitch*vg.Length(i)
	r := vg.Rectangle{Min: vg.Point{X: f.Min.X, Y: top - pitch + gap/2}, Max: vg.Point{X: f.Max.X, Y: top - gap/2}}
	return frame{canvas: f.area(r), x: f.x}
}

func clampLength(v, lo, hi vg.Length) vg.Length { return max(lo, min(v, hi)) }

// nameLanes writes as many names as there is room for; those of lanes that matter come first.
func (s *story) nameLanes(f frame) {
	var taken []vg.Length
	for _, strong := range []bool{true, false} {
		sty := textui.Either(strong, boldStyle(textSize, ink), style(textSize, slate))
		for i, l := range s.lanes {
			lf := s.laneFrame(f, i)
			y := (lf.Min.Y + lf.Max.Y) / 2
			near := func(t vg.Length) bool { return math.Abs(float64(t-y)) < textSize+0.5 }
			if l.strong == strong && !slices.ContainsFunc(taken, near) {
				taken = append(taken, y)
				f.say(aligned(sty, text.XRight, text.YCenter), f.Min.X-6, y, l.name)
			}
		}
	}
}

// columns divides the lane into w columns over an axis: fractions of the procs' time.
func (l lane) columns(x axis, w int) [][numOccupations]float64 {
	out := make([][numOccupations]float64, w)
	for _, b := range l.bars {
		from, to := clamp(x.at(b.start), 0, 1)*float64(w), clamp(x.at(b.end), 0, 1)*float64(w)
		for i := int(from); i < w && float64(i) < to; i++ {
			cover := (math.Min(to, float64(i+1)) - math.Max(from, float64(i))) / float64(max(l.procs, 1))
			for k, part := range b.parts {
				out[i][k] += cover * part
			}
		}
	}
	return out
}

// drawLane paints the lane over the frame's height, column of pixels by column, each divided
// by shares: what is shorter than a pixel still leaves its trace. White lines are drawn
// between bars that are wide enough, even if a little lies between, and strong ones between
// goroutines: neighbours may have the same colour.
func (f frame) drawLane(l lane) {
	layers := make([]band, len(stacked))
	for k, o := range stacked {
		layers[k].col = occupations[o].col
	}
	f.raster(func(img *image.NRGBA, w, h int) {
		edge := make([]float64, len(stacked)+1)
		for x, share := range l.columns(f.x, w) {
			for k, o := range stacked {
				edge[k+1] = edge[k] + share[o]*float64(h)
				if edge[k+1] > float64(h)-1e-3 { // sums of fractions are not exact
					edge[k+1] = float64(h)
				}
			}
			paintColumn(img, x, h, edge, layers)
		}
	})
	if l.procs > 1 {
		return
	}
	const least, little = 3, 2.5
	var last bar // that is wide enough
	for _, b := range l.bars {
		in := f.part(b.start, b.end)
		if b.occ == occUnknown && in.width() > 2 {
			in.fill(white, in.Min.X, in.Min.Y, in.Max.X, in.Max.Y)
			in.hatch(grey, 4)
		}
		if b.joined || in.width() < least {
			continue
		}
		if last.end > last.start && in.Min.X-f.px(last.end) < little {
			width := textui.Either[vg.Length](b.g == last.g, 0.5, 1)
			f.stroke(line(width, white), in.Min.X, f.Min.Y, in.Min.X, f.Max.Y)
		}
		last = b
	}
}

// part returns the part of a lane's frame that shows the interval.
func (f frame) part(start, end float64) frame {
	r := f.Rectangle
	r.Min.X, r.Max.X = max(f.Min.X, f.px(start)), min(f.Max.X, f.px(end))
	return frame{canvas: f.area(r), x: f.x}
}

// nameBar writes which goroutine ran what function into a part of a bar, if there is room for
// a recognisable part of it. In high bars it leaves room for an arrow below.
func (f frame) nameBar(b bar, from, to float64) {
	const least, high = 8.5, 16 // heights of a bar that can hold text
	in := f.part(from, to)
	if b.name == "" || b.occ == occUnknown || in.height() < least || in.width() < 20 {
		return
	}
	size := min(smallSize, float64(in.height())-1.5)
	sty := aligned(style(size, onColour(occupations[b.occ].col)), text.XLeft, text.YCenter)
	y := textui.Either(in.height() >= high, in.Max.Y-in.height()*0.35, (in.Min.Y+in.Max.Y)/2)
	f.say(sty, in.Min.X+3.5, y, b.label(sty, in.width()-6))
}

// label returns what is written into the bar if there is a width of w: the
// goroutine and its function, only one of them, or nothing.
func (b bar) label(sty draw.TextStyle, w vg.Length) string {
	if b.g == model.NoGoroutine {
		return fitName(sty, b.name, w)
	}
	g := "G" + strconv.FormatUint(uint64(b.g), 10)
	if s := fitName(sty, b.name, w-sty.Width(g+" ")); s != "" {
		return g + " " + s
	}
	if sty.Width(g) <= w {
		return g
	}
	return ""
}

// bracket draws a double-headed line above the frame from x0 to x1, with text.
func (f frame) bracket(x0, x1 vg.Length, s string) {
	sty := aligned(boldStyle(textSize, ink), text.XCenter, text.YCenter)
	half := sty.Width(s)/2 + 4
	y, middle := f.Max.Y+9, clampLength((x0+x1)/2, f.Min.X+half, f.Max.X-half)
	f.arrow(ink, middle, y, x0, y)
	f.arrow(ink, middle, y, x1, y)
	f.fill(white, middle-half, y-5, middle+half, y+5)
	f.say(sty, middle, y, s)
}
