// Package baseline reads and writes files of samples: those of one recording, and the
// history against which later ones are judged.
//
// Both are JSON with sorted keys and a trace per line, so that a version control system
// shows what has changed. The same content always gives the same bytes.
package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/stat"
)

// Schema of a file of history.
const Schema = "schedscope.baseline/v1"

// Limits of a file of history.
const (
	MaxSessions = 30
	MaxSize     = 256 << 10 // bytes
)

// File is the history of a workload: sessions of recording, oldest first.
type File struct {
	Schema     string
	Tool       string // that wrote it
	MetricDefs string
	Workload   string
	BudgetHash string // of the budget in use when the newest session was added
	Sessions   []Session
}

// Session is what was recorded in one go.
type Session struct {
	ID     string
	Commit string
	Time   string // RFC 3339, "" if not known
	Design string // as of sample.Set
	// Spec is what was measured. Sessions of other specs are not comparable, see
	// [sample.Spec.Differs].
	Spec    sample.Spec
	Samples []sample.Sample
}

// New returns an empty history.
func New(tool string) *File {
	return &File{Schema: Schema, Tool: tool, MetricDefs: rule.MetricDefs}
}

// SessionOf returns the session that a set of samples is. Its ID is a hash of them, and
// its commit theirs, if they have one in common. at is when it was recorded, zero if
// that is not known.
func SessionOf(set *sample.Set, at time.Time) (Session, error) {
	s := Session{Design: set.Design, Spec: set.Spec, Samples: slices.Clone(set.Samples)}
	s.Spec.Quantities = nil
	if !at.IsZero() {
		s.Time = at.UTC().Format(time.RFC3339)
	}
	for i := range s.Samples {
		c := s.Samples[i].Identity.Commit
		if i > 0 && c != s.Commit {
			s.Commit = ""
			break
		}
		s.Commit = c
	}
	id, err := contentHash(set.Samples)
	s.ID = id
	return s, err
}

