package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report/profile"
	"github.com/schedscope/schedscope/report/view"
)

// maxComments is how many traces a profile lists: pprof prints them above every
// report.
const maxComments = 5

// exportProfile writes one profile of all traces. As in analyze, one that cannot be
// read is skipped as long as another can.
func exportProfile(a *app, ctx context.Context, f *exportFlags, refs []source.Ref) error {
	switch kind := f.profileOptions().Kind; kind {
	case profile.Blame, profile.Slow, profile.Typical:
		return exportFigures(func(w io.Writer, v *result.Report) error {
			if kind == profile.Blame {
				return profile.OfBlame(v).Write(w, view.Title(v), "waits for locks, channels and other goroutines: -sample_index=blocked")
			}
			return profile.OfRequests(v, kind).Write(w, view.Title(v))
		})(a, ctx, f, refs)
	}
	sum := profile.New(f.profileOptions())
	var names, comments []string
	_, err := eachTrace(ctx, a, refs, &f.read, func(ctx context.Context, rd *reading) (*profile.Profile, error) {
		return rd.profile(ctx, f)
	}, func(_ *reading, t result.Trace, p *profile.Profile) {
		sum.Merge(p)
		names = append(names, t.Name)
		comments = append(comments, fmt.Sprintf("%s: %s, %v from %v", t.Name, t.Format, time.Duration(t.Span), time.Duration(t.Start)))
	})
	if err != nil {
		return err
	}
	a.detail("%s", textui.Plural(sum.Samples(), "sample"))
	if n := len(comments); n > maxComments {
		comments = []string{textui.Plural(n, "trace")}
	}
	return a.write(f.output, func(w io.Writer) error { return sum.Write(w, textui.FirstOf(names), comments...) })
}

// profile reads a trace and makes a profile of it.
func (rd *reading) profile(ctx context.Context, f *exportFlags) (*profile.Profile, error) {
	p := profile.New(f.profileOptions())
	c := p.Collect(rd.Tables(), rd.Version)
	if old, ok := errors.AsType[*runqueue.OldFormatError](c.NoCauses()); ok {
		rd.app.note("%s: waits have no causes: %v", rd.in.Name, old)
	}
	c.ObserveSteps(rd.Machine)
	if err := rd.run(ctx, func() { c.Observe(rd.Machine) }, c.Event); err != nil {
		return nil, err
	}
	c.Finish(rd.Machine.Now().Sub(rd.Machine.Start()))
	x, t := rd.Index(), rd.Describe()
	if wall := x.WallAt(rd.Origin + t.Start); wall > 0 {
		p.SetTime(wall)
	}
	return p, nil
}
