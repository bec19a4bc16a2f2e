package rule

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, want, slug string }{
		{"p99(runnable)<5ms", "p99(runnable) < 5ms @ 95%", "p99-runnable-lt-5ms"},
		{" p99 ( runnable )  <=\n5ms @ 99.9 %", "", ""},
		{"p99(runnable) < 5ms @ 99.9%", "", "p99-runnable-lt-5ms-at-99-9"},
		{"p99.9(runnable) < 1m0s @95%", "p99.9(runnable) < 1m @ 95%", "p99-9-runnable-lt-1m"},
		{"p0(op) >= 0 @ 95%", "", "p0-op-ge-0"},
		{"p100(op) < 1h0m0s", "p100(op) < 1h @ 95%", ""},
		{"p50(op) < 1h10m", "p50(op) < 1h10m @ 95%", ""},
		{"p050.0(op) < 1.5µs", "p50(op) < 1.5us @ 95%", "p50-op-lt-1-5us"},
		{"p99(runnable) <= baseline*1.10 + 50us", "p99(runnable) <= baseline*1.1 + 50us", "p99-runnable-le-baseline-x1-1-plus-50us"},
		{"p99(runnable) <= baseline*1.10+0 @ 95%", "p99(runnable) <= baseline*1.1 @ 95%", ""},
		{"mean(wait/op) <= baseline * 1", "mean(wait/op) <= baseline", "mean-wait-per-op-le-baseline"},
		{"mean( wait / op ) > baseline", "mean(wait/op) > baseline", "mean-wait-per-op-gt-baseline"},
		{"mean(runnable/s) < 50ms @ point", "", "mean-runnable-per-s-lt-50ms-point"},
		{"mean(running) < 5us", "mean(running) < 5us @ 95%", ""},
		{"mean(wakes/op) <= 3.50", "mean(wakes/op) <= 3.5 @ 95%", ""},
		{"sum(steals) <= 1e+6", "sum(steals) <= 1000000 @ 95%", ""},
		{"sum(steals) <= 1e-9", "sum(steals) <= 1e-09 @ 95%", ""},
		{"max(stw{reason=\"GC mark termination\"}) < 1ms @ point", "max(stw{reason=gc-mark-termination}) < 1ms @ point", ""},
		{"p99(blocked{reason=sync}) <= baseline*1.25", "", "p99-blocked-reason-sync-805545-le-baseline-x1-25"},
		{"p99(runnable{func=*.(*pool).worker,origin=Timer}) < 2ms @ point", "p99(runnable{func=*.(*pool).worker,origin=timer}) < 2ms @ point", ""},
		{"p99(runnable{origin=timer, func=a/b.f[...].func1-range2}) < 2ms @ point", "p99(runnable{func=a/b.f[...].func1-range2,origin=timer}) < 2ms @ point", ""},
		{`mean(wait/op{func="main.F[int,string]"}) <= baseline`, `mean(wait{func="main.F[int,string]"}/op) <= baseline`, ""},
		{`p99(runnable{func=""}) < 1ms @ point`, "", ""},
		{`p99(runnable{func="a\"b\\c"}) < 1ms @ point`, "", ""},
		{"share(cause=behind-gc) <= 10%", "share(runnable{cause=behind-gc}) <= 10% @ 95%", ""},
		{"share(func=main.(*T).run) <= .07", "share(runnable{func=main.(*T).run}) <= 7% @ 95%", ""},
		{`share( cause = "behind GC (dedicated)" ) <= baseline*2 + 0.7%`, "share(runnable{cause=behind-gc-dedicated}) <= baseline*2 + 0.7%", ""},
		{"mean(wait{behind=main.(*T).score}/op) <= baseline*1.25", "", ""},
		{"share(behind=main.score) < 5%", "share(runnable{behind=main.score}) < 5% @ 95%", ""},
		{"sum(wait{cause=behind-gc-assist,behind=main.score}) < 1ms", "sum(wait{behind=main.score,cause=behind-gc-assist}) < 1ms @ 95%", ""},
		{"mean(ops/s) >= baseline*0.95", "", "mean-ops-per-s-ge-baseline-x0-95"},
		{"p99(region{name=serve *}) < 1ms", "", "error"},
		{`p99(region{name="serve *"}) < 1ms @ 95%`, "", ""},
	} {
		r, err := Parse(tt.in)
		if tt.slug == "error" || tt.in[0] == ' ' {
			if err == nil {
				t.Errorf("Parse(%q) = %q, want an error", tt.in, r)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.in, err)
			continue
		}
		want := tt.want
		if want == "" {
			want = tt.in
		}
		if got := r.String(); got != want {
			t.Errorf("Parse(%q) = %q, want %q", tt.in, got, want)
		}
		if tt.slug != "" && r.Slug() != tt.slug {
			t.Errorf("slug of %q = %q, want %q", tt.in, r.Slug(), tt.slug)
		}
		checkRoundTrip(t, r)
	}
}

