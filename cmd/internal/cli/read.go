package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/single"
	"github.com/schedscope/schedscope/internal/interleave"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/session"
)

// readFlags are the flags of all commands that decode traces.
type readFlags struct {
	from, to time.Duration
	clock    string
	workers  int
	seconds  int
	noSave   bool
}

var clocks = []string{"raw", "reader"}

func (f *readFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.from, "from", 0, "skip the first `TIME` of the trace, such as 1.5s")
	flags.DurationVar(&f.to, "to", 0, "stop at `TIME` from the start of the trace (default the end)")
	f.registerSource(cmd)
	flags.StringVar(&f.clock, "clock", "raw", "use this `CLOCK`: raw, the times as recorded, or reader, the times as golang.org/x/exp/trace and go tool trace adjust them")
	complete(cmd, "clock", clocks)
}

// registerSource adds the flags of commands that read whole traces.
func (f *readFlags) registerSource(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.seconds, "seconds", source.DefaultSeconds, "record `N` seconds from an http:// address")
	flags.BoolVar(&f.noSave, "no-save", false, "do not save the trace fetched from an http:// address (by default it is saved in the current directory)")
	flags.IntVarP(&f.workers, "jobs", "j", 0, "decode `N` traces, or parts of one, in parallel (default one per processor)")
	f.workers = runtime.GOMAXPROCS(0) // not as the default, which help shows
}

func (f *readFlags) check() error {
	return cmp.Or(f.checkWindow(), f.checkRecording(), checkChoice("clock", f.clock, clocks))
}

func (f *readFlags) checkWindow() error {
	switch {
	case f.from < 0 || f.to < 0:
		return usagef("times count from the start of the trace", "--from and --to must not be negative")
	case f.to > 0 && f.to <= f.from:
		return usagef("", "--to %v is not after --from %v", f.to, f.from)
	}
	return nil
}

func (f *readFlags) checkRecording() error {
	switch {
	case f.workers < 1:
		return usagef("leave it out for one per processor", "-j %d: want at least 1", f.workers)
	case f.seconds < 1:
		return usagef("", "--seconds %d: want at least 1", f.seconds)
	}
	return nil
}

func (f *readFlags) ingestOptions() ingest.Options {
	o := ingest.Options{Workers: f.workers, From: model.Duration(f.from), To: model.Duration(f.to)}
	if f.clock == "reader" {
		o.Clock = ingest.ClockReader
	}
	return o
}

func (f *readFlags) windowed() bool { return f.from > 0 || f.to > 0 }

// expand finds the traces that operands name. It says what it skips.
func (a *app) expand(operands []string) ([]source.Ref, error) {
	if len(operands) == 0 {
		return nil, usagef("give a trace file, a directory, a quoted pattern, - for stdin or http://HOST:PORT", "no trace given")
	}
	refs, skipped, err := source.Expand(operands)
	a.leftOut(skipped)
	return refs, err
}

// leftOut says which files are not read: what lies in a directory and is not a trace, each by
// itself if it has the name of one, which is then damaged, empty or none, and what is named
// twice. Files that recorders write next to traces go without saying.
func (a *app) leftOut(list []source.Skipped) {
	var others []string
	for _, s := range list {
		switch text := fmt.Sprintf("%s: %s", s.Path, s.Why); {
		case s.Why == source.NamedTwice:
			a.warn("%s is named twice: it is read once", s.Path)
		case strings.HasSuffix(s.Path, ".trace"):
			a.warn("%s: not read: %s", s.Path, s.Why)
		case nextToTraces(s.Path):
			a.detail("skipped %s", text)
		default:
			others = append(others, text)
		}
	}
	const shown = 3
	if n := len(others) - shown; n > 0 {
		others = append(others[:shown], fmt.Sprintf("and %d more", n))
	}
	if len(others) > 0 {
		a.warn("not read: %s", strings.Join(others, "; "))
	}
}

// nextToTraces reports whether a path is what a folder may hold next to traces: a folder, or
// what recorders write.
func nextToTraces(path string) bool {
	return isDir(path) || strings.HasSuffix(path, env.NextTo("")) || filepath.Base(path) == interleave.OrderFile
}

// input is an open trace.
type input = single.Input

// open opens one trace and says where a fetched one went.
func (a *app) open(ctx context.Context, ref source.Ref, f *readFlags) (*input, error) {
	return a.openAs(ctx, ref, f, false)
}

// openAs is open for a trace, or for JSON too.
func (a *app) openAs(ctx context.Context, ref source.Ref, f *readFlags, json bool) (*input, error) {
	length := time.Duration(f.seconds) * time.Second
	return a.openWith(ctx, ref, source.Options{Stdin: a.stdin, JSON: json, HTTP: source.HTTPOptions{Length: length, NoSave: f.noSave, Now: time.Now}})
}

