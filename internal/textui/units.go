package textui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Duration returns a length of time in nanoseconds with three significant
// digits and its unit: "64ns", "1.20µs", "12.3ms", "3m25s".
func Duration[D ~int64](d D) string { return duration(int64(d), 3) }

// Instant returns a point in time, in nanoseconds from the start of a trace,
// with six significant digits, enough to find it again in another tool.
func Instant[T ~int64](t T) string { return duration(int64(t), 6) }

var units = []struct {
	name string
	size float64 // in nanoseconds
}{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

func duration(d int64, digits int) string {
	if d == 0 {
		return "0"
	}
	if d < 0 {
		return "-" + duration(-max(d, -math.MaxInt64), digits)
	}
	if d < 1000 {
		return strconv.FormatInt(d, 10) + "ns"
	}
	if d >= 600e9 {
		return minutes(d)
	}
	for _, u := range units[1:] {
		v := float64(d) / u.size
		// 999.6µs with three digits is 1.00ms.
		if v < 1000-0.5*math.Pow10(3-digits) || u.name == "s" {
			return significant(v, digits) + u.name
		}
	}
	panic("unreachable")
}

// minutes returns a length from ten minutes on.
func minutes(d int64) string {
	s := int64(math.Round(float64(d) / 1e9))
	if s < 3600 {
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm%02ds", s/3600, s%3600/60, s%60)
}

// significant returns v >= 1 with so many significant digits, and with all
// digits before the point.
func significant(v float64, digits int) string {
	e := strconv.FormatFloat(v, 'e', digits-1, 64)
	_, exponent, _ := strings.Cut(e, "e+")
	whole, _ := strconv.Atoi(exponent) // digits before the point, less one, after rounding
	return strconv.FormatFloat(v, 'f', max(digits-1-whole, 0), 64)
}

// Count returns a number with commas between groups of three digits.
func Count[N ~int | ~int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Percent returns a share of one: "0.42%", "7.1%", "100%". What is neither
// nothing nor all is never shown as if it were.
func Percent(share float64) string {
	p := 100 * share
	switch {
	case p == 0 || math.IsNaN(p):
		return "0%"
	case p > 0 && p < 0.005:
		return "<0.01%"
	case p < 0.995:
		return strconv.FormatFloat(p, 'f', 2, 64) + "%"
	case p < 9.95 || p < 100 && p >= 99.5:
		if p >= 99.95 && p < 100 {
			return ">99.9%"
		}
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

// Ratio returns part / whole as a Percent, "0%" if whole is 0.
func Ratio[N ~int | ~int64](part, whole N) string {
	if whole == 0 {
		return "0%"
	}
	return Percent(float64(part) / float64(whole))
}

// Bytes returns a number of bytes with three significant digits and a decimal
// unit: "512 B", "238 kB", "1.20 GB".
func Bytes[N ~int | ~int64](n N) string {
	if n < 1000 {
		return strconv.FormatInt(int64(n), 10) + " B"
	}
	v := float64(n)
	for _, unit := range []string{" kB", " MB", " GB"} {
		v /= 1000
		if v < 999.5 {
			return significant(v, 3) + unit
		}
	}
	return significant(v/1000, 3) + " TB"
}
