package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/report/document"
)

// requests shows, by kind, how long requests took, what their time went to, and what the slowest
// have that the middle has not.
func requests(r *result.Report) *document.Section {
	s := document.New("requests", "Requests", "own: what their goroutines did; path: the same with waits resolved, by who ended them")
	handlers := s.Table("t-handlers", document.Function("handler or task"), document.Count("truncated").Doc("begun before the trace or not over at its end"), document.Count("count"),
		document.Duration("p50"), document.Duration("p99"), document.Duration("max"), document.Share("time").Doc("their part of all time of requests of the kind"))
	times := s.Table("t-request-times", document.Word("time"), document.Duration("own"), document.Share("share"), document.Duration("path"), document.Share("of the path"))
	times.Caption, times.Fixed = "What the time went to", true
	tails := s.Table("t-tails", document.Words("part"), document.Change("adds").Doc("to the mean of the slowest"), document.Share("share").Doc("of the difference; more than all of it where others are negative"),
		document.Count("have it").Doc("of the slowest, those with 5 % of their time in it"))
	tails.Caption, tails.Fixed = "What the slowest have that the middle fifth has not", true
	for i := range r.Requests {
		k := &r.Requests[i]
		for _, t := range []*document.Table{handlers, times} {
			t.Section(k.Kind)
		}
		handlers.Row("all", k.Censored.Count, k.Count, known(&k.Dist, k.P50), known(&k.Dist, k.P99), greatest(&k.Dist), 1.0).Total = true
		for k2 := range k.Handlers {
			h := &k.Handlers[k2]
			handlers.Row(handlerName(h.Name), h.Censored.Count, h.Count, known(&h.Dist, h.P50), known(&h.Dist, h.P99), greatest(&h.Dist), ratio(h.Total, k.Total))
		}
		var shown []string
		for _, x := range slices.Concat(k.Path, k.Own) {
			if !slices.Contains(shown, x.Name) {
				own, all := timeOf(k.Own, x.Name), timeOf(k.Path, x.Name)
				times.Row(x.Name, own, ratio(own, k.Total), all, ratio(all, k.Total))
				shown = append(shown, x.Name)
			}
		}
		if k.Cut > 0 {
			s.Text("Of %s of %s (%s) the beginning of the path is not known: to keep it takes too much memory.", textui.Count(k.Cut), textui.Plural(k.Count, "request"), k.Kind)
		}
		for n := range k.Tails {
			tailRows(tails, k, &k.Tails[n])
		}
	}
	return s.OrNil()
}

func timeOf(list []result.RequestTime, name string) (sum model.Duration) {
	for _, x := range list {
		if x.Name == name {
			sum += x.Total
		}
	}
	return sum
}

func handlerName(name string) string {
	if name == "" || name == noName {
		return "(handler not seen)"
	}
	return name
}

const tailLeast = 0.01 // of the difference is shown

// tailRows are the groups of a tail, each with the parts of it.
func tailRows(t *document.Table, k *result.RequestKind, x *result.RequestTail) {
	diff := x.Diff()
	t.Section(fmt.Sprintf("%s: the slowest %s: on average %s longer than the middle", k.Kind, x.Who(), textui.Duration(model.Duration(diff))))
	row := func(r *result.RequestRow, indent bool) {
		gain := x.Gain(r)
		if gain < tailLeast*diff && gain > -tailLeast*diff {
			return
		}
		name := strings.TrimSpace(r.Kind + " " + textui.Place(r.Function, r.File, r.Line))
		if r.Inferred {
			name += " (inferred)"
		}
		share := any(nil)
		if diff > 0 {
			share = gain / diff
		}
		t.Row(name, int64(gain), share, r.Have).Indent = indent
	}
	for i := range x.Groups {
		g := &x.Groups[i]
		row(g, false)
		for j := range x.Rows {
			if y := &x.Rows[j]; y.InGroup(g) && (y.Wait != "" && (y.Kind != g.Kind || y.Function != g.Function) || y.Kind == "runnable") {
				row(y, true)
			}
		}
	}
}

// SlowestRequests lists the slowest requests of each kind with their paths, and a typical one.
func SlowestRequests(r *result.Report) *document.Section {
	return slowestRequests(r, func(k *result.RequestKind) []result.RequestGroup {
		return []result.RequestGroup{{RequestSet: k.RequestSet}}
	})
}

// SlowestByGroup lists the same of each group, under its name.
func SlowestByGroup(r *result.Report) *document.Section {
	return slowestRequests(r, (*result.RequestKind).Sets)
}

func slowestRequests(r *result.Report, sets func(*result.RequestKind) []result.RequestGroup) *document.Section {
	s := document.New("slowest-requests", "The slowest requests", "each with its path: what it did itself, and in capitals what it waited for, with what took that long; parts below 2% are left out")
	for i := range r.Requests {
		k := &r.Requests[i]
		list := sets(k)
		for j := range list {
			x := &list[j]
			if x.Count == 0 {
				continue
			}
			name, id := SetName(k.Kind, x.Name), fmt.Sprintf("request-%d-%d", i+1, j+1)
			if len(list) > 1 {
				s.Add(document.Paragraph{Strong: name})
			}
			var parts document.Parts
			for _, p := range x.Path {
				parts = append(parts, document.Part{Class: RequestClass(p.Name), Label: textui.Clean(name + ", " + p.Name), Size: int64(p.Total)})
			}
			s.Add(parts)
			var cards document.Cards
			for n := range x.Slowest {
				cards = append(cards, requestCard(r, k, &x.Slowest[n], fmt.Sprintf("%s-%d", id, n+1), ""))
			}
			if x.Typical != nil {
				cards = append(cards, requestCard(r, k, x.Typical, id+"-typical", "for comparison, "))
			}
			s.Add(cards)
		}
	}
	return s.OrNil()
}

