package runqueue_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// fuzzLimit is far more than replaying the few thousand steps of one input may
// take on a slow machine: what exceeds it grows out of proportion.
const fuzzLimit = 20 * time.Second

// FuzzResolver feeds a Resolver steps that no Machine would tell: it must not
// panic, and still tell every start once.
func FuzzResolver(f *testing.F) {
	b := modeltest.NewBuilder()
	m := b.M(1).Proc(0).IdleProc(1).Running(1, "runtime.main")
	b.At(10)
	m.Create(2, "main.f").Create(3, "main.f").Syscall()
	b.M(9).ProcSteal(0)
	b.At(12)
	b.M(2).ProcStart(1).Start(3).STWBegin("GC mark termination").STWEnd("GC mark termination").Stop("preempted").Start(2)
	m.SyscallEndBlocked()
	b.At(20)
	b.M(2).Block("network").Start(1).Unblock(2)
	b.Metric("/sched/gomaxprocs:threads", 1)
	var list steps
	modeltest.Apply(f, b.Tables, 26, b.Events(), &list)
	f.Add(encodeSteps(list), uint8(26))
	f.Add(encodeSteps(list), uint8(22))
	f.Fuzz(func(t *testing.T, data []byte, version uint8) {
		tables := fuzzTables()
		q, err := runqueue.New(tables, int(version))
		if err != nil {
			return
		}
		began := time.Now()
		list := decodeSteps(data)
		r := &record{}
		q.Observe(r)
		for i := range list {
			q.Step(&list[i])
		}
		q.Finish()
		checkTold(t, list, r)
		if d := time.Since(began); d > fuzzLimit {
			t.Errorf("%d steps took %v", len(list), d)
		}
	})
}

// fuzzWords are the strings that the rules of the runtime turn on.
var fuzzWords = []string{"", "preempted", "network", "sleep", "stop-the-world (GC mark termination)", "GC mark assist wait for work",
	"system goroutine wait", "wait until GC ends", "runtime.bgscavenge", "runtime.cgocallback", "runtime/trace.f", "runtime.gcMarkDone"}

// fuzzTables returns tables in which word i is string i, and the only frame of
// stack i.
func fuzzTables() *model.Tables {
	tables := model.NewTables()
	for i, w := range fuzzWords {
		tables.AddString(w)
		if i > 0 {
			tables.AddStack([]model.Frame{{PC: uint64(i), Func: w}})
		}
	}
	return tables
}

// stepBytes is the length of an encoded step.
const stepBytes = 20

func encodeSteps(list steps) []byte {
	var out []byte
	for i, s := range list {
		gap := uint16(0)
		if i > 0 {
			gap = uint16(s.Time.Sub(list[i-1].Time))
		}
		out = binary.LittleEndian.AppendUint16(out, gap)
		out = append(out, byte(s.Kind), s.From, s.To, byte(s.Flags), byte(s.G), byte(s.By), byte(s.M), byte(s.FromM), byte(s.ToM), byte(s.P),
			byte(s.N), byte(s.Reason), byte(s.Func), byte(s.Stack), byte(s.Origin), byte(s.Poller), byte(s.Pseudo), byte(s.Work))
	}
	return out
}

func decodeSteps(data []byte) (list steps) {
	at := modeltest.At(0)
	word := func(i int) uint32 { return uint32(data[i]) % uint32(len(fuzzWords)) }
	for ; len(data) >= stepBytes && len(list) < 4096; data = data[stepBytes:] {
		at += model.Time(int16(binary.LittleEndian.Uint16(data))) // time may go backward
		list = append(list, model.Step{Time: at, Since: at - 1, Kind: model.StepKind(data[2] % 10), From: data[3] % 8, To: data[4] % 8,
			Flags: model.StepFlags(data[5]), G: model.GoID(hostile(data[6])), By: model.GoID(hostile(data[7])),
			M: model.ThreadID(hostile(data[8])), FromM: model.ThreadID(hostile(data[9])), ToM: model.ThreadID(hostile(data[10])),
			P: model.ProcID(hostile(data[11])), N: int32(hostile(data[12])), Reason: model.StringID(word(13)), Func: model.StringID(word(14)),
			Stack: model.StackID(word(15)), Origin: model.Origin(data[16] % 16), Poller: model.Poller(data[17] % 8),
			Pseudo: model.Pseudo(data[18] % 4), Work: model.WorkKind(data[19] % 8)})
	}
	return list
}

// hostile turns a byte into a small number, or into one out of reason.
func hostile(b byte) int64 {
	switch b {
	case 100:
		return 1<<16 - 1
	case 101:
		return 1 << 16
	case 102:
		return math.MaxInt32
	case 103:
		return math.MinInt32
	}
	return int64(int8(b))
}

