package profile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// write returns the profile's bytes, and them parsed as pprof does.
func write(t *testing.T, p *Profile, title string, comments ...string) ([]byte, *profile.Profile) {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, title, comments...); err != nil {
		t.Fatal(err)
	}
	parsed, err := profile.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), parsed
}

// lines returns the samples of a profile as text: values, stack, labels.
func lines(t *testing.T, p *Profile) []string {
	t.Helper()
	_, parsed := write(t, p, "x")
	var out []string
	for _, s := range parsed.Sample {
		var stack []string
		for _, l := range s.Location {
			f := l.Line[0].Function
			stack = append(stack, strings.TrimSuffix(fmt.Sprintf("%s@%s:%d", f.Name, f.Filename, l.Line[0].Line), "@:0"))
		}
		var labels []string
		for _, name := range p.o.Kind.Labels() {
			if v := s.Label[name]; v != nil {
				labels = append(labels, v...)
			}
		}
		out = append(out, fmt.Sprintf("%v %s [%s]", s.Value, strings.Join(stack, " "), strings.Join(labels, ", ")))
	}
	return out
}

func compareLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("samples:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// collect returns a Profile with its Collector, for a trace of Go 1.version.
func collect(t *testing.T, o Options, tables *model.Tables, version int) (*Profile, *Collector) {
	t.Helper()
	p := New(o)
	c := p.Collect(tables, version)
	return p, c
}

// trace is the names and stacks of the tests by hand.
type trace struct {
	*model.Tables
	recv, unlock model.StackID
	worker       model.StringID
}

func newTrace() trace {
	tables := model.NewTables()
	return trace{tables,
		tables.AddStack([]model.Frame{{PC: 1, Func: "runtime.chanrecv1", File: "chan.go", Line: 5}, {PC: 2, Func: "main.worker", File: "main.go", Line: 9}}),
		tables.AddStack([]model.Frame{{PC: 3, Func: "sync.(*Mutex).Unlock", File: "mutex.go", Line: 7}}),
		tables.AddString("main.worker")}
}

// wait is a wait of goroutine 7 from start to end.
func (x trace) wait(start, end model.Time) model.GoSpan {
	return model.GoSpan{G: 7, Func: x.worker, State: model.GoRunnable, Start: start, End: end, P: 2, Stack: x.recv,
		WakerStack: x.unlock, Origin: model.OriginGoroutine}
}

// TestRunnable checks that a wait's time goes to its causes and its count to the first,
// and whose stack it is under.
func TestRunnable(t *testing.T) {
	x := newTrace()
	for _, waker := range []bool{false, true} {
		p, c := collect(t, Options{Runnable, waker}, x.Tables, 26)
		r := c.observer.(*runnable)
		blocked := model.GoSpan{G: 7, State: model.GoWaiting, Reason: x.AddString("chan receive"), Start: 10, End: 100}
		r.GoSpan(&blocked)
		reasoned := func(s model.GoSpan) model.GoSpan {
			s.Reason = r.c.x.Reason(&s)
			return s
		}
		created := model.GoSpan{G: 8, Func: x.worker, State: model.GoRunnable, Start: 1, End: 6, Origin: model.OriginCreated}
		r.explained(&causes.ExplainedWait{Span: reasoned(x.wait(100, 130)), LastP: 3, Source: runqueue.SourceLocal,
			Cells: []causes.Cell{{Cause: result.CauseGoroutine, Total: 20}, {Cause: result.CausePickup, Total: 10}}})
		// That it was blocked was not right before this one.
		r.explained(&causes.ExplainedWait{Span: reasoned(x.wait(200, 230)), LastP: model.NoProc, Source: runqueue.SourceGlobal,
			Cells: []causes.Cell{{Cause: result.CauseSpinner, Total: 30}}})
		r.explained(&causes.ExplainedWait{Span: reasoned(created), LastP: 0, Source: runqueue.SourceRunnext, Cells: []causes.Cell{{Cause: result.CausePickup, Total: 5}}})
		if waker {
			compareLines(t, lines(t, p),
				"[1 30] sync.(*Mutex).Unlock@mutex.go:7 [idle proc, spinner, goroutine, (unknown), global, (unknown), main.worker]",
				"[1 20] sync.(*Mutex).Unlock@mutex.go:7 [behind a goroutine, goroutine, chan receive, local, P3, main.worker]",
				"[0 10] sync.(*Mutex).Unlock@mutex.go:7 [pick-up, goroutine, chan receive, local, P3, main.worker]",
				"[1 5] (created) [pick-up, created, created, runnext, P0, main.worker]")
			continue
		}
		compareLines(t, lines(t, p),
			"[1 30] runtime.chanrecv1@chan.go:5 main.worker@main.go:9 [idle proc, spinner, goroutine, (unknown), global, (unknown), main.worker]",
			"[1 20] runtime.chanrecv1@chan.go:5 main.worker@main.go:9 [behind a goroutine, goroutine, chan receive, local, P3, main.worker]",
			"[0 10] runtime.chanrecv1@chan.go:5 main.worker@main.go:9 [pick-up, goroutine, chan receive, local, P3, main.worker]",
			"[1 5] main.worker [pick-up, created, created, runnext, P0, main.worker]")
	}
}

// TestRunnableOld checks waits of a trace that tells of no run queues.
func TestRunnableOld(t *testing.T) {
	x := newTrace()
	p, c := collect(t, Options{}, x.Tables, 21)
	if c.NoCauses() == nil {
		t.Error("waits of Go 1.21 have causes")
	}
	for _, change := range []func(*model.GoSpan){
		func(*model.GoSpan) {},
		func(s *model.GoSpan) { s.Reason = x.AddString("preempted") },
		func(s *model.GoSpan) { s.System = true },
		func(s *model.GoSpan) { s.OpenStart = true },
		func(s *model.GoSpan) { s.OpenEnd = true },
		func(s *model.GoSpan) { s.Pseudo = model.PseudoSyscall },
		func(s *model.GoSpan) { s.State = model.GoRunning },
	} {
		s := x.wait(100, 130)
		change(&s)
		c.observer.(*runnable).GoSpan(&s)
	}
	stack := "runtime.chanrecv1@chan.go:5 main.worker@main.go:9"
	compareLines(t, lines(t, p),
		"[1 30] "+stack+" [goroutine, (unknown), P2, main.worker]", "[1 30] "+stack+" [goroutine, preempted, P2, main.worker]")
}

// TestWaiting checks that a blocked interval is under its goroutine's stack, or that of
// whoever ended it.
func TestWaiting(t *testing.T) {
	x := newTrace()
	blocked := func(g model.GoID, end model.Time) *model.GoSpan {
		return &model.GoSpan{G: g, Func: x.worker, State: model.GoWaiting, Reason: x.AddString("select"), Start: 10, End: end, Stack: x.recv}
	}
	for _, waker := range []bool{false, true} {
		p, c := collect(t, Options{Waiting, waker}, x.Tables, 26)
		w := c.observer.(*waiting)
		w.GoSpan(blocked(7, 50))
		s := x.wait(50, 80)
		w.GoSpan(&s)
		w.GoSpan(blocked(7, 90)) // the wait that followed left no interval
		w.GoSpan(&model.GoSpan{G: 7, State: model.GoRunning, Start: 90, End: 95})
		w.GoSpan(blocked(8, 60)) // the trace ends
		open := blocked(9, 60)
		open.OpenStart = true
		w.GoSpan(open)
		system := blocked(10, 60)
		system.System = true
		w.GoSpan(system)
		c.Finish(100)
		if waker {
			compareLines(t, lines(t, p), "[2 130] (unknown) [select, main.worker]", "[1 40] sync.(*Mutex).Unlock@mutex.go:7 [select, main.worker]")
			continue
		}
		compareLines(t, lines(t, p), "[3 170] runtime.chanrecv1@chan.go:5 main.worker@main.go:9 [select, main.worker]")
	}
}

// TestSyscalls checks system calls and handoffs.
func TestSyscalls(t *testing.T) {
	x := newTrace()
	m := model.NewMachine(x.Tables, model.Config{Version: 26})
	p, c := collect(t, Options{Kind: Syscalls}, x.Tables, 26)
	c.Observe(m)
	calls := c.observer.(*syscalls)
	calls.SyscallExit(&model.SyscallExit{Func: x.worker, Stack: x.recv, Start: 10, End: 40, Path: model.ExitKeptProc})
	calls.SyscallExit(&model.SyscallExit{Func: x.worker, Start: 10, End: 30, Blocked: 15, Path: model.ExitQueued})
	compareLines(t, lines(t, p),
		"[1 30 0] runtime.chanrecv1@chan.go:5 main.worker@main.go:9 [kept its proc, main.worker]",
		"[1 20 15] main.worker [global run queue, main.worker]")

	p, c = collect(t, Options{Kind: Handoffs}, x.Tables, 26)
	c.Observe(m)
	hand := c.observer.(*handoffs)
	h := model.Handoff{P: 1, Cause: model.HandoffSysmon, FromStack: x.recv, Lost: 50, InSyscall: 20, Got: 57}
	hand.Handoff(&h)
	hand.Handoff(&h)
	h.FromStack, h.Got, h.Open = 0, 90, true
	hand.Handoff(&h)
	compareLines(t, lines(t, p),
		"[40 14 2] runtime.chanrecv1@chan.go:5 main.worker@main.go:9 [sysmon retake, P1, main.worker]",
		"[20 0 1] (unknown) [sysmon retake, P1, (unknown)]")
}

// TestMerge checks that traces merged are their sum, that names and stacks of different
// traces are the same if they read the same, and that the order does not matter.
func TestMerge(t *testing.T) {
	a, _ := read(t, "mixed.go1.26.p2.trace", false, Options{})
	b, _ := read(t, "mixed.go1.25.p2.trace", false, Options{})
	a[0].SetTime(30)
	b[0].SetTime(20)
	ab, ba, twice := New(Options{}), New(Options{}), New(Options{})
	for _, x := range []struct {
		sum   *Profile
		parts []*Profile
	}{{ab, []*Profile{a[0], b[0]}}, {ba, []*Profile{b[0], a[0]}}, {twice, []*Profile{a[0], a[0]}}} {
		for _, p := range x.parts {
			x.sum.Merge(p)
		}
	}
	first, _ := write(t, ab, "x")
	second, _ := write(t, ba, "x")
	if !bytes.Equal(first, second) {
		t.Error("the order of traces changes the profile")
	}
	va, vb := a[0].totals(), b[0].totals()
	if got, want := ab.totals(), (values{va[0] + vb[0], va[1] + vb[1]}); got != want {
		t.Errorf("totals %v, want %v", got, want)
	}
	if got, want := ab.span, a[0].span+b[0].span; got != want {
		t.Errorf("span %d, want %d", got, want)
	}
	if ab.time != 20 || ba.time != 20 || twice.time != 30 {
		t.Errorf("times %d, %d, %d, want 20, 20, 30", ab.time, ba.time, twice.time)
	}
	if got, want := twice.Samples(), a[0].Samples(); got != want {
		t.Errorf("a trace merged with itself has %d samples, want %d", got, want)
	}
}

// TestLimit checks that what is beyond the limit is counted in one sample.
func TestLimit(t *testing.T) {
	x := newTrace()
	p, c := collect(t, Options{Kind: Waiting}, x.Tables, 26)
	p.limit = 3
	for i := range 10 {
		stack := x.AddStack([]model.Frame{{Func: fmt.Sprint("main.f", i)}})
		for range 2 {
			c.observer.(*waiting).GoSpan(&model.GoSpan{State: model.GoWaiting, Stack: stack, Start: 0, End: model.Time(10 - i)})
		}
	}
	compareLines(t, lines(t, p), "[14 56] (other stacks) []", "[2 20] main.f0 [(unknown), (unknown)]",
		"[2 18] main.f1 [(unknown), (unknown)]", "[2 16] main.f2 [(unknown), (unknown)]")
}

// TestNames checks that no name can disturb a terminal, that empty ones are replaced, and
// that addresses tell nothing apart.
func TestNames(t *testing.T) {
	tables := model.NewTables()
	p, c := collect(t, Options{Kind: Waiting}, tables, 26)
	hostile := "main.\x1b[31m<script>\n\u202ef\xff"
	deep := make([]model.Frame, 5000)
	for i := range deep {
		deep[i] = model.Frame{Func: "main.deep", Line: 1<<64 - 1}
	}
	for _, stack := range [][]model.Frame{
		{{PC: 1, Func: hostile, File: hostile, Line: 3}, {PC: 9}},
		{{PC: 2, Func: hostile, File: hostile, Line: 3}, {PC: 9}},
		deep,
	} {
		c.observer.(*waiting).GoSpan(&model.GoSpan{State: model.GoWaiting, Stack: tables.AddStack(stack), End: 10,
			Reason: tables.AddString(hostile), Func: tables.AddString(hostile)})
	}
	_, parsed := write(t, p, hostile, hostile)
	clean := `main.\x1b[31m<script>\n\u202ef\xff`
	if n := len(parsed.Sample); n != 2 {
		t.Fatalf("%d samples, want 2", n)
	}
	f := parsed.Sample[0].Location[0].Line[0].Function
	for _, got := range []string{f.Name, f.Filename, parsed.Sample[0].Label["reason"][0], parsed.Sample[0].Label["function"][0],
		parsed.Mapping[0].File, parsed.Comments[1]} {
		if got != clean {
			t.Errorf("name %q, want %q", got, clean)
		}
	}
	if got := parsed.Sample[0].Location[1].Line[0].Function.Name; got != "(unknown)" {
		t.Errorf("an empty name is %q", got)
	}
	if got := len(parsed.Sample[1].Location); got != len(deep) {
		t.Errorf("%d frames of %d", got, len(deep))
	}
	if got := parsed.Sample[1].Location[0].Line[0].Line; got != 1<<31-1 {
		t.Errorf("line %d", got)
	}
}

// TestWrite checks what every profile says of itself, on a real trace.
func TestWrite(t *testing.T) {
	options := allOptions()
	profiles, r := read(t, "http.trace", false, options...)
	for i, p := range profiles {
		p.SetTime(5)
		first, parsed := write(t, p, "http.trace", "of a test")
		second, _ := write(t, p, "http.trace", "of a test")
		if !bytes.Equal(first, second) {
			t.Errorf("%+v: different bytes", options[i])
		}
		kind := options[i].Kind
		if parsed.TimeNanos != 5 || parsed.Period != 0 || parsed.DurationNanos != int64(r.Totals.Span) {
			t.Errorf("%v: time %d, period %d, duration %d", kind, parsed.TimeNanos, parsed.Period, parsed.DurationNanos)
		}
		if parsed.DefaultSampleType != kind.Values()[0] || len(parsed.SampleType) != len(kind.Values()) {
			t.Errorf("%v: values %v, default %q", kind, parsed.SampleType, parsed.DefaultSampleType)
		}
		if len(parsed.Comments) != 2 || parsed.Comments[1] != "of a test" || !strings.Contains(parsed.Comments[0], kind.String()) {
			t.Errorf("%v: comments %q", kind, parsed.Comments)
		}
		if len(parsed.Mapping) != 1 || !parsed.Mapping[0].HasFunctions {
			t.Errorf("%v: pprof would look for a binary: %v", kind, parsed.Mapping)
		}
		for _, l := range parsed.Location {
			if l.Address != 0 {
				t.Fatalf("%v: a location has address %d", kind, l.Address)
			}
		}
	}
}

func TestKinds(t *testing.T) {
	for i, name := range Kinds() {
		k, ok := KindOf(name)
		if !ok || int(k) != i || k.String() != name || k.Doc() == "" {
			t.Errorf("KindOf(%q) = %v, %v", name, k, ok)
		}
		if len(k.Labels()) > maxLabels || len(k.Values()) > maxValues || len(k.Values()) != len(kinds[k].values) {
			t.Errorf("%v: labels %v, values %v", k, k.Labels(), k.Values())
		}
	}
	if _, ok := KindOf("x"); ok {
		t.Error("there is a kind x")
	}
}
