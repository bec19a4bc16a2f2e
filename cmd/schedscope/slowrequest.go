package main

import (
	"context"
	"time"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// requestMargin is how much more than the time of a request is read: windows count from the
// trace's first batch, times from its first event.
const requestMargin = 10 * time.Millisecond

// describeRequest says what the goroutine did that a capture's slow request ended on, for
// as long as the request took. It reads that part of the trace again, and leaves out what
// cannot be read so.
func (rd *reading) describeRequest(ctx context.Context, c *result.Capture) {
	of, o := rd.notes.of, rd.options
	at, _ := rd.in.ReaderAt()
	if c == nil || at == nil || of.g <= 0 {
		return
	}
	from := max(of.end-model.Time(rd.notes.last.Measured), rd.Origin)
	o.From = max(from.Sub(rd.Origin)-model.Duration(requestMargin), 0)
	o.To = of.end.Sub(rd.Origin) + model.Duration(requestMargin)
	again, err := rd.app.newReading(rd.in, o)
	if err != nil {
		return
	}
	times := &requestTimes{g: of.g, from: from, to: of.end}
	if err := again.run(ctx, func() { again.Machine.Observe(times) }, nil); err != nil {
		return
	}
	r := &result.Request{Goroutine: of.g, From: model.Time(from.Sub(rd.Origin)), To: model.Time(of.end.Sub(rd.Origin)),
		Running: times.in[model.GoRunning], Runnable: times.in[model.GoRunnable],
		Syscall: times.in[model.GoSyscall] + times.in[model.GoSyscallBlocked], Waiting: times.in[model.GoWaiting]}
	for _, w := range times.waits {
		if w.time > r.MostTime {
			r.Most, r.MostTime = again.Tables().String(w.reason), w.time
		}
	}
	c.Request = r
}

// requestTimes adds up the states of a goroutine between two points in time.
type requestTimes struct {
	g        model.GoID
	from, to model.Time
	in       [model.GoSyscallBlocked + 1]model.Duration
	waits    []requestWait // by reason, in the order of the first
}

type requestWait struct {
	reason model.StringID
	time   model.Duration
}

// GoSpan takes an interval.
func (r *requestTimes) GoSpan(s *model.GoSpan) {
	d := min(s.End, r.to).Sub(max(s.Start, r.from))
	if s.G != r.g || d <= 0 {
		return
	}
	r.in[s.State] += d
	if s.State != model.GoWaiting {
		return
	}
	for i := range r.waits {
		if r.waits[i].reason == s.Reason {
			r.waits[i].time += d
			return
		}
	}
	r.waits = append(r.waits, requestWait{s.Reason, d})
}
