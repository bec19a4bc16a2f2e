package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/lockstep"
	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report/view"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	analyzeFlags // of which it has some
	mode         string
	seeds        int
	whatIf       []string
}

// replayModes are the values of --mode.
var replayModes = []string{"free", "lockstep"}

func newReplay(a *app) *cobra.Command {
	f := replayFlags{analyzeFlags: analyzeFlags{worst: 1}}
	cmd := &cobra.Command{
		Use:   "replay [flags] TRACE...",
		Short: "Simulate the schedule of a trace, and what-if variants of it",
		Long: `Several traces count as recordings of the same program: how much they vary is compared
with how much the simulations vary. schedscope help replay-model explains what is simulated,
and how far to trust it. What can be changed, for --what-if:

` + replay.ChangesHelp(),
		Example: `  schedscope replay trace.out
  schedscope replay --what-if procs=8 --what-if quiet trace.out
  schedscope replay --from 2s --to 5s --what-if procs=1..16 trace.out
  schedscope replay --mode lockstep trace.out`,
		ValidArgsFunction: completeTraces,
		RunE:              runs(a.replay, &f),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "free", "use `MODE`: free simulates the work as a whole, lockstep checks each decision of the runtime against the rules")
	flags.StringArrayVar(&f.whatIf, "what-if", nil, "also simulate this `CHANGE`, such as procs=8, or several joined by commas; may be repeated")
	flags.IntVar(&f.seeds, "seeds", replay.DefaultSeeds, "simulate `N` times with different random choices")
	f.out.register(cmd, "text", "json")
	f.read.register(cmd)
	complete(cmd, "mode", replayModes)
	complete(cmd, "what-if", replay.ChangeNames())
	return cmd
}

func (a *app) replay(cmd *cobra.Command, f *replayFlags, args []string) error {
	if err := f.validate(cmd.Flags().Changed("seeds")); err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	refs, err := a.expand(args)
	if err != nil {
		return err
	}
	if err := f.out.check(a, refs); err != nil {
		return err
	}
	if f.mode == "lockstep" {
		return a.lockstep(cmd.Context(), refs, f)
	}
	var traces []result.Trace
	var results []*replay.Result
	skipped, err := eachTrace(cmd.Context(), a, refs, &f.read, func(ctx context.Context, rd *reading) (*replay.Result, error) {
		return rd.replay(ctx, o)
	}, func(_ *reading, t result.Trace, r *replay.Result) {
		r.Inconsistent = t.Inconsistent
		traces, results = append(traces, t), append(results, r)
	})
	if err != nil {
		return err
	}
	d := view.NewReplayed(traces, skipped, results)
	return f.out.write(a, func(w io.Writer, o output) error {
		if o.format == "json" {
			return view.ReplayJSON(w, d)
		}
		return view.ReplayText(w, d, f.out.text(a, w, o))
	})
}

func (f *replayFlags) validate(seeds bool) error {
	if err := checkChoice("mode", f.mode, replayModes); err != nil {
		return err
	}
	switch lockstep := f.mode == "lockstep"; {
	case lockstep && (len(f.whatIf) > 0 || seeds):
		return usagef("leave them out", "--mode lockstep simulates nothing: --what-if and --seeds have no effect")
	case lockstep && f.read.windowed():
		return usagef("schedscope cut takes a part of it", "--mode lockstep judges whole traces")
	case f.seeds < 1 || f.seeds > 1000:
		return usagef("", "--seeds %d: want 1 to 1000", f.seeds)
	}
	return f.analyzeFlags.validate()
}

// options returns what to simulate.
func (f *replayFlags) options() (replay.Options, error) {
	o := replay.Options{Seeds: f.seeds, Workers: f.read.workers}
	for _, list := range f.whatIf {
		vs, err := replay.ParseVariants(list)
		if err != nil {
			return o, whatIfError(list, err)
		}
		for _, v := range vs {
			if !slices.ContainsFunc(o.Variants, func(x replay.Variant) bool { return x.Name == v.Name }) {
				o.Variants = append(o.Variants, v)
			}
		}
	}
	return o, nil
}

// whatIfError makes a usageError of what is wrong with a variant.
func whatIfError(list string, err error) error {
	var e *replay.VariantError
	hint := ""
	if errors.As(err, &e) && !e.Known {
		name, _, _ := strings.Cut(e.Part, "=")
		hint = didYouMean(name, replay.ChangeNames())
	}
	return usagef(hint, "--what-if %s: %w", list, err)
}

// replay reads a trace and replays it.
func (rd *reading) replay(ctx context.Context, o replay.Options) (*replay.Result, error) {
	o.Progress = func(window, done, total int) {
		rd.app.progress.step(fmt.Sprintf("%s: simulations of window %d", rd.in.Name, window), done, total)
	}
	rp, err := replay.New(ctx, rd.Tables(), rd.Version, o)
	if err != nil {
		return nil, oldFormat(rd.in, err)
	}
	rp.Observe(rd.Machine)
	rd.Past = true
	err = rd.run(ctx, func() {
		rp.Origin(rd.Origin)
		rp.Begin(max(rd.Origin, rd.Start))
	}, rp.Event)
	if err != nil {
		return nil, err
	}
	r, err := rp.Finish(rd.Machine.Now())
	rd.app.progress.clear()
	if ctx.Err() != nil {
		return nil, &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	}
	if err != nil {
		return nil, &source.Error{Doing: "replaying " + rd.in.Name, Err: err}
	}
	return r, nil
}

// oldFormat says which traces can be replayed if err says that this one cannot.
func oldFormat(in *input, err error) error {
	hint := textui.If(errors.As(err, new(*runqueue.OldFormatError)), "record it with Go 1.22 or newer; schedscope analyze reads this one, too")
	return &source.Error{Doing: "replaying " + in.Name, Err: err, Hint: hint}
}

// lockstep judges the decisions of the runtimes that recorded the traces.
func (a *app) lockstep(ctx context.Context, refs []source.Ref, f *replayFlags) error {
	d := view.NewLockstep()
	skipped, err := eachTrace(ctx, a, refs, &f.read, func(ctx context.Context, rd *reading) (*lockstep.Result, error) {
		return rd.lockstep(ctx)
	}, func(rd *reading, t result.Trace, r *lockstep.Result) { d.Add(t, rd.Origin, r) })
	if err != nil {
		return err
	}
	d.Finish(skipped)
	return f.out.write(a, func(w io.Writer, o output) error {
		if o.format == "json" {
			return savedfile.WriteJSON(w, d, true)
		}
		return view.LockstepText(w, d, f.out.text(a, w, o))
	})
}

// mostUnexplained is how many unexplained decisions of each kind and trace are listed at most.
const mostUnexplained = 1 << 13

// lockstep reads a trace and judges the decisions in it.
func (rd *reading) lockstep(ctx context.Context) (*lockstep.Result, error) {
	c, err := lockstep.New(rd.Tables(), rd.Version, lockstep.Options{MaxListed: mostUnexplained})
	if err != nil {
		return nil, oldFormat(rd.in, err)
	}
	c.Observe(rd.Machine)
	rd.Past = true
	if err := rd.run(ctx, nil, nil); err != nil {
		return nil, err
	}
	return c.Finish(), nil
}
