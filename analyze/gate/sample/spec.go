package sample

import (
	"cmp"
	"fmt"
)

// Differs says in what two specs differ that decides values of the same quantity, ""
// if in nothing: samples of such specs are not comparable.
func (s *Spec) Differs(t *Spec) string {
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"op", s.Op, t.Op},
		{"window", s.Window, t.Window},
		{"sim_seeds", cmp.Or(s.SimSeeds, defaultSeeds), cmp.Or(t.SimSeeds, defaultSeeds)},
		{"replay_procs", s.SimProcs, t.SimProcs},
	} {
		if x.a != x.b {
			return fmt.Sprintf("%s is %#v and %#v", x.what, x.a, x.b)
		}
	}
	return ""
}
