package gate

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// selftestFactor is by how much a self-test goes beyond what a rule allows.
const selftestFactor = 1.5

// SelftestResult says whether the rules of a budget can fail, with real recordings.
type SelftestResult struct {
	OK    bool          `json:"ok"`
	Rules []SelftestRow `json:"rules"`
	// Unchanged is the check of the recordings against themselves, which none may fail.
	Unchanged *Result `json:"unchanged"`
}

// SelftestRow is one rule's part.
type SelftestRow struct {
	Rule  string       `json:"rule"`
	Slug  string       `json:"slug"`
	Level budget.Level `json:"level"`
	// Factor is what the candidate's values were multiplied with.
	Factor float64 `json:"factor,omitempty"`
	// Scaled is the verdict on the values beyond the bound, Exit that of the whole check,
	// and Unscaled the verdict on the values as they are.
	Scaled   Verdict `json:"scaled"`
	Exit     int     `json:"exit"`
	Unscaled Verdict `json:"unscaled"`
	OK       bool    `json:"ok"`
	Why      string  `json:"why,omitempty"` // not ok
}

// Selftest judges recordings against themselves, and with each rule's quantity one and
// a half times beyond its bound: every rule of level error must fail then, and none
// before. A rule that nothing can make fail guards nothing.
func Selftest(b *budget.Budget, set *sample.Set, today time.Time) (*SelftestResult, error) {
	if b == nil || set == nil {
		return nil, errors.New("gate: a self-test takes a budget and recordings")
	}
	same := *set
	same.Design = string(Interleaved)
	plain := *b
	plain.Waivers = nil // they excuse what this is about
	plain.Paired = b.Paired && hasRounds(set)
	unchanged, err := selfCheck(&plain, &same, &same, today)
	if err != nil {
		return nil, err
	}
	res := &SelftestResult{OK: true, Rules: []SelftestRow{}, Unchanged: unchanged}
	c := newCheck(Input{Budget: &plain, Base: &same, Cand: &same})
	for i, it := range c.items {
		row, err := c.selftest(&plain, it, i, &same, today)
		if err != nil {
			return nil, err
		}
		row.judge(unchanged.Rules[i])
		res.OK = res.OK && row.OK
		res.Rules = append(res.Rules, row)
	}
	return res, nil
}

func hasRounds(set *sample.Set) bool {
	for _, s := range set.Samples {
		if s.Round == 0 {
			return false
		}
	}
	return true
}

// selfCheck checks a set against one with the same traces.
func selfCheck(b *budget.Budget, base, cand *sample.Set, today time.Time) (*Result, error) {
	// The same places in the order of recording on both sides would contradict that they
	// were recorded in turns.
	return Check(Input{Budget: b, Base: withoutOrder(base), Cand: withoutOrder(cand), Today: today, self: true})
}

func withoutOrder(set *sample.Set) *sample.Set {
	s := *set
	s.Samples = append([]sample.Sample(nil), set.Samples...)
	for i := range s.Samples {
		s.Samples[i].Order = 0
	}
	return &s
}

// selftest pushes one rule's values beyond its bound.
func (c *check) selftest(b *budget.Budget, it *item, i int, set *sample.Set, today time.Time) (SelftestRow, error) {
	row := SelftestRow{Rule: it.res.Rule, Slug: it.res.Slug, Level: it.level}
	base := values(c.cand.given, it.key)
	limit := it.rule.Bound.At(median(base))
	if len(base) == 0 || !finite(limit) {
		row.Why = "no trace has data for it"
		return row, nil
	}
	row.Factor = selftestFactor
	if !it.higher() {
		row.Factor = 1 / selftestFactor
	}
	scaledSet := withoutOrder(set)
	for j := range scaledSet.Samples {
		s := &scaledSet.Samples[j]
		v, ok := s.Values[it.key]
		if !ok {
			continue
		}
		v.X = beyondBound(it, v.X, median(base), limit, row.Factor)
		s.Values = maps.Clone(s.Values)
		s.Values[it.key] = v
	}
	if m := median(base); m > 0 {
		row.Factor *= limit / m
	}
	r, err := selfCheck(b, set, scaledSet, today)
	if err != nil {
		return row, err
	}
	row.Scaled, row.Exit = r.Rules[i].Verdict, r.Exit
	if row.Scaled != Fail {
		row.Why = r.Rules[i].Why
	}
	return row, nil
}

// beyondBound moves a value so that the median comes to lie beyond the bound.
func beyondBound(it *item, x, median, limit, factor float64) float64 {
	if median > 0 && !it.rule.Bound.Relative {
		return x / median * limit * factor
	}
	if !it.rule.Bound.Relative {
		return limit * factor
	}
	return it.rule.Bound.At(x) * factor
}

// judge says whether the rule did what it must.
func (row *SelftestRow) judge(unchanged RuleResult) {
	row.Unscaled = unchanged.Verdict
	if row.Scaled == "" {
		row.Scaled = Unusable
	}
	isError := row.Level == budget.Error
	switch {
	case row.Unscaled == Fail:
		row.Why = "violated by the recordings as they are"
		row.OK = !isError
	case row.Scaled == Fail && (row.Exit == ExitViolated || !isError):
		row.OK, row.Why = true, ""
	case row.Scaled == Fail:
		row.Why = fmt.Sprintf("violated, but the whole check ends with %d", row.Exit)
	default:
		row.OK = !isError
		row.Why = "cannot fail: " + orElse(row.Why, "the bound was not found violated")
	}
}
