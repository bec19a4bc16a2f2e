package verdict

import (
	"io"

	"github.com/schedscope/schedscope/analyze/gate"
)

type qualityIssue struct {
	Description string          `json:"description"`
	Check       string          `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string       `json:"path"`
	Lines qualityLines `json:"lines"`
}

type qualityLines struct {
	Begin int `json:"begin"`
}

// CodeQuality writes violated rules that have a place in the repository, as GitLab's
// code quality reports have them. It does not decide what becomes of the job: its exit
// code does.
func CodeQuality(w io.Writer, r *gate.Result, o Options) error {
	c, err := printable(r)
	if err != nil {
		return err
	}
	issues := []qualityIssue{}
	for _, rr := range ranked(c) {
		p, part, ok := o.top(rr)
		if !ok || !violated(rr) {
			continue
		}
		issues = append(issues, qualityIssue{
			Description: words[stateOf(rr)] + ": " + title(rr) + " (" + rr.Rule + ")",
			Check:       rr.Slug,
			Fingerprint: fingerprint(c, rr, part),
			Severity:    severity(rr),
			Location:    qualityLocation{p.path, qualityLines{p.line}},
		})
	}
	return writeJSON(w, issues)
}

func severity(r *gate.RuleResult) string {
	switch stateOf(r) {
	case failed:
		return "major"
	case warned:
		return "minor"
	}
	return "info"
}
