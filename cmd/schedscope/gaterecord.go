package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/interleave"
)

// defaultTimeout is how long a recording may take.
const defaultTimeout = 5 * time.Minute

// recordFlags are the flags of gate record.
type recordFlags struct {
	n                int
	output           string
	base, cand       string
	baseDir, candDir string
	order            string
	seed             uint32
	add              bool
	canary           bool
	timeout          time.Duration
	budget           string
	noisy            bool
}

func newGateRecord(a *app) *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record -o DIR [-base COMMAND] [-cand COMMAND] [-- ARGUMENTS...]",
		Short: "Record traces of two programs in turns, each in a process of its own",
		Long: `Each round runs both commands once, in an order that is drawn, and keeps a trace of
each: DIR/base/01.trace, DIR/cand/01.trace and so on, an environment record beside each,
and the order in DIR/order.json. What disturbs the machine then meets both sides alike.

A COMMAND is a program and its arguments, with quotes as in a shell; what follows -- is
added to both. With one of them only that side is recorded; with none, what follows
-- is the command, and its traces are DIR/01.trace and so on.

The trace comes from
  {trace}              in the arguments: replaced by the file to write
  -test.trace          added, behind the Go test binary (NAME.test) that the command is or
                       runs, as in 'nice ./base.test'
  SCHEDSCOPE_TRACE     in the environment: the file to write, for all other programs
Package analyze/gate/schedtest marks what to measure, and heeds all three.

A recording that fails is made once more, then all ends. One that other programs or the
hypervisor disturbed is made again, too, until twice as many were made as are wanted.
What was recorded stays when ^C or an error ends it; -add goes on.`,
		Example: `  schedscope gate record -n 10 -base ./base.test -cand ./cand.test -o runs -- -test.run TestServe
  schedscope gate record -base './server -pool 8' -cand './server -pool 16' -o runs
  schedscope gate record -n 40 -o runs -- ./server -trace {trace}
  schedscope gate record -n 10 -add -base ./base.test -cand ./cand.test -o runs -- -test.run TestServe`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 0 && len(args) > 0 {
				return usagef("put -- before what is to be run and its arguments", "unexpected argument %q", args[0])
			}
			o, err := f.options(args)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				o.seed = rand.Uint32()
			}
			return a.recordSides(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVarP(&f.n, "rounds", "n", 10, "record `N` rounds: traces per side")
	flags.StringVarP(&f.output, "output", "o", "", "write to this `DIR`, which must be new or empty without -add")
	flags.StringVar(&f.base, "base", "", "the `COMMAND` to compare with")
	flags.StringVar(&f.cand, "cand", "", "the `COMMAND` to judge")
	flags.StringVar(&f.baseDir, "base-dir", "", "run the base in this `DIR`")
	flags.StringVar(&f.candDir, "cand-dir", "", "run the candidate, or the only command, in this `DIR`")
	flags.StringVar(&f.order, "order", string(interleave.Random), "the `ORDER` within rounds: random or abba")
	flags.Uint32Var(&f.seed, "seed", 0, "draw the order from this `NUMBER` (default one that is drawn, too)")
	flags.BoolVar(&f.add, "add", false, "add rounds to those that are there")
	flags.BoolVar(&f.canary, "canary", true, "time a fixed piece of work before and after each recording")
	flags.DurationVar(&f.timeout, "timeout", defaultTimeout, "end a recording that takes longer than this `TIME`")
	flags.StringVar(&f.budget, "budget", "", "take the guards from this `FILE`: what counts as disturbed (default those of a budget without)")
	flags.BoolVar(&f.noisy, "noisy", false, "keep recordings that the machine disturbed, instead of making them again")
	complete(cmd, "order", interleave.Policies)
	return cmd
}

// recordOptions say what to record.
type recordOptions struct {
	dir     string
	n       int
	sides   []recordSide
	policy  interleave.Policy
	seed    uint32
	add     bool
	canary  bool
	timeout time.Duration
	limits  env.Limits // of what counts as disturbed
	noisy   bool       // keep disturbed recordings
	resume  string     // what to do after ^C; "": the recordings will not be there
}

// recordSide is a program to record.
type recordSide struct {
	side    interleave.Side
	command []string
	dir     string // to run it in; "": here
	test    int    // place of the Go test binary in the command, -1 if there is none
}

