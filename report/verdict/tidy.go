package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// tidy returns a deep copy of r without nil lists. Its texts can be shown if asked: each is as
// [textui.Clean] has it. Numbers that are none are an error.
func tidy(r *gate.Result, shown bool) (*gate.Result, error) {
	if r == nil {
		return nil, errors.New("no result")
	}
	out, text := new(gate.Result), textui.Clean
	if !shown {
		text = func(s string) string { return s }
	}
	err := tidyInto(reflect.ValueOf(out).Elem(), reflect.ValueOf(r).Elem(), "result", text)
	if shown {
		out.Headline = strings.TrimPrefix(out.Headline, "unusable: ") // the verdict says so
	}
	return out, err
}

func tidyInto(dst, src reflect.Value, at string, text func(string) string) error {
	switch src.Kind() {
	case reflect.String:
		dst.SetString(text(src.String()))
	case reflect.Float64:
		if x := src.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s is %v, want a finite number", at, x)
		}
		dst.Set(src)
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			return tidyInto(dst.Elem(), src.Elem(), at, text)
		}
	case reflect.Slice:
		dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
		for i := range src.Len() {
			if err := tidyInto(dst.Index(i), src.Index(i), fmt.Sprintf("%s[%d]", at, i), text); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range src.NumField() {
			if err := tidyInto(dst.Field(i), src.Field(i), at+"."+src.Type().Field(i).Name, text); err != nil {
				return err
			}
		}
	default:
		dst.Set(src)
	}
	return nil
}

// state is what a rule's result amounts to, in the order in which reports show them.
type state int

const (
	failed state = iota
	unusable
	warned // violated, of level warn
	waived
	inconclusive
	unseen
	passed
)

// words of the states in texts.
var words = [...]string{"FAIL", "UNUSABLE", "WARN", "WAIVED", "INCONCLUSIVE", "PASS", "PASS"}

var states = map[gate.Verdict]state{gate.Fail: failed, gate.Unusable: unusable, gate.Waived: waived, gate.Inconclusive: inconclusive, gate.Unseen: unseen, gate.Pass: passed}

func stateOf(r *gate.RuleResult) state {
	s, ok := states[r.Verdict]
	switch {
	case !ok:
		return unusable
	case s == failed && r.Level == budget.Warn:
		return warned
	}
	return s
}

// violated reports whether the rule's bound was exceeded, by whatever level.
func violated(r *gate.RuleResult) bool {
	s := stateOf(r)
	return s == failed || s == warned || s == waived
}

// ranked returns the rules that were judged: failures first, worst first; the others as
// the budget has them.
func ranked(r *gate.Result) []*gate.RuleResult {
	var out []*gate.RuleResult
	for i := range r.Rules {
		if r.Rules[i].Level != budget.Off {
			out = append(out, &r.Rules[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *gate.RuleResult) int {
		if c := cmp.Compare(stateOf(a), stateOf(b)); c != 0 || !violated(a) {
			return c
		}
		return cmp.Compare(excess(b), excess(a))
	})
	return out
}

// excess is how far the candidate's median is beyond the bound, as a factor, for sorting.
func excess(r *gate.RuleResult) float64 {
	if r.Cand == nil || r.Cand.Median <= 0 || r.Bound <= 0 {
		return 0
	}
	x := r.Cand.Median / r.Bound
	if w, ok := worst(r); ok && w > 0 {
		x = w / r.Bound
	}
	return max(x, 1/x)
}

// refer has the headline and the reasons in r, which is a copy, refer to the guards by
// name instead of repeating their texts.
func refer(r *gate.Result) {
	var texts []string
	for _, g := range r.Guards {
		if g.Status != gate.GuardOK && len(g.Text) > 15 {
			texts = append(texts, g.Name+": "+g.Text, "see guard "+g.Name, g.Text, "see guard "+g.Name)
		}
	}
	guards := strings.NewReplacer(texts...)
	r.Headline = guards.Replace(r.Headline)
	for i := range r.Warnings {
		r.Warnings[i] = guards.Replace(r.Warnings[i])
	}
	for rr := range result.Refs(r.Rules) {
		rr.Why = guards.Replace(rr.Why)
		if rr.Explain == nil {
			continue
		}
		for k, s := range rr.Explain.Why {
			rr.Explain.Why[k] = guards.Replace(s)
		}
	}
}
