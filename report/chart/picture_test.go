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
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// render returns the bytes of a picture.
func render(t testing.TB, p *Picture, format string, dpi int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, format, dpi); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// words returns what a picture says, and checks that its SVG is well-formed.
func words(t *testing.T, p *Picture) string {
	t.Helper()
	var words []string
	d := xml.NewDecoder(bytes.NewReader(render(t, p, "svg", DefaultDPI)))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return strings.Join(words, "\n")
		}
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
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
	first, second := All(syn.input()), All(syn.input())
	if len(first) != 8 || len(second) != 8 {
		t.Fatalf("got %d and %d pictures, want 8", len(first), len(second))
	}
	for i, p := range first {
		for _, f := range Formats {
			a := render(t, p, f, 72)
			if !bytes.Equal(a, render(t, p, f, 72)) || !bytes.Equal(a, render(t, second[i], f, 72)) {
				t.Errorf("%s: two renderings as %s differ", p.Name, f)
			}
		}
	}
}

func TestConcurrentWrites(t *testing.T) {
	ps := All(synthetic{waits: 200, procs: 2, span: 10 * ms}.input())
	done := make(chan bool)
	for range 4 {
		go func() {
			for _, p := range ps {
				p.Write(io.Discard, "png", 36)
			}
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
}

// TestExtremes draws reports of all kinds.
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
			for _, p := range All(syn.input()) {
				words := words(t, p)
				if !strings.Contains(words, "Scheduling latency") && !strings.Contains(words, "did while goroutine") && p.Name != "requests" {
					t.Errorf("%s has no title", p.Name)
				}
				if syn.waits == 0 && p.Name != "requests" && !strings.Contains(words, noWaits) {
					t.Errorf("%s does not say %q", p.Name, noWaits)
				}
				if strings.ContainsAny(words, "\x00\u202e") || strings.Contains(words, "NaN") {
					t.Errorf("%s holds what must not be drawn", p.Name)
				}
				if _, err := png.Decode(bytes.NewReader(render(t, p, "png", 36))); err != nil {
					t.Errorf("%s: %v", p.Name, err)
				}
			}
		})
	}
}

// TestZeroReport draws what was never fed.
func TestZeroReport(t *testing.T) {
	for _, p := range All(&Input{Report: analyze.New(model.NewTables(), analyze.Options{}).Result()}) {
		if words := words(t, p); !strings.Contains(words, noWaits) && !strings.Contains(words, "too few requests") {
			t.Errorf("%s does not say %q", p.Name, noWaits)
		}
	}
}

func TestWrite(t *testing.T) {
	p := synthetic{waits: 20, procs: 1, span: ms}.input().spectrum()
	cfg, err := png.DecodeConfig(bytes.NewReader(render(t, p, "png", 36)))
	if err != nil || cfg.Width != 380 || cfg.Height != 200 {
		t.Errorf("got %dx%d, %v, want 380x200", cfg.Width, cfg.Height, err)
	}
	for _, tt := range []struct {
		format string
		dpi    int
		want   string
	}{
		{"png", -1, "drawing spectrum: the resolution must be positive"},
		{"png", 7200, "drawing spectrum: 3.04e+03 million pixels are too many (want at most 100 million)"},
		{"gif", 72, `drawing spectrum: unknown picture format "gif" (want png or svg)`},
	} {
		if err := p.Write(io.Discard, tt.format, tt.dpi); err == nil || err.Error() != tt.want {
			t.Errorf("%s at %d: got %v, want %s", tt.format, tt.dpi, err, tt.want)
		}
	}
	full := errors.New("disk full")
	for _, f := range Formats {
		if err := p.Write(failing{full}, f, DefaultDPI); !errors.Is(err, full) {
			t.Errorf("%s to a failing writer: got %v", f, err)
		}
	}
}

// failing is a writer that cannot write.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestCatalogue(t *testing.T) {
	in := synthetic{waits: 100, procs: 2, span: ms}.input()
	all := All(in)
	kinds := Catalogue()
	for i, p := range all {
		k := kinds[min(i, len(kinds)-1)]
		if !strings.HasPrefix(p.Name, k.Name) || p.Title == "" || p.Missing != "" && k.Name != "causes" && k.Name != "blame" || k.Doc == "" || strings.Contains(k.Doc, "\n") {
			t.Errorf("%s: %q, titled %q, missing %q; doc %q", k.Name, p.Name, p.Title, p.Missing, k.Doc)
		}
	}
	for path, want := range map[string]string{"a/spectrum.png": "spectrum", "wait-01.svg": "wait-01", "wait-99.svg": "wait-99", "latency.png": "dashboard"} {
		if got := Choose(all, path).Name; got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	in.Report.Findings = []result.Finding{{Kind: "waiting"}, {Kind: "slow-requests", Title: "main.serve waits for a channel"}}
	if got := Choose(All(in), "latency.png").Name; got != "requests" {
		t.Errorf("of slow requests: got %s", got)
	}
}

// TestSaved checks that pictures of a report that was saved and read are the same except for
// what it does not contain.
func TestSaved(t *testing.T) {
	in := synthetic{waits: 3000, procs: 5, span: 700 * ms}.input()
	var b bytes.Buffer
	if err := result.Write(&b, in.Report); err != nil {
		t.Fatal(err)
	}
	v, err := result.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	all := All(in)
	saved := All(&Input{Report: v})
	if len(saved) != 6 || saved[5].Name != "wait-01" || !strings.Contains(words(t, saved[5]), saved[5].Missing) || saved[5].Missing == "" {
		t.Fatalf("%d pictures, the last is %q", len(saved), saved[len(saved)-1].Name)
	}
	if o := 72; !bytes.Equal(render(t, all[0], "png", o), render(t, saved[0], "png", o)) {
		t.Error("the dashboard differs")
	}
	v.Latency.All.Sketch = result.Sketch{Unknown: true} // as after merging with an old report
	for _, p := range All(&Input{Report: v})[2:3] {
		if !strings.Contains(p.Missing, "does not contain the lengths") {
			t.Errorf("%s of unknown waits: missing %q", p.Name, p.Missing)
		}
	}
}
