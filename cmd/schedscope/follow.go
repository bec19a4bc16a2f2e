package main

import (
	"context"
	"fmt"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/timeline"
)

// follower is told what one reading of a trace establishes, beside the report that is
// made of it: for what would otherwise have to read the trace again.
type follower interface {
	// options adds to those of the report before anything is read.
	options(*analyze.Options)
	// begin registers observers where accounting begins.
	begin(*reading)
	// finish is called when the Machine and the report have finished.
	finish(*reading) error
}

// nobody does nothing.
type nobody struct{}

func (nobody) options(*analyze.Options) {}
func (nobody) begin(*reading)           {}
func (nobody) finish(*reading) error    { return nil }

func (f *analyzeFlags) follower(rd *reading) follower {
	if f.follow == nil {
		return nobody{}
	}
	return f.follow(rd)
}

// timelineFollower records the timeline and hands it to done.
type timelineFollower struct {
	rec  *timeline.Recorder
	done func([]byte)
}

func newTimelineFollower(rd *reading, o timeline.Options, done func([]byte)) *timelineFollower {
	return &timelineFollower{timeline.New(rd.m.Tables(), o), done}
}

func (t *timelineFollower) options(o *analyze.Options) {
	o.Explained = t.rec.Explained
	o.Queues = append(o.Queues, t.rec.Queues())
}

func (t *timelineFollower) begin(rd *reading) {
	t.rec.Begin(rd.origin)
	t.rec.Observe(rd.m)
}

func (t *timelineFollower) finish(rd *reading) error {
	t.rec.Finish(rd.m.Start(), rd.m.Now())
	blob, err := t.rec.Encode()
	if err != nil {
		return fmt.Errorf("%s: %w", rd.in.Name, err)
	}
	t.done(blob)
	return nil
}

// loadWithTimeline analyses one trace as load does and records its timeline.
func (a *app) loadWithTimeline(ctx context.Context, ref source.Ref, f *analyzeFlags) (*report.Document, []byte, error) {
	in, err := a.open(ctx, ref, &f.read)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	return a.openWithTimeline(ctx, in, f)
}

// openWithTimeline is loadWithTimeline for a trace that is open.
func (a *app) openWithTimeline(ctx context.Context, in *source.Input, f *analyzeFlags) (*report.Document, []byte, error) {
	var blob []byte
	own := *f
	own.follow = func(rd *reading) follower {
		return newTimelineFollower(rd, timeline.Options{}, func(b []byte) { blob = b })
	}
	t, r, err := a.analyzeOpen(ctx, in, &own)
	if err != nil {
		return nil, nil, err
	}
	doc := &report.Document{}
	doc.Add(t, r)
	doc.Judge()
	return doc, blob, nil
}
