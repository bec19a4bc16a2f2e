package findings

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
)

// TestGainOfCulprit checks that the gain of an item counts all parts of its culprit, once each, and those
// of other requests not.
func TestGainOfCulprit(t *testing.T) {
	slow := func() *question {
		return &question{RequestGroup: &result.RequestGroup{}, RequestTail: &result.RequestTail{Count: 2, Total: 50_000_000}}
	}
	part := func(cost float64, fn string) result.Finding {
		return result.Finding{Kind: SlowRequests, Where: []result.Culprit{{Function: fn}}, Evidence: []result.Evidence{{Value: cost}, {Value: cost / 25e6}}}
	}
	j, q := &judge{}, slow()
	for _, x := range []struct {
		f result.Finding
		q *question
	}{{part(10e6, "main.write"), q}, {part(12e6, "main.write"), q}, {part(1e6, "main.write"), slow()}, {part(2e6, "main.other"), q}} {
		j.add(x.f, x.q)
	}
	if want := "the slowest at most 25.0ms -> 3.00ms"; len(j.items) != 2 || j.items[0].Gain != want {
		t.Errorf("%d items, gain %q, want 2 and %q", len(j.items), j.items[0].Gain, want)
	}
}
