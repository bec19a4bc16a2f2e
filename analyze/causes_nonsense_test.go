package analyze_test

import (
	"math/rand/v2"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
)

// TestCausesOfNonsense changes events at random. Whatever the Machine makes of
// that, all time that it calls a wait has a cause.
func TestCausesOfNonsense(t *testing.T) {
	for _, name := range []string{"mixed.go1.26.p2.trace", "syscalls.go1.26.p4.trace", "resize.go1.26.p4.trace"} {
		tables, version, events := load(t, fixtures.Path(name))
		events = events[:min(len(events), 6000)]
		for seed := range uint64(8) {
			changed := garble(events, rand.New(rand.NewPCG(seed, 1)))
			m := model.NewMachine(tables, model.Config{Version: version})
			r := analyze.New(tables, analyze.Options{Version: version})
			r.Observe(m)
			for i := range changed {
				r.Event(&changed[i])
				_ = m.Apply(&changed[i])
			}
			if err := m.Finish(m.Now()); err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			r.Finish(m.Start(), m.Now())
			checkCauses(t, r)
			if t.Failed() {
				t.Fatalf("%s, seed %d", name, seed)
			}
		}
	}
}

// garble changes one event in fifty.
func garble(events []model.Event, rnd *rand.Rand) []model.Event {
	out := append([]model.Event(nil), events...)
	for range len(out) / 50 {
		a, b := &out[rnd.IntN(len(out))], &out[rnd.IntN(len(out))]
		switch rnd.IntN(7) {
		case 0:
			a.ID = b.ID
		case 1:
			a.From, a.To = b.From, b.To
		case 2:
			a.M, a.P, a.G = b.M, b.P, b.G
		case 3:
			a.P = model.NoProc
		case 4:
			*a = *b
		case 5:
			a.Time += model.Time(rnd.Int64N(1 << rnd.IntN(40)))
		case 6:
			a.Kind = b.Kind
		}
	}
	return out
}