func (a *app) openWith(ctx context.Context, ref source.Ref, o source.Options) (*input, error) {
	if ref.Kind == source.URL {
		a.patient.Store(true)
		a.note("recording %s", ref.Name)
		a.progress.begin()
		o.HTTP.Progress = func(n int64) { a.progress.update("recording", n, 0) }
	}
	if ref.Kind == source.Stdin && isTerminal(a.stdin) {
		return nil, usagef("pipe a trace into it: cat trace.out | schedscope -", "stdin is a terminal")
	}
	in, err := source.Open(ctx, ref, o)
	a.progress.clear()
	if ref.Kind == source.URL {
		a.patient.Store(err == nil && in.Interrupted && ctx.Err() != nil)
	}
	if err != nil {
		return nil, err
	}
	if a.event != nil {
		a.event()
	}
	if ctx.Err() != nil && !a.patient.Load() {
		in.Close()
		return nil, &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	}
	if in.Saved != "" {
		a.note("saved %s (%s)", in.Saved, textui.Bytes(in.StoredSize()))
	}
	if in.Interrupted {
		a.warn("%s: recording ended early: %s", in.Name, in.EndedBy())
	}
	return single.New(in), nil
}

// openAgain opens a trace of which parts can be read again and again, or JSON, too. What does not come
// from a plain file is kept in a temporary one, up to where it is damaged.
func (a *app) openAgain(ctx context.Context, ref source.Ref, f *readFlags, json bool) (*input, error) {
	in, err := a.openAs(ctx, ref, f, json)
	if err != nil || in.JSON {
		return in, err
	}
	if err := a.unpack(in); err != nil {
		in.Close()
		return nil, err
	}
	return single.New(in.Input), nil
}

// unpack makes the data of an input readable again and again, up to where it is damaged.
func (a *app) unpack(in *input) error {
	damage, err := in.Unpack()
	if damage != nil {
		a.warn("%s: %v; what is before it is used", in.Name, damage)
	}
	return err
}

// reading is a trace while it is read, with what messages say about it.
type reading struct {
	*single.Reading
	app *app
	in  *input
}

// newReading starts reading an open trace.
func (a *app) newReading(in *input, o ingest.Options) (*reading, error) {
	s, err := in.Begin(o)
	if err != nil {
		return nil, describeEmpty(in, err)
	}
	return a.describe(s, in), nil
}

func (a *app) describe(s *single.Reading, in *input) *reading {
	rd := &reading{s, a, in}
	if a.event != nil {
		s.Before = func(*model.Event) { a.event() }
	}
	s.Progress = func() {
		if a.progress.due(time.Now()) {
			done, total, steady := rd.work()
			a.progress.bytes(in.Name, done, total, steady)
		}
	}
	return rd
}

// work returns how many of the stored bytes of the trace, or of its window, are done, and
// whether two generations are, so that the rest can be expected to take as long. Reading runs
// ahead of the work and slows down when it is full: done is what the model has come to. Of
// compressed traces and pipes, only what was read is known: done is that part of it.
func (rd *reading) work() (done, total int64, steady bool) {
	done, total = rd.in.Progress()
	if at, _ := rd.in.ReaderAt(); at != nil {
		done = total
	}
	now, through := rd.Machine.Now(), 0
	var worked, all float64
	for _, g := range rd.Index().Generations {
		if g.Last < rd.Start || rd.End > rd.Start && g.First > rd.End {
			continue
		}
		part := min(max(float64(now.Sub(g.First))/float64(g.Last.Sub(g.First)+1), 0), 1)
		worked, all = worked+part*float64(g.Length), all+float64(g.Length)
		if now >= g.Last {
			through++
		}
	}
	if all > 0 {
		done = int64(float64(done) * worked / all)
	}
	return done, total, through >= 2
}

// eachTrace reads traces one after another with do, as readOpen does, and hands what it makes of each to take, with
// its description. One that cannot be read is reported and skipped as long as another can.
func eachTrace[T any](ctx context.Context, a *app, refs []source.Ref, f *readFlags, do func(context.Context, *reading) (T, error), take func(*reading, result.Trace, T)) ([]result.Skipped, error) {
	type made struct {
		value T
		rd    *reading
		trace result.Trace
	}
	return several(ctx, a, refs, 1, func(ctx context.Context, a *app, i int) (m made, err error) {
		in, err := a.open(ctx, refs[i], f)
		if err != nil {
			return m, err
		}
		defer in.Close()
		if m.value, m.rd, err = readOpen(ctx, a, in, f, do); err == nil {
			m.trace = m.rd.Describe()
			m.rd.warnAbout(&m.trace)
		}
		return m, err
	}, func(_ int, m made) error {
		take(m.rd, m.trace, m.value)
		return nil
	})
}

