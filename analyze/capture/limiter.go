package capture

import "time"

// limiter says which causes are acted on. What somebody asks for waits for no interval but
// askedPause.
type limiter struct {
	interval   time.Duration
	last       time.Time // of a file that conditions caused
	lastAsked  time.Time
	suppressed map[Reason]int64 // in all
	since      int64            // since the last file
}

// askedPause is the least time between files for signals.
const askedPause = time.Second

// admit reports whether a cause at a time is acted on, and counts it if it is not.
func (l *limiter) admit(r Reason, now time.Time) bool {
	last, pause := &l.last, l.interval
	if r == ReasonSignal {
		last, pause = &l.lastAsked, askedPause
	}
	if !last.IsZero() && now.Sub(*last) < pause {
		l.suppress(r)
		return false
	}
	*last = now
	return true
}

func (l *limiter) suppress(r Reason) {
	l.suppressed[r]++
	l.since++
}

// taken returns what was suppressed since the last file, and resets it.
func (l *limiter) taken() int64 {
	n := l.since
	l.since = 0
	return n
}
