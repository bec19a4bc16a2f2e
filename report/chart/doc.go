// Package chart draws what the analyses found: PNG and SVG from the same code. This
// package promises nothing to other modules.
//
// [All] makes the pictures of a report ([Catalogue]): the dashboard, the causes of waiting over
// time, the percentile spectrum, the histogram by origin, and one picture for each of the
// worst waits. The report is data (package analyze/result), of a trace or saved; only the
// pictures of waits need a second reading of the trace ([Histories]). There are pictures of
// comparisons ([Comparison]) and of what would help requests ([Help]), too. [Picture.Write] only draws.
// The bytes are a function of what the picture shows and of the resolution alone, on every
// machine: fonts are embedded, and nothing depends on the time or on the order of a map.
//
// Layout is computed in points from the bottom left corner, as in
// gonum.org/v1/plot/vg, whose canvases and fonts are all that is used of that
// module: its stock axes, legends, heat maps and long lines do not suit
// logarithms of durations, a million samples, or panels on one clock. What
// cannot be drawn as some hundred shapes (heat maps, areas over time) is
// painted at device resolution into an image, see canvas.raster.
//
// Names come from traces and are untrusted: [printable] stands between them
// and every canvas.
package chart