func contentHash(samples []sample.Sample) (string, error) {
	data, err := json.Marshal(samples)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// Add appends a session and cuts the one before down to what history needs. It refuses,
// without a change, samples of another workload or of other definitions of the metrics,
// and a session or trace that is there already: it would count twice. Samples of another
// machine are welcome: the gate compares with those of its own.
func (f *File) Add(s Session) error {
	if s.ID == "" {
		return errors.New("a session needs an id")
	}
	for i := range f.Sessions {
		if f.Sessions[i].ID == s.ID {
			return fmt.Errorf("session %s is there already: the same traces must not count twice", s.ID)
		}
	}
	workload := f.Workload
	if len(f.Sessions) == 0 && workload == "" && len(s.Samples) > 0 {
		workload = s.Samples[0].Identity.Workload
	}
	if err := checkSession(&s, workload); err != nil {
		return err
	}
	if err := f.checkNew(&s); err != nil {
		return err
	}
	if n := len(f.Sessions); n > 0 {
		f.Sessions[n-1].trim()
	}
	f.Workload = workload
	s.Samples = slices.Clone(s.Samples)
	f.Sessions = append(f.Sessions, s)
	return nil
}

// checkNew refuses traces that the history has, under whatever name and in whatever session,
// and ones that the session has twice.
func (f *File) checkNew(s *Session) error {
	for i := range s.Samples {
		x := &s.Samples[i]
		if at := find(x, s.Samples[:i]); at >= 0 {
			return fmt.Errorf("%q is the same trace as %q: it must not count twice", x.Name, s.Samples[at].Name)
		}
		for j := range f.Sessions {
			if at := find(x, f.Sessions[j].Samples); at >= 0 {
				return fmt.Errorf("%q is in session %s already, as %q: the same trace must not count twice", x.Name, f.Sessions[j].ID, f.Sessions[j].Samples[at].Name)
			}
		}
	}
	return nil
}

// find returns the place of a trace, -1 if it is not there.
func find(x *sample.Sample, in []sample.Sample) int {
	return slices.IndexFunc(in, func(y sample.Sample) bool { return sameTrace(x, &y) })
}

// sameTrace reports whether samples are of one trace, as far as old sessions tell: two have
// hardly the same length to the nanosecond, and even less all the same figures.
func sameTrace(x, y *sample.Sample) bool {
	if x.From != y.From || x.To != y.To || x.Ops != y.Ops || x.Events != y.Events || x.Running != y.Running || x.CPU != y.CPU || x.Capacity != y.Capacity {
		return false
	}
	for key, v := range x.Values {
		if w, ok := y.Values[key]; ok && round(v.X, 6) != round(w.X, 6) {
			return false
		}
	}
	return reflect.DeepEqual(roundNoise(x.Noise), roundNoise(y.Noise))
}

// checkSession says what speaks against a session in the history of a workload.
func checkSession(s *Session, workload string) error {
	if len(s.Samples) == 0 {
		return fmt.Errorf("session %q has no traces", s.ID)
	}
	if _, err := time.Parse(time.RFC3339, s.Time); err != nil && s.Time != "" {
		return fmt.Errorf("session %q: the time %q is not like 2026-01-31T12:00:00Z", s.ID, s.Time)
	}
	for i := range s.Samples {
		if err := checkSample(&s.Samples[i]); err != nil {
			return fmt.Errorf("session %q: %w", s.ID, err)
		}
		if w := s.Samples[i].Identity.Workload; w != workload {
			return fmt.Errorf("session %q: %q is of workload %q, the history of %q", s.ID, s.Samples[i].Name, w, workload)
		}
	}
	return nil
}

// checkSample says what is wrong with a sample from outside.
func checkSample(s *sample.Sample) error {
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
func checkValue(q *rule.Quantity, v sample.Value) error {
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

// trim cuts a session down to what history needs: values, identity, noise, load. It
// replaces samples and maps and leaves those that others may hold.
func (s *Session) trim() {
	out := make([]sample.Sample, len(s.Samples))
	for i := range s.Samples {
		out[i] = trimmed(&s.Samples[i])
	}
	s.Samples = out
}

func trimmed(s *sample.Sample) sample.Sample {
	out := sample.Sample{
		Name: s.Name, Round: s.Round, Order: s.Order, Identity: s.Identity, Noise: roundNoise(s.Noise), Whole: s.Whole, Loss: s.Loss,
		From: s.From, To: s.To, Ops: s.Ops, Events: s.Events, Running: s.Running, CPU: s.CPU, Capacity: s.Capacity,
		Values: make(map[string]sample.Value, len(s.Values)),
	}
	for key, v := range s.Values {
		out.Values[key] = sample.Value{X: round(v.X, 6)}
	}
	return out
}

// roundNoise rounds all that is known of noise.
func roundNoise(n *sample.Noise) *sample.Noise {
	if n == nil {
		return nil
	}
	out := *n
	v := reflect.ValueOf(&out).Elem()
	for i := range v.NumField() {
		if p, ok := v.Field(i).Interface().(*float64); ok && p != nil {
			x := round(*p, 3)
			v.Field(i).Set(reflect.ValueOf(&x))
		}
	}
	return &out
}

// round returns x with so many significant digits.
func round(x float64, digits int) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// limitClasses leaves so many of each kind of class to a session.
func (s *Session) limitClasses(limit int) {
	s.Samples = slices.Clone(s.Samples)
	for i := range s.Samples {
		x := &s.Samples[i]
		x.Waits, x.Blocked = largest(x.Waits, limit), largest(x.Blocked, limit)
		x.Runs, x.Blame = largest(x.Runs, limit), largest(x.Blame, limit)
		x.Worst = x.Worst[:min(limit, len(x.Worst))]
	}
}

// largest joins the last of a sorted list of classes so that so many are left, which
// still add up. A limit of 0 leaves none.
func largest(list []sample.Class, limit int) []sample.Class {
	if limit == 0 || len(list) <= limit {
		return list[:min(limit, len(list))]
	}
	rest := sample.Class{Func: sample.Others}
	for i := range list[limit-1:] {
		rest.Total += list[limit-1+i].Total
		rest.Count += list[limit-1+i].Count
	}
	return append(list[:limit-1:limit-1], rest)
}

// fewClasses is how many classes the newest session keeps before an old session goes.
const fewClasses = 5

// Prune leaves the newest sessions, at most keep of them (usually [MaxSessions]) and at
// least one, and drops more if the file is longer than [MaxSize] otherwise. Before that
// the newest session loses the lesser of its classes. It returns the IDs of the sessions
// that went.
func (f *File) Prune(keep int) (dropped []string, err error) {
	if len(f.Sessions) == 0 {
		return nil, nil
	}
	for len(f.Sessions) > max(keep, 1) {
		dropped = append(dropped, f.drop())
	}
	for i := range len(f.Sessions) - 1 {
		f.Sessions[i].trim()
	}
	for limit := sample.MaxClasses; ; limit /= 2 {
		size, err := f.size()
		switch {
		case err != nil:
			return dropped, err
		case size <= MaxSize:
			return dropped, nil
		case limit > fewClasses:
			f.newest().limitClasses(limit / 2)
		case len(f.Sessions) > 1:
			dropped = append(dropped, f.drop())
			limit *= 2
		case limit > 0:
			f.newest().limitClasses(limit / 2)
		default:
			return dropped, fmt.Errorf("session %q alone takes %d bytes, and a file has at most %d: it has too many traces or quantities", f.newest().ID, size, MaxSize)
		}
	}
}

func (f *File) newest() *Session { return &f.Sessions[len(f.Sessions)-1] }

func (f *File) drop() string {
	id := f.Sessions[0].ID
	f.Sessions = slices.Delete(f.Sessions, 0, 1)
	return id
}

func (f *File) size() (int, error) {
	var b bytes.Buffer
	err := Write(&b, f)
	return b.Len(), err
}

// Drift is how a quantity went over the sessions.
type Drift struct {
	Quantity    string
	First, Last float64 // medians of the first and the newest session that have it
}

// Drifts returns how all quantities went: a baseline that follows its program hides what
// comes in small steps.
func (f *File) Drifts() []Drift {
	medians := map[string][]float64{} // by session
	for i := range f.Sessions {
		values := map[string][]float64{}
		for j := range f.Sessions[i].Samples {
			for key, v := range f.Sessions[i].Samples[j].Values {
				values[key] = append(values[key], v.X)
			}
		}
		for key, xs := range values {
			medians[key] = append(medians[key], stat.Median(xs))
		}
	}
	var out []Drift
	for _, q := range slices.Sorted(maps.Keys(medians)) {
		m := medians[q]
		out = append(out, Drift{q, m[0], m[len(m)-1]})
	}
	return out
}
