package sample

import "testing"

func TestSpecDiffers(t *testing.T) {
	base := Spec{Workload: "w", Op: "count", Window: "all"}
	for _, tt := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) {}, ""},
		{func(s *Spec) { s.Workload = "" }, ""}, // that is the identity's
		{func(s *Spec) { s.Op = "" }, `op is "count" and ""`},
		{func(s *Spec) { s.Window = "region:x" }, `window is "all" and "region:x"`},
	} {
		other := base
		tt.change(&other)
		if got := base.Differs(&other); got != tt.want {
			t.Errorf("%+v differs: %q, want %q", other, got, tt.want)
		}
	}
}
