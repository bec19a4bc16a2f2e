package env

import (
	"strings"
	"testing"
)

func TestDisturbed(t *testing.T) {
	crowded := DefaultLimits.WithLeastDelay(0.05) // 0.15 s/s/P
	for _, test := range []struct {
		name string
		l    Limits
		u    *Noise
		want string // part of the reason, "" for none
	}{
		{"no records", DefaultLimits, nil, ""},
		{"nothing known", DefaultLimits, &Noise{}, ""},
		{"real-time priority on a busy machine", DefaultLimits, &Noise{Nivcsw: new(1.0), Foreign: new(0.4), Steal: new(0.0)}, ""},
		{"own threads", DefaultLimits, &Noise{Nivcsw: new(145.0), Foreign: new(0.02)}, ""},
		{"burners", DefaultLimits, &Noise{Nivcsw: new(51.0), Foreign: new(0.83)}, "51 involuntary context switches/s/P (limit 20), other processes used 83% of the machine (limit 10%)"},
		{"switches, and nothing else known", DefaultLimits, &Noise{Nivcsw: new(51.0)}, "51 involuntary"},
		{"others, and nothing else known", DefaultLimits, &Noise{Foreign: new(0.3)}, "other processes used 30%"},
		{"at the limits", DefaultLimits, &Noise{Nivcsw: new(20.0), Foreign: new(0.1), Steal: new(0.05), Throttled: new(0.0)}, ""},
		{"waits for a CPU", crowded, &Noise{Nivcsw: new(1.0), Foreign: new(0.4), RunDelay: new(0.16)}, "waited for a CPU 0.16s/s/P (limit 0.15"},
		{"few waits for a CPU", crowded, &Noise{Nivcsw: new(1.0), Foreign: new(0.4), RunDelay: new(0.14)}, ""},
		{"waits of its own threads", crowded, &Noise{Nivcsw: new(1.0), Foreign: new(0.02), RunDelay: new(0.9)}, ""},
		{"waits, and no other recording", DefaultLimits, &Noise{Nivcsw: new(1.0), Foreign: new(0.4), RunDelay: new(0.9)}, ""},
		{"quota", DefaultLimits, &Noise{Throttled: new(1.0)}, "throttled 1 times"},
		{"hypervisor", DefaultLimits, &Noise{Steal: new(0.06), Nivcsw: new(0.0)}, "hypervisor took 6%"},
	} {
		if got := test.l.Disturbed(test.u); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestWithLeastDelay checks that a program's own delay is allowed for, and that little never counts.
func TestWithLeastDelay(t *testing.T) {
	for least, want := range map[float64]float64{0: 0.1, 0.02: 0.1, 0.2: 0.6} {
		if got := DefaultLimits.WithLeastDelay(least); got.Delay < want-1e-9 || got.Delay > want+1e-9 || got.Nivcsw != DefaultLimits.Nivcsw {
			t.Errorf("next to %v: %+v, want a delay of %v", least, got, want)
		}
	}
}
