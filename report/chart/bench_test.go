package chart

import (
	"io"
	"testing"
)

// BenchmarkPictures makes and draws each picture of a report of a million
// waits, at the default size.
func BenchmarkPictures(b *testing.B) {
	in := synthetic{waits: 1_000_000, procs: 8, span: 10 * s}.input()
	for _, p := range All(in)[:5] {
		for _, format := range Formats {
			b.Run(p.Name+"/"+format, func(b *testing.B) {
				for b.Loop() {
					if err := Choose(All(in), p.Name).Write(io.Discard, format, DefaultDPI); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
