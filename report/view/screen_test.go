package view_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// TestScreenOnce checks that the first screen has no sentence twice, and that a length that an item
// says something is part of is that of the table: no number has two definitions.
func TestScreenOnce(t *testing.T) {
	sentences := regexp.MustCompile(`[.;:] |\n(?:\s*\n|  \d\. |\s+(?:fix|why|gain|see) |\S)`)
	of := regexp.MustCompile(`(?:of the|gain the slowest|typical request) ([0-9.,]+[µmn]?s)\b`)
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
		if !strings.Contains(table, "most of it") {
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

// TestLinks checks when places in code are links, and that a path cannot end one.
func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		file, source string
		color        bool
		width        int
		want         string
	}{
		{"/src/shop/store.go", "x := <-c", true, 100, "\x1b]8;;file:///src/shop/store.go#12\x1b\\shop/store.go:12\x1b]8;;\x1b\\"},
		{"/a b/\x1b]8;;\a/\x1b\\ö.go", "x", true, 100, "\x1b]8;;file:///a%20b/%1B%5D8;;%07/%1B%5C%C3%B6.go#12\x1b\\\\x1b]8;;\\x07/\\x1b\\ö.go:12\x1b]8;;\x1b\\"},
		{"/src/shop/store.go", "", true, 100, ""},
		{"shop/store.go", "x", true, 100, ""},
		{"/src/shop/store.go", "x", false, 100, ""},
		{"/src/shop/store.go", "x", true, 0, ""}, // no terminal
	} {
		r := resulttest.Read(t, "quiet.go1.26.p4.trace")
		r.Findings = []result.Finding{{Kind: "lock", Title: "it waits", Where: []result.Culprit{{Role: "runs", Function: "main.f", File: tt.file, Line: 12, Source: tt.source}}}}
		var b bytes.Buffer
		if err := view.Text(&b, r, document.TextOptions{Unicode: true, Color: tt.color, Width: tt.width}, false); err != nil {
			t.Fatal(err)
		}
		if links := strings.Count(b.String(), "\x1b]"); !strings.Contains(b.String(), tt.want) || links > 0 != (tt.want != "") || links > 2 {
			t.Errorf("%+v: want %q in %q", tt, tt.want, b.String())
		}
	}
}
