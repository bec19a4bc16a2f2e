package requests

import "testing"

// TestSlept checks what shows that a goroutine polls: it sleeps at one place again, and only ran in between.
func TestSlept(t *testing.T) {
	sleep := segment{kind: Sleep, stack: 1}
	for name, tt := range map[string]struct {
		before []segment
		want   bool
	}{
		"again":            {[]segment{sleep, {kind: Runnable}, {kind: Running}}, true},
		"woke somebody":    {[]segment{sleep, {kind: Runnable}, {kind: Running, stack: 2}, {kind: Running}}, false},
		"wrote":            {[]segment{sleep, {kind: Runnable}, {kind: Running}, {kind: Syscall}, {kind: Running}}, false},
		"at another place": {[]segment{{kind: Sleep, stack: 3}, {kind: Runnable}, {kind: Running}}, false},
		"for the first":    {nil, false},
	} {
		g := &goroutine{segs: append(tt.before, sleep)}
		if got := g.slept(len(tt.before), 1); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