// options checks the flags and what follows the dashes.
func (f *recordFlags) options(args []string) (recordOptions, error) {
	o := recordOptions{dir: f.output, n: f.n, policy: interleave.Policy(f.order), seed: f.seed, add: f.add,
		canary: f.canary, timeout: f.timeout, limits: env.DefaultLimits, noisy: f.noisy, resume: "the same command with -add goes on"}
	switch {
	case f.output == "":
		return o, usagef("add -o runs", "no folder to write to")
	case f.n < 1 || f.n > interleave.MaxRounds:
		return o, usagef("", "-n %d: want 1 to %d", f.n, interleave.MaxRounds)
	case f.timeout <= 0:
		return o, usagef("", "--timeout %v: want more than 0", f.timeout)
	}
	if err := checkChoice("order", f.order, interleave.Policies); err != nil {
		return o, err
	}
	if f.budget != "" {
		b, err := readBudget(f.budget)
		if err != nil {
			return o, err
		}
		o.limits = b.Guards.Limits()
	}
	sides, err := f.sides(args)
	o.sides = sides
	return o, err
}

// sides returns the programs that the flags name.
func (f *recordFlags) sides(args []string) ([]recordSide, error) {
	if f.base == "" && f.cand == "" {
		if len(args) == 0 {
			return nil, usagef("add -base './a' and -cand './b', or -- and one command", "nothing to record")
		}
		s, err := newRecordSide(interleave.Single, args, f.candDir)
		return []recordSide{s}, err
	}
	var sides []recordSide
	for _, x := range []struct {
		side interleave.Side
		text string
		dir  string
	}{{interleave.Base, f.base, f.baseDir}, {interleave.Cand, f.cand, f.candDir}} {
		if x.text == "" {
			continue
		}
		command, err := splitCommand(x.text)
		if err != nil {
			return nil, usagef("", "-%s %q: %v", x.side, x.text, err)
		}
		s, err := newRecordSide(x.side, append(command, args...), x.dir)
		if err != nil {
			return nil, err
		}
		sides = append(sides, s)
	}
	return sides, nil
}

// newRecordSide finds the program, and the test binary that it runs if it is one such as
// nice, seen from here and not from dir.
func newRecordSide(side interleave.Side, command []string, dir string) (recordSide, error) {
	s := recordSide{side: side, command: slices.Clone(command), dir: dir}
	program, err := lookProgram(command[0])
	if err != nil {
		hint := ""
		if _, e := os.Stat(command[0]); e == nil && !strings.ContainsRune(command[0], filepath.Separator) {
			hint = "write ." + string(filepath.Separator) + command[0]
		}
		return s, usagef(hint, "running %s: %v", command[0], lookupCause(err))
	}
	s.command[0] = program
	s.findTest()
	if dir != "" && !isDir(dir) {
		return s, usagef("", "running %s: no directory %s", command[0], dir)
	}
	for _, arg := range command[s.test+1:] {
		if name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); s.test >= 0 && strings.HasPrefix(arg, "-") && name == "test.trace" {
			return s, usagef("leave it out: it is added", "-test.trace is among the arguments")
		}
	}
	return s, nil
}

// lookProgram returns where a program is.
func lookProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// findTest looks for the test binary: the program itself, or else the first argument that is
// a program and has the name of one, as in nice -n 5 ./a.test.
func (s *recordSide) findTest() {
	s.test = -1
	for i, arg := range s.command {
		if !isTestBinary(arg) {
			continue
		}
		if program, err := lookProgram(arg); err == nil {
			s.command[i], s.test = program, i
			return
		}
	}
}

// lookupCause strips what exec puts before an error and the message says already.
func lookupCause(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return cause(err)
}

// splitCommand splits a command line at blanks. Quotes of both kinds hold blanks, and a
// backslash takes the meaning from a blank, a quote or another one; elsewhere it is one of
// a path. What is the name of a file is not split.
func splitCommand(text string) ([]string, error) {
	if info, err := os.Stat(text); err == nil && !info.IsDir() {
		return []string{text}, nil
	}
	var words []string
	var word strings.Builder
	inWord := false
	quote := rune(0)
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\\' && quote != '\'' && i+1 < len(runes) && strings.ContainsRune(" \t'\"\\", runes[i+1]):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("no program")
	}
	return words, nil
}

// recordSides records all rounds. What it has recorded stays whatever ends it.
func (a *app) recordSides(ctx context.Context, o recordOptions) error {
	// The program being recorded would outlive this one.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	s, err := newSession(a, o)
	if err != nil {
		return err
	}
	err = s.run(ctx)
	s.tidy()
	switch {
	case ctx.Err() != nil && o.resume == "":
		return &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	case ctx.Err() != nil:
		a.say("interrupted; %s has %s of this call", o.dir, countOf(int64(s.recorded), "recording"))
		if s.recorded > 0 {
			a.hint("%s", o.resume)
		}
		return &exitError{code: exitInterrupted, silent: true}
	case err != nil:
		return err
	}
	s.conclude()
	return nil
}
