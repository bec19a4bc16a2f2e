package chart

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/schedscope/schedscope/internal/textui"
)

// writeSVG draws through vgsvg and mends what it writes: it has no background,
// calls its PNG images JPEGs, and names fonts without a substitute.
func (p *Picture) writeSVG(w io.Writer, dpi int) error {
	s := vgsvg.New(p.width, p.height)
	c := canvas{draw.New(s), float64(dpi)}
	c.fill(white, 0, 0, p.width, p.height)
	p.draw(c)
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		return err
	}
	out := bytes.ReplaceAll(b.Bytes(), []byte(`xlink:href="data:image/jpg;`), []byte(`preserveAspectRatio="none" xlink:href="data:image/png;`))
	_, err := w.Write(svgText.ReplaceAllFunc(out, fixText))
	return err
}

// svgText matches a text element as vgsvg writes it. What is between the tags
// is escaped, so it holds none.
var svgText = regexp.MustCompile(`(<text [^>]*font-family:Liberation Sans)(;[^>]*font-weight:(\w+)[^>]*font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)

// fixText adds to a text element fonts of the same metrics, and the width that
// the layout counts on, for viewers that have none of them either.
func fixText(element []byte) []byte {
	m := svgText.FindSubmatch(element)
	size, err := strconv.ParseFloat(string(m[4]), 64)
	if err != nil {
		return element
	}
	sty := textui.Either(string(m[3]) == "bold", boldStyle(size, ink), style(size, ink))
	width := sty.Width(html.UnescapeString(string(m[5])))
	return fmt.Appendf(nil, `%s,Arial,Helvetica,sans-serif%s textLength="%.2f" lengthAdjust="spacingAndGlyphs">%s</text>`,
		m[1], m[2], width.Points(), m[5])
}
