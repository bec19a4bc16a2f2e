package result

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// The section on requests; see schedscope help metrics.
type (
	// RequestKind are the requests of one kind.
	RequestKind struct {
		Kind string `json:"kind" key:""` // http, grpc, rpc, tcp, message, task, region, goroutine or func.
		RequestSet
		// Tasks that began while 131,072 were open, and of tcp those that came while who answers them was
		// busy, of which it is not known when that was: they are in no other figure here.
		Unfollowed int64            `json:"unfollowed,omitempty"`
		Handlers   []RequestHandler `json:"handlers" sort:"total"` // By handler, task or function; "" if not known.
		// Those that had not ended when the trace did and began a tenth of a second before that or more, the longest 20.
		Unended []RequestPath `json:"unended,omitempty"`
		// The same as of the kind by handler, task or function, at most 16, if two have ten requests or
		// more, or one and at least half of all requests have one, or a fifth (a fiftieth if they wait for answers,
		// sleeps or timers) that wait, all about as long, and far longer than the others, or shorter: else it is not
		// known which are alike.
		Groups []RequestGroup `json:"groups,omitempty" sort:"total"`
	}

	// RequestGroup are the requests of one handler, task or function.
	RequestGroup struct {
		Name string `json:"name" key:"name"` // As of handlers.
		RequestSet
	}

	// RequestSet are requests that are compared with each other.
	RequestSet struct {
		// How long those took that the trace shows from beginning to end.
		Dist
		Censored Tally         `json:"censored"`         // Those that the trace shows only in part.
		Own      []RequestTime `json:"own" sort:"total"` // States of the requests' goroutines; adds up to the total.
		// Of the critical paths: a request's own time, and while its goroutine was blocked that
		// of whoever ended the wait; adds up to the total.
		Path []RequestTime `json:"path" sort:"total"`
		// Time of the paths that were listed, of the slowest and of a sample of all.
		Listed   model.Duration `json:"listed_ns"`
		Certain  model.Duration `json:"certain_ns"`        // Of that, where nothing is inferred.
		Codeless model.Duration `json:"codeless_ns"`       // Of that, running of which no function is known.
		Cut      int64          `json:"cut_paths"`         // Paths that are not known from their beginning.
		Tails    []RequestTail  `json:"tails"`             // What the slowest have that the middle has not.
		Slowest  []RequestPath  `json:"slowest"`           // The slowest, at most 20 of a kind and 5 of a group.
		Typical  *RequestPath   `json:"typical,omitempty"` // One of about median length; left out if there is none.
	}

	// RequestTime is a part of the time of requests.
	RequestTime struct {
		Name  string         `json:"name" key:"name"` // Kind of time, as in help tables.
		Total model.Duration `json:"total_ns"`        // Sum, in nanoseconds.
	}

	// RequestHandler are the requests of one handler.
	RequestHandler struct {
		Named
		Censored Tally `json:"censored"`      // Those that the trace shows only in part.
		Open     Tally `json:"open,omitzero"` // Of these, those as of unended.
	}

	// RequestTail compares the slowest requests with the middle fifth of all.
	RequestTail struct {
		// The slowest part of all that was asked for, such as 0.01; 0: those that took at least
		// from_ns, or the slowest five of few.
		Share float64        `json:"share" key:""`
		From  model.Duration `json:"from_ns" merge:"min"` // The least length of the slowest.
		Count int64          `json:"count"`               // Number of the slowest.
		Total model.Duration `json:"total_ns"`            // Sum of their lengths, in nanoseconds.
		// Those of the middle fifth that it rests on: a sample.
		Middle RequestMiddle `json:"middle"`
		// The parts of the slowest and of the middle; both add up. A part counts for what it adds
		// to the mean of the slowest, most first; those that add less than nothing are last.
		Rows []RequestRow `json:"rows"`
		// The same by what the requests' own goroutines did: a row for all that one wait was for,
		// and one for all waiting for a proc.
		Groups []RequestRow `json:"groups"`
	}

	// RequestMiddle are requests of about median length.
	RequestMiddle struct {
		Count int64          `json:"count"`    // Number of them.
		Total model.Duration `json:"total_ns"` // Sum of their lengths, in nanoseconds.
	}

	// RequestRow is a part of the time of the slowest requests.
	RequestRow struct {
		Kind     string         `json:"kind" key:""`             // Kind of time; running also of other goroutines.
		Function string         `json:"function" key:""`         // The program's innermost function that ran or blocked, or behind which they were runnable.
		File     string         `json:"file" key:""`             // Its source file.
		Line     int            `json:"line" merge:"-"`          // Where most of the time is known to be; 0 if not known.
		Wait     string         `json:"wait" key:""`             // Kind of the request's own wait that this explains; empty: none.
		Waiter   string         `json:"wait_function" key:""`    // The program's innermost function that waited then.
		WaitFile string         `json:"wait_file" key:""`        // Its source file.
		WaitLine int            `json:"wait_line" merge:"-"`     // Where most waited; 0 if not known.
		Way      *RequestWay    `json:"way,omitempty" merge:"-"` // How most of the time came about; left out if not known.
		Inferred bool           `json:"inferred,omitempty"`      // That this was waited for.
		Times    int64          `json:"slow_times"`              // How often, in the slowest.
		Usual    int64          `json:"middle_times"`            // How often, in those of the middle.
		Slow     model.Duration `json:"slow_ns"`                 // Sum over the slowest, in nanoseconds.
		Middle   model.Duration `json:"middle_ns"`               // Sum over those of the middle, in nanoseconds.
		Have     int64          `json:"have"`                    // Of the slowest, those with at least 5 % of their time in it.
		// Of several traces: in how many of them it is. Left out for a single one, and of "(other names)".
		Traces int64 `json:"traces,omitempty" merge:"-"`
		// Of groups in reports of several traces: where it is.
		In *Places `json:"in,omitempty" merge:"-"`

		lead [3]lead // of line, wait_line and way
	}

	// RequestWay is the context of a part of a request's time.
	RequestWay struct {
		// The program's functions that called the row's function, innermost first, at most 4, with the
		// lines where they do.
		Callers []Frame `json:"callers"`
		Callee  string  `json:"callee,omitempty"` // What it called where it blocked, outside of the program; left out if not known.
		// Where whoever was waited for waited in turn, innermost first, at most 3, and the kind of that
		// wait; left out if it did not.
		Between     []Frame `json:"between,omitempty"`
		BetweenKind string  `json:"between_kind,omitempty"` // Left out with that; "call" of a call of net/http's client.
		// Whoever was waited for was meanwhile in the function that waited, as of a semaphore, or in its
		// caller, as of a pool.
		Within bool `json:"within,omitempty"`
		Once   bool `json:"once,omitempty"` // A sync.Once called it.
		SQL    bool `json:"sql,omitempty"`  // It is in a call of database/sql, or waited for there in turn.
		// Of sleeps: a tenth of the time or more follows a sleep at the same place of the same goroutine, which
		// only ran in between, as one does that asks again and again whether something is so.
		Polls bool `json:"polls,omitempty"`
		// Of waits for the network: deadlines ended most of it, as nothing was read then.
		Expires bool `json:"expires,omitempty"`
	}

	// RequestPath is one request with its critical path.
	RequestPath struct {
		Trace     int            `json:"trace"`                  // The trace, a place in "traces".
		Name      string         `json:"name"`                   // As of handlers.
		Goroutine model.GoID     `json:"goroutine" range:"-1.."` // Where it ended.
		Start     model.Time     `json:"start_ns"`               // When it began.
		Duration  model.Duration `json:"duration_ns"`            // Its length, in nanoseconds.
		Parts     []RequestPart  `json:"parts"`                  // Its path, in order, without gaps; at most 1000, of longer ones with neighbours joined.
		// Messages of trace.Log ("category: message"), and tasks and regions that began in it ("task
		// NAME", "region NAME"): the first 8 that differ; … stands for others, and for what is beyond 64
		// bytes of one.
		Labels []string `json:"labels,omitempty"`
	}

	// RequestPart is a part of a critical path.
	RequestPart struct {
		Length    model.Duration `json:"length_ns"`               // Its length, in nanoseconds.
		Kind      string         `json:"kind"`                    // Kind of time; running also of other goroutines.
		Goroutine model.GoID     `json:"goroutine" range:"-1.."`  // Whose time it is; -1: not known, or that of several.
		Depth     int            `json:"depth,omitempty"`         // How many wake-ups away from the request's goroutine; left out: none.
		Function  string         `json:"function,omitempty"`      // As of rows.
		File      string         `json:"file,omitempty"`          // Its source file.
		Line      int            `json:"line,omitempty"`          // Left out if not known.
		Wait      string         `json:"wait,omitempty"`          // As of rows.
		Waiter    string         `json:"wait_function,omitempty"` // As of rows.
		Inferred  bool           `json:"inferred,omitempty"`      // As of rows.
	}
)