// checkRoundTrip checks that the canonical text is a fixed point and means the same.
func checkRoundTrip(t *testing.T, r *Rule) {
	t.Helper()
	text := r.String()
	again, err := Parse(text)
	if err != nil {
		t.Fatalf("the canonical text %q: %v", text, err)
	}
	if again.String() != text || again.Slug() != r.Slug() {
		t.Errorf("%q becomes %q, slug %q becomes %q", text, again, r.Slug(), again.Slug())
	}
	if again.Bound != r.Bound || again.Op != r.Op || again.Confidence != r.Confidence || again.Point != r.Point || again.Quantity.Q != r.Quantity.Q {
		t.Errorf("%q: read again it is %+v, was %+v", text, again, r)
	}
	q, err := ParseQuantity(r.Quantity.String())
	if err != nil || q.String() != r.Quantity.String() || q.Check() != nil {
		t.Errorf("quantity %q: %v, read again %q", r.Quantity, err, q)
	}
	b, err := ParseBound(r.Bound.Text(q.Unit()), q.Unit())
	if err != nil || b != r.Bound {
		t.Errorf("bound %q: %v, read again %v", r.Bound.Text(q.Unit()), err, b)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		in   string
		at   int
		want string // part of the text
	}{
		{"", 0, "an aggregation is missing before end"},
		{"p99", 3, `'(' is missing before end`},
		{"p99 runnable", 4, `'(' is missing before "runnable"`},
		{"p999(runnable) < 5ms", 0, "did you mean p99.9?"},
		{"p1.2.3(runnable) < 5ms", 0, `no aggregation "p1.2.3"`},
		{"p-1(runnable) < 5ms", 0, "no aggregation"},
		{"median(runnable) < 5ms", 0, "did you mean p50?"},
		{"maen(runnable) < 5ms", 0, "did you mean mean?"},
		{"p99(runable) < 5ms", 4, `did you mean "runnable"? metrics are runnable, wait`},
		{"p99() < 5ms", 4, `a metric is missing before ")"`},
		{"p99(runnable < 5ms", 13, "')' is missing"},
		{"p99(runnable) = 5ms", 14, `no comparison "="`},
		{"p99(runnable) 5ms", 14, `a comparison is missing before "5ms"`},
		{"p99(runnable) <", 15, "a bound is missing before end"},
		{"p99(runnable) < 5", 16, "has no unit; write a duration such as 5ms"},
		{"p99(runnable) < 5 ms", 16, "has no unit"},
		{"p99(runnable) < 5%", 16, "is a time"},
		{"p99(runnable) < -5ms", 16, "not negative"},
		{"p99(runnable) < basline*2", 16, `"basline" is not a bound`},
		{"p99(runnable) < baseline*0", 25, "greater than 0"},
		{"p99(runnable) < baseline*-1", 25, "a factor is a number"},
		{"p99(runnable) < baseline*0x1p4", 25, "a factor is a number"},
		{"p99(runnable) < baseline*1e999", 25, "a factor is a number"},
		{"p99(runnable) < baseline*110%", 25, "a factor is a number such as 1.10"},
		{"p99(runnable) < baseline*110%", 25, "10 % more is baseline*1.10"},
		{"p99(runnable) < baseline + 5%", 27, "is a time"},
		{"p99(runnable) < baseline + 10%", 27, "10 % more is baseline*1.10"},
		{"p99(runnable) < baseline + 0.5%", 27, "10 % more is baseline*1.10"},
		{"mean(wakes/op) < baseline+10%", 26, "10 % more is baseline*1.10"},
		{"p99(runnable) < baseline + x", 27, "write a duration such as 5ms"},
		{"p99(runnable) <= 1.1*baseline", 17, "10 % more is baseline*1.10"},
		{"mean(wakes/op) <= 2 * baseline + 1", 18, "10 % more is baseline*1.10"},
		{"p101(runnable) < 5ms", 0, "p101 is beyond p100; there are p0 to p100"},
		{"p999(runnable) < 5ms", 0, "did you mean p99.9?"},
		{"p99(runnable{func=main.(*M[int,string]).run}) < 5ms", 37, "double quotes"},
		{"p99(runnable{func=*[int,*]}) < 5ms", 24, "double quotes"},
		{"p99(runnable) < baseline - 5ms", 25, "without '-'"},
		{"p99(runnable) < baseline @ point", 27, "needs a baseline"},
		{"p99(runnable) < 5ms @ 95", 22, "write @ 95%"},
		{"p99(runnable) < 5ms @ 100%", 22, "below 100%"},
		{"p99(runnable) < 5ms @ 10%", 22, "at least 50%"},
		{"p99(runnable) < 5ms @", 21, "stands a percentage or point"},
		{"p99(runnable) < 5ms and more", 20, `unexpected "and"`},
		{"mean(wakes/op) < 5ms", 17, "plain number"},
		{"mean(wakes/op) < inf", 17, `"inf" is not a bound`},
		{"mean(wakes/op) < 0x10", 17, "plain number"},
		{"mean(wakes/min) < 5", 11, "stands op or s"},
		{"mean(wakes/op/s) < 5", 13, "one of /op and /s"},
		{"share(cause=behind-gc) < 5ms", 25, "is a share"},
		{"share(cause=behind-gc) < 150%", 25, "at most 100%"},
		{"share(runnable) < 5%", 6, "a share needs a selector"},
		{"share(steals) < 5%", 6, "takes none"},
		{"share(wait{func=x}/op) < 5%", 6, "the same per op"},
		{"mean(cause=behind-gc) < 5ms", 5, "only share may leave out the metric"},
		{"p99(wait) < 5ms", 4, "it has no p99; write sum(wait), mean(wait/op) or mean(wait/s); single waits are runnable"},
		{"mean(wait) < 5ms", 5, "it has no mean"},
		{"max(cpu) < 5ms", 4, "it has no max"},
		{"p99(runnable/op) < 5ms", 4, "write mean(runnable/op)"},
		{"sum(runnable/op) < 5ms", 4, "write mean(runnable/op)"},
		{"mean(ops/op) < 5", 5, "one op per op"},
		{"p99(runnable{cause=gc}) < 5ms", 4, "without a p99; write sum(runnable{cause=gc})"},
		{"mean(runnable{cause=gc}) < 5ms", 5, "without a mean"},
		{"p99(stw{func=x}) < 5ms", 4, `stw has no selector "func"; it takes reason`},
		{"sum(steals{func=x}) < 5", 4, "it takes no selectors"},
		{"p99(runnable{fun=x}) < 5ms", 4, "did you mean func?"},
		{"p99(runnable{func=x,func=y}) < 5ms", 20, "there twice"},
		{"p99(runnable{func=x}{origin=y}) < 5ms", 20, "one pair of braces"},
		{"p99(runnable{}) < 5ms", 13, "a selector is missing"},
		{"p99(runnable{func=}) < 5ms", 18, "write * for any"},
		{"p99(runnable{func}) < 5ms", 17, "'=' is missing"},
		{"p99(blocked{reason=chan receive}) < 5ms", 24, "double quotes"},
		{`p99(blocked{reason="chan}) < 5ms`, 19, "does not end well"},
		{"p99(runnable{func=x) < 5ms", 21, "double quotes"},
		{strings.Repeat("p", 5000), 0, "longer than 4096 bytes"},
		{"p99(runnable\x00) < 5ms", 12, "')' is missing"},
	} {
		_, err := Parse(tt.in)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Parse(%q): %v, want a SyntaxError", tt.in, err)
			continue
		}
		if syntax.Offset != tt.at || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Parse(%q): at %d: %v\nwant at %d: %q", tt.in, syntax.Offset, err, tt.at, tt.want)
		}
	}
}

