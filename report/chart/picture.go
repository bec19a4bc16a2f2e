package chart

import (
	"errors"
	"fmt"
	"image/color"
	"io"
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

// ShowsWait reports whether the base name of a file asks for the picture of a wait.
func ShowsWait(path string) bool { return strings.HasPrefix(filepath.Base(path), "wait-") }

// Choose returns the picture that the base name of a file asks for, else the first. Of a wait
// that has no picture it is one of what is missing.
func Choose(pictures []*Picture, path string) *Picture {
	base := filepath.Base(path)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	for _, p := range pictures {
		if p.Name == base {
			return p
		}
	}
	if ShowsWait(path) {
		return newPicture(base, "What procs did during the longest waits", "", minHeight, "the longest waits are of fewer incidents; --worst asks for more waits", nil)
	}
	return pictures[0]
}

// DefaultDPI is two pixels per point: sharp on dense screens.
const DefaultDPI = 144

// minHeight is the height of the lowest pictures, in points.
const minHeight = 180

// maxPixels is the most that still find memory (4 bytes each).
const maxPixels = 100e6

// Formats are the file formats of pictures.
var Formats = []string{"png", "svg"}

// Write draws the picture to w as png or svg, with so many pixels per inch (72 points) of what
// is or is shown as an image. The same picture, format and resolution always give the same bytes.
func (p *Picture) Write(w io.Writer, format string, dpi int) (err error) {
	scale := float64(dpi) / 72
	pixels := float64(p.width) * float64(p.height) * scale * scale
	switch {
	case dpi <= 0:
		err = errors.New("the resolution must be positive")
	case pixels > maxPixels:
		err = fmt.Errorf("%.3g million pixels are too many (want at most %g million)", pixels/1e6, maxPixels/1e6)
	case format == "png":
		c := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
		p.draw(canvas{draw.New(c), float64(dpi)})
		_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	case format == "svg":
		err = p.writeSVG(w, dpi)
	default:
		err = fmt.Errorf("unknown picture format %q (want %s)", format, strings.Join(Formats, " or "))
	}
	if err != nil {
		return fmt.Errorf("drawing %s: %w", p.Name, err)
	}
	return nil
}
