package gate

import (
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/internal/stat"
)

// inFamily says whether the rule shares alpha with others: those of level error that
// compare with a baseline. An absolute rule has the confidence that it states, and one
// of level warn stands for itself.
func (it *item) inFamily() bool {
	return it.rule.Bound.Relative && it.rule.Level == budget.Error && it.res.P != nil
}

// correct adjusts the p of the family (Holm), and gives every rule the error rate that
// it has at worst.
func (c *check) correct() {
	var family []*item
	var ps []float64
	for _, it := range c.items {
		if it.inFamily() {
			family, ps = append(family, it), append(ps, *it.res.P)
		} else if it.res.P != nil && it.rule.Bound.Relative {
			it.alpha = c.b.Alpha
		}
	}
	for i, p := range stat.Holm(ps) {
		family[i].res.PAdj = &p
		family[i].alpha = c.b.Alpha / float64(len(family))
	}
}

// violated says whether the test shows that the bound is not kept.
func (c *check) violated(it *item) bool {
	switch {
	case it.res.P == nil:
		return false
	case it.res.PAdj != nil:
		return *it.res.PAdj <= c.b.Alpha*(1+1e-12)
	}
	return *it.res.P <= it.alpha*(1+1e-12)
}

// leastP is the smallest p that the rule's test can give.
func (c *check) leastP(it *item) float64 {
	if it.res.Test == "permutation" {
		return it.leastOf(it.res.Base.N, it.res.Cand.N)
	}
	return 0
}

// leastOf is that of so many traces: more if the bound allows more than the base has.
func (it *item) leastOf(n, m int) float64 {
	if it.sign()*it.res.Bound > it.sign()*it.res.Base.Median {
		return stat.Unchanged * stat.MinP(n, m)
	}
	return stat.MinP(n, m)
}

// needsForP is how many traces per side let the test reach the rule's error rate.
func (c *check) needsForP(it *item) int {
	n := 1
	for it.leastOf(n, n) > it.alpha && n < 1000 {
		n++
	}
	return n
}
