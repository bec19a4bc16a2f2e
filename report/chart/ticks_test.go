package chart

import (
	"math"
	"strings"
	"testing"
)

func TestDurationLabel(t *testing.T) {
	for _, tt := range []struct {
		ns   float64
		want string
	}{
		{0, "0"}, {1, "1ns"}, {64, "64ns"}, {999.4, "999ns"}, {999.6, "1µs"}, {1500, "1.5µs"}, {12345, "12.3µs"},
		{999.6e3, "1ms"}, {2.4e6, "2.4ms"}, {999.6e6, "1s"}, {12.34e9, "12.3s"}, {4321e9, "4321s"},
		{-500e3, "−500µs"}, {math.NaN(), "?"},
	} {
		if got := durationLabel(tt.ns); got != tt.want {
			t.Errorf("durationLabel(%v) = %q, want %q", tt.ns, got, tt.want)
		}
	}
}

func TestShortCount(t *testing.T) {
	for v, want := range map[float64]string{1: "1", 100: "100", 1000: "1k", 25e3: "25k", 1e6: "1M", 2e9: "2G"} {
		if got := shortCount(v); got != want {
			t.Errorf("shortCount(%g) = %q, want %q", v, got, want)
		}
	}
}

// labels returns the labels of ts that are not empty, joined by spaces.
func labels(ts []tick) string {
	var s []string
	for _, t := range ts {
		if t.label != "" {
			s = append(s, t.label)
		}
	}
	return strings.Join(s, " ")
}

func TestTickLabels(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  []tick
		want string
	}{
		{"ten seconds", linearTicks(0, 10e9, 10, clockLabel), "0 1s 2s 3s 4s 5s 6s 7s 8s 9s 10s"},
		{"window", linearTicks(1.95e9, 3.05e9, 5, clockLabel), "2s 2.5s 3s"},
		{"short window far from zero", linearTicks(1.2e9, 1.22e9, 4, clockLabel), "1.2s 1.205s 1.21s 1.215s 1.22s"},
		{"nanoseconds far from zero", linearTicks(3600e9, 3600e9+40, 4, clockLabel), "3600s 3600.00000001s 3600.00000002s 3600.00000003s 3600.00000004s"},
		{"across units", linearTicks(0.9996e6, 1.0004e6, 4, clockLabel), "999.6µs 999.8µs 1ms 1.0002ms 1.0004ms"},
		{"around zero", linearTicks(-0.6e6, 1.2e6, 4, clockLabel), "−500µs 0 500µs 1ms"},
		{"little room still says the scale", linearTicks(0, 4.2, 1, three0), "0 2 4"},
		{"no length", linearTicks(5, 5, 4, clockLabel), "5ns"},
		{"not a number", linearTicks(math.NaN(), math.NaN(), 4, clockLabel), "?"},
		{"decades", logTicks(2, 7, 12, durationLabel), "100ns 1µs 10µs 100µs 1ms 10ms"},
		{"dense", logTicks(3, 4.5, 12, durationLabel), "1µs 2µs 5µs 10µs 20µs"},
		{"thinned", logTicks(0, 9, 4, durationLabel), "1ns 1µs 1ms 1s"},
		{"procs", wholeTicks(8, 10), "0 1 2 3 4 5 6 7 8"},
		{"64 procs", wholeTicks(64, 5), "0 20 40 60"},
		{"one proc", wholeTicks(1, 10), "0 1"},
		{"bytes", byteTicks(4.2*1024*1024, 4), "0 2 MiB 4 MiB"},
		{"percentiles", percentileTicks(4), "min p50 p90 p99 p99.9 p99.99"},
		{"few percentiles", percentileTicks(1), "min p50 p90"},
	} {
		if got := labels(tt.got); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func three0(v, _ float64) string {
	if v == 0 {
		return "0"
	}
	return three(v)
}

// TestTicksInside checks for many ranges that ticks are increasing, inside the
// axis, and labelled at least twice.
func TestTicksInside(t *testing.T) {
	for e := 1.0; e < 1e13; e *= 1.7 {
		for _, lo := range []float64{0, -e / 3, e * 7, e * 3000} {
			ts := linearTicks(lo, lo+e, 7, clockLabel)
			labelled, last := 0, ""
			for i, k := range ts {
				if k.at < lo-e*1e-6 || k.at > lo+e*(1+1e-6) || i > 0 && k.at <= ts[i-1].at {
					t.Fatalf("linearTicks(%g, %g): tick %d at %g", lo, lo+e, i, k.at)
				}
				if k.label != "" {
					labelled++
					if k.label == last {
						t.Fatalf("linearTicks(%g, %g): label %q twice", lo, lo+e, last)
					}
					last = k.label
				}
			}
			if labelled < 2 || labelled > 9 {
				t.Errorf("linearTicks(%g, %g): %d labels", lo, lo+e, labelled)
			}
		}
	}
}

func TestLog10ns(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, -5: 0, 1: 0, 1000: 3} {
		if got := log10ns(v); math.Abs(got-want) > 1e-12 {
			t.Errorf("log10ns(%g) = %g, want %g", v, got, want)
		}
	}
	if got := log10ns(math.NaN()); got != 0 {
		t.Errorf("log10ns(NaN) = %g, want 0", got)
	}
}
