package chart

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedscope/schedscope/analyze"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// TestGolden compares small pictures with those in testdata. Fused
// multiplication on other machines may move an edge by a fraction of a pixel, so
// a few pixels may differ.
func TestGolden(t *testing.T) {
	r := synthetic{waits: 3000, procs: 5, span: 700 * ms}.report()
	for _, p := range goldens(r) {
		t.Run(p.Name, func(t *testing.T) {
			compareGolden(t, p)
		})
	}
}

// compareGolden compares a small version of a picture with the one in testdata.
func compareGolden(t *testing.T, p *Picture) { compareGoldenOf(t, p, 300) }

// compareGoldenOf is compareGolden for a picture of another height.
func compareGoldenOf(t *testing.T, p *Picture, height float64) {
	t.Helper()
	got := render(t, p, PNG, Options{DPI: 72, Width: 480, Height: height})
	file := filepath.Join("testdata", p.Name+".png")
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n, all := differing(t, got, want); n > all/500 {
		bad := filepath.Join(t.ArtifactDir(), p.Name+".png")
		os.WriteFile(bad, got, 0o666)
		t.Errorf("%d of %d pixels differ from %s (run with -artifacts to keep the picture, -update to accept it)", n, all, file)
	}
}

// goldens returns one picture of each kind. That of causes, which a report made
// up of intervals does not have, is made up too.
func goldens(r *analyze.Report) []*Picture {
	var out []*Picture
	for _, k := range Catalogue() {
		if k.Name != "causes" {
			out = append(out, k.Make(r, "golden.trace")[0])
		}
	}
	return append(out, newCauses("Scheduling latency by cause", "golden.trace", madeUpCauses()))
}

// differing returns how many pixels of two PNGs differ visibly, and how many
// there are; all do if the sizes differ.
func differing(t *testing.T, a, b []byte) (n, all int) {
	t.Helper()
	x, y := decode(t, a), decode(t, b)
	all = x.Bounds().Dx() * x.Bounds().Dy()
	if x.Bounds() != y.Bounds() {
		return all, all
	}
	const visible = 24 << 8
	for py := range x.Bounds().Dy() {
		for px := range x.Bounds().Dx() {
			r0, g0, b0, _ := x.At(px, py).RGBA()
			r1, g1, b1, _ := y.At(px, py).RGBA()
			if far(r0, r1) > visible || far(g0, g1) > visible || far(b0, b1) > visible {
				n++
			}
		}
	}
	return n, all
}

func far(a, b uint32) uint32 { return max(a, b) - min(a, b) }

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestGoldenCanFail checks that another report gives visibly other pictures.
func TestGoldenCanFail(t *testing.T) {
	o := Options{DPI: 72, Width: 480, Height: 300}
	a := goldens(synthetic{waits: 3000, procs: 5, span: 700 * ms}.report())
	b := goldens(synthetic{waits: 3100, procs: 5, span: 700 * ms}.report())
	for i := range len(a) - 1 { // the last is the same
		if n, all := differing(t, render(t, a[i], PNG, o), render(t, b[i], PNG, o)); n <= all/500 {
			t.Errorf("%s: only %d of %d pixels differ", a[i].Name, n, all)
		}
	}
}
