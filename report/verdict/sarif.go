package verdict

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
)

// object is one of JSON. Its keys are written in the order of the alphabet.
type object = map[string]any

func message(text string) object { return object{"text": text} }

// sarif writes violated rules with the place in the repository that explains them, else that
// of the rule in the budget file. What could not be judged is a notification of the run.
func sarif(w io.Writer, c *gate.Result, o Options) error {
	notes := []object{}
	note := func(level, text string) {
		notes = append(notes, object{"level": level, "message": message(text)})
	}
	switch c.Verdict {
	case gate.Unusable:
		note("error", c.Headline)
	case gate.Inconclusive:
		note("warning", c.Headline)
	}
	for _, s := range c.Warnings {
		note("warning", s)
	}
	rules, results, index := []object{}, []object{}, map[string]int{}
	for _, rr := range ranked(c) {
		level := textui.Either(rr.Level == budget.Warn, "warning", "error")
		if _, ok := index[rr.Slug]; !ok {
			index[rr.Slug] = len(rules)
			rules = append(rules, object{"id": rr.Slug, "shortDescription": message(rr.Rule), "defaultConfiguration": object{"level": level},
				"help": message("schedscope help gate-rules says what rules mean and how they are judged.")})
		}
		if !violated(rr) {
			continue
		}
		p, part, ok := o.top(rr)
		if !ok {
			p, part = place{cmp.Or(o.Budget, "schedscope.yaml"), max(1, o.Lines[rr.Slug])}, &gate.Part{}
		}
		place := object{"artifactLocation": object{"uri": strings.ReplaceAll(url.PathEscape(p.path), "%2F", "/"), "uriBaseId": "%SRCROOT%"}, "region": object{"startLine": p.line}}
		result := object{
			"ruleId": rr.Slug, "ruleIndex": index[rr.Slug], "level": level, "message": message(o.message(c, rr)),
			"locations":           []object{{"physicalLocation": place}},
			"partialFingerprints": object{"schedscope/v1": fingerprint(c, rr, part)},
		}
		if rr.Verdict == gate.Waived {
			result["suppressions"] = []object{{"kind": "external", "justification": waiverText(rr.Waiver)}}
		}
		results = append(results, result)
	}
	run := object{
		"automationDetails": object{"id": "schedscope-gate/" + url.PathEscape(workload(c)) + "/"},
		"columnKind":        "utf16CodeUnits",
		"invocations":       []object{{"executionSuccessful": c.Verdict != gate.Unusable, "exitCode": c.Exit, "toolExecutionNotifications": notes}},
		"results":           results,
		"tool":              object{"driver": object{"name": "schedscope gate", "informationUri": "https://github.com/schedscope/schedscope", "rules": rules}},
	}
	return savedfile.WriteJSON(w, object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{run}}, false)
}

// fingerprint is the same as long as it is the same rule of the same workload in the same
// class, however great the change is and wherever the lines move.
func fingerprint(c *gate.Result, r *gate.RuleResult, part *gate.Part) string {
	key := []string{c.Workload, r.Slug, part.Func, part.Detail}
	if part.At != nil {
		key = append(key, part.At.Func)
	}
	sum := sha256.Sum256([]byte(strings.Join(key, "\x00")))
	return hex.EncodeToString(sum[:16])
}
