package verdict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/analyze/gate/stat"
	"github.com/schedscope/schedscope/internal/textui"
)

// TestLeastOf checks that so many traces can fail an absolute rule, and one less cannot.
func TestLeastOf(t *testing.T) {
	for _, c := range []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999} {
		n := leastOf(c)
		beyond := make([]float64, n)
		for i := range beyond {
			beyond[i] = 2
		}
		if p := stat.SignTest(beyond, 1); p > 1-c+1e-12 {
			t.Errorf("%d traces have p=%v, want at most %v", n, p, 1-c)
		}
		if p := stat.SignTest(beyond[1:], 1); p <= 1-c {
			t.Errorf("%d traces have p=%v: fewer than %d suffice", n-1, p, n)
		}
	}
}

// TestRule explains a rule of each kind, and checks that every metric can be explained.
func TestRule(t *testing.T) {
	var all bytes.Buffer
	for _, text := range []string{
		"p99(runnable{func=*server.handle}) <= baseline*1.10 + 50us",
		"mean(wait/op) <= baseline*1.10",
		"mean(cpu/op) <= baseline*1.05",
		"p99(sim.runnable) <= baseline*1.10",
		"share(cause=behind-gc) < 20% @ 95%",
		"p99(runnable) < 5ms @ 99%",
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
