package report

import (
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write the goldens anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s differs first in line %d:\ngot  %s\nwant %s", name, i+1, g[i], w[i])
			return
		}
	}
	t.Errorf("%s has %d lines, want %d", name, len(g), len(w))
}

// hostile are names that nobody should have, but a trace may.
var hostile = []string{
	"evil\x1b[2J\x1b]0;title\x07", "two\nlines", "\u202egnp.exe", "<script>alert(1)</script>", "a\u200bb\xff",
	"=cmd|' /C calc'!A0", `quote",comma`, strings.Repeat("long/", 2000) + "f",
}

// checkCSV checks that a table has so many lines and nothing unprintable.
func checkCSV(t *testing.T, table string, lines int) {
	t.Helper()
	if n := strings.Count(table, "\n"); n != lines {
		t.Errorf("%d lines, want %d:\n%.2000s", n, lines, table)
	}
	for _, r := range strings.ReplaceAll(table, "\n", "") {
		if !unicode.IsPrint(r) {
			t.Errorf("the table has %q", r)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Error(err)
	}
	for _, cell := range slices.Concat(rows...) {
		if cell != "" && strings.Contains("=+-@", cell[:1]) {
			t.Errorf("a spreadsheet may take %q for a formula", cell)
		}
	}
}