// TestEveryMetric pairs every metric with every aggregation and divisor, and expects
// what the documentation of kinds says.
func TestEveryMetric(t *testing.T) {
	for _, m := range Metrics {
		for agg := Quantile; agg <= Share; agg++ {
			for per := PerNone; per <= PerSecond; per++ {
				q := Quantity{Agg: agg, Q: 0.5, Metric: m.Name, Per: per}
				want := agg == Sum && per == PerNone || agg == Mean && per != PerNone && (m.Name != "ops" || per == PerSecond) ||
					m.Kind == Distribution && per == PerNone && agg != Share
				if got := q.Check() == nil; got != want {
					t.Errorf("%s valid: %v, want %v (%v)", q, got, want, q.Check())
				}
				if again, err := ParseQuantity(q.String()); (err == nil) != want || want && again.String() != q.String() {
					t.Errorf("%s read again: %s, %v", q, again, err)
				}
			}
		}
	}
	if err := (Quantity{Metric: "x"}).Check(); err == nil || !strings.Contains(err.Error(), "no metric") {
		t.Errorf("unknown metric: %v", err)
	}
}

func TestSelectorMatch(t *testing.T) {
	for _, tt := range []struct {
		key, pattern, name string
		want               bool
	}{
		{"func", "main.(*pool).worker", "main.(*pool).worker", true},
		{"func", "main.(*pool).worker", "main.(*pool).worker.func1", false},
		{"func", "*worker", "main.(*pool).worker", true},
		{"func", "main.*", "main.(*pool).worker", true},
		{"func", "*.(*pool).*", "a/b.(*pool).worker", true},
		{"func", "*pool*work*er", "main.(*pool).workworker", true},
		{"func", "*pool*workx*", "main.(*pool).worker", false},
		{"func", "Main.*", "main.x", false},
		{"func", "main.f[...]", "main.f[...]", true},
		{"func", "main", "main.f", false},
		{"func", "", "", true},
		{"func", "*", "", true},
		{"func", "", "x", false},
		{"cause", "behind-gc-dedicated", "behind GC (dedicated)", true},
		{"cause", "behind-gc", "behind GC (dedicated)", true},
		{"cause", "behind-gc", "behind GC assist", true},
		{"cause", "behind-g", "behind GC assist", false},
		{"cause", "behind-gc-*", "behind GC assist", true},
		{"cause", "behind-*", "behind the runtime", true},
		{"cause", "*gc", "behind GC assist", false},
		{"cause", "behind GC (dedicated)", "behind GC (dedicated)", true},
		{"cause", "os-in-scheduler", "OS in scheduler (suspected)", true},
		{"cause", "os-*", "OS gap (suspected)", true},
		{"cause", "", "behind GC", false},
		{"origin", "timer", "timer", true},
		{"origin", "go", "goyield", false},
		{"reason", "chan-receive", "chan receive", true},
		{"reason", "chan receive", "chan receive", true},
		{"reason", "chan*", "chan receive", true},
		{"reason", "chan", "chan receive", false},
		{"reason", "sync", "sync.(*Cond).Wait", false},
		{"reason", "sync*", "sync.(*Cond).Wait", true},
		{"reason", "sync", "sync", true},
		{"reason", "sync", "sync.(*Mutex).Lock", true},
		{"reason", "sync", "GC semaphore", false},
		{"reason", "sync-mutex-lock", "sync.(*Mutex).Lock", true},
		{"reason", "sync", "synctest", false},
	} {
		if got := (Selector{tt.key, tt.pattern}).Match(tt.name); got != tt.want {
			t.Errorf("%s=%s matches %q: %v, want %v", tt.key, tt.pattern, tt.name, got, tt.want)
		}
	}
}

