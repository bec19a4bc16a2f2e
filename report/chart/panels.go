package chart

import (
	"gonum.org/v1/plot/vg"
)

// panel is one of several frames above each other that share their x axis.
type panel struct {
	heading string
	note    string // in grey behind the heading
	legend  []entry
	weight  float64 // share of the height
	y       func(height vg.Length) axis
	draw    func(f frame)
}

// headingRoom is the height above each panel's frame for its heading.
const headingRoom = 20

// drawPanels draws panels from top to bottom, with the x axis and its title
// below the last, leaving right points free at the right of the frames.
func (c canvas) drawPanels(x axis, title string, right vg.Length, ps []panel) {
	c = c.inset(0, right, bottomRoom, 0)
	total := 0.0
	for _, p := range ps {
		total += p.weight
	}
	const gap = 8 // between a panel's marks and the next heading
	free := c.height() - vg.Length(len(ps))*headingRoom - vg.Length(len(ps)-1)*gap
	heights := make([]vg.Length, len(ps))
	axes := make([]axis, len(ps))
	for i, p := range ps {
		heights[i] = free * vg.Length(p.weight/total)
		axes[i] = p.y(heights[i])
	}
	left := c.Min.X + leftRoom(axes...)
	top := c.Max.Y
	for i, p := range ps {
		c.heading(p, top-13)
		top -= headingRoom
		r := vg.Rectangle{Min: vg.Point{X: left, Y: top - heights[i]}, Max: vg.Point{X: c.Max.X, Y: top}}
		f := frame{c.area(r), x, axes[i]}
		f.grid()
		p.draw(f)
		f.leftAxis()
		last := i == len(ps)-1
		f.bottomAxis(last)
		if last {
			f.bottomTitle(title)
		}
		top -= heights[i] + gap
	}
}

// heading writes a panel's heading, note and, at the right, its legend.
func (c canvas) heading(p panel, y vg.Length) {
	bold, plain := boldStyle(headingSize, ink), style(textSize, slate)
	c.say(bold, c.Min.X, y, p.heading)
	x := c.Min.X + bold.Width(p.heading) + 8
	right := max(x, c.Max.X-legendWidth(p.legend))
	c.say(plain, x, y, fit(plain, p.note, right-x-8))
	c.legend(right, y, p.legend)
}
