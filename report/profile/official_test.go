package profile

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// official is what go tool trace -pprof=sched has, stack by stack, and ours has not: it
// counts the runtime's goroutines and what no waits are, and it leaves out what a
// goroutine waited before it first ran in the trace.
type official struct {
	c     *Collector
	ran   map[model.GoID]bool
	extra map[string]int64
}

// GoSpan implements [model.GoSpanObserver].
func (o *official) GoSpan(s *model.GoSpan) {
	switch {
	case s.State == model.GoRunning:
		o.ran[s.G] = true
	case s.State == model.GoRunnable && !s.OpenEnd:
		stack := o.c.either(s.Stack, s.WakerStack, s.Origin, s.Func)
		if s.OpenStart || s.Pseudo == model.PseudoCoroutine {
			return // compared in sum by fixtures/validation/oracle, which predicts their parts
		}
		theirs := o.ran[s.G]
		ours := !s.System && s.Pseudo == model.NotPseudo
		switch {
		case theirs && !ours:
			o.extra[o.c.p.text(stack)] += int64(s.Duration())
		case ours && !theirs:
			o.extra[o.c.p.text(stack)] -= int64(s.Duration())
		}
		if s.Next == model.GoRunning {
			o.ran[s.G] = true
		}
	}
}

// text returns a stack in words; all that have none are the same.
func (p *Profile) text(id model.StackID) string {
	var out []string
	for _, f := range p.tables.Stack(id) {
		if strings.HasPrefix(f.Func, "(") {
			return ""
		}
		out = append(out, fmt.Sprintf("%s:%d", f.Func, f.Line))
	}
	return strings.Join(out, " ")
}

// TestOfficial checks the waker's stacks against go tool trace -pprof=sched.
func TestOfficial(t *testing.T) {
	if testing.Short() {
		t.Skip("go tool trace may have to be compiled first")
	}
	tool, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "trace").Output()
	if err != nil {
		t.Skip("no go tool trace:", err)
	}
	for _, name := range []string{"fanin.go1.26.p4.trace", "http.trace", "mixed.go1.22.p2.trace", "mixed.go1.26.p2.trace", "syscalls.go1.26.p4.trace"} {
		t.Run(name, func(t *testing.T) {
			got, extra := readForOfficial(t, name)
			for stack, d := range extra {
				got[stack] += d
			}
			want := officialStacks(t, strings.TrimSpace(string(tool)), name)
			for _, stack := range slices.Sorted(maps.Keys(want)) {
				if got[stack] != want[stack] {
					t.Errorf("%s: %d ns, officially %d", stack, got[stack], want[stack])
				}
			}
			for _, stack := range slices.Sorted(maps.Keys(got)) {
				if _, ok := want[stack]; !ok && got[stack] != 0 {
					t.Errorf("%s: %d ns, officially none", stack, got[stack])
				}
			}
			if len(want) < 3 {
				t.Errorf("only %d stacks", len(want))
			}
		})
	}
}

// readForOfficial returns the time per stack, and what the official profile has beyond.
func readForOfficial(t *testing.T, name string) (stacks, extra map[string]int64) {
	t.Helper()
	f, err := os.Open(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{Clock: ingest.ClockReader})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	p, c := collect(t, Options{Waker: true}, in.Tables(), in.Header().Version)
	c.Observe(m)
	_, other := collect(t, Options{Waker: true}, in.Tables(), in.Header().Version)
	o := &official{other, map[model.GoID]bool{}, map[string]int64{}}
	m.Observe(o)
	if err := ingest.Each(in, func(ev *model.Event) error {
		c.Event(ev)
		return m.Apply(ev)
	}); err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	c.Finish(0)
	stacks = map[string]int64{}
	for i := range p.cells {
		stacks[p.text(p.cells[i].stack)] += p.cells[i].values[1]
	}
	return stacks, o.extra
}

// officialStacks returns the time per stack of go tool trace, which is the program tool.
func officialStacks(t *testing.T, tool, name string) map[string]int64 {
	t.Helper()
	data, err := exec.CommandContext(t.Context(), tool, "-pprof=sched", fixtures.Path(name)).Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, s := range p.Sample {
		var stack []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				stack = append(stack, fmt.Sprintf("%s:%d", line.Function.Name, line.Line))
			}
		}
		out[strings.Join(stack, " ")] += s.Value[1]
	}
	return out
}
