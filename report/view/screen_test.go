package view_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// TestScreenOnce checks that the first screen has no sentence twice, and that a length that an item
// says something is part of is that of the table: no number has two definitions.
func TestScreenOnce(t *testing.T) {
	sentences := regexp.MustCompile(`[.;:] |\n(?:\s*\n|  \d\. |\s+(?:fix|why|gain|see) |\S)`)
	of := regexp.MustCompile(`(?:of the|at most) ([0-9.,]+[µmn]?s)\b`)
	checked := 0
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		r := resulttest.Try(t, name)
		if r == nil {
			continue
		}
		var b bytes.Buffer
		if err := view.Text(&b, r, document.TextOptions{Unicode: true, Width: 1000}, false); err != nil {
			t.Fatal(err)
		}
		screen := b.String()
		var seen []string
		for _, s := range sentences.Split(screen, -1) {
			if s = strings.Join(strings.Fields(s), " "); strings.Count(s, " ") < 4 {
				continue
			}
			if slices.Contains(seen, s) {
				t.Errorf("%s: %q is there twice:\n%s", name, s, screen)
			}
			seen = append(seen, s)
		}
		table, items, _ := strings.Cut(screen, "\n  1. ")
		if !strings.Contains(table, "the most of it") {
			continue
		}
		items, _, _ = strings.Cut(items, "\nruled out")
		for _, m := range of.FindAllStringSubmatch(items, -1) {
			checked++
			if !slices.Contains(strings.Fields(table), m[1]) {
				t.Errorf("%s: %s is not in the table:\n%s", name, m[1], screen)
			}
		}
	}
	if checked == 0 {
		t.Error("no item has a length")
	}
}
