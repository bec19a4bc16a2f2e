package model_test

import (
	"encoding/binary"
	"testing"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// FuzzMachine feeds a Machine events that need not make sense: it may reject
// them, but must not panic, and its times and numbers must add up all the same.
func FuzzMachine(f *testing.F) {
	b, m := twoProcs()
	b.At(10)
	m.Create(2, "main.f").Syscall()
	b.M(9).ProcSteal(0)
	b.M(2).ProcStart(1).Start(2).STWBegin("GOMAXPROCS").RegionBegin(1, "r")
	b.Metric("/sched/gomaxprocs:threads", 1)
	f.Add(encodeEvents(b.Events()), uint8(26), uint8(0))
	f.Add(encodeEvents(b.Events()), uint8(19), uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, version, begin uint8) {
		tables := model.NewTables()
		strings := []string{"", "preempted", "network", "GC (idle)", "stop-the-world (x)", "GC mark assist", "/sched/gomaxprocs:threads", "runtime.gcBgMarkWorker"}
		for _, s := range strings {
			tables.AddString(s)
			tables.AddStack([]model.Frame{{PC: uint64(len(s)), Func: s}})
		}
		machine := model.NewMachine(tables, model.Config{Version: int(version)})
		r := &record{}
		machine.Observe(r)
		for i, ev := range decodeEvents(data, tables) {
			if i > 0 && i == int(begin) {
				machine.Begin(machine.Now())
			}
			_ = machine.Apply(&ev) // contradictions are what this is about
		}
		if err := machine.Finish(machine.Now()); err != nil {
			t.Error(err)
		}
		for _, c := range r.counts {
			if least := min(c.Idle, c.Searching, c.Syscall, c.Stopped, c.Running-c.GC, c.GC, c.Runnable, c.Overloaded); least < 0 || c.End <= c.Start ||
				c.Idle+c.Searching+c.Syscall+c.Stopped+c.Running != c.Procs {
				t.Fatalf("%+v", c)
			}
		}
	})
}

// eventBytes is the length of an encoded event.
const eventBytes = 12

func encodeEvents(events []model.Event) []byte {
	var out []byte
	for i, e := range events {
		step := uint16(0)
		if i > 0 {
			step = uint16(e.Time.Sub(events[i-1].Time))
		}
		out = binary.LittleEndian.AppendUint16(out, step)
		out = append(out, byte(e.Kind), e.From, e.To, byte(e.Flags), byte(e.G), byte(e.P), byte(e.M), byte(e.ID), byte(e.Str), byte(e.SubjectStack))
	}
	return out
}

func decodeEvents(data []byte, tables *model.Tables) []model.Event {
	var out []model.Event
	at := modeltest.At(0)
	for ; len(data) >= eventBytes; data = data[eventBytes:] {
		at += model.Time(int16(binary.LittleEndian.Uint16(data))) // time may go backward
		stack := model.StackID(data[11]) % model.StackID(tables.NumStacks())
		out = append(out, model.Event{Time: at, Kind: model.EventKind(data[2]) % model.NumEventKinds,
			From: data[3] % uint8(model.GoSyscallBlocked), To: data[4] % uint8(model.GoSyscallBlocked), Flags: model.EventFlags(data[5]),
			G: model.GoID(int8(data[6])), P: model.ProcID(int8(data[7])), M: model.ThreadID(int8(data[8])),
			ID: int64(int8(data[9])), Str: model.StringID(data[10] % 8), Stack: stack, SubjectStack: stack})
	}
	return out
}