// TestGlob compares with a slow reference.
func TestGlob(t *testing.T) {
	words := []string{""}
	for n := 0; n < len(words) && len(words) < 800; n++ {
		for _, c := range "ab*" {
			words = append(words, words[n]+string(c))
		}
	}
	for _, p := range words {
		for _, s := range words {
			if got, want := Glob(p, s), slowGlob(p, s); got != want {
				t.Fatalf("Glob(%q, %q) = %v, want %v", p, s, got, want)
			}
		}
	}
	if Glob(strings.Repeat("a*", 2000)+"b", strings.Repeat("a", 4000)) {
		t.Error("matches without a b")
	}
}

func slowGlob(p, s string) bool {
	switch {
	case p == "":
		return s == ""
	case p[0] == '*':
		return slowGlob(p[1:], s) || s != "" && slowGlob(p, s[1:])
	}
	return s != "" && p[0] == s[0] && slowGlob(p[1:], s[1:])
}

func TestSlugOf(t *testing.T) {
	for in, want := range map[string]string{
		"behind GC (dedicated)": "behind-gc-dedicated", "idle proc, spinner": "idle-proc-spinner", "timer": "timer",
		"sync.(*Cond).Wait": "sync-cond-wait", "": "", "(x)": "x", "ÄB": "b",
	} {
		if got := SlugOf(in); got != want {
			t.Errorf("SlugOf(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSlugsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		"p99(runnable) < 5ms", "p99(runnable) <= 5ms", "p99(runnable) > 5ms", "p99(runnable) >= 5ms", "p9.9(runnable) < 5ms",
		"p99(runnable) < 5ms @ point", "p99(runnable) < 5ms @ 99%", "p99(runnable) < baseline", "p99(runnable) < baseline*5",
		"p99(runnable{func=a.b}) < 5ms", "p99(runnable{func=a-b}) < 5ms", "p99(runnable{func=*a.b}) < 5ms",
		"mean(runnable/op) < 5ms", "mean(runnable/s) < 5ms", "mean(runnable) < 5ms", "sum(wakes) < 1e-9", "sum(wakes) < 1e19",
	} {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		slug := r.Slug()
		if before, ok := seen[slug]; ok {
			t.Errorf("%q and %q both have the slug %s", before, text, slug)
		}
		if strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("slug %q has other letters", slug)
		}
		seen[slug] = text
	}
}

func TestFormatValue(t *testing.T) {
	for _, tt := range []struct {
		x    float64
		u    Unit
		want string
	}{
		{1101800, Nanoseconds, "1.10ms"}, {216120, Nanoseconds, "216µs"}, {350, Nanoseconds, "350ns"}, {0, Nanoseconds, "0"},
		{3.16, Nanoseconds, "3.16ns"}, {99.96, Nanoseconds, "100ns"}, {-1500, Nanoseconds, "-1.50µs"}, {1e300, Nanoseconds, "1281023h53m38s"},
		{3.16, Number, "3.16"}, {0.9996, Number, "1.00"}, {9.996, Number, "10.0"}, {0.01234, Number, "0.0123"}, {41877, Number, "41,877"},
		{999.4, Number, "999"}, {999.6, Number, "1,000"}, {0, Number, "0"}, {1e-9, Number, "1.00e-09"}, {1e20, Number, "1.00e+20"},
		{0.123, Fraction, "12.3%"}, {1, Fraction, "100%"}, {0, Fraction, "0%"}, {0.00042, Fraction, "0.0420%"},
		{math.NaN(), Number, "none"}, {math.Inf(1), Nanoseconds, "unlimited"},
	} {
		if got := FormatValue(tt.x, tt.u); got != tt.want {
			t.Errorf("FormatValue(%v, %v) = %q, want %q", tt.x, tt.u, got, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	b := Bound{Relative: true, Factor: 1.5, Add: 10}
	if got := b.At(100); got != 160 {
		t.Errorf("At(100) = %v, want 160", got)
	}
	if got := (Bound{Add: 7}).At(100); got != 7 {
		t.Errorf("absolute At = %v, want 7", got)
	}
	for op, want := range map[Op][3]bool{Less: {true, false, false}, LessEqual: {true, true, false}, Greater: {false, false, true}, GreaterEqual: {false, true, true}} {
		if got := [3]bool{op.Holds(1, 2), op.Holds(2, 2), op.Holds(3, 2)}; got != want {
			t.Errorf("%s: %v, want %v", op, got, want)
		}
		if op.HigherIsWorse() != want[0] {
			t.Errorf("%s: HigherIsWorse = %v", op, op.HigherIsWorse())
		}
	}
}

func TestUnitText(t *testing.T) {
	for u := Nanoseconds; u <= Fraction; u++ {
		text, _ := u.MarshalText()
		var got Unit
		if err := got.UnmarshalText(text); err != nil || got != u {
			t.Errorf("%s read again: %v, %v", text, got, err)
		}
	}
	if new(Unit).UnmarshalText([]byte("kg")) == nil {
		t.Error("the unit kg is read")
	}
}

// TestHelp checks that all metrics are there, that the examples are rules, and the width.
func TestHelp(t *testing.T) {
	help := Help()
	for _, m := range Metrics {
		if !strings.Contains(help, "\n  "+m.Name+"  (") && (m.Doc != "" || !strings.HasPrefix(m.Name, "request.")) {
			t.Errorf("no word of %s", m.Name)
		}
	}
	examples := 0
	for _, line := range strings.Split(help, "\n") {
		if len(line) > 88 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
		if text, _, _ := strings.Cut(strings.TrimSpace(line), "  "); strings.Contains(text, ") <") || strings.Contains(text, ") >") {
			examples++
			if _, err := Parse(text); err != nil {
				t.Error(err)
			}
		}
	}
	if examples < 9 {
		t.Errorf("%d examples", examples)
	}
}

// FuzzParse checks that nothing panics, that errors lie in the text, and that the
// canonical text of whatever is a rule is one, too, of the same meaning.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"p99(runnable) < 5ms", "p99.9(runnable{func=*x,origin=timer}) <= baseline*1.10 + 50us", "share(cause=behind-gc) < 5% @ 99%",
		`mean(wait{func="a b"}/op) >= baseline`, "sum(steals) <= 1e+5", "max(stw) < 1m @ point", "p99(runable) < 5", "p9(op{)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err == nil {
			checkRoundTrip(t, r)
			return
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(syntax.Text) {
			t.Errorf("%q: %#v", text, err)
		}
	})
}
