package textui

import (
	"math"
	"strings"
	"testing"
	"unicode"
)

func TestDuration(t *testing.T) {
	tests := []struct {
		d    int64
		want string
	}{
		{0, "0"}, {1, "1ns"}, {64, "64ns"}, {999, "999ns"},
		{1000, "1.00µs"}, {1204, "1.20µs"}, {9_996, "10.0µs"}, {99_960, "100µs"}, {999_499, "999µs"},
		{999_500, "1.00ms"}, {12_345_678, "12.3ms"}, {999_999_999, "1.00s"},
		{59_960_000_000, "60.0s"}, {599_000_000_000, "599s"}, {600_000_000_000, "10m00s"},
		{3_725_000_000_000, "1h02m05s"}, {-1500, "-1.50µs"},
		{math.MaxInt64, "2562047h47m17s"}, {math.MinInt64, "-2562047h47m17s"},
	}
	for _, tt := range tests {
		if got := Duration(tt.d); got != tt.want {
			t.Errorf("Duration(%d) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestInstant(t *testing.T) {
	for d, want := range map[int64]string{
		0: "0", 512: "512ns", 123_456_789: "123.457ms", 2_304_120_512: "2.30412s", 999_999_800: "1.00000s",
	} {
		if got := Instant(d); got != want {
			t.Errorf("Instant(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -4096: "-4,096"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	tests := []struct {
		share float64
		want  string
	}{
		{0, "0%"}, {1e-7, "<0.01%"}, {0.0042, "0.42%"}, {0.071, "7.1%"}, {0.4235, "42%"},
		{0.996, "99.6%"}, {0.99999, ">99.9%"}, {1, "100%"}, {math.NaN(), "0%"},
	}
	for _, tt := range tests {
		if got := Percent(tt.share); got != tt.want {
			t.Errorf("Percent(%v) = %q, want %q", tt.share, got, tt.want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 kB", 237971: "238 kB", 999_600: "1.00 MB", 1_204_000_000: "1.20 GB", 5e12: "5.00 TB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ in, want string }{
		{"main.(*Server).serve", "main.(*Server).serve"},
		{"main.größe·f", "main.größe·f"},
		{"red\x1b[31m", `red\x1b[31m`},
		{"two\nlines\r\tx", `two\nlines\x0d\tx`},
		{"\u202eevil", `\u202eevil`},
		{"zero\u200bwidth", `zero\u200bwidth`},
		{"c1\u009b31m", `c1\u009b31m`},
		{"bad\xff", `bad\xff`},
		{"\U000e0001", `\U000e0001`},
	}
	for _, tt := range tests {
		got := Clean(tt.in)
		if got != tt.want {
			t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Clean(%q) = %q is not printable", tt.in, got)
		}
	}
}

func TestShorten(t *testing.T) {
	tests := []struct {
		in    string
		limit int
		want  string
	}{
		{"main.f", 0, "main.f"},
		{"main.f", 6, "main.f"},
		{"net/http.(*conn).serve", 12, "net/h….serve"},
		{"abc", 2, "……"},
		{"世界世界世界", 8, "世…世界"},
	}
	for _, tt := range tests {
		got := Shorten(tt.in, tt.limit)
		if got != tt.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
		if tt.limit > 0 && Width(got) > tt.limit {
			t.Errorf("Shorten(%q, %d) = %q takes %d columns", tt.in, tt.limit, got, Width(got))
		}
	}
}

func TestASCII(t *testing.T) {
	in := "1.20µs ▁▂▃▄▅▆▇█ a…b 世é"
	got := ASCII(in)
	if want := "1.20us _.-=+*%# a~b ???"; got != want {
		t.Errorf("ASCII(%q) = %q, want %q", in, got, want)
	}
	if Width(got) != Width(in) {
		t.Errorf("ASCII changes the width from %d to %d", Width(in), Width(got))
	}
	for _, r := range rising {
		if r >= 0x80 && ascii[r] == 0 {
			t.Errorf("%c has no ASCII form", r)
		}
	}
}

func TestSpark(t *testing.T) {
	if got, want := Spark([]float64{0, 0.001, 0.5, 1, 2}, 1), " ▁▄██"; got != want {
		t.Errorf("Spark = %q, want %q", got, want)
	}
}

func TestCommand(t *testing.T) {
	const cmd = `see x --a 1 'a  b'\''s c' | grep -F 'd e'`
	for limit, want := range map[int]string{100: cmd, 20: "see x --a 1 \\\n  'a  b'\\''s c' | \\\n  grep -F 'd e'", 5: "see \\\n  x \\\n  --a \\\n  1 \\\n  'a  b'\\''s c' \\\n  | \\\n  grep \\\n  -F \\\n  'd e'"} {
		if got := Command(cmd, limit, "  "); got != want {
			t.Errorf("%d: %s\nwant %s", limit, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	if got, want := Columns("one two  three four", 9, "  "), "one two\n  three\n  four"; got != want {
		t.Errorf("Columns = %q, want %q", got, want)
	}
}

func TestShortFunc(t *testing.T) {
	for in, want := range map[string]string{
		"main.main": "main.main", "example.org/a/b.(*T).F": "b.(*T).F", "": "", "a/": "a/", "example.org/": "example.org/", "orders/list": "orders/list",
		"GET /order/{id}": "GET /order/{id}", "/order/": "/order/", "GET example.org/x": "GET example.org/x",
		"x/y.F[example.org/p/q.T]": "y.F[q.T]", "main.F[go.shape.struct { a/b.X }]": "main.F[b.X }]",
	} {
		if got := ShortFunc(in); got != want {
			t.Errorf("ShortFunc(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{"a-b_1.trace": "a-b_1.trace", "it's": `'it'\''s'`, "": "''", "a b;c": "'a b;c'", "-cpu=1,2": "-cpu=1,2", `region:a b'c\n`: `'region:a b'\''c\n'`, "ä": "'ä'"} {
		if got := ShellWord(s); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
}

// TestChoices checks texts that are there or not.
func TestChoices(t *testing.T) {
	for i, x := range [][2]string{
		{If(true, "a"), "a"}, {If(false, "a"), ""}, {Either(true, "a", "b"), "a"}, {Either(false, "a", "b"), "b"},
		{FirstOf(nil), ""}, {FirstOf([]string{"a"}), "a"}, {FirstOf([]string{"a", "b", "c"}), "a and 2 more"}, {Join(", ", "a", "", "b"), "a, b"},
	} {
		if x[0] != x[1] {
			t.Errorf("%d: got %q, want %q", i, x[0], x[1])
		}
	}
}