// readOpen reads an open trace with do, which runs the reading and returns what it makes
// of it. Of a damaged trace do is called again, if possible, for the part of which
// nothing is missing.
func readOpen[T any](ctx context.Context, a *app, in *input, f *readFlags, do func(context.Context, *reading) (T, error)) (T, *reading, error) {
	type made struct {
		value T
		rd    *reading
	}
	ctx = a.working(ctx)
	m, _, err := single.Read(in, f.ingestOptions(), func(s *single.Reading) (made, error) {
		rd := a.describe(s, in)
		value, err := do(ctx, rd)
		return made{value, rd}, err
	})
	if err != nil {
		err = describeEmpty(in, err)
	}
	return m.value, m.rd, err
}

// working returns the context of the work on an open trace: if ^C has ended its recording, it does
// not end the work.
func (a *app) working(ctx context.Context) context.Context {
	return textui.Either(a.patient.Load(), context.WithoutCancel(ctx), ctx)
}

// errWindowEmpty says that --from is beyond the trace.
var errWindowEmpty = usagef("times count from the start of the trace", "no event in the window of --from and --to")

// run feeds all events to the model, see [session.Reading.Run].
func (rd *reading) run(ctx context.Context, begin func(), each func(*model.Event)) error {
	rd.app.progress.begin()
	defer rd.app.progress.clear()
	err := rd.Run(ctx, begin, each)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, session.ErrNoEvent):
		return fmt.Errorf("reading %s: %w: the trace is %s long", rd.in.Name, errWindowEmpty, textui.Duration(rd.TraceEnd().Sub(rd.Origin)))
	case errors.As(context.Cause(ctx), new(*outputError)):
		return context.Cause(ctx)
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	}
	return describeEmpty(rd.in, err)
}

// warnAbout says on stderr what reports say in their notes, and what is in doubt.
func (rd *reading) warnAbout(t *result.Trace) {
	a := rd.app
	if d := rd.Doubt(); d != "" {
		a.note("%s: %s", t.Name, d)
	}
	if t.Loss != nil && t.EndedEarly == "" {
		a.warn("%s: %s", t.Name, t.Loss)
	}
	if t.Inconsistent > 0 {
		a.warn("%s: %s contradict what was before, the first: %s", t.Name, textui.Plural(t.Inconsistent, "event"), t.FirstInconsistency)
	}
}

// describeEmpty puts the trace's name before an error of reading it, unless it
// is there already, or the error is not about the trace.
func describeEmpty(in *input, err error) error {
	if errors.As(err, new(*exitError)) || errors.Is(err, errWindowEmpty) {
		return err
	}
	return in.Explain(err)
}

// An analysis is to take at most memoryPerByte bytes for each byte of a trace file, and
// memoryFixed: near that, garbage is collected more often. Below memoryFloor that costs more time
// than the memory is worth: what is alive may take more than its share, and then garbage is
// collected without end.
//
// Until the heap first takes memoryFirst, nothing is collected: a small trace needs less in all, and spends a fifth
// of its time with collections otherwise. Then garbage may take half of what is alive, which is gone through in a moment,
// if that is of one trace so far, else as much.
const memoryPerByte, memoryFixed, memoryFloor, memoryFirst = 20, 20 << 20, 512 << 20, 32 << 20

// memory is what is allowed, for all files.
var memory struct {
	sync.Mutex
	allowed int64
	traces  int
	first   bool // nothing was collected yet
}

// collectLate defers the first collection, unless the environment says when to collect.
func collectLate() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	percent := debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryFirst)
	memory.first = true
	runtime.AddCleanup(new([64]byte), func(percent int) { // by the first collection
		memory.Lock()
		defer memory.Unlock()
		memory.first = false
		setMemoryLimit()
		if memory.traces == 1 {
			percent /= 2
		}
		debug.SetGCPercent(percent)
	}, percent)
}

// limitMemory allows the memory that the analysis of the trace is to take, unless the environment
// says how much.
func (rd *reading) limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	memory.Lock()
	defer memory.Unlock()
	memory.traces++
	if memory.allowed += memoryPerByte * rd.Index().Size; !memory.first {
		setMemoryLimit()
	}
}

func setMemoryLimit() {
	limit := textui.Either(memory.allowed > 0, max(memoryFloor, memoryFixed+memory.allowed), math.MaxInt64)
	debug.SetMemoryLimit(limit)
}
