package main

import (
	"context"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
)

// referenceStarts is how many starts of goroutines the reference of analyze is
// simulated for: less than half a second's work.
const referenceStarts = 50_000

// referenceMany is how many goroutines at once, and threads, there may be for that: each takes memory.
const referenceMany = 1 << 14

// referenceSeeds is how many simulations it is the median of.
const referenceSeeds = 3

// reference has the beginning of what is analysed scheduled anew. A nil one does nothing.
type reference struct{ replay *replay.Replay }

// newReference returns nil if there is to be none or, of an old format, can be none.
func newReference(ctx context.Context, rd *reading, f *analyzeFlags) *reference {
	if !f.reference {
		return nil
	}
	rp, err := replay.New(ctx, rd.Machine.Tables(), rd.Version,
		replay.Options{Seeds: referenceSeeds, Starts: referenceStarts, Windows: 1, Ideal: true, Many: referenceMany})
	if err != nil {
		return nil
	}
	rp.Observe(rd.Machine)
	return &reference{rp}
}

func (x *reference) begin(rd *reading) {
	if x != nil {
		x.replay.Begin(max(rd.Origin, rd.Start))
	}
}

func (x *reference) event(ev *model.Event) {
	if x != nil {
		x.replay.Event(ev)
	}
}

// result returns what is to be reported, nil if there is nothing.
func (x *reference) result(rd *reading) *result.Reference {
	if x == nil {
		return nil
	}
	r, err := x.replay.Finish(rd.Machine.Now())
	if err != nil {
		rd.app.detail("no reference: %v", err)
		return nil
	}
	waited := r.Waited()
	v := &result.Reference{
		From: model.Time(r.From.Sub(rd.Origin)), Length: r.Length, Whole: r.To >= rd.Machine.Now() && r.LeftOut == 0,
		Waits: r.Measured.Waits.Count(), Measured: r.Measured.Waits.Total(), Rules: model.Duration(waited.Mid), Low: model.Duration(waited.Low), High: model.Duration(waited.High),
		Ideal: r.Ideal.Waits.Total(), Poor: r.Fit(nil) == replay.FitPoor, Spectra: []result.Spectrum{},
	}
	for _, x := range []struct {
		name  string
		waits *dist.Dist
	}{{"measured", r.Measured.Waits}, {"go_rules", r.All.Simulated()}, {"ideal", r.Ideal.Waits}} {
		d := result.NewDist(x.waits)
		v.Spectra = append(v.Spectra, result.NewSpectrum(x.name, &d))
	}
	return v
}
