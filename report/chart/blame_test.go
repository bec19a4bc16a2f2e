package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestBlame checks what the picture of blame says: causes, frames of the program, functions
// with their places and shares, and how they are known.
func TestBlame(t *testing.T) {
	frame := func(fn string, line uint64) result.Frame {
		return result.Frame{Function: fn, File: "/x/main.go", Line: line}
	}
	deep := []result.Frame{frame("main.leaf", 1)}
	for i := range 30 {
		deep = append(deep, frame(fmt.Sprintf("main.f%d", i), 2), frame(fmt.Sprintf("main.f%d", i), 3))
	}
	row := func(fn string, sampled, unknown model.Duration, stack ...result.Frame) result.BlameRow {
		r := result.BlameRow{Kind: "behind a goroutine", Function: fn, File: "/x/main.go", Line: 7, Total: sampled + unknown,
			BlameBasis: result.BlameBasis{Sampled: sampled, Unknown: unknown}}
		if len(stack) > 0 {
			r.Stacks = []result.BlameStack{{Stack: stack, Basis: result.Sampled, Total: sampled}}
		}
		return r
	}
	rows := []result.BlameRow{
		row("main.score", 600*ms, 0, frame("runtime.memmove", 1), frame("sort.Sort", 9), frame("main.score", 7), frame("main.handle", 70), frame("net/http.(*conn).serve", 5)),
		row("main.leaf", 200*ms, 0, deep...),
		row("sort.Slice", 100*ms, 0, frame("runtime.memmove", 1), frame("sort.Slice", 3)),
		row("\u202emain.start\x00", 0, 100*ms),
	}
	r := &result.Report{Blame: result.Blame{Rows: rows}}
	r.Blame.SumUp()
	r.Blame.Kinds = append(r.Blame.Kinds, result.BlameKind{Kind: "select", Blocked: true, Total: s, BlameBasis: result.BlameBasis{Seen: s}},
		result.BlameKind{Kind: result.BlameCreated, Total: s, BlameBasis: result.BlameBasis{Seen: s}})
	r.Latency.All.Count, r.Latency.All.Total = 9, 2*s
	p := (&Input{Report: r}).blame()
	said := words(t, p)
	for _, want := range []string{"behind a goroutine 100%", "main.handle", "main.score", "main.score (main.go:7)", "60%", "main.f29", "22 frames", "main.leaf", "sort.Slice",
		"1.00s of goroutines behind others, 50% of all waiting to run: 90% sampled, 10% unknown (pale)"} {
		if !strings.Contains(said+"\n", want+"\n") {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	for _, not := range []string{"memmove", "sort.Sort\n", "serve", "main.f12", "select", "created", "\u202e", "\x00", "CPU samples"} {
		if strings.Contains(said, not) {
			t.Errorf("%q is in %q", not, said)
		}
	}
	r.Blame.Rows[0].Sampled, r.Blame.Rows[0].Estimated = 0, 600*ms
	if said := words(t, (&Input{Report: r}).blame()); !strings.Contains(said, "schedscope record takes CPU samples") {
		t.Errorf("no hint in %q", said)
	}
	render(t, p, "png", DefaultDPI)
	for i := range r.Blame.Rows { // of a newer version
		r.Blame.Rows[i].Kind = "cause-of-2030"
	}
	r.Blame.Kinds = nil
	r.Blame.SumUp()
	if said := words(t, (&Input{Report: r}).blame()); !strings.Contains(said, "cause-of-2030") {
		t.Errorf("a kind that is not known is not in %q", said)
	}
}
