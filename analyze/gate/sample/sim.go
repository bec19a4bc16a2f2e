package sample

import (
	"cmp"
	"context"
	"slices"

	"github.com/schedscope/schedscope/internal/dist"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/model"
)

// defaultSeeds is how many simulations there are if the Spec does not say.
const defaultSeeds = 4

// asksSim reports whether a quantity needs simulations.
func (s *Spec) asksSim() bool {
	for i := range s.Quantities {
		if m, ok := rule.Lookup(s.Quantities[i].Metric); ok && m.Sim {
			return true
		}
	}
	return false
}

// newReplay returns what simulates a trace's work, nil if nothing asks for it.
func newReplay(ctx context.Context, t *model.Tables, version int, spec *Spec, workers int) (*replay.Replay, error) {
	if !spec.asksSim() {
		return nil, nil
	}
	seeds := spec.SimSeeds
	if seeds <= 0 {
		seeds = defaultSeeds
	}
	return replay.New(ctx, t, version, replay.Options{Seeds: seeds, Workers: workers, Procs: spec.SimProcs})
}

// simulated is what simulations gave.
type simulated struct {
	result *replay.Result
	why    string // there is none
}

// value returns a quantity of simulations. Totals and numbers are per simulation.
func (s *simulated) value(q *rule.Quantity, m *measured) (Value, error) {
	if s.result == nil {
		return Value{}, missing(cmp.Or(s.why, "nothing was simulated"))
	}
	all := s.result.All.Simulated()
	d := all
	if fn := q.Selected("func"); fn != nil {
		d = s.result.Of(fn.Match)
		if d.Count() == 0 && !slices.ContainsFunc(m.funcs, fn.Match) {
			return Value{}, missingf("nothing matches %s", fn)
		}
	}
	return s.aggregate(q, m, d, all)
}

func (s *simulated) aggregate(q *rule.Quantity, m *measured, d, all *dist.Dist) (Value, error) {
	seeds := int64(max(s.result.Seeds, 1))
	total, n := float64(d.Total())/float64(seeds), d.Count()/seeds
	compared := s.result.Length - s.result.Warmup
	switch {
	case q.Agg == rule.Sum:
		return Value{X: total, N: n}, nil
	case q.Agg == rule.Share && all.Total() == 0:
		return Value{}, missingf("%s is zero in all, so it has no parts", q.Metric)
	case q.Agg == rule.Share:
		return Value{X: float64(d.Total()) / float64(all.Total()), N: n}, nil
	case q.Per == rule.PerSecond:
		return Value{X: total / (float64(compared) / 1e9), N: n}, nil
	case q.Per == rule.PerOp && m.ops == 0:
		return Value{}, missing(m.opsWhy)
	case q.Per == rule.PerOp:
		// The beginning of a simulation does not count, so neither do its ops.
		return Value{X: total / (float64(m.ops) * float64(compared) / float64(m.length)), N: n}, nil
	case d.Count() == 0:
		return Value{}, missingf("nobody waited in the simulations")
	case q.Agg == rule.Mean:
		return Value{X: total / (float64(d.Count()) / float64(seeds)), N: n}, nil
	case q.Agg == rule.Max:
		return Value{X: float64(d.Max()), N: n}, nil
	}
	r := dist.Rank(q.Q, d.Count())
	return Value{X: float64(d.Quantile(q.Q)), N: n, Beyond: beyondRank(q.Q, r, d.Count()) / seeds}, nil
}
