package sample

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/strict"
	"github.com/schedscope/schedscope/internal/textui"
)

// MaxRead bounds a file of samples, in bytes.
const MaxRead = 64 << 20

// ReadSet reads a file of samples, which is called name in errors.
func ReadSet(name string, data []byte) (*Set, error) {
	set, err := strict.Decode[Set](data, Schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", textui.Clean(name), err)
	}
	return set, nil
}

// Check reports what is wrong with samples from outside.
func (s *Set) Check() error {
	if len(s.Samples) == 0 {
		return errors.New("there are no samples")
	}
	for i := range s.Samples {
		if err := checkSample(&s.Samples[i]); err != nil {
			return err
		}
	}
	return nil
}

// maxRun bounds the file of an [env.Run], in bytes.
const maxRun = 64 << 10

// ReadRun returns the [env.Run] that lies beside the trace in a file, nil if there is none.
func ReadRun(trace string) (*env.Run, error) {
	name := env.Beside(trace)
	data, err := savedfile.ReadFile(name, maxRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, err := strict.Decode[env.Run](data, "")
	if err != nil {
		return nil, fmt.Errorf("reading %s: invalid environment record: %w", name, err)
	}
	return run, nil
}

// checkSample says what is wrong with a sample from outside.
func checkSample(s *Sample) error {
	if s.Name == "" {
		return errors.New("a sample has no name")
	}
	if got := s.Identity.MetricDefs; got != rule.MetricDefs {
		return fmt.Errorf("%q was measured by the definitions %q of the metrics, and these are %q: read its trace again", s.Name, got, rule.MetricDefs)
	}
	switch id := &s.Identity; {
	case s.From < 0 || s.To <= s.From:
		return fmt.Errorf("%q: the window ends at to_ns %d, and begins at from_ns %d", s.Name, s.To, s.From)
	case s.Events < 1:
		return fmt.Errorf("%q: events is %d, and a trace has some", s.Name, s.Events)
	case id.MinProcs < 1 || id.MaxProcs < id.MinProcs:
		return fmt.Errorf("%q: min_procs is %d and max_procs %d", s.Name, id.MinProcs, id.MaxProcs)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Values)) {
		q, err := rule.ParseQuantity(key)
		switch {
		case err != nil:
			return fmt.Errorf("%q: %w", s.Name, err)
		case q.String() != key:
			return fmt.Errorf("%q: the quantity %q is written %q", s.Name, key, q)
		}
		if err := checkValue(&q, s.Values[key]); err != nil {
			return fmt.Errorf("%q: values: %q: %w", s.Name, key, err)
		}
	}
	return nil
}

// checkValue says what is wrong with a value from outside. A total is 0 only if nothing was
// added to it, and lengths never are, except for processor time, which is counted in ticks, and
// parts of requests.
func checkValue(q *rule.Quantity, v Value) error {
	metric, _ := rule.Lookup(q.Metric)
	part, _, _ := metric.OfRequests()
	most := float64(math.MaxInt64)
	if q.Agg == rule.Share {
		most = 1 + 1e-9
	}
	total := q.Agg == rule.Sum || q.Agg == rule.Share || q.Per != rule.PerNone
	switch {
	case !(v.X >= 0 && v.X <= most):
		return fmt.Errorf("x is %v, want 0 to %.4g", v.X, most)
	case v.X == 0 && (!total || v.N > 0 || q.Metric == "ops") && !metric.Env && part == "":
		return errors.New("x is 0, want more")
	case v.Beyond > v.N || v.Tau > float64(max(v.N, 1)):
		return fmt.Errorf("n is %d, want at least beyond, which is %d, and tau, which is %v", v.N, v.Beyond, v.Tau)
	}
	return nil
}
