package cli

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/cmd/internal/recorder"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
)

// defaultTimeout is how long a recording may take.
const defaultTimeout = 5 * time.Minute

// recordFlags are the flags of gate record.
type recordFlags struct {
	recorder.Options
	base, cand       string
	baseDir, candDir string
	budget           string
}

func newGateRecord(a *app) *cobra.Command {
	f := recordFlags{Options: recorder.Options{Policy: interleave.Random, Limits: env.DefaultLimits, Least: budget.Default().MinTraces}}
	cmd := &cobra.Command{
		Use:   "record -o DIR [--base COMMAND] [--cand COMMAND] [-- ARGUMENTS...]",
		Short: "Record traces of two programs in turns, each in a process of its own",
		Long: `Each round runs both commands once, in an order that is drawn, and keeps a trace of
each: DIR/base/01.trace, DIR/cand/01.trace and so on, an environment record next to each,
and the order in DIR/order.json. A disturbance of the machine then affects both sides alike.

A COMMAND is a program and its arguments, quoted as in a shell; arguments after -- are
added to both. With only one COMMAND, only that side is recorded. With none, the words
after -- are the command, and its traces are DIR/01.trace and so on.

The trace comes from
  {trace}              in the arguments: replaced by the file to write
  -test.trace          added after the Go test binary (NAME.test) that the command is or
                       runs, as in 'nice ./base.test'
  SCHEDSCOPE_TRACE     in the environment: the file to write, for all other programs
Package analyze/gate/schedtest marks what to measure, and supports all three.

CPU samples, which name the lines that kept others waiting, are taken with --samples only:
they cost time that is measured. Traces with and without samples are not comparable.

A recording that fails is repeated once; a second failure ends the command. A recording that
other programs or the hypervisor disturbed is repeated too, up to twice the wanted number in
all. If the first three are disturbed, the command ends with exit code 3.
order.json keeps the command lines as given, with any password in them.
After ^C or an error, the finished recordings stay; --add continues.`,
		Example: `  schedscope gate record -n 10 --base ./base.test --cand ./cand.test -o runs -- -test.run TestServe
  schedscope gate record --base './server -pool 8' --cand './server -pool 16' -o runs
  schedscope gate record -n 40 -o runs -- ./server -trace {trace}
  schedscope gate record -n 10 --add --base ./base.test --cand ./cand.test -o runs -- -test.run TestServe`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 && len(args) > 0 {
				return usagef("put -- before what is to be run and its arguments", "unexpected argument %q", source.Redact(args[0]))
			}
			if err := f.complete(args); err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				f.Seed = rand.Uint32()
			}
			return a.recordSides(cmd.Context(), f.Options)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&f.Rounds, "rounds", "n", 10, "record `N` rounds: traces per side")
	flags.StringVarP(&f.Dir, "output", "o", "", "write to `DIR`, which must be new or empty unless --add is given")
	flags.StringVar(&f.base, "base", "", "the `COMMAND` to compare with")
	flags.StringVar(&f.cand, "cand", "", "the `COMMAND` to judge")
	flags.StringVar(&f.baseDir, "base-dir", "", "run the base in `DIR`")
	flags.StringVar(&f.candDir, "cand-dir", "", "run the candidate, or the only command, in `DIR`")
	flags.StringVar((*string)(&f.Policy), "order", string(f.Policy), "the `ORDER` within rounds: random or abba")
	flags.Uint32Var(&f.Seed, "seed", 0, "seed the order with `NUMBER` (default a random one)")
	flags.BoolVar(&f.Add, "add", false, "add rounds to a directory that has some")
	flags.BoolVar(&f.Canary, "canary", true, "time a fixed piece of work before and after each recording")
	flags.DurationVar(&f.Timeout, "timeout", defaultTimeout, "end a recording that takes longer than this `TIME`")
	flags.StringVar(&f.budget, "budget", "", "read the guards, which define a disturbed recording, from the budget `FILE` (default the built-in guards)")
	flags.BoolVar(&f.Samples, "samples", false, "also take CPU samples, which costs time")
	flags.BoolVar(&f.Noisy, "noisy", false, "keep disturbed recordings instead of recording again")
	complete(cmd, "order", interleave.Policies)
	return cmd
}

// complete checks the flags and what follows the dashes, and sets what they name.
func (f *recordFlags) complete(args []string) (err error) {
	switch {
	case f.Dir == "":
		return usagef("add -o runs", "no folder to write to")
	case f.Rounds < 1 || f.Rounds > interleave.MaxRounds:
		return usagef("", "-n %d: want 1 to %d", f.Rounds, interleave.MaxRounds)
	case f.Timeout <= 0:
		return usagef("", "--timeout %v: want more than 0", f.Timeout)
	}
	if err := checkChoice("order", string(f.Policy), interleave.Policies); err != nil {
		return err
	}
	if f.budget != "" {
		b, err := readBudget(f.budget)
		if err != nil {
			return err
		}
		f.Limits, f.Least = b.Guards.Limits(), b.MinTraces
	}
	f.Sides, err = f.sides(args)
	return err
}

// sides returns the programs that the flags name.
func (f *recordFlags) sides(args []string) ([]recorder.Side, error) {
	if f.base == "" && f.cand == "" {
		if len(args) == 0 {
			return nil, usagef("add --base './a' and --cand './b', or -- and one command", "nothing to record")
		}
		s, err := recorder.NewSide(interleave.Single, args, f.candDir)
		return []recorder.Side{s}, err
	}
	var sides []recorder.Side
	for _, x := range []struct {
		side interleave.Side
		text string
		dir  string
	}{{interleave.Base, f.base, f.baseDir}, {interleave.Cand, f.cand, f.candDir}} {
		if x.text == "" {
			continue
		}
		command, err := recorder.SplitCommand(x.text)
		if err != nil {
			return nil, usagef("", "-%s: %v", x.side, err) // without the command, which may have a password
		}
		s, err := recorder.NewSide(x.side, append(command, args...), x.dir)
		if err != nil {
			return nil, err
		}
		sides = append(sides, s)
	}
	return sides, nil
}

// recordSides records all rounds. What it has recorded stays whatever ends it.
func (a *app) recordSides(ctx context.Context, o recorder.Options) error {
	a.patient.Store(true)
	o.Log = a.recorderLog()
	recorded, err := recorder.Record(ctx, o)
	if errors.As(err, new(recorder.Disturbed)) {
		return &exitError{code: exitUndecided, err: err}
	}
	if err == nil || ctx.Err() == nil {
		return err
	}
	a.say("interrupted; %s has %s of this call", o.Dir, textui.Plural(recorded, "recording"))
	if recorded > 0 {
		a.hint("the same command with --add goes on")
	}
	return &exitError{code: exitInterrupted, silent: true}
}
