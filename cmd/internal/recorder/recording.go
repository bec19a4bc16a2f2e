package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
)

// recording is a trace that has no name of its own yet. A nil one is none.
type recording struct {
	temp  string
	clear func() // removes its folder
	size  int64
	run   env.Run
	noise env.Noise // what else the machine did meanwhile
}

// drop removes a recording that nobody wants.
func (r *recording) drop() {
	if r != nil {
		r.clear()
	}
}

// keep gives the recording its name, after its environment record has one: a trace is
// never there without.
func (r *recording) keep(path string) error {
	if err := env.WriteRun(path, &r.run); err != nil {
		return err
	}
	if err := os.Rename(r.temp, path); err != nil {
		os.Remove(env.NextTo(path))
		return fmt.Errorf("writing %s: %w", path, cause(err))
	}
	return nil
}

// recordOnce runs a program and returns what it recorded, in a file next to where it
// will be.
func recordOnce(ctx context.Context, o *Options, s Side) (*recording, error) {
	dir := filepath.Join(o.Dir, string(s.side))
	folder, clear, err := atomicfile.Folder(filepath.Join(dir, "recording"), 0o700)
	if err == nil {
		folder, err = filepath.Abs(folder) // the program may run elsewhere
	}
	if err != nil {
		return nil, fmt.Errorf("writing to %s: %w", dir, cause(err))
	}
	r := &recording{temp: filepath.Join(folder, "trace"), clear: clear}
	if err := r.record(ctx, o, s); err != nil {
		r.drop()
		return nil, fmt.Errorf("recording %s: %w", filepath.Base(s.binary()), err)
	}
	return r, nil
}

// environ returns the environment of a side's program. The commit that a CI system names is
// the candidate's: a base that takes it into its records would seem to be of it, too.
func environ(side interleave.Side) []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return side == interleave.Base && (strings.HasPrefix(v, "GITHUB_SHA=") || strings.HasPrefix(v, "CI_COMMIT_SHA="))
	})
}

func (r *recording) record(ctx context.Context, o *Options, s Side) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("it did not end within %v", o.Timeout))
	defer cancel()
	args, vars, sampled := s.traceArgs(r.temp, o.Samples)
	var out tail
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(environ(s.side), vars...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	prepareChild(cmd)
	err := r.watch(cmd, s.binary(), o.Canary)
	r.run.Begin.Samples, r.run.End.Samples = sampled, sampled
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = r.check(ctx, out.String())
	}
	if said := strings.TrimRight(out.String(), "\n"); err != nil && said != "" {
		err = fmt.Errorf("%w; it wrote:\n%s", err, said)
	}
	if err != nil {
		err = fmt.Errorf("%w\nthe command was: %s", err, Quote(slices.Concat(vars, args)))
	}
	return err
}

// watch runs the child and takes the environment before and after.
func (r *recording) watch(cmd *exec.Cmd, binary string, canary bool) error {
	work := int64(0)
	if canary {
		work = env.Canary()
	}
	begin := env.Take(env.Begin)
	begin.CanaryNS = work
	if err := cmd.Start(); err != nil {
		return cause(err)
	}
	w := env.Watch(cmd.Process.Pid)
	err := cmd.Wait()
	delay := w.Stop()
	end := env.Take(env.End)
	if err != nil {
		return err
	}
	if canary {
		end.CanaryNS = env.Canary()
	}
	r.run = env.FromChild(begin, end, env.Child{State: cmd.ProcessState, Binary: binary, Env: cmd.Env, DelayNS: delay})
	return nil
}

// check refuses what gate check could not use, while it can still be made again. Out is
// what the program printed.
func (r *recording) check(ctx context.Context, out string) error {
	if strings.Contains(out, "testing: warning: no tests to run") {
		return errors.New("no test has the name that -test.run asks for")
	}
	size, err := checkTrace(r.temp)
	var not *source.Guess
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it wrote no trace (gate record --help says where it must)")
	case errors.As(err, &not):
		return fmt.Errorf("what it wrote is not a Go execution trace: it seems to be %s", not.Seems)
	case err != nil:
		return fmt.Errorf("reading its trace: %w", err)
	}
	r.size = size
	return r.read(ctx)
}

// checkTrace returns the size of a trace, and an error, a [*source.Guess], if the file does not
// begin as one. A program may leave anything in its place: to open a pipe might wait for ever, and
// a link may lead to what others must not see.
func checkTrace(path string) (int64, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return 0, &source.Guess{Seems: "not a regular file"}
	}
	f, err := savedfile.Open(path, false)
	if err != nil {
		return 0, cause(err)
	}
	defer f.Close()
	prefix := make([]byte, source.SniffLen)
	n, err := f.ReadAt(prefix, 0)
	if err != nil && err != io.EOF {
		return 0, cause(err)
	}
	if g := source.Sniff(prefix[:n]); g.Format != source.Trace {
		return int64(n), g
	}
	return info.Size(), nil
}

// maxRead is the size of a trace beyond which reading it would take longer than
// recording it.
const maxRead = 64 << 20

// read refuses a trace that has lost something, and finds out what disturbed it: better
// by the records in it, of the window alone, than by that of the whole process.
func (r *recording) read(ctx context.Context) error {
	r.noise = r.run.Usage(0).Noise
	if r.size > maxRead {
		return nil
	}
	f, err := savedfile.Open(r.temp, false)
	if err != nil {
		return fmt.Errorf("reading its trace: %w", cause(err))
	}
	defer f.Close()
	s, err := sample.Read(ctx, f, r.size, sample.Input{Name: "trace", Env: &r.run}, &sample.Spec{}, sample.Options{})
	if err != nil {
		return fmt.Errorf("reading its trace: %w", err)
	}
	if !s.Whole {
		return fmt.Errorf("its trace is not whole: %s", s.Loss)
	}
	if n := s.Noise; n != nil {
		r.noise = *n
	}
	return nil
}

// tail keeps the last part of what is written to it. It does not embed the buffer, whose
// ReadFrom would be called instead of Write.
type tail struct{ kept bytes.Buffer }

const maxTail = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept.Write(p)
	if over := t.kept.Len() - maxTail; over > maxTail {
		t.kept.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string { return t.kept.String() }
