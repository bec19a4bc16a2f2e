package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedscope/schedscope/analyze/conform"
	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report/document"
)

// Lockstep is what a report about the decisions of runtimes is rendered from: of one or
// several traces.
type Lockstep struct {
	Traces  []result.Trace
	Skipped []result.Skipped
	// Results are those of Traces, one each.
	Results []*conform.Result
	// Origins are where the traces begin, from which points in time count.
	Origins []model.Time
}

// sum returns all results together.
func (d *Lockstep) sum() *conform.Result {
	var all conform.Result
	for _, r := range d.Results {
		all.Merge(r)
	}
	return &all
}

// LockstepText writes the report for people: how far the runtime did what its rules say, by kind of decision, and what
// has no explanation.
func LockstepText(w io.Writer, d *Lockstep, o document.TextOptions) error {
	doc := headOf(d.Traces, d.Skipped, "")
	all := d.sum()
	head := document.New("verdict", "")
	head.Add(gap, document.List{{Text: lockstepVerdict(all), Strong: true}}, gap, decisions(all))
	doc.Add(head, d.divergences(), notes(&result.Report{Notes: d.Notes()}))
	return document.Text(w, doc, o)
}

// lockstepVerdict says in a sentence how far the runtime did what its rules say.
func lockstepVerdict(r *conform.Result) string {
	var judged, agreed, genuine int64
	for k := range r.Kinds {
		judged += r.Kinds[k].Judged
		agreed += r.Kinds[k].Agreed
		genuine += r.Kinds[k].Diverged[conform.Genuine]
	}
	if judged == 0 {
		return "No decision of the runtime can be judged."
	}
	s := fmt.Sprintf("Of %s that can be judged, the reference would have made %s the same way", textui.Plural(judged, "decision"), textui.Ratio(agreed, judged))
	switch {
	case agreed == judged:
		return s + "."
	case genuine == 0:
		return s + "; every other one has an explanation outside of the rules."
	case genuine == 1:
		return s + "; 1 has no explanation."
	}
	return s + fmt.Sprintf("; %s have no explanation.", textui.Count(genuine))
}

// decisions has agreement and the classes of divergences by kind.
func decisions(r *conform.Result) *document.Table {
	t := &document.Table{ID: "t-decisions", Columns: []document.Column{document.Name("decision"), document.Count("judged"), document.Count("agreed"),
		document.Number("", 0), document.Count("not judged")}, Fixed: true}
	for c := range conform.NumClasses {
		t.Columns = append(t.Columns, document.Count(c.String()))
	}
	for k := range conform.NumKinds {
		x := &r.Kinds[k]
		cells := []any{k.String(), x.Judged, x.Agreed, document.If(x.Judged > 0, document.Shown(textui.Ratio(x.Agreed, x.Judged), x.Agreement())), x.Excluded}
		for _, n := range x.Diverged {
			cells = append(cells, n)
		}
		t.Row(cells...)
	}
	return t
}

// divergences lists those without an explanation, with the state of the queues. Of several traces it names the one.
func (d *Lockstep) divergences() *document.Section {
	s := document.New("divergences", "Without an explanation")
	var cards document.Cards
	for i, r := range d.Results {
		for k := range r.Genuine {
			x := &r.Genuine[k]
			c := document.Card{Title: fmt.Sprintf("%s %s: %s", textui.Instant(x.Time-d.Origins[i]), x.Kind, strings.Join(placesOf(x), ", ")),
				Facets: []document.Facet{{Label: "did:", Text: x.Did}, {Label: "want:", Text: x.Want}}}
			if len(d.Results) > 1 {
				c.Title += " in " + d.Traces[i].Name
			}
			if x.State != nil {
				c.Facets = append(c.Facets, document.Facet{Label: "in:", Text: stateOf(x.State)})
			}
			cards = append(cards, c)
		}
	}
	if len(cards) == 0 {
		return nil
	}
	s.Add(cards)
	return s
}

// placesOf names who a decision was of.
func placesOf(x *conform.Divergence) []string {
	var parts []string
	if x.G != model.NoGoroutine {
		parts = append(parts, fmt.Sprintf("goroutine %d", x.G))
	}
	if x.P != model.NoProc {
		parts = append(parts, fmt.Sprintf("proc %d", x.P))
	}
	if x.M != model.NoThread {
		parts = append(parts, fmt.Sprintf("thread %d", x.M))
	}
	return parts
}

