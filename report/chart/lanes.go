package chart

import (
	"image"
	"image/color"
	"math"
	"strconv"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// occupation is what a proc is drawn to have done.
type occupation uint8

const (
	occUnknown    occupation = iota // the trace does not tell, or the history was not kept
	occIdle                         // no thread had the proc
	occStopped                      // by a stop-the-world
	occSearching                    // a thread had it but no goroutine
	occRuntime                      // a goroutine of the runtime, not the collector's
	occGC                           // a mark worker
	occAssist                       // a goroutine of the program that assisted marking
	occSyscall                      // a goroutine in a system call
	occUser                         // a goroutine of the program
	occAntagonist                   // the goroutine that a wait was behind the longest
	occSelf                         // the goroutine that waited
	numOccupations
)

// occupations are the names and colours, by occupation.
var occupations = [numOccupations]struct {
	name string
	col  color.NRGBA
}{
	occUnknown:    {result.UseUnknown.Label(), grey},
	occIdle:       {result.UseIdle.Label(), faint},
	occStopped:    {result.UseStopped.Label(), slate},
	occSearching:  {result.UseSearching.Label(), color.NRGBA{0xB9, 0xC6, 0xD0, 0xff}},
	occRuntime:    {result.UseRuntime.Label(), sky},
	occGC:         {result.UseGC.Label(), orange},
	occAssist:     {result.UseAssist.Label(), ochre},
	occSyscall:    {result.UseSyscall.Label(), purple},
	occUser:       {result.UseUser.Label(), blue},
	occAntagonist: {"waited behind", crimson},
	occSelf:       {"the waiter", green},
}

// bar is what a proc did in an interval, in ns relative to the picture's zero.
type bar struct {
	start, end float64
	occ        occupation
	g          model.GoID // NoGoroutine if none; joined bars have none
	name       string     // of the goroutine's function, or other text to be written inside
	// joined: the bar stands for several intervals that are too short to be
	// drawn; parts are the fractions of its time. Otherwise all of it is occ.
	joined bool
	parts  [numOccupations]float64
}

// lane is the history of one proc, or of several where there is no room for
// each; bars of one proc do not overlap and are in order of time.
type lane struct {
	name   string
	procs  int
	strong bool // the name is written in bold, and never left out
	bars   []bar
}

// maxLanes is how many lanes find room; more are grouped.
const maxLanes = 64

// column is what happened in one column of pixels of a lane.
type column struct {
	share   [numOccupations]float64 // fraction of the procs' time
	divided bool                    // more than one proc, or joined bars
}

// columns divides the lane into w columns over an axis.
func (l lane) columns(x axis, w int) []column {
	out := make([]column, w)
	for _, b := range l.bars {
		from, to := clamp(x.at(b.start), 0, 1)*float64(w), clamp(x.at(b.end), 0, 1)*float64(w)
		for i := int(from); i < w && float64(i) < to; i++ {
			cover := (math.Min(to, float64(i+1)) - math.Max(from, float64(i))) / float64(max(l.procs, 1))
			out[i].add(b, cover)
		}
	}
	return out
}

// add adds a bar that covers a fraction of the column.
func (c *column) add(b bar, cover float64) {
	if !b.joined {
		c.share[b.occ] += cover
		return
	}
	c.divided = true
	for k, part := range b.parts {
		c.share[k] += cover * part
	}
}

// drawLane paints the lane over the frame's height, column of pixels by column:
// what is shorter than a pixel still leaves its trace.
func (f frame) drawLane(l lane) {
	f.raster(func(img *image.NRGBA, w, h int) {
		for x, c := range l.columns(f.x, w) {
			if l.procs > 1 || c.divided {
				paintStack(img, x, h, c.share)
			} else {
				paintMix(img, x, h, c.share)
			}
		}
	})
	for _, b := range l.bars {
		if in := f.barFrame(b.start, b.end); b.occ == occUnknown && l.procs == 1 && in.width() > 2 {
			in.fill(white, in.Min.X, in.Min.Y, in.Max.X, in.Max.Y)
			in.hatch(grey, 4)
		}
	}
}

// paintMix fills a column of pixels with the mean colour of what one proc did.
func paintMix(img *image.NRGBA, x, h int, share [numOccupations]float64) {
	for k, s := range share {
		if s > 0 {
			blend(img, x, 0, occupations[k].col, s)
		}
	}
	for y := 1; y < h; y++ {
		img.SetNRGBA(x, y, img.NRGBAAt(x, 0))
	}
}

// paintStack divides a column of pixels by shares, from what matters most at
// the bottom to idle and unknown at the top.
func paintStack(img *image.NRGBA, x, h int, share [numOccupations]float64) {
	const last = int(numOccupations) - 1
	var layers [numOccupations]band
	var edge [numOccupations + 1]float64
	for k := range layers {
		layers[k].col = occupations[last-k].col
		edge[k+1] = edge[k] + share[last-k]*float64(h)
		if edge[k+1] > float64(h)-1e-3 { // sums of fractions are not exact
			edge[k+1] = float64(h)
		}
	}
	paintColumn(img, x, h, edge[:], layers[:])
}

// barFrame returns the part of a lane's frame that shows the interval.
func (f frame) barFrame(start, end float64) frame {
	r := f.Rectangle
	r.Min.X, r.Max.X = max(f.Min.X, f.px(start)), min(f.Max.X, f.px(end))
	return frame{canvas: f.area(r), x: f.x}
}

// separate draws lines where one interval ends and another begins, if both are
// wide enough: neighbours may have the same colour. The line is strong between
// goroutines, if one is wide enough for a name, even if a little lies between.
func (f frame) separate(l lane) {
	const least, named, little = 3, 16, 2.5
	last := -1 // the last that is wide enough
	for i, b := range l.bars {
		width := f.barFrame(b.start, b.end).width()
		if b.joined || width < least {
			continue
		}
		if last >= 0 {
			a := l.bars[last]
			x := f.px(b.start)
			switch wider := max(width, f.barFrame(a.start, a.end).width()); {
			case wider >= named && a.g != b.g && x-f.px(a.end) < little:
				f.stroke(line(1.2, white), x, f.Min.Y, x, f.Max.Y)
			case last == i-1 || wider >= named && x-f.px(a.end) < little:
				f.stroke(line(0.5, white), x, f.Min.Y, x, f.Max.Y)
			}
		}
		last = i
	}
}

// nameBar writes which goroutine ran what function into a bar, as far as the bar
// lies between from and to, if there is room for a recognisable part of it. It
// gives way to an arrow that passes at height arrow(x).
func (f frame) nameBar(b bar, from, to float64, arrow func(x vg.Length) vg.Length) {
	const least = 8.5 // height of a bar that can hold text
	in := f.barFrame(max(b.start, from), min(b.end, to))
	if b.name == "" || b.occ == occUnknown || in.height() < least || in.width() < 20 {
		return
	}
	size := min(smallSize, float64(in.height())-1.5)
	sty := aligned(style(size, onColour(occupations[b.occ].col)), text.XLeft, text.YCenter)
	s := b.label(sty, in.width()-6)
	x, y := in.Min.X+3.5, (in.Min.Y+in.Max.Y)/2
	away := in.height()/2 - sty.Font.Size/2 - 1.5 // as far from the middle as it may go
	if gap := arrow(x+sty.Width(s)/2) - y; gap > -7 && gap < 7 {
		if gap > 0 {
			away = -away
		}
		y += away
	}
	f.say(sty, x, y, s)
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

// idleJoined returns lanes with each run of at least three neighbours that did
// nothing but idle made one, and for each old lane its new one.
func idleJoined(ls []lane) (out []lane, at []int) {
	at = make([]int, len(ls))
	for i := 0; i < len(ls); {
		n := 0
		for i+n < len(ls) && ls[i+n].idle() {
			n++
		}
		l := ls[i]
		if n < 2 {
			n = 1
		} else {
			l = joinedLane(ls[i : i+n])
			l.bars = []bar{l.bars[0]}
			l.bars[0].name = textui.Count(n) + " procs idle"
			l.procs = 1
		}
		for k := range n {
			at[i+k] = len(out)
		}
		out = append(out, l)
		i += n
	}
	return out, at
}

// idle reports whether the lane is one idle bar and does not matter otherwise.
func (l lane) idle() bool {
	return !l.strong && len(l.bars) == 1 && l.bars[0].occ == occIdle && !l.bars[0].joined
}

// joinedLane returns one lane for several neighbours.
func joinedLane(ls []lane) lane {
	g := lane{name: ls[0].name}
	if len(ls) > 1 {
		g.name += "–" + ls[len(ls)-1].name
	}
	for _, l := range ls {
		g.procs += l.procs
		g.strong = g.strong || l.strong
		g.bars = append(g.bars, l.bars...)
	}
	return g
}

// grouped returns lanes joined so that there are at most maxLanes, and how many
// neighbours were joined into each.
func grouped(ls []lane) (out []lane, per int) {
	per = max(1, (len(ls)+maxLanes-1)/maxLanes)
	for i := 0; i < len(ls); i += per {
		out = append(out, joinedLane(ls[i:min(i+per, len(ls))]))
	}
	return out, per
}
