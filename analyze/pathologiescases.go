package analyze

import (
	"cmp"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// maxParties is how many parties a Pathology names.
const maxParties = 10

// stint is a time in which something went on.
type stint struct{ start, end model.Time }

// symptom is what all kinds of pathologies collect: single cases and who took
// part in them.
type symptom struct {
	cases   Tally
	trace   int        // of the worst case
	g       model.GoID // of the worst case; NoGoroutine if it is no single one's
	found   bool
	parties map[partyKey]*Party
}

// partyKey tells parties apart. Names are strings, so that traces can be merged.
type partyKey struct{ role, fn, place string }

// party counts d for the goroutines of function fn at a stack, 0 if not known.
func (s *symptom) party(t *model.Tables, role string, fn model.StringID, stack model.StackID, proc model.ProcID, d model.Duration) {
	frames := t.Stack(stack)
	s.join(partyKey{role, nameOf(t, fn), result.PlaceOf(frames)}, Party{Stack: frames, Proc: proc, Count: 1, Total: d})
}

// join adds to a party. Beyond the limit of names all are one.
func (s *symptom) join(key partyKey, x Party) {
	if s.parties == nil {
		s.parties = map[partyKey]*Party{}
	}
	if s.parties[key] == nil && len(s.parties) >= maxNames {
		key, x.Stack = partyKey{role: key.role, fn: result.OtherNames}, nil
	}
	y := s.parties[key]
	if y == nil {
		y = &Party{Role: key.role, Func: key.fn, Place: key.place, Stack: x.Stack, Proc: x.Proc}
		s.parties[key] = y
	}
	if y.Proc != x.Proc {
		y.Proc = model.NoProc
	}
	y.Count += x.Count
	y.Total += x.Total
}

// single counts a case of length d that ended at a time and befell g, or was g's doing.
func (s *symptom) single(d model.Duration, at model.Time, g model.GoID) {
	if s.cases.Count == 0 || d > s.cases.Max {
		s.g = g
	}
	s.cases.Add(d, at)
}

// sortedParties returns the keys, greatest total first.
func sortedParties(m map[partyKey]*Party) []partyKey {
	keys := make([]partyKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b partyKey) int {
		return cmp.Or(cmp.Compare(m[b].Total, m[a].Total), cmp.Compare(m[b].Count, m[a].Count),
			cmp.Compare(a.role, b.role), cmp.Compare(a.fn, b.fn), cmp.Compare(a.place, b.place))
	})
	return keys
}

// pattern reports whether cases that happen now and then to everybody are too
// many for that: at least so many, and in a long trace one in each second.
func (s *symptom) pattern(least int64, span model.Duration) bool {
	return s.cases.Count >= max(least, int64(span/1_000_000_000))
}

// pathology returns what is common to all kinds.
func (s *symptom) pathology(name string) Pathology {
	x := Pathology{Name: name, Severity: result.Notable, Count: s.cases.Count, Total: s.cases.Total,
		Worst: s.cases.Max, At: s.cases.MaxAt, Goroutine: s.g, Trace: s.trace}
	for _, key := range sortedParties(s.parties) {
		if len(x.Who) < maxParties {
			x.Who = append(x.Who, *s.parties[key])
		}
	}
	return x
}

// intensity counts events in windows of a fixed length, so that a storm in a
// long trace is not lost in the mean.
type intensity struct {
	limit        int64 // events from which on a window is stormy
	window       int64 // the current one
	count        int64 // of its events
	Peak         int64 // the most in one window
	Windows      int64 // stormy windows
	Events, InIt int64 // events, and those in stormy windows
}

// stormWindow is the length of a window: long enough to average, short enough
// that a user notices a storm of this length.
const stormWindow = 100_000_000 * model.Duration(1)

func (x *intensity) add(at model.Time) {
	w := int64(at) / int64(stormWindow)
	if w != x.window {
		x.window, x.count = w, 0
	}
	x.count++
	x.Events++
	x.Peak = max(x.Peak, x.count)
	switch {
	case x.count == x.limit:
		x.Windows++
		x.InIt += x.count
	case x.count > x.limit:
		x.InIt++
	}
}

// peakRate returns the greatest rate in one window, per second.
func (x *intensity) peakRate() float64 { return float64(x.Peak) / (float64(stormWindow) / 1e9) }

// merge adds what another trace, whose ordinal number is o's plus shift, showed.
func (s *symptom) merge(o *symptom, shift int) {
	if o.cases.Count > 0 && (s.cases.Count == 0 || o.cases.Max > s.cases.Max) {
		s.trace, s.g = o.trace+shift, o.g
	}
	s.cases.Merge(&o.cases)
	s.found = s.found || o.found
	for _, key := range sortedParties(o.parties) {
		s.join(key, *o.parties[key])
	}
}
