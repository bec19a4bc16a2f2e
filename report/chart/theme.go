package chart

import (
	"image/color"
	"sync"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/schedscope/schedscope/internal/textui"
)

// The palette of Okabe and Ito ("Color Universal Design", 2008), which people
// with any kind of colour vision can distinguish, and greys.
var (
	blue    = color.NRGBA{0x00, 0x72, 0xB2, 0xff}
	sky     = color.NRGBA{0x56, 0xB4, 0xE9, 0xff}
	green   = color.NRGBA{0x00, 0x9E, 0x73, 0xff}
	orange  = color.NRGBA{0xE6, 0x9F, 0x00, 0xff}
	vermil  = color.NRGBA{0xD5, 0x5E, 0x00, 0xff}
	purple  = color.NRGBA{0xCC, 0x79, 0xA7, 0xff}
	ochre   = color.NRGBA{0x8A, 0x7A, 0x00, 0xff} // the palette's yellow, dark enough for lines on white
	yellow  = color.NRGBA{0xF0, 0xE4, 0x42, 0xff}
	brown   = color.NRGBA{0x7A, 0x43, 0x1D, 0xff}
	violet  = color.NRGBA{0x5B, 0x2D, 0x9E, 0xff}
	crimson = color.NRGBA{0xB0, 0x00, 0x45, 0xff}
	lime    = color.NRGBA{0x7C, 0xC0, 0x1E, 0xff}
	ink     = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	slate   = color.NRGBA{0x66, 0x66, 0x66, 0xff}
	grey    = color.NRGBA{0x9A, 0x9A, 0x9A, 0xff}
	faint   = color.NRGBA{0xEC, 0xEC, 0xEC, 0xff}
	white   = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	skyPale = color.NRGBA{0xA6, 0xD3, 0xF0, 0xff}
	halo    = color.NRGBA{0xff, 0xff, 0xff, 0x80} // under text that may cross lines
	veil    = color.NRGBA{0xff, 0xff, 0xff, 0x9c} // laid over what is outside the matter at hand
)

// Sizes of text in points.
const (
	titleSize   = 12.5
	headingSize = 9.5
	textSize    = 8.5
	smallSize   = 7.5
)

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// fonts are embedded in the program, so that text has the same width everywhere.
var fonts = sync.OnceValue(func() text.Plain { return text.Plain{Fonts: font.NewCache(liberation.Collection())} })

// style returns text of this size and colour, aligned left on its baseline.
func style(size float64, c color.Color) draw.TextStyle {
	return draw.TextStyle{Font: font.From(sans, font.Length(size)), Color: c, Handler: fonts()}
}

// boldStyle is style in bold.
func boldStyle(size float64, c color.Color) draw.TextStyle {
	s := style(size, c)
	s.Font.Weight = xfont.WeightBold
	return s
}

// aligned returns s with another alignment.
func aligned(s draw.TextStyle, x text.XAlignment, y text.YAlignment) draw.TextStyle {
	s.XAlign, s.YAlign = x, y
	return s
}

// line returns a solid line style.
func line(width vg.Length, c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width}
}

// heatStops runs from a single wait, which must be visible on white, to the
// most in any cell.
var heatStops = []color.NRGBA{
	{0xb7, 0xd7, 0xee, 0xff}, {0x7f, 0xb8, 0xdd, 0xff}, {0x42, 0x92, 0xc6, 0xff},
	{0x08, 0x51, 0x9c, 0xff}, {0x08, 0x30, 0x6b, 0xff}, {0x04, 0x16, 0x36, 0xff},
}

// heatColour returns the colour at v of [0, 1].
func heatColour(v float64) color.NRGBA {
	v = clamp(v, 0, 1) * float64(len(heatStops)-1)
	i := min(int(v), len(heatStops)-2)
	return mix(heatStops[i], heatStops[i+1], v-float64(i))
}

// mix returns the colour a fraction f of the way from a to b.
func mix(a, b color.NRGBA, f float64) color.NRGBA {
	m := func(x, y uint8) uint8 { return uint8(float64(x) + (float64(y)-float64(x))*f + 0.5) }
	return color.NRGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), m(a.A, b.A)}
}

// onColour returns the colour of text that is readable on c, by luminance
// (ITU-R BT.601).
func onColour(c color.NRGBA) color.NRGBA {
	return textui.Either(299*int(c.R)+587*int(c.G)+114*int(c.B) > 150*1000, ink, white)
}

// clamp returns v moved into [lo, hi]; NaN becomes lo.
func clamp(v, lo, hi float64) float64 {
	if !(v > lo) {
		return lo
	}
	return min(v, hi)
}
