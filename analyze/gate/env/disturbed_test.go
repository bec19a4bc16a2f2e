package env

import "testing"

func TestDisturbed(t *testing.T) {
	for _, test := range []struct {
		name string
		u    Usage
		want bool
	}{
		{"nothing known", Usage{}, false},
		{"real-time priority on a busy machine", Usage{Nivcsw: new(1.0), Foreign: new(0.4), Steal: new(0.0)}, false},
		{"own threads", Usage{Nivcsw: new(145.0), Foreign: new(0.02)}, false},
		{"burners", Usage{Nivcsw: new(51.0), Foreign: new(0.83)}, true},
		{"switches, and nothing else known", Usage{Nivcsw: new(51.0)}, true},
		{"quota", Usage{Throttled: new(1.0)}, true},
		{"hypervisor", Usage{Steal: new(0.06), Nivcsw: new(0.0)}, true},
	} {
		if got := DefaultLimits.Disturbed(&test.u); (got != "") != test.want {
			t.Errorf("%s: %q, want a reason: %v", test.name, got, test.want)
		}
	}
}
