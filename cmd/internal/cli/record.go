package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/cmd/internal/recorder"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// traceFlags are the flags of record.
type traceFlags struct {
	recorder.RunOptions // of a command, of which an address has some
	output              string
	noSamples           bool
}

func newRecord(a *app) *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use:   "record [-o trace.out] [-d 5s] http://HOST:PORT | -- COMMAND ARGUMENTS...",
		Short: "Record a trace of a program or a live server",
		Long: `A COMMAND runs with the standard streams of this one and is recorded from its start.
The trace comes from
  {trace}            in the arguments: replaced by the file to write
  -test.trace        added after the Go test binary (NAME.test, made by go test -c) that
                     the command is or runs, as in 'nice ./x.test'
  SCHEDSCOPE_TRACE   in the environment: all other programs. Those that begin with
                         defer capture.FromEnv().Stop()
                     of package analyze/capture write it, as do tests with package
                     analyze/gate/schedtest
Programs of the last kind are recorded for -d and then interrupted (SIGINT; after another
10 s they are killed), unless --wait lets them run on. The recording ends earlier if the
program does. Test binaries, and all programs with {trace}, are recorded until they end; -d,
if given, interrupts them. If a program is interrupted or crashes before it ends its trace,
the last second of the trace is lost and the rest is kept. This applies to test binaries that
-d interrupts: make -d one second longer, or let them end (-test.run). The trace also records
what the process and the machine did, or FILE.env.json next to it does.

The trace has CPU samples, which name the lines that kept others waiting (schedscope help
metrics says what they cost). They come from a CPU profile that runs during the recording
and is discarded (-test.cpuprofile, SCHEDSCOPE_TRACE_SAMPLES for package capture,
/debug/pprof/profile of a server). A program can run only one CPU profile: use --no-samples
for a program that takes its own. If one runs already, the trace has its samples. With
{trace}, the program decides.

From an address without a path, net/http/pprof records for -d (/debug/pprof/trace). An
address with a path is fetched as it is; -d, if given, becomes its parameter seconds. The
handler of package capture, asked without seconds, returns the recent past. net/http/pprof
does not record what the machine did, so schedscope gate judges such traces by absolute
limits only. To record traces for comparison, use schedscope gate record or package schedtest.

The first ^C ends the recording and keeps what was recorded. The file appears when it is
complete. The exit code is that of the program, unless this command ended it.`,
		Example: `  schedscope record -- ./server -addr :8080
  schedscope record -o test.trace -- ./shop.test -test.run TestCheckout
  schedscope record -d 30s --wait -- ./batch
  schedscope record -d 10s -o server.trace http://localhost:6060
  schedscope record http://localhost:6060/debug/schedscope`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              runs(a.record, &f),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "trace.out", "write the trace to `FILE`")
	flags.DurationVarP(&f.Length, "duration", "d", source.DefaultSeconds*time.Second, "record for `TIME`")
	flags.BoolVar(&f.Wait, "wait", false, "let the program run on after the recording, and wait for it to end")
	flags.BoolVar(&f.noSamples, "no-samples", false, "take no CPU samples: the report then cannot name the lines that kept others waiting")
	return cmd
}

// record records a command, which begins after --, or from an address.
func (a *app) record(cmd *cobra.Command, f *traceFlags, args []string) error {
	f.HasLength = cmd.Flags().Changed("duration")
	switch dash := cmd.ArgsLenAtDash(); {
	case f.Length <= 0:
		return usagef("", "-d %v: want more than 0", f.Length)
	case len(args) == 0:
		return usagef("schedscope record -- ./program, or schedscope record http://HOST:PORT", "nothing to record")
	case dash > 0:
		return usagef("put -- before the command and its arguments", "unexpected argument %q", source.Redact(args[0]))
	case dash == 0:
		return a.recordProgram(cmd.Context(), f, args)
	case len(args) > 1:
		return usagef("put -- before a command: schedscope record -- "+recorder.Quote(args), "unexpected argument %q", source.Redact(args[1]))
	case f.Wait:
		return usagef("", "--wait is for programs that record runs")
	}
	refs, _, err := source.Expand(args)
	if err != nil || len(refs) != 1 || refs[0].Kind != source.URL {
		return usagef("put -- before a command: schedscope record -- "+recorder.Quote(args), "%s is not an address (http://HOST:PORT)", source.Redact(args[0]))
	}
	return a.recordURL(cmd.Context(), f, refs[0])
}

