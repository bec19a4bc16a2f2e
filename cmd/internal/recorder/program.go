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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/schedscope/schedscope/analyze/capture"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/atomicfile"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model/ingest"
)

const (
	lookEvery = 20 * time.Millisecond
	// startTime is how long a program may take to begin its recording, and to end it.
	startTime = 10 * time.Second
	endTime   = 10 * time.Second // from an interrupt to the end
	leaveTime = 200 * time.Millisecond
)

// asideTime is how long it may take to end a recording that ^C cuts short, and then
// itself if ^C reached it, too.
var asideTime = 5 * time.Second

// program is a program that is being recorded.
type program struct {
	o       RunOptions
	side    Side
	own     bool // it ends the recording itself, if it heeds the variables
	length  time.Duration
	wait    bool
	folder  string // of its own, where nobody else puts a file or a link
	temp    string // in there, where it writes its trace
	pid     int    // of the process that uses package capture; 0: none was seen
	run     env.Run
	stage   stage
	later   <-chan time.Time // when the next stage begins
	aborted bool             // ^C ended the recording
}

// stage is how far ending a program has come.
type stage int

const (
	running     stage = iota
	asked             // to end its recording
	interrupted       // to end itself
	killed
)

// RunOptions configures Run.
type RunOptions struct {
	Command   []string
	Target    string // the file that the trace goes to
	Length    time.Duration
	HasLength bool // Length counts for programs that do not end their recording themselves, too
	Samples   bool // with CPU samples, from programs that this can be asked of
	Wait      bool // let the program run on when the recording is over
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	Terminal  bool // Stdin is one: ^C reaches the program, too
	Log       Log
}

// Run runs a command and keeps the trace that it writes. It returns the command's exit code,
// also with an error, and whether ctx ended the recording.
func Run(ctx context.Context, o RunOptions) (code int, aborted bool, err error) {
	p := &program{o: o, wait: o.Wait}
	if p.side, err = NewSide(interleave.Single, o.Command, ""); err != nil {
		return 0, false, err
	}
	var remove func()
	if p.folder, remove, err = atomicfile.Folder(o.Target, 0o700); err != nil {
		return 0, false, fmt.Errorf("writing to %s: %w", filepath.Dir(o.Target), cause(err))
	}
	defer remove()
	p.temp = filepath.Join(p.folder, "trace")
	_, vars, _ := p.side.traceArgs(p.temp, false)
	p.own = len(vars) > 0
	if p.own || o.HasLength {
		p.length = o.Length
	}
	code, err = p.record(ctx)
	if err == nil {
		err = p.collect()
	}
	if err == nil {
		err = p.keep(o.Target)
	}
	return code, p.aborted, err
}

// record runs the program until it ends, and returns its exit code: 0 if this program
// ended it.
func (p *program) record(ctx context.Context) (int, error) {
	args, vars, sampled := p.side.traceArgs(p.temp, p.o.Samples)
	if p.own {
		vars = append(vars, capture.DurationVariable+"="+p.length.String())
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), vars...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.o.Stdin, p.o.Stdout, p.o.Stderr
	cmd.WaitDelay = asideTime
	begin := env.Take(env.Begin)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("running %s: %w", args[0], cause(err))
	}
	w := env.Watch(cmd.Process.Pid)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	err := p.follow(ctx, cmd.Process, done)
	delay := w.Stop()
	p.run = env.FromChild(begin, env.Take(env.End), env.Child{State: cmd.ProcessState, Binary: p.side.binary(), Env: cmd.Env, DelayNS: delay})
	p.run.Begin.Samples, p.run.End.Samples = sampled, sampled
	var exit *exec.ExitError
	switch {
	case p.stage > asked || p.aborted:
		return 0, nil
	case errors.As(err, &exit):
		if code := exit.ExitCode(); code >= 0 {
			return code, nil
		}
		return 128 + signalOf(exit.ProcessState), nil // as shells do
	case errors.Is(err, exec.ErrWaitDelay):
		return 0, nil // something that it started still has its streams
	}
	return 0, err
}