// LongOpen is how long a request is open at least that may hang, and MostOpen how many of these are listed.
const (
	LongOpen = 100_000_000
	MostOpen = 20
)

// NoName is shown for an unknown name.
const NoName = "(unknown)"

// Handled reports whether a name is that of a handler. The library's own function, which calls it, has
// called one that is not seen.
func Handled(name string) bool {
	return name != "" && name != NoName && !strings.HasPrefix(name, "net/rpc.")
}

// GroupName returns what a group of requests of a kind is called: by its handler, task or function, by the kind if
// that is not known.
func GroupName(kind, name string) string {
	return textui.Either(!Handled(name), kind, textui.ShortFunc(name))
}

// maxTailRows is how many rows of a tail a report has.
const maxTailRows = 100

// Gain returns by how much a row makes the mean of the slowest longer than that of the middle,
// in nanoseconds.
func (t *RequestTail) Gain(r *RequestRow) float64 {
	gain := float64(r.Slow) / float64(max(t.Count, 1))
	if t.Middle.Count > 0 {
		gain -= float64(r.Middle) / float64(t.Middle.Count)
	}
	return gain
}

// Diff returns by how much the mean of the slowest is longer than that of the middle, in
// nanoseconds.
func (t *RequestTail) Diff() float64 {
	return t.Gain(&RequestRow{Slow: t.Total, Middle: t.Middle.Total})
}

