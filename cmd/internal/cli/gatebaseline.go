package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/experiment"
	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/report/verdict"
)

// newGateBaseline returns gate baseline with its verbs.
func newGateBaseline(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Keep a history of recordings to judge later ones by",
		Long: `A history has a session per recording on the main branch. Where the base cannot be recorded
beside the candidate, gate check --baseline judges by the spread of sessions: that takes 20
of the same machine, and sees less. With fewer, rules only warn. Only add changes a baseline,
so that a change to it shows in review; gate check names a pull request that makes one.`,
		Example: `  schedscope gate baseline add main.schedscope-baseline.json runs/base
  schedscope gate baseline show main.schedscope-baseline.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownTopic(cmd, "verb of gate baseline", args[0])
			}
			return cmd.Help()
		},
	}
	show := &cobra.Command{
		Use:     "show FILE",
		Short:   "Show the sessions of a history, and how its figures went",
		Example: "  schedscope gate baseline show main.schedscope-baseline.json",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("", "want one file of history")
			}
			file, err := readBaseline(args[0])
			if err != nil {
				return err
			}
			return a.write("-", func(w io.Writer) error { return verdict.History(w, file, a.verdictOptions(w)) })
		},
	}
	cmd.AddCommand(newBaselineAdd(a), show)
	return cmd
}

// baselineAddFlags are the flags of gate baseline add.
type baselineAddFlags struct{ budget, commit, time string }

func newBaselineAdd(a *app) *cobra.Command {
	var f baselineAddFlags
	cmd := &cobra.Command{
		Use:     "add [flags] FILE RUNS.json|TRACE|DIR...",
		Short:   "Add a session to a history, which is made if it is not there",
		Example: "  schedscope gate baseline add --commit $GITHUB_SHA main.schedscope-baseline.json runs/base",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("schedscope gate baseline add FILE runs/base", "want the history's file, and what to add")
			}
			return a.baselineAdd(cmd.Context(), &f, args[0], args[1:])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	registerBudget(cmd, &f.budget)
	flags.StringVar(&f.commit, "commit", "", "of this `COMMIT` (default what the recordings say, else GITHUB_SHA or CI_COMMIT_SHA)")
	flags.StringVar(&f.time, "time", "", "recorded at this `TIME`, as RFC 3339 has it (default not known)")
	return cmd
}

func (a *app) baselineAdd(ctx context.Context, f *baselineAddFlags, path string, operands []string) error {
	var at time.Time
	var err error
	if f.time != "" {
		if at, err = time.Parse(time.RFC3339, f.time); err != nil {
			return usagef("write it so: 2026-11-30T12:00:00Z", "--time %q is not a time", f.time)
		}
	}
	if err := oneSide(operands...); err != nil {
		return err
	}
	b, err := readBudget(f.budget)
	if err != nil {
		return err
	}
	file := baseline.New(version())
	if exists(path) {
		if file, err = readBaseline(path); err != nil {
			return err
		}
	}
	set, err := a.samples(ctx, operands, gate.SpecOf(b))
	if err != nil {
		return err
	}
	s, err := baseline.SessionOf(set, at)
	if err != nil {
		return err
	}
	s.Commit = cmp.Or(f.commit, s.Commit, commitOfJob())
	if err := file.Add(s); err != nil {
		return fmt.Errorf("adding to %s: %w", path, err)
	}
	a.warnDisturbed(set.Samples, b.Guards)
	if s.Commit == "" {
		a.note("the session has no commit to be known by: --commit gives it one")
	}
	if s.Time == "" {
		a.note("the session has no time, which recordings do not contain: --time gives it one")
	}
	file.Tool, file.BudgetHash = version(), b.Hash
	dropped, err := file.Prune(baseline.MaxSessions)
	if err != nil {
		return err
	}
	for _, id := range dropped {
		a.note("dropped session %s", id)
	}
	if err := a.write(path, func(w io.Writer) error { return baseline.Write(w, file) }); err != nil {
		return err
	}
	a.note("%s has %s", path, countOf(int64(len(file.Sessions)), "session"))
	return nil
}

// warnDisturbed says how many traces of a session gate check will leave out: disturbed ones,
// and those of which that is not known.
func (a *app) warnDisturbed(samples []sample.Sample, g budget.Guards) {
	var list []*sample.Sample
	for i := range samples {
		list = append(list, &samples[i])
	}
	limits, bad, unknown, example := experiment.Limits(list, g.Limits()), 0, 0, ""
	for _, s := range list {
		u := s.Noise
		if u == nil {
			unknown++
		} else if why := limits.Disturbed(u); why != "" {
			if bad++; bad == 1 {
				example = s.Name + ": " + why
			}
		}
	}
	all := countOf(int64(len(samples)), "trace")
	if bad > 0 {
		a.warn("the machine disturbed %d of %s, which gate check will leave out of the history (%s)", bad, all, example)
	}
	if unknown > 0 {
		a.warn("%d of %s have no environment record, so gate check will leave them out of the history", unknown, all)
	}
}

// commitOfJob returns the commit that a CI job is of, "" if there is none.
func commitOfJob() string { return cmp.Or(os.Getenv("GITHUB_SHA"), os.Getenv("CI_COMMIT_SHA")) }

// changedHere reports whether the pull request or merge request that a CI job is for changes a
// file. It does not know outside of such a job, or without git or a base to compare with.
func changedHere(ctx context.Context, path string) bool {
	base := os.Getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA")
	if ref := os.Getenv("GITHUB_BASE_REF"); ref != "" {
		base = "origin/" + ref + "..." // what has changed since they parted
	}
	if base == "" {
		return false
	}
	cmd := exec.CommandContext(ctx, "git", "diff", "--quiet", base, "--", filepath.Base(path))
	cmd.Dir = filepath.Dir(path)
	var exit *exec.ExitError
	return errors.As(cmd.Run(), &exit) && exit.ExitCode() == 1
}
