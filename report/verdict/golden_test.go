package verdict

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate"
)

var update = flag.Bool("update", false, "write the goldens anew")

// shop is where the hand-made results have their source.
var shop = Options{Unicode: true, Root: "/home/ci/src/shop/shop", Module: "example.com/shop",
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

func format(t *testing.T, name string) Format {
	t.Helper()
	f, ok := Lookup(name)
	if !ok {
		t.Fatalf("there is no format %s", name)
	}
	return *f
}

// golden compares with a file of testdata; run with -update to write it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept):\n%s", file, got)
	}
}

func TestGolden(t *testing.T) {
	for _, c := range cases {
		for _, f := range Formats {
			golden(t, c.name+f.Ext, render(t, f, c.make(), shop))
		}
	}
	text := format(t, "text")
	narrow := Options{Width: 80, Root: shop.Root}
	golden(t, "fail-80.txt", render(t, text, failing(), narrow))
	golden(t, "noisy-80.txt", render(t, text, noisy(), narrow))
	golden(t, "fail-color.txt", render(t, text, failing(), Options{Color: true, Unicode: true}))
	golden(t, "hostile.txt", render(t, text, hostile(), shop))
	golden(t, "hostile.md", render(t, format(t, "markdown"), hostile(), shop))
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
			if JSON(&a, r, shop) != nil || JSON(&b, c.make(), shop) != nil || a.String() != b.String() {
				t.Errorf("%s changed its input %s", f.Name, c.name)
			}
		}
	}
}
