package chart

import (
	"math"
	"strconv"
	"strings"
)

// tick is a mark on an axis; one without a label is a minor mark.
type tick struct {
	at    float64
	label string
}

// durationLabel writes a number of nanoseconds with three significant digits
// in the unit that suits it: 250ns, 1.5ms, 12.3s.
func durationLabel(ns float64) string {
	switch a := math.Abs(ns); {
	case math.IsNaN(ns):
		return "?"
	case a < 0.0005:
		return "0"
	case a < 999.5:
		return three(ns) + "ns"
	case a < 999.5e3:
		return three(ns/1e3) + "µs"
	case a < 999.5e6:
		return three(ns/1e6) + "ms"
	}
	return three(ns/1e9) + "s"
}

// three writes v with three significant digits, never with an exponent, and
// with a minus sign as wide as a digit.
func three(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	scale := math.Pow10(min(max(digits, 0), 300))
	s := strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64)
	return strings.Replace(s, "-", "−", 1)
}

// clockLabel is durationLabel for ticks that are a step apart: it has as many
// digits as distinguish neighbours, however far from zero they are.
func clockLabel(ns, step float64) string {
	unit, name := 1.0, "ns"
	for _, u := range []struct {
		ns   float64
		name string
	}{{1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}} {
		if math.Abs(ns) > u.ns*(1-1e-9) {
			unit, name = u.ns, u.name
		}
	}
	digits := math.Ceil(math.Log10(unit/step) - 1e-9)
	if math.Abs(ns) < 0.0005 || !(digits > 0 && digits < 15) {
		return durationLabel(ns)
	}
	s := strconv.FormatFloat(ns/unit, 'f', int(digits), 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	return strings.Replace(s, "-", "−", 1) + name
}

// shortCount writes a count for an axis: 1, 10, 1k, 10k, 1M.
func shortCount(v float64) string {
	switch {
	case v >= 1e9:
		return three(v/1e9) + "G"
	case v >= 1e6:
		return three(v/1e6) + "M"
	case v >= 1e3:
		return three(v/1e3) + "k"
	}
	return three(v)
}

// niceStep returns the smallest of 1, 2 and 5 times a power of ten that
// divides span into at most n parts.
func niceStep(span float64, n int) float64 {
	raw := span / float64(max(n, 1))
	mag := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*mag >= raw*(1-1e-9) {
			return m * mag
		}
	}
	return 10 * mag
}

// linearTicks returns about n labelled ticks in [lo, hi] at round values, but
// at least two if there are any, and four minor ones between each two. A label
// is made from the value and the distance of labels.
func linearTicks(lo, hi float64, n int, label func(v, step float64) string) []tick {
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return []tick{{lo, label(lo, 0)}}
	}
	step := niceStep(hi-lo, n)
	for math.Floor(hi/step+1e-9)-math.Ceil(lo/step-1e-9) < 1 {
		n++
		step = niceStep(hi-lo, n)
	}
	minor := step / 5
	first, last := math.Ceil(lo/minor-1e-9), math.Floor(hi/minor+1e-9)
	var ts []tick
	for i := first; i <= last; i++ {
		t := tick{at: i * minor}
		if math.Mod(i, 5) == 0 {
			t.label = label(t.at, step)
		}
		ts = append(ts, t)
	}
	return ts
}

// wholeTicks is linearTicks for counts: labels on whole numbers only, no minors.
func wholeTicks(hi float64, n int) []tick {
	step := max(1, niceStep(max(hi, 1), n))
	var ts []tick
	for v := 0.0; v <= hi*(1+1e-9); v += step {
		ts = append(ts, tick{v, shortCount(v)})
	}
	return ts
}

// byteTicks is linearTicks for a number of bytes from 0 on, in binary units.
func byteTicks(hi float64, n int) []tick {
	unit, name := 1.0, "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if hi < unit*1024 {
			break
		}
		unit, name = unit*1024, u
	}
	ts := linearTicks(0, hi/unit, n, func(v, _ float64) string {
		if v == 0 {
			return "0"
		}
		return three(v) + " " + name
	})
	for i := range ts {
		ts[i].at *= unit
	}
	return ts
}

// logTicks returns ticks for an axis whose values are log10 of what is
// labelled: a label at each power of ten, at 2 and 5 too where the axis spans
// little, and minor marks at the other digits. At most about n labels.
func logTicks(lo, hi float64, n int, label func(float64) string) []tick {
	every := max(1, int(math.Ceil((hi-lo)/float64(max(n, 1)))))
	dense := (hi-lo)*3 <= float64(n)
	var ts []tick
	for e := int(math.Floor(lo)); e <= int(math.Ceil(hi)); e++ {
		for m := 1; m <= 9; m++ {
			at := float64(e) + math.Log10(float64(m))
			if at < lo-1e-9 || at > hi+1e-9 {
				continue
			}
			t := tick{at: at}
			if m == 1 && e%every == 0 || dense && (m == 2 || m == 5) {
				t.label = label(float64(m) * math.Pow10(e))
			}
			ts = append(ts, t)
		}
	}
	return ts
}

// percentileTicks marks p0, p50, p90, p99, p99.9 and so on up to the last that
// n samples can show, on an axis of -log10(1-q).
func percentileTicks(hi float64) []tick {
	ts := []tick{{0, "min"}, {-math.Log10(0.5), "p50"}}
	for d := 1.0; d <= hi+1e-9; d++ {
		ts = append(ts, tick{d, "p" + strconv.FormatFloat(100-math.Pow(10, 2-d), 'f', int(max(0, d-2)), 64)})
	}
	return ts
}

// log10ns returns log10 of a number of nanoseconds. The clock does not resolve
// less than 1 ns, which is where shorter times, and NaN, are put.
func log10ns(ns float64) float64 {
	if !(ns > 1) {
		return 0
	}
	return math.Log10(ns)
}