// Who describes the slowest: "1% (6, from 17.7ms on)".
func (t *RequestTail) Who() string {
	n, from := textui.Count(t.Count), textui.Duration(t.From)
	return textui.Either(t.Share == 0, fmt.Sprintf("%s (from %s on)", n, from), fmt.Sprintf("%g%% (%s, from %s on)", 100*t.Share, n, from))
}

// InGroup reports whether a row is part of a group.
func (r *RequestRow) InGroup(group *RequestRow) bool {
	switch {
	case r.Wait != "" && r.Kind != "queued":
		return r.Wait == group.Kind && r.Waiter == group.Function && r.WaitFile == group.File
	case r.Kind == "runnable":
		return group.Kind == r.Kind
	}
	return r.Kind == group.Kind && r.Function == group.Function && r.File == group.File
}

// Called reports whether a part is of calls of net/http's client. They wait in select for the goroutines
// of their connection, several times each.
func (r *RequestRow) Called() bool {
	return r.Kind == "channel" && r.Way != nil && strings.HasPrefix(r.Way.Callee, "net/http.")
}

// ReadsPipe is called where the network poller waits for a pipe or a terminal.
const ReadsPipe = "os.(*File).Read"

// Piped reports whether a wait for the network is one for a pipe or a terminal, which the network poller does, too.
func (r *RequestRow) Piped() bool {
	return r.Kind == "network" && r.Way != nil && r.Way.Callee == ReadsPipe
}

// Awaits reports whether a part ends by itself: with an answer, or with a sleep or a timer.
func (r *RequestRow) Awaits() bool {
	return r.Called() || slices.Contains([]string{"sleep", "timer", "network"}, r.Kind)
}

