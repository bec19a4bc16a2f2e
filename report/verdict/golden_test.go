package verdict

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/report/document"
)

var update = flag.Bool("update", false, "write the goldens anew")

// shop is where the hand-made results have their source.
var shop = Options{TextOptions: document.TextOptions{Unicode: true}, Root: "/home/ci/src/shop/shop", Module: "example.com/shop",
	BaseDir: "runs/base", CandDir: "runs/cand"}

// render returns r in a format.
func render(t *testing.T, f Format, r *gate.Result, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, r, o); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return b.String()
}

// golden compares with a file of testdata that has a section for each rendering, as
// txtar has it; run with -update to write it.
func golden(t *testing.T, file string, sections ...string) {
	t.Helper()
	var got strings.Builder
	for i := 0; i < len(sections); i += 2 {
		fmt.Fprintf(&got, "-- %s --\n%s", sections[i], sections[i+1])
	}
	file = filepath.Join("testdata", file+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s differs (run with -update to accept):\n%s", file, got.String())
	}
}

func TestGolden(t *testing.T) {
	for _, c := range cases {
		var sections []string
		for _, f := range Formats {
			if f.Name != "json" || c.name == "fail" { // see TestSchema and TestRoundTrip
				sections = append(sections, f.Name, render(t, f, c.make(), shop))
			}
		}
		golden(t, c.name, sections...)
	}
	text := Lookup("text")
	narrow := Options{TextOptions: document.TextOptions{Width: 80}, Root: shop.Root}
	golden(t, "layout",
		"fail, 80 columns", render(t, text, failing(), narrow),
		"noisy, 80 columns", render(t, text, noisy(), narrow),
		"fail, colour", render(t, text, failing(), Options{TextOptions: document.TextOptions{Color: true, Unicode: true}}))
	golden(t, "hostile", "text", render(t, text, hostile(), shop), "markdown", render(t, Lookup("markdown"), hostile(), shop))
}

// TestDeterministic renders each result twice, and leaves what it is given as it is.
func TestDeterministic(t *testing.T) {
	for _, c := range cases {
		for _, f := range Formats {
			r := c.make()
			first := render(t, f, r, shop)
			if second := render(t, f, r, shop); first != second {
				t.Errorf("%s of %s differs the second time", f.Name, c.name)
			}
			var a, b bytes.Buffer
			if f := Lookup("json"); f.Write(&a, r, shop) != nil || f.Write(&b, c.make(), shop) != nil || a.String() != b.String() {
				t.Errorf("%s changed its input %s", f.Name, c.name)
			}
		}
	}
}
