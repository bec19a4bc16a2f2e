package chart

import (
	"io"
	"testing"
)

// BenchmarkPictures makes and draws each picture of a report of a million
// waits, at the default size.
func BenchmarkPictures(b *testing.B) {
	r := synthetic{waits: 1_000_000, procs: 8, span: 10 * s}.report()
	for _, k := range Catalogue() {
		for _, f := range []struct {
			format Format
			name   string
		}{{PNG, "png"}, {SVG, "svg"}} {
			b.Run(k.Name+"/"+f.name, func(b *testing.B) {
				for b.Loop() {
					if err := k.Make(r, "million.trace")[0].Write(io.Discard, f.format, Options{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
			})
		}
	}
}