// Label returns what the kind of time is called in reports for people.
func (r *RequestRow) Label() string {
	switch {
	case r.Called():
		return HTTPCall
	case r.Piped():
		return "pipe"
	}
	return r.Kind
}

// Label returns what a kind of time in a function is called in reports for people.
func (s *RequestGroup) Label(kind, fn string) string {
	if kind == "channel" && slices.ContainsFunc(s.Tails, func(t RequestTail) bool {
		return slices.ContainsFunc(t.Groups, func(g RequestRow) bool { return g.Function == fn && g.Called() })
	}) {
		return HTTPCall
	}
	return kind
}

// HTTPCall is what waits of calls of net/http's client are called.
const HTTPCall = "HTTP call"

// String returns the part in words: "lock in main.get, held by main.rebuild".
func (r *RequestRow) String() string {
	name := func(function string) string { return textui.Clean(textui.ShortFunc(function)) }
	part := func(kind, function string) string {
		switch {
		case function == "":
			return kind
		case kind == "running":
			return kind + " " + name(function)
		case kind == "runnable":
			return kind + " behind " + name(function)
		}
		return kind + " in " + name(function)
	}
	s, wait := part(r.Label(), r.Function), part(r.Wait, r.Waiter)
	switch {
	case r.Wait == "", s == wait:
		return s
	case r.Wait == "lock" && r.Kind == "running" && r.Function != "":
		return wait + ", held by " + name(r.Function)
	}
	return wait + ": " + s
}

// Sort sorts the rows by their contribution, and sums up those beyond the 100 with the most
// under [OtherNames].
func (t *RequestTail) Sort() { t.Rows, t.Groups = t.sorted(t.Rows), t.sorted(t.Groups) }

func (t *RequestTail) sorted(rows []RequestRow) []RequestRow {
	slices.SortFunc(rows, func(a, b RequestRow) int {
		return cmp.Or(cmp.Compare(t.Gain(&b), t.Gain(&a)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Wait, b.Wait), cmp.Compare(a.Waiter, b.Waiter), cmp.Compare(a.WaitFile, b.WaitFile))
	})
	if len(rows) <= maxTailRows {
		return rows
	}
	// The middle of the list adds least, one way or the other.
	const head = maxTailRows * 3 / 4
	other := RequestRow{Kind: "unknown", Function: OtherNames}
	if i := slices.IndexFunc(rows, func(r RequestRow) bool { return r.Kind == other.Kind && r.Function == OtherNames }); i >= 0 {
		other = rows[i]
		rows = slices.Delete(rows, i, i+1)
	}
	tail := len(rows) - (maxTailRows - head - 1)
	for _, r := range rows[head:tail] {
		other.Slow += r.Slow
		other.Middle += r.Middle
	}
	return slices.Concat(rows[:head], rows[tail:], []RequestRow{other})
}

// enoughRequests are enough for a report to begin with them.
const enoughRequests = 20

// MainRequests returns the requests that a report begins with: of the kinds of which there are
// enough that with the most time; nil if there is none.
func (v *Report) MainRequests() *RequestKind {
	return Find(v.Requests, func(k *RequestKind) bool { return k.Count >= enoughRequests })
}

// Sets returns what is compared with each other: the groups, or if there are none all of the kind
// under the name of the handler that four in five of them have, "" if none has so many.
func (k *RequestKind) Sets() []RequestGroup {
	if len(k.Groups) > 0 {
		return k.Groups
	}
	name := ""
	for i := range k.Handlers {
		if h := &k.Handlers[i]; h.Name != NoName && 5*h.Count >= 4*k.Count {
			name = h.Name
		}
	}
	return []RequestGroup{{name, k.RequestSet}}
}

// merge merges groups, too. A kind without groups is one, if the other has groups or is of another
// handler: else the groups of one trace would stand for both.
func (k *RequestKind) merge(from any) {
	o := from.(*RequestKind)
	if len(k.Groups)+len(o.Groups) > 0 || k.Sets()[0].Name != o.Sets()[0].Name {
		k.group()
		o.group()
	}
	mergeFields(reflect.ValueOf(k).Elem(), reflect.ValueOf(o).Elem())
}

