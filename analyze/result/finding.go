package result

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// Grade is the confidence in a finding.
type Grade uint8

// Grades of findings.
const (
	Certain  Grade = iota // follows from what the trace shows
	Inferred              // the likely reading of what happened at the same time
)

var grades = []string{"certain", "inferred"}

// String returns the grade as reports print it.
func (g Grade) String() string { return model.NameOf(grades, g) }

// MarshalText returns the grade as reports print it.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads a grade.
func (g *Grade) UnmarshalText(text []byte) error { return place(g, grades, "grade", text) }

// Severity is the importance of a finding.
type Severity uint8

// Severities of findings.
const (
	Info Severity = iota
	Notable
	Serious
)

var severities = []string{"info", "notable", "serious"}

// String returns the severity as reports print it.
func (s Severity) String() string { return model.NameOf(severities, s) }

// MarshalText returns the severity as reports print it.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a severity. No text is that of a report of an older version.
func (s *Severity) UnmarshalText(text []byte) error { return place(s, severities, "severity", text) }

// place sets v to the place of the word among words.
func place[T ~uint8](v *T, words []string, what string, text []byte) error {
	i := slices.Index(words, string(text))
	if i < 0 {
		return fmt.Errorf("%q is not a %s", text, what)
	}
	*v = T(i)
	return nil
}

// Evidence is a number that a finding rests on.
type Evidence struct {
	Name  string  `json:"name"`             // What the number is.
	Value float64 `json:"value" range:".."` // The number.
	Unit  string  `json:"unit"`             // Its unit: ns, count, share and others.
}

// Thresholds of findings and pathologies. They say from where on something is worth a
// sentence, not that it is wrong.
const (
	// NotableWait: a proc that must first get a thread takes up to some tens of
	// microseconds to run a goroutine; ten times that is not explained by waking up.
	NotableWait = 1_000_000
	// SeriousWait: a goroutine that waited longer than a time slice (runtime/proc.go:
	// forcePreemptNS) was passed over, or had more than one before it.
	SeriousWait = 10_000_000
	// UsualWakeup: an idle proc's thread sleeps in a futex or in the network poller;
	// waking it takes some tens of microseconds.
	UsualWakeup = 100_000
	// RetakeRate of sysmon, per second.
	RetakeRate = 1000
)
