package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// flat is an event with everything it says spelled out, for comparison.
type flat struct {
	time                int64
	g, p, m             int64
	what                string
	stack, subjectStack string
}

func (f flat) String() string {
	return fmt.Sprintf("%d G=%d P=%d M=%d %s stack=%q subject=%q", f.time, f.g, f.p, f.m, f.what, f.stack, f.subjectStack)
}

// readSequentially reads a trace with one reader of the library over the whole,
// and spells out its events by the library's own means.
func readSequentially(data []byte) (events []flat, err error) {
	tr, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for {
		e, err := tr.ReadEvent()
		if err == io.EOF {
			sortListed(events)
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, flattenLibrary(e))
	}
}

// sortListed sorts, by goroutine, runs of the statuses that the library gives
// in the order of a Go map for traces before Go 1.22.
func sortListed(events []flat) {
	listed := func(f flat) bool {
		return f.m == -1 && f.g == -1 && strings.HasPrefix(f.what, "go ") && strings.HasSuffix(f.what, "Undetermined->Runnable \"\"")
	}
	for i := 0; i < len(events); i++ {
		j := i
		for j < len(events) && listed(events[j]) {
			j++
		}
		run := events[i:j]
		var times []int64
		for _, f := range run {
			times = append(times, f.time)
		}
		slices.SortFunc(run, func(a, b flat) int {
			var x, y int
			fmt.Sscanf(a.what, "go %d", &x)
			fmt.Sscanf(b.what, "go %d", &y)
			return cmp.Compare(x, y)
		})
		for k := range run {
			run[k].time = times[k]
		}
		i = max(i, j-1)
	}
}

func flattenLibrary(e trace.Event) flat {
	f := flat{time: int64(e.Time()), g: int64(e.Goroutine()), p: int64(e.Proc()), m: int64(e.Thread())}
	if f.p >= 1000000 {
		f.p = -1
	}
	f.stack = libraryStack(e.Stack())
	switch e.Kind() {
	case trace.EventSync:
		f.what = fmt.Sprintf("sync %d", e.Sync().N)
		if s := e.Sync().ClockSnapshot; s != nil {
			f.what += fmt.Sprint(" ", s.Wall.UnixNano())
		}
	case trace.EventMetric:
		f.what = fmt.Sprintf("metric %s %d", e.Metric().Name, e.Metric().Value.Uint64())
	case trace.EventLabel:
		f.what = fmt.Sprintf("label %d %q", e.Label().Resource.Goroutine(), e.Label().Label)
	case trace.EventStackSample:
		f.what = "sample"
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r := e.Range()
		f.what = fmt.Sprintf("%v %q %v", e.Kind(), r.Name, r.Scope)
		if e.Kind() == trace.EventRangeEnd && len(e.RangeAttributes()) > 0 {
			f.what += fmt.Sprint(" ", e.RangeAttributes()[0].Value.Uint64())
		}
	case trace.EventTaskBegin, trace.EventTaskEnd:
		t := e.Task()
		f.what = fmt.Sprintf("%v %d %q parent %d", e.Kind(), t.ID, t.Type, t.Parent)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		f.what = fmt.Sprintf("%v %q of %d", e.Kind(), e.Region().Type, e.Region().Task)
	case trace.EventLog:
		l := e.Log()
		f.what = fmt.Sprintf("log %d %q %q", l.Task, l.Category, l.Message)
	case trace.EventExperimental:
		f.what = fmt.Sprintf("experiment %q %q", e.Experimental().Experiment, e.Experimental().Name)
	case trace.EventStateTransition:
		st := e.StateTransition()
		if st.Resource.Kind == trace.ResourceProc {
			from, to := st.Proc()
			f.what = fmt.Sprintf("proc %d %v->%v", st.Resource.Proc(), from, to)
			break
		}
		from, to := st.Goroutine()
		f.what = fmt.Sprintf("go %d %v->%v %q", st.Resource.Goroutine(), from, to, st.Reason)
		f.subjectStack = libraryStack(st.Stack)
		if from == to || from == trace.GoUndetermined {
			f.stack = "" // a status has no context of its own
		}
	}
	return f
}

func libraryStack(s trace.Stack) string {
	var b strings.Builder
	for f := range s.Frames() {
		fmt.Fprintf(&b, "%x %s %s:%d\n", f.PC, f.Func, f.File, f.Line)
	}
	return b.String()
}