// group makes all of a kind without groups one.
func (k *RequestKind) group() {
	if len(k.Groups) > 0 {
		return
	}
	g := RequestGroup{Name: cmp.Or(k.Sets()[0].Name, NoName)}
	duplicate(&g.RequestSet, &k.RequestSet)
	g.cut(SlowestOfGroup)
	k.Groups = []RequestGroup{g}
}

// dropGroups drops groups without requests, and a group of all.
func (k *RequestKind) dropGroups() {
	k.Groups = slices.DeleteFunc(k.Groups, func(g RequestGroup) bool { return g.Count == 0 })
	if len(k.Groups) == 1 && k.Groups[0].Count == k.Count {
		k.Groups = nil
	}
}

// StripLabels removes the labels of the listed requests.
func (k *RequestKind) StripLabels() {
	for i := range k.Unended {
		k.Unended[i].Labels = nil
	}
	strip := func(s *RequestSet) {
		for i := range s.Slowest {
			s.Slowest[i].Labels = nil
		}
		if s.Typical != nil {
			s.Typical.Labels = nil
		}
	}
	strip(&k.RequestSet)
	for i := range k.Groups {
		strip(&k.Groups[i].RequestSet)
	}
}

// eachSet calls f for the sets of a kind, with how many of the slowest requests each has.
func (k *RequestKind) eachSet(f func(set *RequestSet, most int)) {
	f(&k.RequestSet, maxLongest)
	for i := range k.Groups {
		f(&k.Groups[i].RequestSet, SlowestOfGroup)
	}
}

func (r *RequestRow) leads() []lead { return r.lead[:] }

// merge keeps the places of the greatest part.
func (r *RequestRow) merge(from any) {
	o := from.(*RequestRow)
	a, b := r.Slow+r.Middle, o.Slow+o.Middle
	known := func(way *RequestWay) string {
		if way == nil {
			return ""
		}
		return fmt.Sprint(*way)
	}
	keepLead(&r.lead[0], o.lead[0], a, b, &r.Line, o.Line)
	keepLead(&r.lead[1], o.lead[1], a, b, &r.WaitLine, o.WaitLine)
	if way := known(r.Way); keepLead(&r.lead[2], o.lead[2], a, b, &way, known(o.Way)) {
		r.Way = o.Way
	}
	r.Traces = max(r.Traces, 1) + max(o.Traces, 1)
	mergeFields(reflect.ValueOf(r).Elem(), reflect.ValueOf(o).Elem())
	r.In = r.In.and(o.In)
}

// SlowestOfGroup is the number of the slowest requests of a group in a report.
const SlowestOfGroup = 5

// Trim sorts the slowest requests and keeps a few, and sorts the tails.
func (k *RequestSet) Trim(most int) {
	k.cut(most)
	for i := range k.Tails {
		k.Tails[i].Sort()
	}
	slices.SortStableFunc(k.Tails, func(a, b RequestTail) int { return cmp.Compare(a.Share, b.Share) })
}

// inTraces sets in how many traces rows are that were not merged.
func (k *RequestSet) inTraces(int) {
	for i := range k.Tails {
		for _, rows := range [][]RequestRow{k.Tails[i].Rows, k.Tails[i].Groups} {
			for j := range rows {
				rows[j].Traces = inTraces(rows[j].Traces, rows[j].Function)
			}
		}
	}
}

// inTraces returns in how many of several traces a function's row is: n, unless it was not merged or is
// of several functions.
func inTraces(n int64, function string) int64 {
	return textui.Either(function == OtherNames, 0, max(n, 1))
}

// cut sorts the slowest requests, and keeps a few.
func (k *RequestSet) cut(most int) { k.Slowest = First(k.Slowest, most, ComparePaths) }

// ComparePaths has the longest first.
func ComparePaths(a, b RequestPath) int {
	return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Goroutine, b.Goroutine))
}
