package model

import (
	"strings"
	"testing"
)

// TestCheck spoils the accounts of a running Machine: Check must see it.
func TestCheck(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(m *Machine)
		want  string
	}{
		{"nothing", func(*Machine) {}, ""},
		{"goroutine", func(m *Machine) { m.gs.Get(1).Times[GoRunning]++ }, "goroutine 1: states add up to"},
		{"goroutine below zero", func(m *Machine) { m.gs.Get(1).Times[GoWaiting] = -1 }, "Waiting time is negative"},
		{"goroutine's reasons", func(m *Machine) { m.gs.Get(1).Block = []ReasonTime{{Total: 1}} }, "reasons add up to"},
		{"proc", func(m *Machine) { m.procs[0].times[ProcIdle]++ }, "proc 0: states add up to"},
		{"proc below zero", func(m *Machine) { m.procs[0].times[ProcIdle]-- }, "idle time is negative"},
		{"thread", func(m *Machine) { m.threads[5].times[ThreadRunning]++ }, "thread 5: states add up to"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := NewMachine(NewTables(), Config{Version: 26})
			for _, ev := range []Event{
				{Time: 64, Kind: EventSync, G: NoGoroutine, P: NoProc, M: NoThread},
				{Time: 128, Kind: EventProcTransition, G: NoGoroutine, P: NoProc, M: 5, To: uint8(ProcStatusRunning)},
				{Time: 192, Kind: EventGoTransition, G: NoGoroutine, P: 0, M: 5, ID: 1, To: uint8(GoRunning)},
			} {
				if err := m.Apply(&ev); err != nil {
					t.Fatal(err)
				}
			}
			c.spoil(m)
			err := m.Finish(1024)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want none", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
}

// TestGoTable compares the table with a map, on dense ids and on wild ones.
func TestGoTable(t *testing.T) {
	ids := []GoID{0, 1, 1023, 1024, 5000, goDenseMax - 1, goDenseMax, 1 << 40, -2}
	var table GoTable[Goroutine]
	for _, id := range ids {
		table.Put(id, &Goroutine{ID: id})
	}
	for _, id := range []GoID{1023, 1 << 40} {
		table.Remove(id)
	}
	var got []GoID
	table.All(func(g *Goroutine) { got = append(got, g.ID) })
	want := []GoID{0, 1, 1024, 5000, goDenseMax - 1, goDenseMax, -2} // negative ones sort as unsigned
	if len(got) != len(want) || table.count != len(want) {
		t.Fatalf("got %v, count %d; want %v", got, table.count, want)
	}
	for i := range want {
		if got[i] != want[i] || table.Get(want[i]) == nil {
			t.Errorf("element %d: got %d, want %d", i, got[i], want[i])
		}
	}
	if table.Get(1023) != nil || table.Get(1<<40) != nil || table.Get(1<<41) != nil {
		t.Error("the table still has what was removed")
	}
}

// TestGoTableSparse: ids that are far apart cost no page each, and are found.
func TestGoTableSparse(t *testing.T) {
	var table GoTable[Goroutine]
	const n = 20_000
	id := func(i int) GoID { return GoID(i) * 3 * goPageSize }
	for i := range n {
		table.Put(id(i), &Goroutine{ID: id(i)})
	}
	table.Put(id(n-1)+1, &Goroutine{ID: id(n-1) + 1})
	if most := goSparePages + n/goPerPage + 1; len(table.live) > most || len(table.far) == 0 {
		t.Errorf("%d pages, %d in the map; want at most %d pages", len(table.live), len(table.far), most)
	}
	last := GoID(-1)
	table.All(func(g *Goroutine) {
		if g.ID <= last {
			t.Fatalf("goroutine %d after %d", g.ID, last)
		}
		last = g.ID
	})
	for i := range n {
		if g := table.Get(id(i)); g == nil || g.ID != id(i) {
			t.Fatalf("got %v for %d", g, id(i))
		}
		table.Remove(id(i))
	}
	if most := goSparePages + n/goPerPage + 1; len(table.spare) > most {
		t.Errorf("%d spare pages, want at most %d", len(table.spare), most)
	}
	if table.count != 1 || table.Get(id(0)) != nil || table.Get(id(n-1)) != nil {
		t.Errorf("%d left, want 1", table.count)
	}
}

// TestHostileNames: lists by name do not grow beyond what the runtime can name,
// and add up all the same.
func TestHostileNames(t *testing.T) {
	var list []ReasonTime
	for i := range 10 * maxReasons {
		list = addReason(list, StringID(i+1), 1)
	}
	total := Duration(0)
	for _, r := range list {
		total += r.Total
	}
	if len(list) > maxReasons+1 || total != 10*maxReasons || list[len(list)-1].Reason != 0 {
		t.Errorf("%d names, total %d; want at most %d, %d", len(list), total, maxReasons+1, 10*maxReasons)
	}
}

func TestNames(t *testing.T) {
	names := map[string][]string{}
	add := func(what string, n int, name func(int) string) {
		for i := range n + 1 {
			names[what] = append(names[what], name(i))
		}
	}
	add("GoState", int(NumGoStates), func(i int) string { return GoState(i).String() })
	add("EventKind", int(NumEventKinds), func(i int) string { return EventKind(i).String() })
	add("Origin", int(NumOrigins), func(i int) string { return Origin(i).String() })
	add("ProcState", int(NumProcStates), func(i int) string { return ProcState(i).String() })
	add("WorkKind", int(NumWorkKinds), func(i int) string { return WorkKind(i).String() })
	add("ThreadState", int(NumThreadStates), func(i int) string { return ThreadState(i).String() })
	add("HandoffCause", int(NumHandoffCauses), func(i int) string { return HandoffCause(i).String() })
	add("SyscallExitPath", int(NumSyscallExitPaths), func(i int) string { return SyscallExitPath(i).String() })
	add("Poller", int(NumPollers), func(i int) string { return Poller(i).String() })
	for what, list := range names {
		seen := map[string]bool{}
		for i, name := range list {
			last := i == len(list)-1
			if seen[name] || name == "" || (name == "?") != last {
				t.Errorf("%s %d: named %q", what, i, name)
			}
			seen[name] = true
		}
	}
}
