package pathologies

import (
	"cmp"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// stint is a time in which something went on.
type stint struct{ start, end model.Time }

// symptom is what all kinds of pathologies collect: single cases and who took
// part in them. The pathology has their number, their sum and the worst of them.
type symptom struct {
	result.Pathology
	found   bool
	parties map[partyKey]*result.Party
	places  map[model.StackID]string // there are many cases and few stacks
}

type partyKey struct{ role, fn, place string }

// party counts d for the goroutines of function fn at a stack, 0 if not known. Beyond the limit of names all are one.
func (s *symptom) party(t *model.Tables, role string, fn model.StringID, stack model.StackID, proc model.ProcID, d model.Duration) {
	if s.parties == nil {
		s.parties, s.places = map[partyKey]*result.Party{}, map[model.StackID]string{}
	}
	place, ok := s.places[stack]
	if !ok {
		place = result.PlaceOf(t.Stack(stack))
		s.places[stack] = place
	}
	key := partyKey{role, cmp.Or(t.String(fn), result.NoName), place}
	if s.parties[key] == nil && len(s.parties) >= result.MaxNames {
		key, stack = partyKey{role: role, fn: result.OtherNames}, 0
	}
	y := s.parties[key]
	if y == nil {
		y = &result.Party{Role: key.role, Function: key.fn, Place: key.place, Stack: result.Frames(t.Stack(stack)), Proc: proc}
		s.parties[key] = y
	}
	if y.Proc != proc {
		y.Proc = model.NoProc
	}
	y.Count++
	y.Total += d
}

// single counts a case of length d that ended at a time and befell g, or was g's doing.
func (s *symptom) single(d model.Duration, at model.Time, g model.GoID) {
	if s.Count == 0 || d > s.Worst {
		s.Worst, s.At, s.G = d, at, g
	}
	s.Count++
	s.Total += d
}

// pattern reports whether cases that happen now and then to everybody are too
// many for that: at least so many, and in a long trace one in each second.
func (s *symptom) pattern(least int64, span model.Duration) bool {
	return s.Count >= max(least, int64(span/1_000_000_000))
}

// judge says whether the pathology of that name was found, and by which numbers.
func (s *symptom) judge(name string, severity result.Severity, found bool, evidence ...result.Evidence) {
	s.found = found
	s.Name, s.Severity, s.Grade, s.Evidence = name, severity, result.Inferred, evidence
	x := findings.Symptom(name)
	s.Meaning, s.Advice = x.Meaning, x.Advice
}

// Numbers that a pathology rests on.
func counted(name string, n int64) result.Evidence {
	return result.Evidence{Name: name, Value: float64(n), Unit: "count"}
}

func lasting(name string, d model.Duration) result.Evidence {
	return result.Evidence{Name: name, Value: float64(d), Unit: "ns"}
}

func sharing(name string, x float64) result.Evidence {
	return result.Evidence{Name: name, Value: x, Unit: "share"}
}
