package rule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/schedscope/schedscope/internal/textui"
)

// String returns the rule's canonical text: [Parse] makes an equal rule of it, and
// equal rules have the same text.
func (r *Rule) String() string {
	s := r.Quantity.String() + " " + r.Op.String() + " " + r.Bound.Text(r.Quantity.Unit())
	switch {
	case r.Point:
		return s + " @ point"
	case r.Confidence != 0:
		return s + " @ " + formatPercent(r.Confidence)
	}
	return s
}

// Slug returns a name of the rule of a-z, 0-9 and -. It is the same as long as the
// rule's meaning is, and unlike those of other rules: where a text must be cut down
// too much for that, some digits of a hash of it follow.
func (r *Rule) Slug() string {
	s := r.Quantity.Slug() + "-" + [...]string{"lt", "le", "gt", "ge"}[r.Op] + "-" + r.Bound.slug(r.Quantity.Unit())
	switch {
	case r.Point:
		return s + "-point"
	case r.Confidence != 0 && r.Confidence != DefaultConfidence:
		return s + "-at-" + SlugOf(formatPercent(r.Confidence))
	}
	return s
}

// String returns the quantity's canonical text, by which samples keep its value.
func (q Quantity) String() string {
	var b strings.Builder
	b.WriteString(q.aggName() + "(" + q.Metric)
	for i, s := range sortedSelectors(q.Select) {
		b.WriteString(textui.Either(i == 0, "{", ",") + s.String())
	}
	b.WriteString(textui.Either(len(q.Select) > 0, "}", "") + q.Per.String() + ")")
	return b.String()
}

// Slug returns a name of a-z, 0-9 and -, as [Rule.Slug] does.
func (q Quantity) Slug() string {
	s := SlugOf(q.aggName() + " " + q.Metric)
	for _, sel := range sortedSelectors(q.Select) {
		s += "-" + SlugOf(sel.Key+" "+sel.Pattern)
	}
	if q.Per != PerNone {
		s += "-per-" + q.Per.String()[1:]
	}
	if len(q.Select) > 0 {
		sum := sha256.Sum256([]byte(q.String()))
		s += "-" + hex.EncodeToString(sum[:3])
	}
	return s
}

func (q Quantity) aggName() string {
	return textui.Either(q.Agg == Quantile, "p"+strings.TrimSuffix(formatPercent(q.Q), "%"), q.Agg.String())
}

// String returns the word of the language; that of quantiles is "p".
func (a Agg) String() string { return aggNames[a] }

var aggNames = [...]string{"p", "mean", "max", "sum", "share"}

// String returns "/op", "/s" or "".
func (p Per) String() string { return [...]string{"", "/op", "/s"}[p] }

// String returns key=pattern, with quotes if it takes them.
func (s Selector) String() string {
	return s.Key + "=" + textui.Either(s.Pattern == "" || strings.ContainsFunc(s.Pattern, needsQuotes), strconv.Quote(s.Pattern), s.Pattern)
}

func needsQuotes(r rune) bool {
	if r < unicode.MaxASCII {
		return endsBare(byte(r))
	}
	return r == unicode.ReplacementChar || !unicode.IsLetter(r)
}

// String returns <, <=, > or >=.
func (o Op) String() string { return opSigns[o] }

var opSigns = [...]string{"<", "<=", ">", ">="}

// Text returns the bound as rules have it, for a quantity of unit u.
func (b Bound) Text(u Unit) string {
	if !b.Relative {
		return literal(b.Add, u)
	}
	s := "baseline" + textui.If(b.Factor != 1, "*"+plain(b.Factor))
	if b.Add != 0 {
		s += " + " + literal(b.Add, u)
	}
	return s
}

func (b Bound) slug(u Unit) string {
	r := strings.NewReplacer("*", " x", "+", " plus ", "%", " percent")
	return SlugOf(r.Replace(b.Text(u)))
}

// literal is the inverse of readLiteral.
func literal(x float64, u Unit) string {
	switch u {
	case Nanoseconds:
		return duration(x)
	case Fraction:
		return formatPercent(x)
	}
	return plain(x)
}

// duration is a Go duration in ASCII without superfluous zeros: "1m" for 1m0s.
func duration(ns float64) string {
	s := strings.NewReplacer("µ", "u", "m0s", "m", "h0m0s", "h").Replace(time.Duration(ns).String())
	return textui.Either(s == "0s", "0", s)
}

func plain(x float64) string {
	return strconv.FormatFloat(x, textui.Either[byte](x == 0 || math.Abs(x) >= 1e-6 && math.Abs(x) < 1e15, 'f', 'e'), -1, 64)
}

// formatPercent is the inverse of percent.
func formatPercent(x float64) string { return movePoint(strconv.FormatFloat(x, 'f', -1, 64), 2) + "%" }

// movePoint multiplies a decimal number without sign or exponent by 10^n.
func movePoint(s string, n int) string {
	whole, frac, _ := strings.Cut(s, ".")
	if n >= 0 {
		frac += strings.Repeat("0", max(0, n-len(frac)))
		whole, frac = whole+frac[:n], frac[n:]
	} else {
		whole = strings.Repeat("0", max(0, -n-len(whole))) + whole
		cut := len(whole) + n
		whole, frac = whole[:cut], whole[cut:]+frac
	}
	whole, frac = strings.TrimLeft(whole, "0"), strings.TrimRight(frac, "0")
	whole = textui.Either(whole == "", "0", whole)
	return textui.Either(frac == "", whole, whole+"."+frac)
}

// String returns "ns", "number" or "fraction".
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return "Unit(?)"
}

var unitNames = [...]string{"ns", "number", "fraction"}

// MarshalText returns the text of String.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (u *Unit) UnmarshalText(text []byte) error {
	i := slices.Index(unitNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("there is no unit %q", textui.Shorten(string(text), 30))
	}
	*u = Unit(i)
	return nil
}

// example is how to write a value.
func (u Unit) example() string {
	return [...]string{"a duration such as 5ms", "a number such as 3.5", "a percentage such as 5%"}[u]
}

// FormatValue returns a value for people, with three digits that matter: "1.10ms",
// "3.16", "12.3%".
func FormatValue(x float64, u Unit) string {
	switch {
	case math.IsNaN(x):
		return "none"
	case math.IsInf(x, 0):
		return textui.Either(x > 0, "unlimited", "-unlimited")
	case x < 0:
		return "-" + FormatValue(-x, u)
	case u == Nanoseconds && (x >= 99.95 || x == 0):
		return textui.Duration(int64(math.Round(min(x, math.MaxInt64/2))))
	case u == Nanoseconds:
		return digits3(x) + "ns"
	case u == Fraction:
		return digits3(100*x) + "%"
	case x >= 999.5 && x < 1e15:
		return textui.Count(int64(math.Round(x)))
	}
	return digits3(x)
}

// digits3 returns x with three significant digits, and with all before the point.
func digits3(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0.001 || x >= 1e15:
		return strconv.FormatFloat(x, 'e', 2, 64)
	case x >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 2-int(math.Floor(math.Log10(x*1.0005))), 64)
}
