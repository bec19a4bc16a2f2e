package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedscope/schedscope/analyze/findings"
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
	for _, k := range r.Requests {
		for _, t := range []*document.Table{handlers, times} {
			t.Section(k.Kind)
		}
		handlers.Row("all", k.Censored.Count, k.Count, known(&k.Dist, k.P50), known(&k.Dist, k.P99), greatest(&k.Dist), 1.0).Total = true
		for _, h := range k.Handlers {
			handlers.Row(textui.Either(result.Handled(h.Name), h.Name, k.Kind), h.Censored.Count, h.Count, known(&h.Dist, h.P50), known(&h.Dist, h.P99), greatest(&h.Dist), ratio(h.Total, k.Total))
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
			tailRows(tails, &k, &k.Tails[n])
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
		name := strings.TrimSpace(r.Label()+" "+textui.Place(r.Function, r.File, r.Line)) + textui.If(r.Inferred, " (inferred)")
		share := any(nil)
		if diff > 0 {
			share = gain / diff
		}
		t.Row(name, int64(gain), share, r.Have).Indent = indent
	}
	for _, g := range x.Groups {
		row(&g, false)
		for j := range x.Rows {
			if y := &x.Rows[j]; y.InGroup(&g) && (y.Wait != "" && (y.Kind != g.Kind || y.Function != g.Function) || y.Kind == "runnable") {
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

// enoughToCompare are enough requests of a handler for the typical one not to be the slowest.
const enoughToCompare = 10

func slowestRequests(r *result.Report, sets func(*result.RequestKind) []result.RequestGroup) *document.Section {
	s := document.New("slowest-requests", "The slowest requests", "each with its path: what it did itself, and in capitals what it waited for, with what took that long; parts below 2% are left out, and x12 is 12 alike")
	for i := range r.Requests {
		k := &r.Requests[i]
		list := sets(k)
		for j := range list {
			x := &list[j]
			if x.Count == 0 {
				continue
			}
			name, id := result.GroupName(k.Kind, x.Name), fmt.Sprintf("request-%d-%d", i+1, j+1)
			if len(list) > 1 || len(k.Unended) > 0 {
				s.Add(document.Paragraph{Strong: name})
			}
			s.Add(document.Parts(result.Each(x.Path, func(p *result.RequestTime) document.Part {
				return document.Part{Class: RequestClass(p.Name), Label: textui.Clean(name + ", " + p.Name), Size: int64(p.Total)}
			})))
			cards := alikeCards(r, k, x, x.Slowest, id, "")
			typical := x.Typical
			for g := range result.Refs(k.Groups) { // of two handlers the one is not slow for what the other does
				if len(x.Slowest) > 0 && g.Name == x.Slowest[0].Name && g.Typical != nil && g.Count >= enoughToCompare {
					typical = g.Typical
				}
			}
			if typical != nil && x.Count > 1 {
				c, _ := requestCard(r, k, x, typical, id+"-typical", "for comparison, ")
				cards = append(cards, c)
			}
			s.Add(cards)
		}
		if len(k.Unended) > 0 {
			open := k.Kind + ", not ended"
			n := result.Sum(k.Handlers, func(h *result.RequestHandler) int64 { return h.Open.Count })
			open += textui.If(n > int64(len(k.Unended)), fmt.Sprintf(": the longest %d of %s", len(k.Unended), textui.Count(n)))
			s.Add(document.Paragraph{Strong: open}, alikeCards(r, k, &result.RequestGroup{RequestSet: k.RequestSet}, k.Unended, fmt.Sprintf("request-%d-open", i+1), "at least "))
		}
	}
	return s.OrNil()
}

// alikeCards shows requests, those that are alike on one card.
func alikeCards(r *result.Report, k *result.RequestKind, set *result.RequestGroup, list []result.RequestPath, id, before string) (cards document.Cards) {
	rows := map[string]*alikeRow{}
	for n := range list {
		q := &list[n]
		c, alike := requestCard(r, k, set, q, fmt.Sprintf("%s-%d", id, n+1), before)
		if y := rows[alike]; y != nil {
			y.n++
			cards[y.card].Summary = fmt.Sprintf("%s, x%d, down to %s", y.summary, y.n, textui.Duration(q.Duration))
			continue
		}
		rows[alike] = &alikeRow{len(cards), 1, c.Summary}
		cards = append(cards, c)
	}
	return cards
}

// alikeRow is where requests that are alike are shown, of which the first is the slowest.
type alikeRow struct {
	card, n int
	summary string // of the first
}

// requestCard shows a request. Those whose second value is the same are alike.
func requestCard(r *result.Report, k *result.RequestKind, set *result.RequestGroup, q *result.RequestPath, id, before string) (document.Card, string) {
	line, alike := pathLine(set, q)
	facets := []document.Facet{{Text: line}}
	if len(q.Labels) > 0 {
		facets = append(facets, document.Facet{Text: "labels: " + textui.Clean(strings.Join(q.Labels, "; "))})
	}
	who := fmt.Sprintf(", %s G%d", k.Kind, q.Goroutine) + textui.If(result.Handled(q.Name), " "+shortName(q.Name, 60))
	at := moment(q.Start, q.Duration, q.Goroutine)
	return document.Card{ID: id, Title: fmt.Sprintf("%s%s at %s%s", before, textui.Duration(q.Duration), textui.Instant(q.Start), ofTrace(r, q.Trace)),
		Summary: who, Fold: true, Moment: &at,
		Facets: facets}, alike
}

// mostPieces is how many parts of one wait are in a line.
const mostPieces = 3

// requestClasses are the colours of kinds of time; waits have that of waiting.
var requestClasses = map[string]string{"running": "s-running", "runnable": "s-runnable", "syscall": "s-syscall", "network": "c-runtime", "gc": "c-gc", "stw": "c-stopped",
	"sleep": "c-scheduler", "timer": "c-scheduler", "lock": "c-unresolved", "unknown": "s-unknown", "others": "c-waking"}

// RequestClass returns the class of a kind of time in styles.
func RequestClass(kind string) string { return cmp.Or(requestClasses[kind], "s-waiting") }

// pathItem is what a request did itself, of one kind and place, or all its waits for one thing at
// one place, with what took that long.
type pathItem struct {
	wait     bool
	kind, fn string
	line     int // of its longest part, and how long that is
	longest  model.Duration
	g        model.GoID // NoGoroutine: several
	times    int
	time     model.Duration
	pieces   []pathItem // what it consists of
}

// addTo adds a part of a path to the item of its kind and place, and returns where that is.
func addTo(list []pathItem, x pathItem) ([]pathItem, int) {
	i := slices.IndexFunc(list, func(y pathItem) bool { return y.wait == x.wait && y.kind == x.kind && y.fn == x.fn })
	x.longest = x.time
	if i < 0 {
		return append(list, x), len(list)
	}
	if x.longest > list[i].longest {
		list[i].line, list[i].longest = x.line, x.longest
	}
	if list[i].time += x.time; list[i].g != x.g {
		list[i].g = model.NoGoroutine
	}
	return list, i
}

func (x *pathItem) String() string {
	kind, name := cmp.Or(map[string]string{"running": "run", "runnable": "behind"}[x.kind], x.kind), " "+shortName(x.fn, 40)
	switch {
	case x.wait:
		kind = strings.ToUpper(x.kind)
	case x.fn == "" && x.kind == "runnable":
		kind = "queue"
	case x.fn != "" && x.line > 0:
		name += ":" + strconv.Itoa(x.line)
	}
	if x.fn == "" {
		name = ""
	}
	return kind + name + " " + textui.Duration(x.time)
}

// pathLine writes a path in a line: what the request did itself, and in capitals what it waited
// for, with what took that long, most first. What is of one kind and place is added up, and stands
// where the first of it is; what is then shorter than 2 % of the request is left out. Requests with
// the same name are alike if what takes at least 10 % of them is the same, and so is what took the
// most of each wait.
func pathLine(set *result.RequestGroup, q *result.RequestPath) (line, alike string) {
	long := func(d model.Duration) bool { return 50*d >= q.Duration }
	var list []pathItem
	last, n := -1, 0
	for _, x := range q.Parts {
		piece := pathItem{kind: set.Label(x.Kind, x.Function), fn: x.Function, line: x.Line, g: x.Goroutine, time: x.Length}
		y := piece
		if x.Wait != "" {
			y = pathItem{wait: true, kind: set.Label(x.Wait, x.Waiter), fn: x.Waiter, time: x.Length}
		}
		list, n = addTo(list, y)
		list[n].pieces, _ = addTo(list[n].pieces, piece)
		if n != last {
			list[n].times++
		}
		last = n
	}
	var items, main []string
	var left model.Duration
	for _, x := range list {
		slices.SortStableFunc(x.pieces, func(a, b pathItem) int { return cmp.Compare(b.time, a.time) })
		if 10*x.time >= q.Duration {
			main = append(main, fmt.Sprintf("%t %q", x.wait, []string{x.kind, x.fn, x.pieces[0].kind, x.pieces[0].fn}))
		}
		if !long(x.time) {
			left += x.time
			continue
		}
		s, sep := x.String()+textui.If(x.wait && x.times > 1, fmt.Sprintf(" in %d waits", x.times)), ": "
		for n := range x.pieces {
			if y := &x.pieces[n]; x.wait && n < mostPieces && long(y.time) {
				switch s += sep; {
				case y.g != model.NoGoroutine:
					s += fmt.Sprintf("G%d ", y.g)
				case y.fn == "": // several, and nothing is known of what they did
					s += "others "
				}
				s, sep = s+y.String(), ", "
			}
		}
		items = append(items, s)
	}
	if left > 0 {
		items = append(items, "rest "+textui.Duration(left))
	}
	slices.Sort(main)
	return strings.Join(items, " | "), strings.Join(append(main, q.Name), "\n")
}

// RequestGroups lists the groups of requests, those with the most time first, in at most so many
// rows; 0: all.
func RequestGroups(r *result.Report, limit int) *document.Section {
	s := document.New("request-groups", "Requests")
	typical := textui.Either(findings.Unseen(r), "typical seen", "typical") // of those that waited
	t := s.Table("t-request-groups", document.Function("requests").AtMost(36), document.Count("n"), document.Number("per s", 0), document.Duration(typical), document.Duration("tail mean"), document.Words("most of it"))
	t.Fixed = true
	rows := requestGroups(r)
	shown := rows
	if len(rows) > limit && limit > 0 {
		shown = rows[:max(limit-1, 1)]
	}
	for _, x := range shown {
		slowest, most := any(nil), ""
		if len(x.Tails) > 0 {
			tail := &x.Tails[0]
			slowest, most = tail.Total/model.Duration(max(tail.Count, 1)), mostOfTail(tail)
		}
		t.Row(groupText(&x), x.Count, perSecond(r, x.Count), known(&x.Dist, x.P50), slowest, most)
	}
	n, longest := int64(0), model.Duration(0)
	for _, x := range rows[len(shown):] {
		n, longest = n+x.Count, max(longest, x.Max)
	}
	if n > 0 {
		t.Row(fmt.Sprintf("others (%d groups)", len(rows)-len(shown)), n, perSecond(r, n), nil, nil, "longest "+textui.Duration(longest))
	}
	for i := range r.Requests {
		if k := &r.Requests[i]; k.Kind == "tcp" && 100*k.Unfollowed > k.Count {
			t.Row("others, about", k.Unfollowed, perSecond(r, k.Unfollowed), nil, nil, "came while the receiver was busy")
		}
	}
	return s.OrNil()
}

// perSecond is a cell of how many there were per second.
func perSecond(r *result.Report, n int64) any {
	if r.Totals.Span <= 0 {
		return nil
	}
	return float64(n) / (float64(r.Totals.Span) / 1e9)
}