// recordURL records a live server.
func (a *app) recordURL(ctx context.Context, f *traceFlags, ref source.Ref) error {
	if err := a.checkOutput(f.output, true, nil); err != nil {
		return err
	}
	in, err := a.openWith(ctx, ref, source.Options{HTTP: source.HTTPOptions{Length: f.Length, Always: f.HasLength, NoSave: true, Samples: !f.noSamples}})
	if err != nil {
		return err
	}
	defer in.Close()
	a.patient.Store(true) // what was recorded is kept
	switch err := in.Unsampled; {
	case err != nil && strings.Contains(err.Error(), "already in use"):
		a.note("the trace has the samples of a CPU profile that runs in that program already")
	case err != nil:
		a.note("the trace has no CPU samples: %v", err)
	}
	if err := a.unpack(in); err != nil {
		return err
	}
	at, size := in.ReaderAt()
	x, err := recorder.Index(at, size) // while what -o names is still there
	switch {
	case err != nil && errors.Is(in.Cause, context.Canceled):
		a.say("interrupted before a part of the trace was complete; nothing was written")
		return &exitError{code: exitInterrupted, silent: true}
	case err != nil:
		return unreadable(in.Name, err)
	}
	err = a.write(f.output, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
	if err != nil || f.output == "-" {
		return err
	}
	os.Remove(env.NextTo(f.output)) // of an earlier recording
	a.conclude(f.output, x, size)
	return nil
}

// conclude says what was recorded, and what to do with it.
func (a *app) conclude(path string, x *ingest.Index, size int64) {
	var complete model.Duration // up to the end of the last complete part
	for i := range x.Generations {
		if g := &x.Generations[i]; g.Complete {
			complete = max(complete, g.Last.Sub(x.Start()))
		}
	}
	if x.Damage != nil {
		why := textui.If(recorder.DiskFull(filepath.Dir(path)), ": no space left on device")
		a.warn("%s: the last part of the trace is not complete%s; what is before it can be read: %s", path, why, textui.Duration(complete))
	}
	length := textui.Either(len(x.Generations) > 0, textui.Duration(complete), "?")
	a.note("recorded %s: %s, %s", path, length, textui.Bytes(size))
	a.note("next: schedscope analyze %s", textui.ShellWord(path))
}

// unreadable says that nothing in a trace can be read.
func unreadable(name string, err error) error {
	return &source.Error{Doing: "reading " + name, Err: err, Hint: "record for longer: a trace can be read in parts of about a second, each only when it is complete"}
}

// recordProgram runs a command and keeps the trace that it writes.
func (a *app) recordProgram(ctx context.Context, f *traceFlags, command []string) error {
	if f.output == "-" {
		return usagef("name a file: stdout is the program's", "-o - cannot be used with a command")
	}
	if err := a.checkOutput(f.output, true, nil); err != nil {
		return err
	}
	target, err := atomicfile.Resolve(f.output)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return usagef("name a file", "-o %s is not a regular file", f.output)
	}
	a.patient.Store(true)
	f.Command, f.Target, f.Samples, f.Log = command, target, !f.noSamples, a.recorderLog()
	f.Stdin, f.Stdout, f.Stderr, f.Terminal = a.stdin, a.stdout, a.stderr, isTerminal(a.stdin)
	code, aborted, err := recorder.Run(ctx, f.RunOptions)
	switch {
	case err != nil && code != 0:
		if e, ok := errors.AsType[*source.Error](err); ok {
			err = e.Err
		}
		a.say("%v; it ended with exit code %d", err, code)
		return &exitError{code: code, silent: true}
	case err != nil && aborted:
		return &exitError{code: exitInterrupted, err: err}
	case err != nil:
		return err
	}
	x, size, err := recorder.IndexFile(f.output)
	if err != nil {
		return unreadable(f.output, err)
	}
	a.conclude(f.output, x, size)
	if code != 0 {
		a.say("the program ended with exit code %d", code)
		return &exitError{code: code, silent: true}
	}
	return nil
}

func (a *app) recorderLog() recorder.Log {
	return recorder.Log{Warn: a.warn, Note: a.note, Detail: a.detail, Hint: a.hint}
}