// flattenModel is the counterpart of flattenLibrary.
func flattenModel(t *model.Tables, e *model.Event) flat {
	f := flat{time: int64(e.Time), g: int64(e.G), p: int64(e.P), m: int64(e.M)}
	f.stack, f.subjectStack = modelStack(t, e.Stack), modelStack(t, e.SubjectStack)
	str, str2 := t.String(e.Str), t.String(e.Str2)
	switch e.Kind {
	case model.EventSync:
		f.what = fmt.Sprintf("sync %d", e.ID)
		if e.Arg != 0 {
			f.what += fmt.Sprint(" ", e.Arg)
		}
	case model.EventMetric:
		f.what = fmt.Sprintf("metric %s %d", str, uint64(e.ID))
	case model.EventLabel:
		f.what = fmt.Sprintf("label %d %q", e.ID, str)
	case model.EventStackSample:
		f.what = "sample"
	case model.EventRangeBegin, model.EventRangeActive, model.EventRangeEnd:
		scope := map[model.Scope]string{
			model.ScopeGlobal:    "None",
			model.ScopeGoroutine: fmt.Sprintf("Goroutine(%d)", e.ID),
			model.ScopeProc:      fmt.Sprintf("Proc(%d)", e.ID),
		}[model.Scope(e.From)]
		f.what = fmt.Sprintf("%v %q %v", e.Kind, str, scope)
		if e.Kind == model.EventRangeEnd && model.Scope(e.From) == model.ScopeProc {
			f.what += fmt.Sprint(" ", e.Arg)
		}
	case model.EventTaskBegin, model.EventTaskEnd:
		parent := uint64(e.Arg)
		if parent == 0 {
			parent = uint64(trace.NoTask)
		}
		f.what = fmt.Sprintf("%v %d %q parent %d", e.Kind, uint64(e.ID), str, parent)
	case model.EventRegionBegin, model.EventRegionEnd:
		f.what = fmt.Sprintf("%v %q of %d", e.Kind, str, uint64(e.ID))
	case model.EventLog:
		f.what = fmt.Sprintf("log %d %q %q", uint64(e.ID), str, str2)
	case model.EventExperimental:
		f.what = fmt.Sprintf("experiment %q %q", str, str2)
	case model.EventProcTransition:
		f.what = fmt.Sprintf("proc %d %s->%s", e.ID, model.ProcStatus(e.From), model.ProcStatus(e.To))
	case model.EventGoTransition:
		f.what = fmt.Sprintf("go %d %v->%v %q", e.ID, model.GoState(e.From), model.GoState(e.To), str)
	}
	return f
}

func modelStack(t *model.Tables, id model.StackID) string {
	var b strings.Builder
	for _, f := range t.Stack(id) {
		fmt.Fprintf(&b, "%x %s %s:%d\n", f.PC, f.Func, f.File, f.Line)
	}
	return b.String()
}

// openBytes returns a reader over a trace in memory.
func openBytes(t testing.TB, data []byte, opts Options) *Reader {
	t.Helper()
	r, err := NewReaderAt(bytes.NewReader(data), int64(len(data)), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// compareSequential reads a trace with the reader's clock and by the library's
// sequential reader and reports the first differences. If the library gives up,
// what it delivered before must be the same.
func compareSequential(t *testing.T, data []byte) {
	t.Helper()
	want, libErr := readSequentially(data)
	r := openBytes(t, data, Options{Clock: ClockReader, Workers: 2})
	n, bad := 0, 0
	err := Each(r, func(e *model.Event) error {
		got := flattenModel(r.Tables(), e)
		if n < len(want) && got != want[n] {
			t.Errorf("event %d:\n got %v\nwant %v", n, got, want[n])
			if bad++; bad == 5 {
				return errors.New("too many differences")
			}
		}
		n++
		return nil
	})
	var empty *EmptyError
	if err != nil && !errors.As(err, &empty) {
		t.Fatal(err)
	}
	if n < len(want) || libErr == nil && n != len(want) {
		t.Errorf("got %d events, want %d", n, len(want))
	}
	if (libErr == nil) != (r.Loss() == nil) {
		t.Errorf("loss is %v, sequential error is %v", r.Loss(), libErr)
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSequential(t *testing.T) {
	for _, name := range fixtures.Chosen(slices.Concat(fixtures.Real(), fixtures.HandMade(), fixtures.Foreign())) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareSequential(t, fixture(t, name))
		})
	}
	t.Run("recorded", func(t *testing.T) { compareSequential(t, recordedTrace(t)) })
}
