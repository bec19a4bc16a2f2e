package report

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// The functions below turn the names that a [result.Report] has into the words of reports for
// people. What they do not know, as of another version of the program, they return as
// it is.

// OriginLabel names an origin of a wait.
func OriginLabel(name string) string {
	for o := range model.NumOrigins {
		if o.String() == name {
			return result.OriginName(o)
		}
	}
	return name
}

// OriginSentence says in the words of a sentence what made a goroutine runnable. Waker
// names the goroutine that did it, "" if there was none.
func OriginSentence(name, waker string) string {
	for o := range model.NumOrigins {
		if o.String() == name {
			return result.OriginClause(o, waker)
		}
	}
	return result.OriginClause(model.OriginUnknown, waker)
}

// WorkLabel names what a goroutine did while others waited behind it.
func WorkLabel(work string, syscall bool) string {
	for w := range model.NumWorkKinds {
		if w.String() == work {
			return workName(w, syscall)
		}
	}
	if syscall {
		return result.UseSyscall.Label()
	}
	return work
}

// UseLabel names a use of procs.
func UseLabel(name string) string {
	for u := range result.NumUses {
		if u.String() == name {
			return u.Label()
		}
	}
	return name
}

// SourceLabel names where the start of a goroutine took it from.
func SourceLabel(name string) string {
	for s := range runqueue.NumSources {
		if s.String() == name {
			return sourceName(s)
		}
	}
	return name
}

// PathologyLabel turns the stable name of a pathology into words.
func PathologyLabel(name string) string { return pathologyName(name) }

// EvidenceText returns a number of a finding or pathology with its unit.
func EvidenceText(e *result.Evidence) string { return evidence(result.Evidence(*e)) }
