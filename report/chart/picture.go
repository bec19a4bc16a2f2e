package chart

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Picture is a drawing of any size and in any format. What it was made of must not be
// changed. A Picture may be written by several goroutines at once.
type Picture struct {
	// Name is the file name without extension, such as "dashboard" or "wait-01".
	Name string
	// Title is the headline, as it stands in the picture.
	Title string
	// Missing says why there is nothing to see but this sentence; usually it is "".
	Missing string

	width, height vg.Length // natural size in points
	draw          func(canvas)
}

// naturalWidth is the width of all pictures, in points.
const naturalWidth = 760

// newPicture returns a picture of that height, or a low one of what is missing.
func newPicture(name, title, subtitle string, height vg.Length, missing string, draw func(canvas)) *Picture {
	p := &Picture{Name: name, Title: title, Missing: missing, width: naturalWidth, height: height}
	if missing != "" {
		p.height, draw = minHeight, func(c canvas) { c.notice(missing) }
	}
	p.draw = func(c canvas) { draw(c.page(title, subtitle)) }
	return p
}

// Choose returns the picture that the base name of a file asks for, else the first.
func Choose(pictures []*Picture, path string) *Picture {
	base := filepath.Base(path)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	for _, p := range pictures {
		if p.Name == base {
			return p
		}
	}
	return pictures[0]
}

// Options say how large a picture is. The zero value is the picture's natural
// size at DefaultDPI.
type Options struct {
	// DPI is the number of pixels per inch (72 points) of a PNG; it also is the
	// resolution of what an SVG shows as an image. 0 is DefaultDPI.
	DPI int
	// Width and Height are the size in points; 0 is the picture's own.
	Width, Height float64
}

// DefaultDPI makes pictures sharp on dense screens: two pixels per point.
const DefaultDPI = 144

// Limits of Options: below, the parts of a picture no longer find room; above,
// the pixels no longer find memory (4 bytes each).
const (
	minWidth, minHeight = 320, 180
	maxPixels           = 100e6
)

// Formats are the file formats of pictures.
var Formats = []string{"png", "svg"}

// Write draws the picture to w as png or svg. The same picture, format and options always
// give the same bytes. Errors are those of w and of impossible options.
func (p *Picture) Write(w io.Writer, format string, o Options) error {
	width, height, dpi, err := p.size(o)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", p.Name, err)
	}
	switch format {
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
		p.draw(canvas{draw.New(c), float64(dpi)})
		_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	case "svg":
		err = p.writeSVG(w, width, height, dpi)
	default:
		err = fmt.Errorf("unknown picture format %q (want %s)", format, strings.Join(Formats, " or "))
	}
	if err != nil {
		return fmt.Errorf("drawing %s: %w", p.Name, err)
	}
	return nil
}

// size returns what o asks for, in points and dots per inch.
func (p *Picture) size(o Options) (w, h vg.Length, dpi int, err error) {
	w, h, dpi = p.width, p.height, DefaultDPI
	if o.Width != 0 {
		w = vg.Length(o.Width)
	}
	if o.Height != 0 {
		h = vg.Length(o.Height)
	}
	if o.DPI != 0 {
		dpi = o.DPI
	}
	pixels := float64(w) * float64(h) * math.Pow(float64(dpi)/72, 2)
	switch {
	case dpi < 0:
		err = errors.New("the resolution must be positive")
	case !(w >= minWidth && h >= minHeight):
		err = fmt.Errorf("%gx%g points are too few (want at least %dx%d)", float64(w), float64(h), minWidth, minHeight)
	case !(pixels <= maxPixels):
		err = fmt.Errorf("%.3g million pixels are too many (want at most %g million)", pixels/1e6, maxPixels/1e6)
	}
	return w, h, dpi, err
}
