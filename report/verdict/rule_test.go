package verdict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/internal/textui"
)

// TestRule explains a rule of each kind, and checks that every metric can be explained.
func TestRule(t *testing.T) {
	var all bytes.Buffer
	for _, text := range []string{
		"p99(runnable{func=*server.handle}) <= baseline*1.10 + 50us",
		"mean(wait/op) <= baseline*1.10",
		"mean(cpu/op) <= baseline*1.05",
		"p99(sim.runnable) <= baseline*1.10",
		"share(cause=behind-gc) < 20% @ 95%",
		"mean(ops/s) >= baseline*0.95",
		"max(stw) < 1ms @ point",
	} {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := Rule(&all, r); err != nil {
			t.Fatal(err)
		}
		all.WriteString("\n----\n\n")
	}
	golden(t, "rules.txt", all.String())
	for _, l := range strings.Split(all.String(), "\n") {
		if textui.Width(l) > ruleWidth {
			t.Errorf("%d columns: %s", textui.Width(l), l)
		}
	}
	for _, m := range rule.Metrics {
		for _, k := range m.Keys {
			if selectors[k] == "" {
				t.Errorf("no words for the selector %s of %s", k, m.Name)
			}
		}
	}
}
