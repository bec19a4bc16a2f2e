package sample

import "fmt"

// Differs says in what two specs differ that decides values of the same quantity, ""
// if in nothing: samples of such specs are not comparable.
func (s *Spec) Differs(t *Spec) string {
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"op", s.Op, t.Op},
		{"window", s.Window, t.Window},
	} {
		if x.a != x.b {
			return fmt.Sprintf("%s is %#v and %#v", x.what, x.a, x.b)
		}
	}
	return ""
}
