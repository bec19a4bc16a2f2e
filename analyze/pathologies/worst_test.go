package pathologies_test

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/pathologies"
	"github.com/schedscope/schedscope/model"
)

// goEnds remembers when goroutines ended which states, and since when they were in them.
type goEnds struct {
	first, last model.Time // event and step
	since       map[goEnd]model.Time
}

type goEnd struct {
	g     model.GoID
	state model.GoState
	at    model.Time
}

func (x *goEnds) Begin(first model.Time) { x.first = first }

func (x *goEnds) Step(s *model.Step) {
	x.last = s.Time
	if s.Kind == model.StepGo {
		x.since[goEnd{s.G, model.GoState(s.From), s.Time - x.first}] = s.Since - x.first
	}
}

// worstStates are the states that goroutines cease to be in where the worst cases end.
var worstStates = map[string]model.GoState{"runnext-chain": model.GoRunnable, "global-queue-aging": model.GoRunnable}

// check checks of each pathology that its worst case ended at the point in time that is
// reported: there the goroutine that it names ceased to be in the state that the pathology
// is about, and it had been so for at least as long.
func (ends *goEnds) check(t *testing.T, p *pathologies.Analysis) {
	t.Helper()
	for _, x := range p.Found() {
		start := x.At - model.Time(x.Worst)
		if span := ends.last - ends.first; start < 0 || x.At > span {
			t.Errorf("the worst %s lies from %d to %d in a trace of %d ns", x.Name, start, x.At, span)
		}
		state, ok := worstStates[x.Name]
		if !ok || x.At >= ends.last-ends.first { // it goes on at the end
			continue
		}
		since, ok := ends.since[goEnd{x.G, state, x.At}]
		if !ok || since > start {
			t.Errorf("the worst %s of goroutine %d lies from %d to %d: such a state ended there: %v, it began at %d", x.Name, x.G, start, x.At, ok, since)
		}
	}
}
