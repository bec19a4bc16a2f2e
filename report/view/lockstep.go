package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/lockstep"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report/document"
)

// LockstepSchema is the format of the JSON of [Lockstep]. Within it fields are only ever
// added.
const LockstepSchema = "schedscope/lockstep/v3"

// The types below are the report on the decisions of runtimes, of one or several traces, and
// its JSON.
type (
	// Lockstep is the whole report: [NewLockstep], Add for each trace, Finish.
	Lockstep struct {
		Schema      string           `json:"schema"`
		Traces      []result.Trace   `json:"traces"`
		Skipped     []result.Skipped `json:"skipped"`
		Verdict     string           `json:"verdict"`
		Decisions   []Decisions      `json:"decisions"`
		Unexplained []Divergence     `json:"unexplained"` // those whose goroutine waited the longest first
		Notes       []string         `json:"notes"`
	}

	// Decisions are the decisions of one kind.
	Decisions struct {
		Kind     string           `json:"kind"`
		Judged   int64            `json:"judged"`
		Agreed   int64            `json:"agreed"`
		Excluded int64            `json:"not_judged"`
		Diverged map[string]int64 `json:"diverged"` // by class
	}

	// Divergence is a decision that is unexplained. Who is -1 if nobody.
	Divergence struct {
		Trace     int            `json:"trace"`
		Kind      string         `json:"kind"`
		Class     string         `json:"class"`
		At        model.Time     `json:"at_ns"`
		Goroutine model.GoID     `json:"goroutine"`
		Proc      model.ProcID   `json:"proc"`
		Thread    model.ThreadID `json:"thread"`
		Did       string         `json:"did"`
		Want      string         `json:"want"`
		Rule      string         `json:"rule"`                // where the runtime's source asks for it
		Waited    model.Duration `json:"waited_ns,omitempty"` // before the start that it is about
		State     string         `json:"state,omitempty"`     // of the queues
	}
)

// NewLockstep returns a report without traces.
func NewLockstep() *Lockstep {
	d := &Lockstep{Schema: LockstepSchema, Unexplained: []Divergence{}}
	for k := range lockstep.NumKinds {
		d.Decisions = append(d.Decisions, Decisions{Kind: k.String(), Diverged: map[string]int64{}})
	}
	return d
}

// Add adds a trace, which begins at origin.
func (d *Lockstep) Add(t result.Trace, origin model.Time, r *lockstep.Result) {
	for k := range d.Decisions {
		x := &d.Decisions[k]
		x.Judged += r.Kinds[k].Judged
		x.Agreed += r.Kinds[k].Agreed
		x.Excluded += r.Kinds[k].Excluded
		for c := range lockstep.NumClasses {
			x.Diverged[c.String()] += r.Kinds[k].Diverged[c]
		}
	}
	for _, x := range r.Unexplained {
		row := Divergence{len(d.Traces), x.Kind.String(), x.Class.String(), x.Time - origin, x.G, x.P, x.M, x.Did, x.Want, x.Rule, x.Waited, ""}
		if x.State != nil {
			row.State = stateOf(x.State)
		}
		d.Unexplained = append(d.Unexplained, row)
	}
	d.Traces = append(d.Traces, t)
}

// Finish sets the verdict and the notes.
func (d *Lockstep) Finish(skipped []result.Skipped) {
	d.Skipped = append([]result.Skipped{}, skipped...)
	slices.SortStableFunc(d.Unexplained, func(a, b Divergence) int { return cmp.Compare(b.Waited, a.Waited) })
	d.Verdict = d.verdict()
	d.Notes = append(findings.Lost(&result.Report{Traces: d.Traces, Skipped: d.Skipped}),
		"What is random in the runtime, such as whom a thief tries first, agrees if the rules allow it. Not judged: decisions whose state the trace does not determine.",
		fmt.Sprintf("boundary: in the first %s of the trace or where a generation begins. order-race: right if operations of two threads within %s took effect the other way round. stale-read: right by a count or length read up to so long before. hidden-event: right if something happened that no trace shows, such as a queue that was full. os: the thread stood still in between. version-rule: right by the rules of another version of Go. unexplained: none of these.",
			textui.Duration(lockstep.Warmup), textui.Duration(lockstep.Epsilon)))
}

// LockstepText writes the report for people: how far the runtime did what its rules say, by kind of decision, and what
// is unexplained.
func LockstepText(w io.Writer, d *Lockstep, o document.TextOptions) error {
	doc := headOf(d.Traces, d.Skipped, "")
	head := document.New("verdict", "")
	head.Add(gap, document.List{{Text: d.Verdict, Strong: true}}, gap, d.decisions())
	doc.Add(head, d.divergences(), notes(&result.Report{Notes: d.Notes}))
	return document.Text(w, doc, o)
}

