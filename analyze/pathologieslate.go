package analyze

import "github.com/schedscope/schedscope/model"

// Lateness bounds what lies before scheduling latency: the time from when a
// goroutine could have been made runnable until it was. A trace does not tell
// when data arrived or when a timer was due, so each value is an upper bound of
// the lateness of one wakeup, never a measurement. The bounds overlap with
// other goroutines' time and with one another: they must not be added to waits,
// nor to each other.
type Lateness struct {
	traceClock
	// Network bounds the time from the readiness of a network event until the
	// poller woke its goroutine: since the latest poll that would have found it,
	// and at most since the goroutine began to wait for it.
	Network Dist
	// ByPoller divides Network by who found the event.
	ByPoller [model.NumPollers]Dist
	// Asleep are the wakeups by a thread that slept in the poller: these events
	// were late by no more than it takes the system to wake a thread, which a
	// trace does not show. They are not in Network.
	Asleep int64

	// Timers bounds how late timers fired on a proc that ran a goroutine until
	// just before: since that proc last looked at its timers. UnboundedTimers are
	// those fired otherwise, after a sleep or by another proc: nothing is known of
	// them, as a trace does not tell when a timer was due.
	Timers          Dist
	UnboundedTimers int64
}

// NewLateness returns an empty Lateness.
func NewLateness() *Lateness { return &Lateness{} }

// Merge adds what o bounded in another trace.
func (l *Lateness) Merge(o *Lateness) {
	l.Network.Merge(&o.Network)
	for i := range l.ByPoller {
		l.ByPoller[i].Merge(&o.ByPoller[i])
	}
	l.Asleep += o.Asleep
	l.Timers.Merge(&o.Timers)
	l.UnboundedTimers += o.UnboundedTimers
}
