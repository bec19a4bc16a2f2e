package workload_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/schedscope/schedscope/analyze/refsched"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/analyze/workload/workloadtest"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// FuzzExtractor feeds an Extractor steps that no Machine would tell: it must not
// panic, and what it makes of them must still be a workload that can be run, and is.
func FuzzExtractor(f *testing.F) {
	for seed := range 3 {
		b := modeltest.NewBuilder()
		m := b.M(1).Proc(0).IdleProc(1).Running(1, "runtime.main")
		b.At(10)
		m.Create(2, "main.f").CreateBlocked(3, "runtime.corostart").Syscall()
		b.M(9).ProcSteal(0)
		b.At(12)
		b.M(2).ProcStart(1).Start(2).STWBegin("GC mark termination").STWEnd("GC mark termination").Switch(3)
		m.SyscallEndBlocked()
		b.At(20)
		b.M(2).Switch(2).Block("network").Start(1).Unblock(2)
		b.Metric("/sched/gomaxprocs:threads", 1)
		var list steps
		modeltest.Apply(f, b.Tables, 26, b.Events(), &list)
		f.Add(encodeSteps(list), uint16(seed), uint16(7*seed))
	}
	f.Fuzz(func(t *testing.T, data []byte, begin, windows uint16) { feed(t, decodeSteps(data), begin, windows) })
}

// feed takes windows of so many steps each out of the steps from begin on.
func feed(t *testing.T, list steps, begin, windows uint16) {
	t.Helper()
	e := workload.NewExtractor(fuzzTables(), 26)
	finish := func(at model.Time) {
		w, err := e.Finish(at)
		if err != nil {
			return
		}
		if err := workloadtest.Check(w); err != nil {
			t.Error(err)
		}
		c := refsched.Config{Procs: min(max(w.Procs, 1), 8), Costs: refsched.DefaultCosts(), AsRecorded: begin%3 == 0, Until: 1_000_000_000}
		if _, err := refsched.Run(t.Context(), w, c); err != nil {
			t.Error(err)
		}
	}
	for i := range list {
		if i == int(begin) {
			e.Begin(list[i].Time)
		} else if windows > 0 && i%int(windows) == 0 && i > int(begin) {
			finish(list[i].Time)
			e.Begin(list[i].Time)
		}
		e.Step(&list[i])
		e.Event(&model.Event{Kind: model.EventStackSample, Time: list[i].Time, G: list[i].G})
	}
	finish(math.MinInt64)
}

// TestNonsense feeds an Extractor random steps of few goroutines.
func TestNonsense(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		data := make([]byte, stepBytes*(20+r.IntN(300)))
		for i := range data {
			data[i] = byte(r.IntN(8))
		}
		for i := 0; i < len(data); i += stepBytes {
			data[i+1] = 0 // time goes forward
			if r.IntN(3) > 0 {
				data[i+2] = byte(model.StepGo)
			}
			data[i+13], data[i+15], data[i+16] = byte(r.IntN(len(fuzzWords))), byte(r.IntN(len(fuzzWords))), byte(r.IntN(14))
			data[i+5] &= byte(r.Uint32() & r.Uint32()) // few flags at once
		}
		feed(t, decodeSteps(data), uint16(seed%7), uint16(seed%50))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// steps records what a Machine tells.
type steps []model.Step

func (l *steps) Step(s *model.Step) { *l = append(*l, *s) }

// fuzzWords are the strings that the rules turn on.
var fuzzWords = []string{"", "preempted", "network", "sleep", "stop-the-world (GC mark termination)", "stop-the-world (GC sweep termination)",
	"GC mark assist wait for work", "select", "runtime.gcBgMarkWorker", "sync.(*WaitGroup).Wait", "sync.(*Mutex).Lock",
	"internal/poll.(*FD).Write", "internal/poll.(*FD).Read", "internal/poll.(*FD).Accept", "syscall.connect", "runtime/trace.f", "runtime.chansend1", "chan receive", "main.f"}

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
	word := func(i int) uint32 { return uint32(data[i]) % uint32(len(fuzzWords)+1) }
	for ; len(data) >= stepBytes && len(list) < 4096; data = data[stepBytes:] {
		at += model.Time(int16(binary.LittleEndian.Uint16(data))) // time may go backward
		list = append(list, model.Step{Time: at, Since: at - model.Time(data[17]), Kind: model.StepKind(data[2] % 10), From: data[3] % 8, To: data[4] % 8,
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
	return int64(int8(b)) % 16
}