// verdict says in a sentence how far the runtime did what its rules say.
func (d *Lockstep) verdict() string {
	var judged, agreed, unexplained int64
	for i := range d.Decisions {
		judged += d.Decisions[i].Judged
		agreed += d.Decisions[i].Agreed
		unexplained += d.Decisions[i].Diverged[lockstep.Unexplained.String()]
	}
	if judged == 0 {
		return "No decision of the runtime can be judged."
	}
	s := fmt.Sprintf("Of %s that can be judged, the reference would have made %s the same way", textui.Plural(judged, "decision"), textui.Ratio(agreed, judged))
	switch {
	case agreed == judged:
		return s + "."
	case unexplained == 0:
		return s + "; every other one has an explanation outside of the rules."
	case unexplained == 1:
		return s + "; 1 is unexplained."
	}
	return s + fmt.Sprintf("; %s are unexplained.", textui.Count(unexplained))
}

// decisions has agreement and the classes of divergences by kind.
func (d *Lockstep) decisions() *document.Table {
	t := &document.Table{ID: "t-decisions", Columns: []document.Column{document.Name("decision"), document.Count("judged"), document.Count("agreed"),
		document.Number("", 0), document.Count("not judged")}, Fixed: true}
	for c := range lockstep.NumClasses {
		t.Columns = append(t.Columns, document.Count(c.String()))
	}
	for _, x := range d.Decisions {
		share := document.Shown(textui.Ratio(x.Agreed, x.Judged), float64(x.Agreed)/float64(max(1, x.Judged)))
		cells := []any{x.Kind, x.Judged, x.Agreed, document.If(x.Judged > 0, share), x.Excluded}
		for c := range lockstep.NumClasses {
			cells = append(cells, x.Diverged[c.String()])
		}
		t.Row(cells...)
	}
	return t
}

// divergences lists those that are unexplained, with the state of the queues. Of several traces it names the one.
func (d *Lockstep) divergences() *document.Section {
	var cards document.Cards
	for _, x := range d.Unexplained {
		c := document.Card{Title: fmt.Sprintf("%s %s: %s", textui.Instant(x.At), x.Kind, placesOf(&x)),
			Facets: []document.Facet{{Label: "did:", Text: x.Did}, {Label: "want:", Text: x.Want}}}
		c.Title += textui.If(x.Waited > 0, ", runnable for "+textui.Duration(x.Waited)) + textui.If(len(d.Traces) > 1, " in "+d.Traces[x.Trace].Name)
		if x.State != "" {
			c.Facets = append(c.Facets, document.Facet{Label: "in:", Text: x.State})
		}
		c.Facets = append(c.Facets, document.Facet{Label: "rule:", Text: x.Rule})
		cards = append(cards, c)
	}
	s := document.New("divergences", "Unexplained, those whose goroutine was runnable the longest first")
	s.Add(cards)
	return s.OrNil()
}

// placesOf names who a decision was of.
func placesOf(x *Divergence) string {
	return textui.Join(", ", textui.If(x.Goroutine != model.NoGoroutine, fmt.Sprintf("goroutine %d", x.Goroutine)),
		textui.If(x.Proc != model.NoProc, fmt.Sprintf("proc %d", x.Proc)), textui.If(x.Thread != model.NoThread, fmt.Sprintf("thread %d", x.Thread)))
}

// stateOf describes the state of the queues in a line.
func stateOf(s *runqueue.Decision) string {
	stood := map[runqueue.Place]string{runqueue.PlaceUnknown: "somewhere", runqueue.PlaceNone: "in no queue", runqueue.PlaceRunnext: "in runnext",
		runqueue.PlaceLocal: "in the local queue", runqueue.PlaceGlobal: "in the global queue"}[s.Place]
	stood += textui.If(s.At != model.NoProc && (s.Place == runqueue.PlaceRunnext || s.Place == runqueue.PlaceLocal), fmt.Sprintf(" of proc %d", s.At)) +
		textui.If(s.Index > 0, fmt.Sprintf(" behind %d", s.Index))
	next := textui.Either(s.Next != model.NoGoroutine, fmt.Sprintf("goroutine %d", s.Next), "empty")
	tick := textui.Either(s.Tick >= 0, fmt.Sprint(s.Tick), "unknown")
	return fmt.Sprintf("it stood %s; runnext %s, local queue %d, global queue %d, tick %s, %d of %s idle", stood, next,
		s.Own.Len, s.Global.Len, tick, s.Idle, textui.Plural(s.Procs, "proc")) +
		textui.If(s.Victim.Len > 0, fmt.Sprintf(", queue of the other proc %d", s.Victim.Len))
}
