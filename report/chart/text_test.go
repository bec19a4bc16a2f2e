package chart

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "main.(*T).run", "main.(*T).run"},
		{"latin and greek", "größe.µs→λ", "größe.µs→λ"},
		{"control", "a\x00b\nc\x1b[31m", "a□b□c□[31m"},
		{"direction marks vanish", "a\u202eb\u200fc\u2066d", "abcd"},
		{"piled marks vanish", "z\u0300\u0301\u0489", "z"},
		{"no glyph", "日本🙂", "□□□"},
		{"invalid", "a\xffb", "a\ufffdb"},
	} {
		got := printable(tt.in)
		if tt.name == "invalid" { // whether the font has the replacement character is its business
			if !utf8.ValidString(got) || len([]rune(got)) != 3 {
				t.Errorf("%s: got %q", tt.name, got)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("%s: printable(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
	if got := printable(strings.Repeat("x", 1<<20)); len([]rune(got)) != maxName+1 {
		t.Errorf("a megabyte: %d runes, want %d", len([]rune(got)), maxName+1)
	}
	if !hasGlyph(missingGlyph) || !hasGlyph('…') {
		t.Error("the font lacks the glyphs that stand for others")
	}
}

func TestShortFunc(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "unknown function",
		"main.main":                            "main.main",
		"github.com/a/b/pkg.(*T).Method.func1": "pkg.(*T).Method.func1",
		"pkg.F[github.com/x/y.T]":              "pkg.F[y.T]",
		"github.com/x/pkg.F[go.shape.int]":     "pkg.F[go.shape.int]",
		"net/http.(*conn).serve":               "http.(*conn).serve",
		"a/b.F[map[string]github.com/x/y.T].func": "b.F[y.T].func",
	} {
		if got := shortFunc(in); got != want {
			t.Errorf("shortFunc(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	sty := style(textSize, ink)
	name := "server.(*connectionPool).acquireIdleConnection.func1"
	for w := sty.Width(name) + 1; w > 0; w -= 3 {
		got := fit(sty, name, w)
		if sty.Width(got) > w {
			t.Fatalf("fit to %v: %q is %v wide", w, got, sty.Width(got))
		}
		if got != "" && got != name && (!strings.HasPrefix(got, "s") || !strings.HasSuffix(got, "1") || !strings.Contains(got, "…")) {
			t.Fatalf("fit to %v: %q does not keep both ends", w, got)
		}
	}
	if got := fit(sty, name, sty.Width(name)); got != name {
		t.Errorf("what fits was changed to %q", got)
	}
	if got, want := fitName(sty, "main.worker", sty.Width("main.worker")-1), "worker"; got != want {
		t.Errorf("fitName = %q, want %q", got, want)
	}
	if got := fitName(sty, "main.worker", 15); got != "" {
		t.Errorf("fitName in no room = %q, want nothing", got)
	}
}
