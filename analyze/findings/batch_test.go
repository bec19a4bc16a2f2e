package findings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/model"
)

// TestBatchOfNew checks that what new goroutines of a batch wait for each other is no lack of procs, unless it lasts for a
// quarter of the time, or the program has requests.
func TestBatchOfNew(t *testing.T) {
	tcp := func(n int64) []result.RequestKind {
		return []result.RequestKind{{Kind: "tcp", RequestSet: result.RequestSet{Dist: result.Dist{Count: n}}}}
	}
	for name, x := range map[string]struct {
		origin    model.Origin
		saturated model.Duration
		requests  []result.RequestKind
		want      string
	}{
		"new":             {model.OriginCreated, 9e8, nil, findings.Healthy},
		"new, for longer": {model.OriginCreated, 11e8, nil, findings.Starved},
		"woken":           {model.OriginGoroutine, 0, nil, findings.Starved},
		"by timers":       {model.OriginTimer, 0, nil, findings.Starved},
		"of a server":     {model.OriginCreated, 0, tcp(3), findings.Starved},
		"of none whole":   {model.OriginCreated, 0, tcp(0), findings.Healthy},
	} {
		v := lacking(t, 1040e6, 77)
		v.Blame.KeptSpan, v.Blame.KeptSamples = 67e6, 4
		v.Latency.ByOrigin = []result.Named{{Name: x.origin.String(), Dist: v.Latency.All}}
		v.Procs.Saturated, v.Procs.Utilisation, v.Requests = x.saturated, 0.5, x.requests
		findings.Judge(v)
		if v.Verdict.Word != x.want {
			t.Errorf("%s: %s %s", name, v.Verdict.Word, v.Verdict.Text)
		}
	}
}

// TestMainWaits checks what is said of a batch in which next to nothing runs while main waits or sleeps.
func TestMainWaits(t *testing.T) {
	const s = model.Duration(1e9)
	for name, x := range map[string]struct {
		reasons []result.Reason
		idle    int // bins of a quarter of a second
		want    string
	}{
		"for what does not come": {[]result.Reason{{Reason: "sync.(*WaitGroup).Wait", Total: 3 * s}}, 8, "UNKNOWN Nothing ran for 2.00s, while main waited (sync.(*WaitGroup).Wait)"},
		"for what comes":         {[]result.Reason{{Reason: "sync.(*WaitGroup).Wait", Total: 3 * s}}, 7, "HEALTHY Nothing"},
		"asleep":                 {[]result.Reason{{Reason: "sleep", Total: 3 * s}}, 7, "Note that main sleeps for 75% of the time, most of all in main.pause (main.go:9)."},
		"between rounds":         {[]result.Reason{{Reason: "sleep", Total: 2 * s}, {Reason: "sync.(*WaitGroup).Wait", Count: 3, Total: s}}, 7, "UNKNOWN Between its rounds main sleeps for 50% of the time"},
		"at no place":            {[]result.Reason{{Reason: "sleep", Total: 2 * s}, {Reason: "sync.(*WaitGroup).Wait", Count: 3, Total: s}}, 7, "HEALTHY Nothing"},
		"for the network":        {[]result.Reason{{Reason: "network", Total: 3 * s}}, 8, "HEALTHY Nothing"},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		v.Totals.Span, v.Requests, v.Procs.Utilisation, v.Series.Width = 4*s, nil, 0.01, s/4
		u := &v.Procs.Uses
		u[result.UseUser] = s / 10
		v.Series.Uses[result.UseUser] = slices.Repeat([]int64{5}, 16)
		clear(v.Series.Uses[result.UseUser][:x.idle])
		v.Goroutines = []result.Group{{Function: "main.main", Count: 1, Waiting: x.reasons}}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameTimers, Function: "main.pause", File: "main.go", Line: 9, Turns: 3, Total: 1,
			Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "main.pause"}, {Function: "main.main"}}}}}}
		if name == "at no place" {
			v.Blame.Rows = nil
		}
		findings.Judge(v)
		if got := v.Verdict.Word + " " + v.Verdict.Text; !strings.Contains(got, x.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOutlives checks that a hundred goroutines pile up if requests of one handler that ended started them, and they wait for
// others.
func TestOutlives(t *testing.T) {
	for name, x := range map[string]struct {
		handler, reason string
		ended           int64
		want            bool
	}{
		"for others":    {"main.watch", "chan send", 0, true},
		"for a timer":   {"main.watch", "sleep", 0, false},
		"of others":     {"main.other", "chan send", 0, false},
		"that also end": {"main.watch", "chan send", 90, false},
	} {
		v := resulttest.Read(t, "quiet.go1.26.p4.trace")
		g := result.Group{Function: "main.follow", Count: 120 + x.ended, Created: 110, Ended: x.ended, Lifetime: 1000, Waiting: []result.Reason{{Reason: x.reason, Total: 1000}}}
		g.States[model.GoWaiting] = 1000
		v.Goroutines = []result.Group{g}
		v.Requests = []result.RequestKind{{Kind: "http", Handlers: []result.RequestHandler{{Named: result.Named{Name: x.handler, Dist: result.Dist{Count: 100}}}}}}
		v.Blame.Rows = []result.BlameRow{{Kind: result.BlameCreated, Function: "main.watch", Turns: 110, Stacks: []result.BlameStack{{Stack: []result.Frame{{Function: "main.watch"}}}}}}
		findings.Judge(v)
		if got := slices.ContainsFunc(v.Findings, func(f result.Finding) bool { return f.Kind == "goroutine-leak" }); got != x.want {
			t.Errorf("%s: a leak: %t", name, got)
		}
	}
}

// TestAwaited: where the program hardly runs, the goroutines for which main waits all the time are what it does.
func TestAwaited(t *testing.T) {
	for span, want := range map[model.Duration]bool{1000: true, 2000: false} {
		r := &result.Report{Traces: []result.Trace{{}}, Totals: result.Totals{Span: span}, Goroutines: []result.Group{
			{Function: "main.main", Count: 1, Waiting: []result.Reason{{Reason: "sync.(*WaitGroup).Wait", Count: 1, Total: 900}}}, {Function: "main.load.func1", Count: 8}}}
		r.Latency.All = result.Dist{Count: 1, Total: 1, Max: 1}
		r.Blame.Rows = []result.BlameRow{{Kind: "sync.(*WaitGroup).Wait", Function: "main.load.func1", Waiter: "main.load", Total: 900}}
		findings.Judge(r)
		if got := strings.Contains(r.Verdict.Text, "goroutine:main.load.func1' takes each of its 8 "); got != want {
			t.Errorf("of %v: %s", span, r.Verdict.Text)
		}
	}
}