func requestCard(r *result.Report, k *result.RequestKind, q *result.RequestPath, id, before string) document.Card {
	at := moment(q.Start, q.Duration, q.Goroutine)
	return document.Card{ID: id, Title: fmt.Sprintf("%s%s at %s%s", before, textui.Duration(q.Duration), textui.Instant(q.Start), ofTrace(r, q.Trace)),
		Summary: fmt.Sprintf(", %s G%d %s", k.Kind, q.Goroutine, shortName(handlerName(q.Name), 60)), Fold: true, Moment: &at,
		Facets: []document.Facet{{Text: pathLine(q)}}}
}

// mostPieces is how many parts of one wait are in a line.
const mostPieces = 3

// requestClasses are the colours of kinds of time; waits have that of waiting.
var requestClasses = map[string]string{"running": "s-running", "runnable": "s-runnable", "syscall": "s-syscall", "network": "c-runtime", "gc": "c-gc", "stw": "c-stopped",
	"sleep": "c-scheduler", "timer": "c-scheduler", "lock": "c-unresolved", "unknown": "s-unknown", "others": "c-waking"}

// RequestClass returns the class of a kind of time in styles.
func RequestClass(kind string) string { return cmp.Or(requestClasses[kind], "s-waiting") }

// pathLine writes a path in a line: what the request did itself, and each of its waits in
// capitals, with what took that long, most first. What is shorter than 2 % of the request is left
// out.
func pathLine(q *result.RequestPath) string {
	short := map[string]string{"running": "run", "runnable": "behind"}
	long := func(d model.Duration) bool { return 50*d >= q.Duration }
	item := func(kind, fn string, line int, d model.Duration) string {
		if fn == "" {
			return strings.Replace(cmp.Or(short[kind], kind), "behind", "queue", 1) + " " + textui.Duration(d)
		}
		return cmp.Or(short[kind], kind) + " " + shortName(fn, 40) + lineOf(line) + " " + textui.Duration(d)
	}
	type piece struct {
		g        model.GoID
		kind, fn string
		line     int // of the first
		time     model.Duration
	}
	var items []string
	var own piece // of the last item, if that is no wait
	var left model.Duration
	for i := 0; i < len(q.Parts); {
		x := &q.Parts[i]
		var sum model.Duration
		var pieces []piece
		for ; i < len(q.Parts); i++ {
			y := &q.Parts[i]
			if y.Wait != x.Wait || y.Waiter != x.Waiter || x.Wait == "" && len(pieces) > 0 && (y.Kind != x.Kind || y.Function != x.Function) {
				break
			}
			sum += y.Length
			k := slices.IndexFunc(pieces, func(p piece) bool { return p.g == y.Goroutine && p.kind == y.Kind && p.fn == y.Function })
			if k < 0 {
				k = len(pieces)
				pieces = append(pieces, piece{y.Goroutine, y.Kind, y.Function, y.Line, 0})
			}
			pieces[k].time += y.Length
		}
		if !long(sum) {
			left += sum
			continue
		}
		if x.Wait == "" {
			if n := len(items); n > 0 && own.kind == x.Kind && own.fn == x.Function { // a short break lies between
				own.time += sum
				items[n-1] = item(x.Kind, x.Function, own.line, own.time)
			} else {
				own = piece{kind: x.Kind, fn: x.Function, line: x.Line, time: sum}
				items = append(items, item(x.Kind, x.Function, x.Line, sum))
			}
			continue
		}
		own = piece{}
		slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(b.time, a.time) })
		var parts []string
		for n, p := range pieces {
			if n < mostPieces && long(p.time) {
				parts = append(parts, fmt.Sprintf("G%d %s", p.g, item(p.kind, p.fn, p.line, p.time)))
			}
		}
		s := strings.ToUpper(x.Wait) + " "
		if x.Waiter != "" {
			s += shortName(x.Waiter, 40) + " "
		}
		items = append(items, strings.TrimSuffix(s+textui.Duration(sum)+": "+strings.Join(parts, ", "), ": "))
	}
	if left += q.Rest; left > 0 {
		items = append(items, "rest "+textui.Duration(left))
	}
	return strings.Join(items, " | ")
}

// lineOf returns a line after a function's name, nothing if it is not known.
func lineOf(line int) string {
	if line <= 0 {
		return ""
	}
	return ":" + strconv.Itoa(line)
}

// RequestGroups lists what requests are compared with each other, those with the most time first.
func RequestGroups(r *result.Report) *document.Section {
	s := document.New("request-groups", "Requests")
	t := s.Table("t-request-groups", document.Function("requests"), document.Count("n"), document.Number("per s", 0), document.Duration("typical"), document.Duration("slowest"), document.Words("the most of it"))
	for _, x := range requestGroups(r) {
		slowest, most := any(nil), ""
		if len(x.Tails) > 0 {
			tail := &x.Tails[0]
			slowest, most = tail.Total/model.Duration(max(tail.Count, 1)), mostOfTail(tail)
		}
		t.Row(x.Name, x.Count, float64(x.Count)/max(float64(r.Totals.Span)/1e9, 1e-9), known(&x.Dist, x.P50), slowest, most)
	}
	return s.OrNil()
}
