package capture

import (
	"maps"
	"testing"
	"time"
)

// TestLimiter checks which causes are let through, by hand.
func TestLimiter(t *testing.T) {
	l := limiter{interval: time.Minute, suppressed: map[Reason]int64{}}
	begin := time.Unix(1000, 0)
	for _, tt := range []struct {
		after  time.Duration
		reason Reason
		want   bool
	}{
		{0, ReasonSlow, true},
		{time.Second, ReasonSlow, false},
		{2 * time.Second, ReasonLatency, false}, // conditions share the interval
		{3 * time.Second, ReasonSignal, true},   // people do not wait for it
		{3500 * time.Millisecond, ReasonSignal, false},
		{4 * time.Second, ReasonSignal, true},
		{59 * time.Second, ReasonLatency, false},
		{60 * time.Second, ReasonLatency, true},
		{119 * time.Second, ReasonSlow, false}, // refusals do not count, files do
		{120 * time.Second, ReasonSlow, true},
	} {
		if got := l.admit(tt.reason, begin.Add(tt.after)); got != tt.want {
			t.Errorf("%s after %v: %v", tt.reason, tt.after, got)
		}
	}
	want := map[Reason]int64{ReasonSlow: 2, ReasonLatency: 2, ReasonSignal: 1}
	if !maps.Equal(l.suppressed, want) {
		t.Errorf("suppressed %v, want %v", l.suppressed, want)
	}
	if a, b := l.taken(), l.taken(); a != 5 || b != 0 {
		t.Errorf("%d and then %d since the last file, want 5 and 0", a, b)
	}
}
