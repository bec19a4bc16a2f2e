package view_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/schedscope/schedscope/analyze/replay"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/workload"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// ramp is the distribution of n waits of step, 2 steps, ... n steps.
func ramp(n int, step model.Duration) *dist.Dist {
	d := &dist.Dist{}
	for i := range n {
		d.Add(step*model.Duration(i+1), 0)
	}
	return d
}

// replayRow compares n waits; those of the second seed are a tenth longer.
func replayRow(name string, n int) replay.Row {
	return replay.NewRow(name, ramp(n, 1000), []*dist.Dist{ramp(n, 1000), ramp(n, 1100)})
}

// replayResult is a made up result with these wakes.
func replayResult(wakes map[workload.Class]int64) *replay.Result {
	r := &replay.Result{Traces: 1, Windows: 2, Length: 2_000_000_000, Warmup: 20_000_000, LeftOut: 3_000_000, MinProcs: 4, MaxProcs: 4, Seeds: 2,
		Work: 5_000_000_000, Mark: 1_000_000_000, Measured: &replay.Schedule{Span: 1_950_000_000, Waits: ramp(1000, 1000), Starts: 1200}}
	for c, n := range wakes {
		r.Wakes[c] = n
	}
	r.All = replayRow("all", 1000)
	return r
}

// withWhatIf adds outcomes.
func withWhatIf(r *replay.Result) *replay.Result {
	measured := r.MeasuredFigures()
	outcome := func(name string, basis replay.Basis, times float64) replay.Outcome {
		o := replay.Outcome{Name: name, Basis: basis, RequestBasis: basis, Runs: 4, Waits: replay.Range{Mid: 1000, Low: 990, High: 1010}}
		for k, v := range measured {
			v *= times
			if replay.FigureKind(k) == replay.FigureLong {
				v = times / 30
			}
			o.Figures[k] = replay.Figure{Value: replay.Range{Mid: v, Low: 0.9 * v, High: 1.2 * v}, Change: replay.Range{Mid: times - 1, Low: times*0.9 - 1, High: times*1.2 - 1}}
		}
		return o
	}
	r.Outcomes = []replay.Outcome{outcome("procs=2", replay.BasisChecked, 1.9), outcome("procs=8,gc=off", replay.BasisSpread, 0.5), outcome("quota=1ms", replay.BasisSpread, 20)}
	r.Outcomes[1].Unfinished, r.Outcomes[2].Unfinished = 1, 4
	r.Outcomes = append(r.Outcomes, outcome("quiet", replay.BasisSpread, 0.8))
	r.Outages = workload.Outages{Count: 123, Total: 456_000_000, Kinds: 7, Doubted: 4, DoubtedTotal: 5_000_000}
	return r
}

// withRequests adds two groups of requests, of which one has too few.
func withRequests(r *replay.Result) *replay.Result {
	group := func(name string, n int) replay.Requests {
		x := replay.Requests{Group: replay.Group{Kind: "http", Name: name}, All: replayRow(name, n), Figures: []float64{500_000, 990_000, 500_500, float64(n) / 2}}
		for i := range r.Outcomes {
			var f [replay.NumRequestFigures]replay.Figure
			for k, v := range x.Figures {
				times := float64(i+1) / 2
				v *= times
				f[k] = replay.Figure{Value: replay.Range{Mid: v, Low: 0.9 * v, High: 1.1 * v}, Change: replay.Range{Mid: times - 1, Low: 0.9*times - 1, High: 1.1*times - 1}}
			}
			x.Outcomes = append(x.Outcomes, f)
		}
		return x
	}
	r.Requests = []replay.Requests{group("main.find", 1000), group("main.index", 99)}
	return r
}

// withUnknown makes a result that of a trace of a quiet machine.
func withUnknown(r *replay.Result) *replay.Result {
	r.Outcomes = []replay.Outcome{{Name: "quiet", Basis: replay.BasisUnknown, Refused: replay.NoOutages}, {Name: "quiet,gc=off", Basis: replay.BasisUnknown, Refused: replay.NoOutages}}
	return r
}

func replayedOf(results ...*replay.Result) *view.Replayed {
	traces := make([]result.Trace, len(results))
	for i := range traces {
		traces[i] = result.Trace{Name: "made-up.trace", Format: "go 1.26", Complete: true, Bytes: 1000, Generations: 1}
	}
	return view.NewReplayed(traces, nil, results)
}

func renderReplayed(t *testing.T, d *view.Replayed, o document.TextOptions) (text, js string) {
	t.Helper()
	var a, b bytes.Buffer
	if err := view.ReplayText(&a, d, o); err != nil {
		t.Fatal(err)
	}
	if err := view.ReplayJSON(&b, d); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

func TestReplayGolden(t *testing.T) {
	handoffs := map[workload.Class]int64{workload.ClassHandoff: 900, workload.ClassJoin: 60, workload.ClassLock: 40}
	d := replayedOf(withRequests(withWhatIf(replayResult(handoffs))))
	text, js := renderReplayed(t, d, document.TextOptions{Unicode: true, Top: 5})
	golden(t, "replay.txt", text)
	golden(t, "replay.json", js)
	for _, word := range []string{"reference", "W1", "window", "seed"} {
		if strings.Contains(text, word) {
			t.Errorf("the screen has the word %q", word)
		}
	}
}

// TestReplayNarrow checks that tables are within narrow terminals.
func TestReplayNarrow(t *testing.T) {
	handoffs := map[workload.Class]int64{workload.ClassHandoff: 900}
	for _, width := range []int{80, 100, 140} {
		text, _ := renderReplayed(t, replayedOf(withWhatIf(replayResult(handoffs))), document.TextOptions{Unicode: true, Width: width})
		for line := range strings.Lines(text) {
			if n := textui.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns in a terminal of %d: %s", n, width, line)
			}
		}
	}
}

