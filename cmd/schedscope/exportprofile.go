package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/profile"
)

var profileExporter = exporter{
	name: "pprof", doc: "waits, system calls, steals or handoffs by stack, for go tool pprof",
	extensions: []string{".pb.gz", ".pprof"}, binary: true,
	flags: registerProfileFlags, takes: []string{"profile", "stack"}, check: checkProfileFlags, run: exportProfile,
}

// profileFlags are the flags of profiles.
type profileFlags struct{ kind, stack string }

// Whose stacks a profile is by.
const (
	stackWaiter = "waiter"
	stackWaker  = "waker"
)

var stackChoices = []string{stackWaiter, stackWaker}

func registerProfileFlags(cmd *cobra.Command, f *exportFlags) {
	flags := cmd.Flags()
	flags.StringVar(&f.profile.kind, "profile", profile.Runnable.String(), "pprof: `WHAT` to count: "+strings.Join(profile.Kinds(), ", "))
	flags.StringVar(&f.profile.stack, "stack", stackWaiter, "pprof: by `WHOSE` stack: waiter, the goroutine's own, or waker, who made it runnable")
	complete(cmd, "profile", profile.Kinds())
	complete(cmd, "stack", stackChoices)
}

func checkProfileFlags(f *exportFlags) error {
	if err := checkChoice("profile", f.profile.kind, profile.Kinds()); err != nil {
		return err
	}
	if err := checkChoice("stack", f.profile.stack, stackChoices); err != nil {
		return err
	}
	if o := f.profile.options(); o.Waker && !o.Kind.HasWaker() {
		return usagef("leave --stack out", "--stack waker: nobody makes %s, their stacks are those of system calls", o.Kind)
	}
	return nil
}

// options returns what checked flags ask for.
func (f *profileFlags) options() profile.Options {
	kind, _ := profile.KindOf(f.kind)
	return profile.Options{Kind: kind, Waker: f.stack == stackWaker}
}

// maxComments is how many traces a profile lists: pprof prints them above every
// report.
const maxComments = 5

// exportProfile writes one profile of all traces. As in analyze, one that cannot be
// read is skipped as long as another can.
func exportProfile(a *app, ctx context.Context, f *exportFlags, refs []source.Ref) error {
	sum := profile.New(f.profile.options())
	var names, comments []string
	for _, ref := range refs {
		p, t, err := a.profileOne(ctx, ref, f)
		if err == nil {
			sum.Merge(p)
			names = append(names, t.Name)
			comments = append(comments, fmt.Sprintf("%s: %s, %v from %v", t.Name, formatName(t.Version), time.Duration(t.Span), time.Duration(t.Start)))
			continue
		}
		if len(refs) == 1 || ctx.Err() != nil {
			return err
		}
		a.skip(err)
	}
	if len(names) == 0 {
		return errNoneRead(len(refs))
	}
	a.detail("%s", countOf(int64(sum.Samples()), "sample"))
	if n := len(comments); n > maxComments {
		comments = []string{countOf(int64(n), "trace")}
	}
	return a.write(f.output, func(w io.Writer) error { return sum.Write(w, profileTitle(names), comments...) })
}

// profileTitle names what a profile is of.
func profileTitle(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// profileOne makes the profile of one trace.
func (a *app) profileOne(ctx context.Context, ref source.Ref, f *exportFlags) (*profile.Profile, report.Trace, error) {
	p, rd, err := readOne(ctx, a, ref, &f.read, func(ctx context.Context, rd *reading) (*profile.Profile, error) {
		return rd.profile(ctx, f)
	})
	if err != nil {
		return nil, report.Trace{}, err
	}
	t := rd.trace()
	a.warnAbout(&t)
	return p, t, nil
}

// profile reads a trace and makes a profile of it.
func (rd *reading) profile(ctx context.Context, f *exportFlags) (*profile.Profile, error) {
	p := profile.New(f.profile.options())
	c, err := p.Collect(rd.Tables(), rd.Version)
	if err != nil {
		return nil, &source.Error{Doing: "reading " + rd.in.Name, Err: err, Hint: "profiles of " + queueless() + " can be made of this trace, too"}
	}
	var old *runqueue.OldFormatError
	if errors.As(c.NoCauses(), &old) {
		rd.app.note("%s: waits have no causes: %v", rd.in.Name, old)
	}
	c.ObserveSteps(rd.Machine)
	if err := rd.run(ctx, func() { c.Observe(rd.Machine) }, c.Event); err != nil {
		return nil, err
	}
	c.Finish(rd.Machine.Now().Sub(rd.Machine.Start()))
	x, t := rd.Index(), rd.trace()
	if wall := x.WallAt(rd.Origin + t.Start); wall > 0 {
		p.SetTime(wall)
	}
	return p, nil
}

// queueless lists the kinds of profiles that every trace has.
func queueless() string {
	names := slices.DeleteFunc(profile.Kinds(), func(name string) bool {
		kind, _ := profile.KindOf(name)
		return kind.NeedsQueues()
	})
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
