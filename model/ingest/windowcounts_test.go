package ingest_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// TestWindowCounts: whatever window is looked at, what the numbers of procs add
// up to is what the procs' own intervals add up to, state by state. So it is for
// traces that begin in the midst of things, as those of the flight recorder do.
func TestWindowCounts(t *testing.T) {
	windows := 0
	for _, name := range fixtures.Real() {
		data, err := os.ReadFile(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		x, err := ingest.NewIndex(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Generations) < 2 {
			continue
		}
		var late bytes.Buffer
		second := x.Generations[1].First.Sub(x.Start())
		if _, err := ingest.Cut(&late, bytes.NewReader(data), int64(len(data)), second+1, 0); err != nil {
			t.Fatal(err)
		}
		for what, data := range map[string][]byte{"": data, " without its beginning": late.Bytes()} {
			x, err := ingest.NewIndex(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range windowsOf(x) {
				windows++
				if testing.Short() && windows%6 != 0 {
					continue // all of them take minutes under the race detector
				}
				t.Run(fmt.Sprintf("%s%s/%d-%d", name, what, w[0], w[1]), func(t *testing.T) { checkWindow(t, data, w[0], w[1]) })
			}
		}
	}
	if windows < 100 {
		t.Errorf("only %d windows", windows)
	}
}

// windowsOf returns nearly the whole, and windows that begin early, in the middle and late in each of
// the first generations, and short ones.
func windowsOf(x *ingest.Index) [][2]model.Duration {
	out := [][2]model.Duration{{1, 0}}
	gens := x.Generations[:min(len(x.Generations), 4)]
	for i := range gens {
		from := gens[i].First.Sub(x.Start())
		length := gens[i].Last.Sub(gens[i].First)
		for _, d := range []model.Duration{1, length / 100, length / 2, length - length/10} {
			out = append(out, [2]model.Duration{from + d, from + d + length/5 + 1})
		}
		out = append(out, [2]model.Duration{from + length/3, 0})
	}
	return out
}

// uses sums up what procs did by their intervals and by their numbers.
type uses struct {
	spans, counts [model.NumProcStates]model.Duration
	procs         model.Duration // procs × time
	seen          map[model.ProcID]bool
	min, max      int    // procs
	told          uint64 // GOMAXPROCS, first
}

func (u *uses) ProcSpan(s *model.ProcSpan) {
	u.spans[s.State] += s.Duration()
	u.seen[s.P] = true
}

func (u *uses) Metric(s *model.MetricSample) {
	if s.Name == "/sched/gomaxprocs:threads" && u.told == 0 {
		u.told = s.Value
	}
}

// addUnseen adds the procs that the trace never mentions: they are idle.
func (u *uses) addUnseen(span model.Duration) {
	if u.min == u.max {
		u.spans[model.ProcIdle] += span * model.Duration(u.max-len(u.seen))
	}
}

func (u *uses) Counts(c *model.Counts) {
	d := c.End.Sub(c.Start)
	for state, n := range map[model.ProcState]int{
		model.ProcIdle: c.Idle, model.ProcRunning: c.Running, model.ProcSearching: c.Searching,
		model.ProcSyscall: c.Syscall, model.ProcStopped: c.Stopped,
	} {
		u.counts[state] += d * model.Duration(n)
	}
	u.procs += d * model.Duration(c.Procs)
	if u.max == 0 {
		u.min = c.Procs
	}
	u.min, u.max = min(u.min, c.Procs), max(u.max, c.Procs)
}

func checkWindow(t *testing.T, data []byte, from, to model.Duration) {
	r, err := ingest.NewReaderAt(bytes.NewReader(data), int64(len(data)), ingest.Options{From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	start, _, _ := r.Window()
	m := model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
	u, begun := uses{seen: map[model.ProcID]bool{}}, false
	err = ingest.Each(r, func(ev *model.Event) error {
		if !begun && ev.Time >= start {
			begun = true
			m.Begin(start)
			m.Observe(&u)
		}
		return m.Apply(ev)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !begun {
		return // nothing happens in it
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Error(err)
	}
	u.addUnseen(m.Now().Sub(start))
	var sum model.Duration
	for _, d := range u.spans {
		sum += d
	}
	if int(u.told) < u.min || int(u.told) > u.max {
		t.Errorf("GOMAXPROCS %d; there are %d to %d procs", u.told, u.min, u.max)
	}
	if u.spans != u.counts || sum != u.procs {
		t.Errorf("by their intervals %v, by their numbers %v; %d together, want %d", u.spans, u.counts, sum, u.procs)
	}
}