// stateOf describes the state of the queues in a line.
func stateOf(s *runqueue.Decision) string {
	stood := map[runqueue.Place]string{runqueue.PlaceUnknown: "somewhere", runqueue.PlaceNone: "in no queue", runqueue.PlaceRunnext: "in runnext",
		runqueue.PlaceLocal: "in the local queue", runqueue.PlaceGlobal: "in the global queue"}[s.Place]
	if s.At != model.NoProc && (s.Place == runqueue.PlaceRunnext || s.Place == runqueue.PlaceLocal) {
		stood += fmt.Sprintf(" of proc %d", s.At)
	}
	if s.Index > 0 {
		stood += fmt.Sprintf(" behind %d", s.Index)
	}
	next := "empty"
	if s.Next != model.NoGoroutine {
		next = fmt.Sprintf("goroutine %d", s.Next)
	}
	tick := "unknown"
	if s.Tick >= 0 {
		tick = fmt.Sprint(s.Tick)
	}
	out := fmt.Sprintf("it stood %s; runnext %s, local queue %d, global queue %d, tick %s, %d of %s idle", stood, next,
		s.Own.Len, s.Global.Len, tick, s.Idle, textui.Plural(s.Procs, "proc"))
	if s.Victim.Len > 0 {
		out += fmt.Sprintf(", queue of the other proc %d", s.Victim.Len)
	}
	return out
}

// Notes are statements about the numbers.
func (d *Lockstep) Notes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	notes = append(notes, findings.Lost(&result.Report{Traces: d.Traces, Skipped: d.Skipped})...)
	add("What is random in the runtime, such as whom a thief tries first, agrees if the rules allow it. Not judged: decisions whose state the trace does not determine.")
	add("boundary: in the first %s of the trace or where a generation begins. order-race: right if operations of two threads within %s took effect the other way round. stale-read: right by a count or length read up to so long before. hidden-event: right if something happened that no trace shows, such as a queue that was full. os: the thread stood still in between. version-rule: right by the rules of another version of Go. genuine: none of these.",
		textui.Duration(conform.Warmup), textui.Duration(conform.Epsilon))
	return notes
}

// LockstepSchema names the format of [LockstepV1]. Within it fields are only ever added.
const LockstepSchema = "schedscope/lockstep/v2"

// The types below are the JSON report of decisions.
type (
	// LockstepV1 is the whole report.
	LockstepV1 struct {
		Schema    string           `json:"schema"`
		Traces    []result.Trace   `json:"traces"`
		Skipped   []result.Skipped `json:"skipped"`
		Verdict   string           `json:"verdict"`
		Decisions []V1Decisions    `json:"decisions"`
		Genuine   []V1Divergence   `json:"genuine"` // the first of each kind and trace
		Notes     []string         `json:"notes"`
	}

	// V1Decisions are those of one kind.
	V1Decisions struct {
		Kind     string           `json:"kind"`
		Judged   int64            `json:"judged"`
		Agreed   int64            `json:"agreed"`
		Excluded int64            `json:"not_judged"`
		Diverged map[string]int64 `json:"diverged"` // by class
	}

	// V1Divergence is a decision without an explanation. Who is -1 if nobody.
	V1Divergence struct {
		Trace     int    `json:"trace"`
		Kind      string `json:"kind"`
		Class     string `json:"class"`
		At        int64  `json:"at_ns"`
		Goroutine int64  `json:"goroutine"`
		Proc      int64  `json:"proc"`
		Thread    int64  `json:"thread"`
		Did       string `json:"did"`
		Want      string `json:"want"`
		State     string `json:"state,omitempty"`
	}
)

// LockstepJSON writes the report as a [LockstepV1], indented.
func LockstepJSON(w io.Writer, d *Lockstep) error {
	return result.WriteJSON(w, NewLockstepV1(d))
}

// NewLockstepV1 returns the report in the form of its JSON.
func NewLockstepV1(d *Lockstep) *LockstepV1 {
	all := d.sum()
	v := &LockstepV1{Schema: LockstepSchema, Traces: d.Traces,
		Skipped:   append([]result.Skipped{}, d.Skipped...),
		Verdict:   lockstepVerdict(all),
		Decisions: []V1Decisions{}, Genuine: []V1Divergence{}, Notes: d.Notes()}
	for k := range conform.NumKinds {
		x := &all.Kinds[k]
		row := V1Decisions{k.String(), x.Judged, x.Agreed, x.Excluded, map[string]int64{}}
		for c := range conform.NumClasses {
			row.Diverged[c.String()] = x.Diverged[c]
		}
		v.Decisions = append(v.Decisions, row)
	}
	for i, r := range d.Results {
		for k := range r.Genuine {
			x := &r.Genuine[k]
			row := V1Divergence{i, x.Kind.String(), x.Class.String(), int64(x.Time - d.Origins[i]), int64(x.G), int64(x.P), int64(x.M), x.Did, x.Want, ""}
			if x.State != nil {
				row.State = stateOf(x.State)
			}
			v.Genuine = append(v.Genuine, row)
		}
	}
	return v
}
