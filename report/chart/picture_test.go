package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/model"
)

// render returns the bytes of a picture.
func render(t testing.TB, p *Picture, f Format, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, f, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// svgWords checks that an SVG is well-formed and returns what it says.
func svgWords(t *testing.T, name string, svg []byte) string {
	t.Helper()
	var words []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return strings.Join(words, "\n")
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c, ok := tok.(xml.CharData); ok {
			words = append(words, string(c))
		}
	}
}

const (
	ms = model.Duration(time.Millisecond)
	s  = model.Duration(time.Second)
)

func TestDeterminism(t *testing.T) {
	syn := synthetic{waits: 3000, procs: 5, span: 700 * ms}
	first, second := All(syn.report(), "a.trace"), All(syn.report(), "a.trace")
	if len(first) != 7 || len(second) != 7 {
		t.Fatalf("got %d and %d pictures, want 7", len(first), len(second))
	}
	for i, p := range first {
		for _, f := range []Format{PNG, SVG} {
			a := render(t, p, f, Options{DPI: 72})
			if !bytes.Equal(a, render(t, p, f, Options{DPI: 72})) || !bytes.Equal(a, render(t, second[i], f, Options{DPI: 72})) {
				t.Errorf("%s: two renderings in format %d differ", p.Name, f)
			}
		}
	}
}

func TestConcurrentWrites(t *testing.T) {
	ps := All(synthetic{waits: 200, procs: 2, span: 10 * ms}.report(), "")
	done := make(chan bool)
	for range 4 {
		go func() {
			for _, p := range ps {
				p.Write(io.Discard, PNG, Options{DPI: 36})
			}
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
}

// TestExtremes draws reports of all kinds in the natural size and the smallest.
func TestExtremes(t *testing.T) {
	for name, syn := range map[string]synthetic{
		"empty":       {procs: 1, span: 0},
		"no waits":    {procs: 4, span: 3 * ms},
		"one wait":    {waits: 1, procs: 1, span: ms},
		"short":       {waits: 300, procs: 1, span: 20 * ms},
		"long":        {waits: 20000, procs: 8, span: 3600 * s},
		"64 procs":    {waits: 2000, procs: 64, span: s},
		"300 procs":   {waits: 500, procs: 300, span: s},
		"long names":  {waits: 50, procs: 3, span: ms, name: strings.Repeat("long/", 50) + strings.Repeat("N", 5000)},
		"hostile":     {waits: 50, procs: 3, span: ms, name: "</text><script>&'\"\x00\u202e]]>\xff<!--日本"},
		"no time":     {waits: 9, procs: 2, span: 0},
		"clock ticks": {waits: 9, procs: 2, span: 64},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range All(syn.report(), syn.name) {
				words := svgWords(t, p.Name, render(t, p, SVG, Options{}))
				if !strings.Contains(words, "Scheduling latency") && !strings.Contains(words, "did while goroutine") {
					t.Errorf("%s has no title", p.Name)
				}
				if syn.waits == 0 && !strings.Contains(words, noWaits) {
					t.Errorf("%s does not say %q", p.Name, noWaits)
				}
				if strings.ContainsAny(words, "\x00\u202e") || strings.Contains(words, "NaN") {
					t.Errorf("%s holds what must not be drawn", p.Name)
				}
				o := Options{DPI: 36, Width: minWidth, Height: minHeight}
				if _, err := png.Decode(bytes.NewReader(render(t, p, PNG, o))); err != nil {
					t.Errorf("%s: %v", p.Name, err)
				}
			}
		})
	}
}

// TestZeroReport draws what was never fed.
func TestZeroReport(t *testing.T) {
	for _, p := range All(analyze.New(model.NewTables(), analyze.Options{}), "") {
		if words := svgWords(t, p.Name, render(t, p, SVG, Options{})); !strings.Contains(words, noWaits) {
			t.Errorf("%s does not say %q", p.Name, noWaits)
		}
	}
}

func TestOptions(t *testing.T) {
	p := Spectrum(synthetic{waits: 20, procs: 1, span: ms}.report(), "")
	cfg, err := png.DecodeConfig(bytes.NewReader(render(t, p, PNG, Options{DPI: 72, Width: 400, Height: 200})))
	if err != nil || cfg.Width != 400 || cfg.Height != 200 {
		t.Errorf("got %dx%d, %v, want 400x200", cfg.Width, cfg.Height, err)
	}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{DPI: -1}, "drawing spectrum: the resolution must be positive"},
		{Options{Width: 10}, "drawing spectrum: 10x400 points are too few (want at least 320x180)"},
		{Options{Width: 1e6, Height: 1e6}, "drawing spectrum: 4e+06 million pixels are too many (want at most 100 million)"},
	} {
		if err := p.Write(io.Discard, PNG, tt.o); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: got %v, want %s", tt.o, err, tt.want)
		}
	}
	full := errors.New("disk full")
	for _, f := range []Format{PNG, SVG} {
		if err := p.Write(failing{full}, f, Options{}); !errors.Is(err, full) {
			t.Errorf("format %d to a failing writer: got %v", f, err)
		}
	}
}

// failing is a writer that cannot write.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{"a.png": PNG, "dir.svg/b.PNG": PNG, "c.svg": SVG} {
		if got, err := FormatOf(name); got != want || err != nil {
			t.Errorf("FormatOf(%q) = %v, %v, want %v", name, got, err, want)
		}
	}
	if _, err := FormatOf("a.jpg"); err == nil || err.Error() != `unknown picture format ".jpg" (want .png or .svg)` {
		t.Errorf("FormatOf(a.jpg): %v", err)
	}
	for _, ext := range Extensions() {
		if _, err := FormatOf("x" + ext); err != nil {
			t.Error(err)
		}
	}
}

func TestCatalogue(t *testing.T) {
	r := synthetic{waits: 100, procs: 2, span: ms}.report()
	seen := map[string]bool{}
	for _, k := range Catalogue() {
		if k.Doc == "" || strings.Contains(k.Doc, "\n") {
			t.Errorf("%s: doc %q is not one line", k.Name, k.Doc)
		}
		for _, p := range k.Make(r, "x") {
			if !strings.HasPrefix(p.Name, k.Name) || seen[p.Name] || p.Title == "" {
				t.Errorf("%s makes %q, titled %q", k.Name, p.Name, p.Title)
			}
			seen[p.Name] = true
		}
	}
	for _, want := range []string{"dashboard", "spectrum", "histogram", "wait-01", "wait-03"} {
		if !seen[want] {
			t.Errorf("no picture is named %s", want)
		}
	}
}
