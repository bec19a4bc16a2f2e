package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"strings"

	"github.com/schedscope/schedscope/analyze/gate"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Automation  sarifID           `json:"automationDetails"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifID struct {
	ID string `json:"id"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	URI   string      `json:"informationUri"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string      `json:"id"`
	Short   sarifText   `json:"shortDescription"`
	Help    sarifText   `json:"help"`
	Default sarifConfig `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	ExitCode      int                 `json:"exitCode"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

type sarifRegion struct {
	Line int `json:"startLine"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

// SARIF writes violated rules that have a place in the repository. What could not be
// judged is a notification of the run.
func SARIF(w io.Writer, r *gate.Result, o Options) error {
	c, err := printable(r)
	if err != nil {
		return err
	}
	run := sarifRun{
		Automation: sarifID{"schedscope-gate/" + url.PathEscape(workload(c)) + "/"},
		ColumnKind: "utf16CodeUnits",
		Results:    []sarifResult{},
	}
	run.Tool.Driver = sarifDriver{Name: "schedscope gate", URI: "https://github.com/schedscope/schedscope", Rules: []sarifRule{}}
	run.Invocations = []sarifInvocation{{c.Verdict != gate.Unusable, c.Exit, notifications(c)}}
	index := map[string]int{}
	for _, rr := range ranked(c) {
		if _, ok := index[rr.Slug]; !ok {
			index[rr.Slug] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(rr))
		}
		if p, part, ok := o.top(rr); ok && violated(rr) {
			run.Results = append(run.Results, o.sarifResult(c, rr, index[rr.Slug], p, part))
		}
	}
	return writeJSON(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func notifications(r *gate.Result) []sarifNotification {
	out := []sarifNotification{}
	switch r.Verdict {
	case gate.Unusable:
		out = append(out, sarifNotification{"error", sarifText{r.Headline}})
	case gate.Inconclusive:
		out = append(out, sarifNotification{"warning", sarifText{r.Headline}})
	}
	for _, s := range r.Warnings {
		out = append(out, sarifNotification{"warning", sarifText{s}})
	}
	return out
}

func sarifRuleOf(r *gate.RuleResult) sarifRule {
	return sarifRule{r.Slug, sarifText{r.Rule}, sarifText{"schedscope help gate-rules says what rules mean and how they are judged."}, sarifConfig{levelOf(r)}}
}

// levelOf is what a violation of the rule is to SARIF.
func levelOf(r *gate.RuleResult) string {
	if r.Level == "warn" {
		return "warning"
	}
	return "error"
}

func (o *Options) sarifResult(c *gate.Result, r *gate.RuleResult, index int, p place, part *gate.Part) sarifResult {
	out := sarifResult{
		RuleID: r.Slug, RuleIndex: index, Level: levelOf(r),
		Message:      sarifText{o.message(c, r)},
		Locations:    []sarifLocation{{sarifPhysical{sarifArtifact{pathURI(p.path), "%SRCROOT%"}, sarifRegion{p.line}}}},
		Fingerprints: map[string]string{"schedscope/v1": fingerprint(c, r, part)},
	}
	if r.Verdict == gate.Waived {
		out.Suppressions = []sarifSuppression{{"external", waiverText(r.Waiver)}}
	}
	return out
}

// pathURI returns a slash-separated relative path as a URI reference.
func pathURI(p string) string {
	parts := strings.Split(p, "/")
	for i, s := range parts {
		parts[i] = url.PathEscape(s)
	}
	return strings.Join(parts, "/")
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
