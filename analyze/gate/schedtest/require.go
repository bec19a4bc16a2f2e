package schedtest

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
)

// Require ends the recording and fails the test for every rule that its trace does not
// keep, such as "p99(runnable) < 5ms @ point" or "mean(wait/op) <= 200us @ point". A rule
// without data fails, too, and one on a quantile beyond which lie less than ten values: p99
// takes a thousand of them. If somebody else records (go test -trace), nothing can be
// judged yet: the log says so.
func (r *Recording) Require(rules ...string) {
	r.tb.Helper()
	parsed, err := parseRules(rules)
	if err != nil {
		r.tb.Errorf("schedtest: %v", err)
		return
	}
	r.Stop()
	if r.file == nil {
		r.tb.Logf("schedtest: not judged: the trace is being recorded by somebody else (-test.trace); schedscope gate check reads its file")
		return
	}
	if r.name == "" {
		return // Stop has said why
	}
	s, err := r.read(result.Each(parsed, func(x **rule.Rule) rule.Quantity { return (*x).Quantity }))
	if err != nil {
		r.tb.Errorf("schedtest: %v", err)
		return
	}
	r.judge(parsed, s)
}

func (r *Recording) judge(rules []*rule.Rule, s *sample.Sample) {
	r.tb.Helper()
	if why := disturbed(s); r.skip && why != "" {
		r.tb.Skipf("schedtest: not judged: the machine was disturbed: %s", why)
	}
	for _, x := range rules {
		if text := judge(x, s, r.op); text != "" {
			r.tb.Errorf("schedtest: %s%s", text, r.whereabouts())
		}
	}
}

// disturbed says what disturbed the recording, "" if nothing is known to have.
func disturbed(s *sample.Sample) string { return env.DefaultLimits.Disturbed(s.Noise) }

// whereabouts says where the trace is.
func (r *Recording) whereabouts() string {
	return textui.Either(os.Getenv(TraceVariable) == "" && !keeps(), "\n    trace:   gone after the test; go test -artifacts keeps it", fmt.Sprintf("\n    trace:   %s (schedscope analyze shows it)", r.name))
}

// parseRules refuses what one trace cannot answer.
func parseRules(texts []string) ([]*rule.Rule, error) {
	if len(texts) == 0 {
		return nil, errors.New("Require without a rule requires nothing: write one, such as p99(runnable) < 5ms @ point")
	}
	var rules []*rule.Rule
	for _, text := range texts {
		x, err := rule.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%w; schedscope help gate-rules has the language of rules", err)
		}
		switch why := x.Vacuous(); {
		case why != "":
			return nil, fmt.Errorf("%s: %s", text, why)
		case x.Bound.Relative:
			return nil, fmt.Errorf("%s: one trace has no baseline: let schedscope gate check judge it", text)
		case !x.Point:
			return nil, fmt.Errorf("%s: one trace has no error rate: write @ point, or let schedscope gate check judge several", text)
		}
		rules = append(rules, x)
	}
	return rules, nil
}

// Measure ends the recording and returns the values of quantities such as "p99(runnable)" or
// "mean(wakes/op)": nanoseconds, numbers and fractions. The result omits quantities without
// data. Measure returns an error if the trace cannot be read.
func (r *Recording) Measure(quantities ...string) (map[string]float64, error) {
	var list []rule.Quantity
	for _, text := range quantities {
		q, err := rule.ParseQuantity(text)
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	r.Stop()
	if r.name == "" {
		return nil, fmt.Errorf("there is no trace of this recording's own")
	}
	s, err := r.read(list)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for i, q := range list {
		if v, ok := s.Values[q.String()]; ok {
			values[quantities[i]] = v.X
		}
	}
	return values, nil
}

// read makes a sample of the trace.
func (r *Recording) read(quantities []rule.Quantity) (*sample.Sample, error) {
	f, err := os.Open(r.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	spec := &sample.Spec{Workload: r.workload, Op: r.op, Quantities: quantities}
	s, err := sample.Read(context.Background(), f, info.Size(), sample.Input{Name: r.tb.Name()}, spec, sample.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading the trace: %w", err)
	}
	if !s.Whole {
		return nil, fmt.Errorf("the trace is not whole: %s", s.Loss)
	}
	return s, nil
}
