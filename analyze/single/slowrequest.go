package single

import (
	"context"
	"time"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// requestMargin is how much more than the time of a request is read: windows count from the
// trace's first batch, times from its first event.
const requestMargin = 10 * time.Millisecond

// requestParts is how many parts of its critical path are kept.
const requestParts = 1000

// describeRequest finds the critical path of the slow request that a capture ended on. It reads
// the trace again up to there, and leaves out what cannot be read so.
func (rd *Reading) describeRequest(ctx context.Context, c *result.Capture) {
	of, o := rd.notes.of, rd.options
	at, _ := rd.in.ReaderAt()
	if c == nil || at == nil || of.g <= 0 {
		return
	}
	from := max(of.end-model.Time(rd.notes.last.Measured), rd.Origin)
	// What those did who made it wait may have begun long before.
	o.From, o.To = 0, of.end.Sub(rd.Origin)+model.Duration(requestMargin)
	again, err := rd.in.Trace.Read(o)
	if err != nil {
		return
	}
	defer again.Close()
	var tracker *requests.Tracker
	begin := func() {
		tracker = requests.New(again.Machine, nil)
		tracker.Follow(again.Machine.Start())
	}
	err = again.Run(ctx, begin, func(ev *model.Event) {
		tracker.Event(ev)
		if c.Request != nil || ev.Time < of.end {
			return
		}
		c.Request = &result.Request{Goroutine: of.g, From: model.Time(from.Sub(rd.Origin)), To: model.Time(of.end.Sub(rd.Origin))}
		for p := range tracker.Between(of.g, from, of.end) {
			if c.Request.Parts = append(c.Request.Parts, analyze.RequestPart(p)); len(c.Request.Parts) == requestParts {
				break
			}
		}
	})
	if err != nil {
		c.Request = nil
	}
}
