package perfetto_test

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	. "github.com/schedscope/schedscope/report/perfetto"
)

// chromeEvent is an event of the JSON.
type chromeEvent struct {
	Ph, Name, Cat, ID string
	Pid               int
	Tid               int64
	Ts, Dur           *float64
	Args              map[string]any
}

// nanos returns a time in microseconds as the nanoseconds that it must be.
func nanos(t *testing.T, us *float64) int64 {
	t.Helper()
	if us == nil || *us < 0 || math.Abs(*us*1000-math.Round(*us*1000)) > 1e-2 {
		t.Fatalf("a time that is no whole number of nanoseconds: %v", us)
	}
	return int64(math.Round(*us * 1000))
}

var chromeStates = map[string]model.GoState{
	"runnable": model.GoRunnable, "running": model.GoRunning, "waiting": model.GoWaiting,
	"system call": model.GoSyscall, "system call without a proc": model.GoSyscallBlocked,
}

// TestChrome reads the JSON of every fixture back: it is valid, times add up to the
// Machine's, and flows and asynchronous events pair up.
func TestChrome(t *testing.T) {
	total := 0
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		t.Run(name, func(t *testing.T) {
			x := export(t, fixture(t, name), NewChrome, ingest.Options{})
			if x == nil {
				return
			}
			var file struct {
				DisplayTimeUnit string
				TraceEvents     []chromeEvent
			}
			if err := json.Unmarshal(x.data, &file); err != nil {
				t.Fatal(err)
			}
			total += checkChrome(t, x, file.TraceEvents)
		})
	}
	if total < 15_000 {
		t.Errorf("%d flows, want at least 15,000", total)
	}
}

func checkChrome(t *testing.T, x *exported, events []chromeEvent) (flows int) {
	t.Helper()
	got := map[model.GoID][model.NumGoStates]model.Duration{}
	procs := map[model.ProcID]model.Duration{}
	open := map[string]int{}
	begun := map[string]float64{}
	end := int64(x.end - x.want.origin)
	for _, e := range events {
		if e.Ph != "M" {
			if at := nanos(t, e.Ts); at > end {
				t.Fatalf("an event of time %d after the end %d: %+v", at, end, e)
			}
		}
		switch e.Ph {
		case "X":
			d := model.Duration(nanos(t, e.Dur))
			switch e.Pid {
			case 1:
				procs[model.ProcID(e.Tid)] += d
			case 2:
				s, ok := chromeStates[e.Name]
				if !ok {
					t.Fatalf("unknown state %q", e.Name)
				}
				times := got[model.GoID(e.Tid)]
				times[s] += d
				got[model.GoID(e.Tid)] = times
			}
		case "b":
			open[e.Cat+e.ID+e.Name]++
		case "e":
			if open[e.Cat+e.ID+e.Name]--; open[e.Cat+e.ID+e.Name] < 0 {
				t.Errorf("%+v ends but did not begin", e)
			}
		case "s":
			if _, ok := begun[e.ID]; ok {
				t.Errorf("flow %s begins twice", e.ID)
			}
			begun[e.ID] = *e.Ts
			flows++
		case "f":
			if from, ok := begun[e.ID]; !ok || from > *e.Ts {
				t.Errorf("flow %s ends at %v, begins at %v", e.ID, *e.Ts, from)
			}
			begun[e.ID] = math.Inf(1)
		case "M", "i", "C":
		default:
			t.Fatalf("an event of phase %q", e.Ph)
		}
	}
	for id, n := range open {
		if n != 0 {
			t.Errorf("%s is open", id)
		}
	}
	for id, at := range begun {
		if !math.IsInf(at, 1) {
			t.Errorf("flow %s does not end", id)
		}
	}
	if want := x.want.wakes + x.want.steals + x.want.handoffs; flows != want {
		t.Errorf("got %d flows, want %d", flows, want)
	}
	for _, g := range slices.Sorted(maps.Keys(x.want.states)) {
		want := x.want.states[g]
		want[model.GoUndetermined], want[model.GoNotExist] = 0, 0
		if got[g] != want {
			t.Errorf("goroutine %d: got times %v, want %v", g, got[g], want)
		}
	}
	for p, want := range x.want.running {
		if procs[p] != want {
			t.Errorf("proc %d: ran for %v, want %v", p, procs[p], want)
		}
	}
	return flows
}
