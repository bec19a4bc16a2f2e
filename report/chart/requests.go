package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// requestColours are those of kinds of time on the path of a request; other waits are pale.
var requestColours = map[string]color.NRGBA{"running": blue, "runnable": vermil, "syscall": purple, "network": sky, "gc": orange, "stw": slate, "lock": crimson,
	"sleep": lime, "timer": lime, "queued": brown, "unknown": grey}

func requestColour(kind string) color.NRGBA {
	return cmp.Or(requestColours[kind], color.NRGBA{0xB9, 0xC6, 0xD0, 0xff})
}

// Sizes of the picture of requests, in points, and how much it shows.
const (
	groupPitch = 26
	lanePitch  = 22
	lanesShown = 8
	groupsMost = 6
)

// anatomy are the groups of a tail that add something, each with its parts, most first.
type anatomy struct {
	label, gain string
	parts       []*result.RequestRow
	sum         float64 // what they add
}

// requests returns the picture of why the slowest requests are slow:
//
//  1. a bar for what each group of parts adds to the slowest, divided by what the time went to,
//  2. the path of the slowest, and that of a typical one: a lane for each goroutine, with arrows
//     to whom it made runnable.
func (in *Input) requests() *Picture {
	name, title := "requests", "Why the slowest requests are slow"
	kind, k := in.slowRequests()
	if k == nil {
		return in.picture(name, title, minHeight, "there are too few requests and tasks", nil)
	}
	who := printable(kind) + " requests"
	if k.Name == result.NoName {
		who += " of unknown handlers"
	} else if k.Name != "" {
		who = "requests"
		title += ": " + textui.Shorten(shortFunc(k.Name), 50)
	}
	t := &k.Tails[0]
	var groups []anatomy
	kinds := map[string]bool{}
	for g := range result.Refs(t.Groups) {
		if len(groups) == groupsMost || t.Gain(g) < 0.01*t.Diff() || t.Gain(g) <= 0 {
			break
		}
		a := anatomy{label: requestLabel(g.Kind, g.Function), gain: fmt.Sprintf("+%s, %s of %s have it", textui.Duration(model.Duration(t.Gain(g))), textui.Count(g.Have), textui.Count(t.Count))}
		for j := range t.Rows {
			if x := &t.Rows[j]; x.InGroup(g) && t.Gain(x) > 0 {
				a.parts, a.sum = append(a.parts, x), a.sum+t.Gain(x)
				kinds[x.Kind] = true
			}
		}
		groups = append(groups, a)
	}
	type fall struct {
		heading string
		path    *result.RequestPath
		lanes   []result.RequestLane
		wakes   []result.RequestWake
	}
	falls := []fall{{heading: "The slowest", path: &k.Slowest[0]}}
	if k.Typical != nil {
		falls = append(falls, fall{heading: "A typical one", path: k.Typical})
	}
	height := vg.Length(marginTop + marginBottom + titleRoom + captionRoom + headingRoom + groupPitch*len(groups) + 8)
	for f := range result.Refs(falls) {
		f.heading += fmt.Sprintf(": %s, at %s, G%d", textui.Duration(f.path.Duration), textui.Instant(f.path.Start), f.path.Goroutine)
		f.lanes, f.wakes = f.path.Lanes(lanesShown)
		height += headingRoom + bottomRoom + 8 + lanePitch*vg.Length(len(f.lanes))
		for _, l := range f.lanes {
			for _, b := range l.Bars {
				if !b.Waiting {
					kinds[b.Kind] = true
				}
			}
		}
	}
	var legend []entry
	for kind := range kinds {
		name := printable(kind) + textui.If(kind == "runnable", ", behind whom it names")
		legend = append(legend, entry{name: name, col: requestColour(kind)})
	}
	slices.SortFunc(legend, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	legend = append(legend, entry{name: "waits for the lane that the arrow comes from", col: faint}, entry{name: "makes runnable", col: ink, mark: markArrow})
	_, lines := legendPlaces(legend, naturalWidth-2*marginSide)
	height += lines
	caption := fmt.Sprintf("%s %s, p50 %s, p99 %s, max %s", textui.Count(k.Count), who, textui.Duration(k.P50), textui.Duration(k.P99), textui.Duration(k.Max))
	return in.picture(name, title, height, "", func(c canvas) {
		c = c.caption(caption)
		c.heading(panel{heading: fmt.Sprintf("The slowest %s take %s longer on average than the middle fifth, by these parts", t.Who(), textui.Duration(model.Duration(t.Diff())))}, c.Max.Y-13)
		c = c.inset(0, 0, 0, headingRoom)
		most := 0.0
		for _, a := range groups {
			most = max(most, a.sum)
		}
		const left, right = 210, 120
		label := aligned(style(textSize, ink), text.XRight, text.YCenter)
		for i, a := range groups {
			y := c.Max.Y - groupPitch*vg.Length(i)
			x := c.Min.X + left
			c.say(label, x-6, y-groupPitch/2, fit(label, a.label, left-6))
			for _, part := range a.parts {
				w := (c.width() - left - right) * vg.Length(t.Gain(part)/most)
				col := requestColour(part.Kind)
				c.fill(col, x, y-groupPitch+4, x+max(w-0.5, 0.3), y-4)
				inside := aligned(style(smallSize, onColour(col)), text.XLeft, text.YCenter)
				c.say(inside, x+3, y-groupPitch/2, fitName(inside, barLabel(part.Kind, part.Function), w-6))
				x += w
			}
			c.say(aligned(style(textSize, slate), text.XLeft, text.YCenter), x+5, y-groupPitch/2, a.gain)
		}
		c = c.inset(0, 0, 0, groupPitch*vg.Length(len(groups))+4)
		c = c.inset(0, 0, 0, c.legend(c.Min.X, c.Max.Y-9, legend)+4)
		for _, w := range falls {
			c.heading(panel{heading: w.heading}, c.Max.Y-13)
			c = c.inset(0, 0, 0, headingRoom)
			low := vg.Length(lanePitch * len(w.lanes))
			r := vg.Rectangle{Min: vg.Point{X: c.Min.X + left, Y: c.Max.Y - low}, Max: vg.Point{X: c.Max.X - 6, Y: c.Max.Y}}
			f := frame{canvas: c.area(r), x: axis{0, float64(w.path.Duration), linearTicks(0, float64(w.path.Duration), 8, clockLabel)}}
			f.waterfall(w.lanes, w.wakes)
			f.bottomAxis("time since it began")
			c = c.inset(0, 0, 0, low+bottomRoom+8)
		}
	})
}

// slowRequests returns the requests that the first finding about some is about, or else of those of the
// main kind of which enough is known the ones with the most time, and their kind; nil if there are none.
func (in *Input) slowRequests() (kind string, k *result.RequestGroup) {
	first := slices.IndexFunc(in.Report.Findings, func(f result.Finding) bool { return f.Group != "" })
	for x := range result.Refs(in.Report.Requests) {
		main := x == in.Report.MainRequests()
		for _, s := range append(slices.Clone(x.Sets()), result.RequestGroup{RequestSet: x.RequestSet}) {
			if found := first >= 0 && s.Name == in.Report.Findings[first].Group; len(s.Tails) > 0 && len(s.Slowest) > 0 && (found || main && k == nil) {
				if kind, k = x.Kind, &s; found {
					return kind, k
				}
			}
		}
	}
	return kind, k
}

func requestLabel(kind, fn string) string {
	return printable(kind) + textui.If(fn != "", " "+shortFunc(fn))
}

// barLabel names what a bar is: its function, or if that is not known its kind.
func barLabel(kind, fn string) string { return textui.Either(fn == "", printable(kind), shortFunc(fn)) }

// waterfall draws the lanes of a path from top to bottom.
func (f frame) waterfall(lanes []result.RequestLane, wakes []result.RequestWake) {
	label := aligned(style(textSize, ink), text.XRight, text.YCenter)
	middle := func(i int) vg.Length { return f.Max.Y - lanePitch*(vg.Length(i)+0.5) }
	for i, l := range lanes {
		name := "others"
		if l.Goroutine != model.NoGoroutine {
			name = requestLabel(fmt.Sprintf("G%d", l.Goroutine), l.Function())
		}
		y := middle(i)
		c := f.canvas
		c.say(label, f.Min.X-6, y, fit(label, name, 200))
		f.stroke(line(0.5, faint), f.Min.X, y, f.Max.X, y)
		for _, b := range l.Bars {
			x0, x1 := f.px(float64(b.Start)), f.px(float64(b.Start+b.Length))
			col := textui.Either(b.Waiting, faint, requestColour(b.Kind))
			f.fill(col, x0, y-6, max(x1, x0+0.4), y+6)
			inside := aligned(style(smallSize, onColour(col)), text.XLeft, text.YCenter)
			c.say(inside, x0+3, y, fitName(inside, barLabel(b.Kind, b.Function), x1-x0-6))
		}
	}
	for _, w := range wakes {
		x, from, to := f.px(float64(w.At)), middle(w.From), middle(w.To)
		if from > to {
			f.arrow(ink, x, from-6, x, to+6)
		} else {
			f.arrow(ink, x, from+6, x, to-6)
		}
	}
}