// checkTold checks that what is told of steps, however little sense they make,
// has the shape that it must have.
func checkTold(tb testing.TB, list steps, r *record) {
	tb.Helper()
	i := 0
	for _, s := range list {
		if s.Kind != model.StepGo || model.GoState(s.From) != model.GoRunnable || model.GoState(s.To) != model.GoRunning || s.Flags&model.StepStatus != 0 {
			continue
		}
		if i >= len(r.starts) {
			tb.Fatalf("told %d starts only; want next goroutine %d at %d", len(r.starts), s.G, s.Time)
		}
		if x := r.starts[i]; x.Time != s.Time || x.G != s.G || x.M != s.M || x.P != s.P {
			tb.Fatalf("start %d: goroutine %d on thread %d, proc %d at %d; want %d on %d, %d at %d", i, x.G, x.M, x.P, x.Time, s.G, s.M, s.P, s.Time)
		}
		i++
	}
	if i != len(r.starts) {
		tb.Fatalf("told %d starts, want %d", len(r.starts), i)
	}
	for _, x := range r.starts {
		checkStart(tb, &x)
	}
	for _, x := range r.lengths {
		if x.Len < 0 || x.P != model.NoProc && x.Len > 256 || x.Next != 0 && (x.Next != 1 || x.P == model.NoProc) {
			tb.Fatalf("length of a queue: %+v", x)
		}
	}
	for _, x := range r.steals {
		if x.Victim == x.Thief || x.Size < 1 || x.Runnext && x.Size != 1 {
			tb.Fatalf("steal: %+v", x)
		}
	}
	for _, x := range r.injections {
		if x.Global < 0 || x.Local < 0 || x.Global+x.Local == 0 {
			tb.Fatalf("injection: %+v", x)
		}
	}
	for _, x := range r.overflows {
		if x.Size != 129 {
			tb.Fatalf("overflow: %+v", x)
		}
	}
}

func checkStart(tb testing.TB, x *runqueue.Start) {
	tb.Helper()
	stolen := x.Source == runqueue.SourceSteal || x.Source == runqueue.SourceStealRunnext
	switch {
	case x.Source >= runqueue.NumSources, x.Via >= runqueue.NumVias, x.Grade >= runqueue.NumGrades, x.Enqueued >= runqueue.NumPlaces:
		tb.Fatalf("out of range: %+v", x)
	case (x.Source == runqueue.SourceLocal) != (x.Via != runqueue.ViaNone):
		tb.Fatalf("via belongs to local starts: %+v", x)
	case (x.Grade == runqueue.GradeChosen) != (x.Choices > 1):
		tb.Fatalf("choices belong to chosen ones: %+v", x)
	case stolen && (x.FromP == model.NoProc || x.FromP == x.P || x.Batch < 1):
		tb.Fatalf("stolen from whom: %+v", x)
	case x.Tick < -1 || x.Tick >= 61:
		tb.Fatalf("tick: %+v", x)
	}
}

// TestHostile resolves steps that a damaged or hostile trace might lead to, each
// in the middle of a sensible one.
func TestHostile(t *testing.T) {
	const no = model.NoThread
	cases := map[string][]model.Step{
		"a proc moved by nobody":  {{Kind: model.StepMove, M: no, FromM: 1, ToM: no}, {Kind: model.StepMove, M: no, FromM: no, ToM: 2}},
		"too few procs":           {{Kind: model.StepProcs, N: 0}, {Kind: model.StepProcs, N: -5}, {Kind: model.StepProcs, N: math.MinInt32}},
		"too many procs":          {{Kind: model.StepProcs, N: math.MaxInt32}},
		"a proc out of reason":    {hostileGo(7, model.GoWaiting, model.GoRunnable, math.MaxInt32), hostileGo(7, model.GoRunnable, model.GoRunning, math.MaxInt32)},
		"a proc below zero":       {hostileGo(7, model.GoWaiting, model.GoRunnable, -7), hostileGo(7, model.GoRunnable, model.GoRunning, -7)},
		"the last procs":          {{Kind: model.StepProc, P: 1<<16 - 1, To: uint8(model.ProcRunning)}, {Kind: model.StepProcs, N: 1}, {Kind: model.StepProcs, N: 1}},
		"goroutines out of order": {hostileGo(math.MaxInt64, model.GoWaiting, model.GoRunnable, 0), hostileGo(math.MinInt64, model.GoWaiting, model.GoRunnable, 0), hostileGo(1<<40, model.GoNotExist, model.GoRunnable, 0)},
		"gone while in a queue":   {hostileGo(7, model.GoNotExist, model.GoRunnable, 0), hostileGo(7, model.GoRunnable, model.GoNotExist, 0), hostileGo(7, model.GoRunnable, model.GoRunning, 0)},
		"runnable twice":          {hostileGo(7, model.GoNotExist, model.GoRunnable, 0), hostileGo(7, model.GoWaiting, model.GoRunnable, 1), hostileGo(7, model.GoRunnable, model.GoRunnable, 0)},
		"started twice":           {hostileGo(7, model.GoRunnable, model.GoRunning, 0), hostileGo(7, model.GoRunnable, model.GoRunning, 1), hostileGo(7, model.GoRunnable, model.GoRunning, model.NoProc)},
		"kinds beyond the last":   {{Kind: 200, P: 1 << 20, M: 1 << 40}, {Kind: model.StepGo, From: 77, To: 99, Origin: 250, Pseudo: 9}},
	}
	for name, hostile := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLawful(2, 1)
			for range 300 {
				l.step(20)
			}
			list := stepsOf(t, l.Builder, 26)
			for i := range hostile {
				hostile[i].Time = list[len(list)/2].Time
			}
			list = slices.Concat(list[:len(list)/2], hostile, list[len(list)/2:])
			r := &record{}
			resolve(t, l.Tables, 26, list, r)
			checkTold(t, list, r)
		})
	}
}

func hostileGo(g model.GoID, from, to model.GoState, p model.ProcID) model.Step {
	return model.Step{Kind: model.StepGo, G: g, By: model.NoGoroutine, M: 1, P: p, From: uint8(from), To: uint8(to), Origin: model.OriginCreated}
}