// follow waits for the program's end, and brings it about when the recording is over.
func (p *program) follow(ctx context.Context, process *os.Process, done <-chan error) error {
	every := lookEvery
	if p.own { // or a short recording would be over before it was seen
		every = min(max(p.length/8, time.Millisecond), lookEvery)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	began := time.Now()
	limit := p.limit()
	stop := ctx.Done()
	for {
		select {
		case err := <-done:
			p.look()
			return err
		case <-tick.C:
			if p.look() { // it has begun just now
				limit = p.limit()
			}
			switch complete := p.complete() && !p.wait; {
			case complete && p.stage == asked && p.aborted && !p.o.Terminal:
				p.next(process) // the signal reached this program alone
			case complete && p.stage == running:
				grace := textui.Either(time.Since(began) < p.length, endTime, leaveTime) // endTime: it has ended the recording itself, and will end
				p.stage, p.later = asked, time.After(grace)
			}
		case <-limit:
			p.next(process)
		case <-p.later:
			p.next(process)
		case <-stop:
			stop, p.aborted, p.wait = nil, true, false
			p.look()
			p.abort(process)
		}
	}
}

// limit returns when the recording must be over that begins now; nil: at any time.
func (p *program) limit() <-chan time.Time {
	switch {
	case p.length == 0 || p.wait:
		return nil
	case p.own:
		return time.After(p.length + startTime)
	}
	return time.After(p.length)
}

// look finds out whether the program has begun to record by package capture, and reports
// whether that is news.
func (p *program) look() bool {
	if p.pid != 0 {
		return false
	}
	names := p.parts()
	if len(names) == 0 {
		return false
	}
	p.pid, _ = strconv.Atoi(strings.TrimPrefix(names[0], filepath.Base(p.temp)+capture.PartSuffix))
	return p.pid != 0
}

// parts returns the names of the files of recordings that go on.
func (p *program) parts() []string {
	names, _ := fs.Glob(os.DirFS(p.folder), filepath.Base(p.temp)+capture.PartSuffix+"*")
	return names
}

// complete reports whether the recording of package capture is.
func (p *program) complete() bool { return p.pid != 0 && p.written() }

func (p *program) written() bool { _, err := os.Lstat(p.temp); return err == nil }

// abort ends the recording early. ^C on a terminal reached the program, too: a second
// one soon after might end it before it is ready.
func (p *program) abort(process *os.Process) {
	switch {
	case p.stage != running:
	case p.pid != 0 && !p.complete() && canAsk, p.o.Terminal:
		if p.pid != 0 && p.ours() {
			askStop(p.pid)
		}
		p.stage, p.later = asked, time.After(asideTime)
	default:
		p.next(process)
	}
}

// next begins the next stage of ending the program.
func (p *program) next(process *os.Process) {
	switch p.stage {
	case running, asked:
		p.stage, p.later = interrupted, time.After(endTime)
		p.signal(process, os.Interrupt)
	case interrupted:
		p.stage, p.later = killed, nil
		p.o.Log.Warn("the program did not end within %v of an interrupt: killed", endTime)
		p.signal(process, os.Kill)
	}
}

// signal sends a signal to the program, and if another one runs it, to that, too.
func (p *program) signal(process *os.Process, s os.Signal) {
	if p.pid != 0 && p.pid != process.Pid && p.ours() {
		if inner, err := os.FindProcess(p.pid); err == nil {
			send(inner, s)
		}
	}
	send(process, s)
}

// collect finds the trace that the program has written.
func (p *program) collect() error {
	if names := p.parts(); len(names) > 0 && !p.written() {
		os.Rename(filepath.Join(p.folder, names[0]), p.temp) // an error shows below
	}
	size, err := checkTrace(p.temp)
	if err == nil {
		_, _, err = IndexFile(p.temp)
	}
	var not *source.Guess
	switch {
	case err == nil:
		return nil
	case (size == 0 || !errors.As(err, &not)) && DiskFull(p.folder):
		return p.failed(errors.New("no space left on device: nothing that can be read of the trace had room next to the file to write"),
			"make room, or write elsewhere: -o FILE")
	case errors.As(err, &not):
		return p.failed(fmt.Errorf("what the program wrote is not a Go execution trace: it seems to be %s", not.Seems), "")
	case !errors.Is(err, fs.ErrNotExist):
		return p.failed(fmt.Errorf("reading the trace: %w", err),
			"record for longer, or have the program end its trace: a trace can be read in parts of about a second, each only when it is complete")
	case !p.own:
		return p.failed(errors.New("the program wrote no trace"), "it must write to the file that it is given, and return from main or the tests; tests that begin a CPU profile themselves need --no-samples")
	}
	return p.failed(errors.New("the program wrote no trace"),
		`begin its main with: defer capture.FromEnv().Stop() (import "github.com/schedscope/schedscope/analyze/capture"); if an argument is the file that it writes a trace to, {trace} in its place; for tests: go test -c, then record the binary`)
}

// DiskFull reports whether a folder has no room for more of a trace.
func DiskFull(folder string) bool {
	probe, remove, err := atomicfile.Scratch(filepath.Join(folder, "room"))
	if err == nil {
		defer remove()
		_, err = probe.Write(make([]byte, 64<<10)) // the part in which traces are written
	}
	return errors.Is(err, syscall.ENOSPC)
}

// failed returns an error about the program's trace.
func (p *program) failed(err error, hint string) error {
	return &source.Error{Doing: "recording " + filepath.Base(p.side.binary()), Err: err, Hint: hint}
}

// keep gives the trace its name. Records of the environment are next to it if the program
// did not write them into it.
func (p *program) keep(target string) error {
	noted, err := hasText(p.temp, env.Category)
	if err != nil {
		return fmt.Errorf("reading the trace: %w", cause(err))
	}
	if !noted {
		r := recording{temp: p.temp, run: p.run}
		return r.keep(target)
	}
	if err := os.Rename(p.temp, target); err != nil {
		return fmt.Errorf("writing %s: %w", target, cause(err))
	}
	os.Remove(env.NextTo(target)) // of an earlier recording
	return nil
}

// hasText reports whether a file has a text in it.
func hasText(path, text string) (bool, error) {
	f, err := savedfile.Open(path, false)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for at := int64(0); ; at += int64(len(buf) - len(text)) { // the text may begin in the part before
		n, err := f.ReadAt(buf, at)
		if found := bytes.Contains(buf[:n], []byte(text)); found || err == io.EOF {
			return found, nil
		} else if err != nil {
			return false, err
		}
	}
}

// IndexFile returns the index of a trace in which something can be read, and its size.
func IndexFile(path string) (*ingest.Index, int64, error) {
	f, err := savedfile.Open(path, true)
	if err != nil {
		return nil, 0, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, cause(err)
	}
	x, err := Index(f, info.Size())
	return x, info.Size(), err
}

const headerLen = 16 // of a trace

// Index returns the index of a trace in which something can be read.
func Index(at io.ReaderAt, size int64) (*ingest.Index, error) {
	x, err := ingest.NewIndex(at, size)
	complete := func(g ingest.Generation) bool { return g.Complete }
	if err == nil && size <= headerLen {
		x.Damage = &ingest.Damage{Offset: size, Cause: errors.New("the trace has no events")}
	}
	if err == nil && x.Damage != nil && !slices.ContainsFunc(x.Generations, complete) {
		err = &ingest.EmptyError{Size: x.Size, Version: x.Version, Cause: x.Damage.Cause}
	}
	return x, err
}