// TestReplayRanges checks that only what was checked is called an interval, and that what is not known has no figures.
func TestReplayRanges(t *testing.T) {
	r := withWhatIf(replayResult(nil))
	r.Outcomes = r.Outcomes[1:2]
	text, js := renderReplayed(t, replayedOf(r), document.TextOptions{Unicode: true})
	if strings.Contains(text, "80% interval") || !strings.Contains(text, "How far the figures without an interval are") {
		t.Errorf("a spread is called something else:\n%s", text)
	}
	if strings.Contains(js, "interval") || strings.Count(js, `"spread_of_simulation"`) != 5 {
		t.Errorf("a spread is called something else:\n%s", js)
	}
	text, js = renderReplayed(t, replayedOf(withUnknown(replayResult(nil))), document.TextOptions{Unicode: true})
	if !strings.Contains(text, "No answer about quiet and quiet,gc=off: the trace does not show") || strings.Contains(text, "How far the figures") {
		t.Errorf("what is not known is not said, or more than that:\n%s", text)
	}
	var v view.ReplayV1
	if err := json.Unmarshal([]byte(js), &v); err != nil {
		t.Fatal(err)
	}
	if o := v.WhatIf.Outcomes[0]; o.Basis != "unknown" || len(o.Figures) > 0 {
		t.Errorf("got %+v", o)
	}
}

// TestReplayNoWaits checks that a sentence stands for tables of zeros.
func TestReplayNoWaits(t *testing.T) {
	r := withWhatIf(replayResult(nil))
	r.All = replay.NewRow("all", &dist.Dist{}, []*dist.Dist{{}, {}})
	text, _ := renderReplayed(t, replayedOf(r), document.TextOptions{Unicode: true})
	if !strings.Contains(text, "0 waits to run, too few") || strings.Contains(text, "of the mean.") {
		t.Errorf("got\n%s", text)
	}
}

// TestReplayRefuses checks that nothing is told where the trace has too few waits.
func TestReplayRefuses(t *testing.T) {
	r := withWhatIf(replayResult(nil))
	r.All = replayRow("all", 20)
	text, js := renderReplayed(t, replayedOf(r), document.TextOptions{Unicode: true})
	if !strings.Contains(text, "No answer: the trace has 20 waits to compare") || strings.Contains(text, "procs=2") {
		t.Errorf("got\n%s", text)
	}
	if !strings.Contains(js, `"refused": "the trace has 20 waits`) || strings.Contains(js, "procs=2") {
		t.Errorf("got\n%s", js)
	}
	outside := withWhatIf(replayResult(map[workload.Class]int64{workload.ClassExternal: 100}))
	if text, _ := renderReplayed(t, replayedOf(outside), document.TextOptions{Unicode: true}); !strings.Contains(text, "No answer about the run time: 100% of the wakes") {
		t.Errorf("got\n%s", text)
	}
}

func TestReplayJSONRoundTrip(t *testing.T) {
	_, first := renderReplayed(t, replayedOf(withWhatIf(replayResult(nil))), document.TextOptions{})
	var v view.ReplayV1
	dec := json.NewDecoder(strings.NewReader(first))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var second bytes.Buffer
	enc := json.NewEncoder(&second)
	enc.SetIndent("", "  ")
	if err := enc.Encode(&v); err != nil {
		t.Fatal(err)
	}
	if second.String() != first {
		t.Error("decoding and encoding the report changes it")
	}
	if strings.Contains(first, ": null") {
		t.Error("the report has a null where a list belongs")
	}
}

// TestReplayHostile checks that names from traces cannot disturb a terminal.
func TestReplayHostile(t *testing.T) {
	r := replayResult(nil)
	for _, name := range hostile {
		r.Outcomes = append(r.Outcomes, replay.Outcome{Name: name, Basis: replay.BasisUnknown, Refused: name})
	}
	d := replayedOf(r)
	d.Traces[0].Name = hostile[1]
	text, js := renderReplayed(t, d, document.TextOptions{Unicode: true, Width: 100})
	for i, c := range text {
		if c != '\n' && !unicode.IsPrint(c) || c == unicode.ReplacementChar {
			t.Fatalf("the text has %q in %q", c, text[max(0, i-40):i])
		}
	}
	if !json.Valid([]byte(js)) || strings.Contains(js, "<script") || strings.Contains(js, "\x1b") {
		t.Error("the JSON holds what it should escape")
	}
	ascii, _ := renderReplayed(t, replayedOf(replayResult(nil)), document.TextOptions{})
	for _, c := range ascii {
		if c > unicode.MaxASCII {
			t.Fatalf("%q in ASCII", c)
		}
	}
}
