package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// SlowRequests is the kind of diagnoses of slow requests.
const SlowRequests = "slow-requests"

const (
	// slowRequests take so many times as long as those of the middle.
	slowRequests = 1.5
	// tailShare of all requests of a group are its slowest.
	tailShare = 0.01
	// typicalShare of the time of all is worth an item where all are slow.
	typicalShare = 1.0 / 3
	// allocatesShare of the procs' time goes to the garbage collector where allocating matters.
	allocatesShare = 0.15
	// manyParts at one place in a request, and timesMiddle as often as usual, are many small ones.
	manyParts   = 10
	timesMiddle = 3
	// likeMedian is by how much the mean of the middle fifth may differ from the median.
	likeMedian = 0.1
	// eachDials times a request dials if nearly each does, and so it is of what streams send.
	eachDials = 0.8
)

// requestWords are the words for a kind of time: what a request does; and what can be done, of
// [Symptoms] if it is the name of one.
var requestWords = map[string]struct {
	does, fix string
	remedy    remedy
}{
	"running":    {"runs", "Make it faster, cache or precompute what it computes, or take it out of the request.", otherwise},
	"runnable":   {"waits for a proc", "busy-procs", otherwise},
	"lock":       {"waits for a lock", "lock", otherwise},
	"waitgroup":  {"waits for a WaitGroup", "Make the last of those faster that are waited for, divide its work, or start it first.", otherwise},
	"cond":       {"waits for a Cond", "Make what comes before its Signal or Broadcast faster, do it earlier, or let fewer requests wait for it.", otherwise},
	"channel":    {"waits for a channel", "Look at who is at the other end: more workers, less work for each, a deadline or, if it sends and awaits no answer, a larger buffer.", moreWorkers},
	"connection": {"waits for a connection of a pool", "Allow more connections (SetMaxOpenConns, MaxConnsPerHost), hold each for a shorter time, or ask less often.", otherwise},
	"dial":       {"dials a new connection", "Keep connections for the next request: share one http.Client, leave keep-alives on, read bodies to their end and close them, and set MaxIdleConnsPerHost to the number of requests at a time.", otherwise},
	"timer":      {"waits for a timer", "Shorten the time-out or the interval, or end the wait by an event.", otherwise},
	"sleep":      {"sleeps", "If the sleep is meant, as a pace, a back-off or a stand-in for work, shorten it or accept it (--slo); if it waits for something, wait for that itself (a channel, a sync.Cond); else remove it.", otherwise},
	"network":    {"waits for the network", askLess, otherwise},
	"call":       {"waits for HTTP calls", askLess + " If calls repeat what failed, back off before each, and limit them.", otherwise}, // see [result.RequestRow.Called]
	"pipe":       {"waits for a pipe", "Make what writes to it faster, start it earlier, or do it within this program.", otherwise},    // see [result.RequestRow.Piped]
	"syscall":    {"is in system calls", "blocking-system-calls", otherwise},
	"gc":         {"works or waits for the garbage collector", "garbage-collection", otherwise},
	"stw":        {"stands still while the world is stopped", "stop-the-world", otherwise},
	"coroutine":  {"switches coroutines", "", otherwise},
	"queued":     {"is handed over and not taken up", "Start more workers, give each less work, or shed load before it queues.", startWorkers},
	"unknown":    {"does what the trace does not show", "", otherwise},
}

// wordOf returns which of these a part with a label is about.
func wordOf(label string) string { return textui.Either(label == result.HTTPCall, "call", label) }

// waitsAt returns where whoever a request waits for was, with the functions that called it, innermost first, and what that
// one waited for.
func waitsAt(x *result.RequestRow) (stack []result.Frame, kind string) {
	if w := x.Way; len(w.Between) > 0 {
		return w.Between, w.BetweenKind
	}
	return append([]result.Frame{{Function: x.Function, File: x.File, Line: uint64(max(x.Line, 0))}}, x.Way.Callers...), x.Kind
}

// keepsWorker is what the code does for which a queue is long.
const keepsWorker = "keeps the worker that takes it up"

const askLess = "Ask the other end less often, in parallel or in advance, cache its answers, set a deadline."

// scheduling are the kinds of time that diagnoses of waiting to run explain.
var scheduling = []string{"runnable", "gc", "stw"}

// question asks what makes the requests of a set slow: the slowest, compared with the middle fifth,
// or all of them.
type question struct {
	kind string
	sets []result.RequestGroup // of the kind
	*result.RequestGroup
	*result.RequestTail
	all   bool
	limit model.Duration // what an objective asks for; 0: none
	// others is how many requests have an unknown handler, if the median of the group may be another with
	// them, and half what it is at most then. A handler is seen only in requests that wait, so those of the group that do not are among them.
	others int64
	half   model.Duration
}

// name is what the requests are called.
func (q *question) name() string {
	return textui.Either(!result.Handled(q.Name), q.kind+" requests", plain(textui.ShortFunc(q.Name)))
}

// titled is what one of the requests with a part is called: by the group, and if that has no name by the handler, too, that
// all have that are listed.
func (q *question) titled(g *result.RequestRow) string {
	if result.Handled(q.Name) {
		return q.name()
	}
	name := textui.Either(strings.HasPrefix(q.kind, "http") || q.kind == "rpc", "an ", "a ") + q.kind + " request"
	list := slices.DeleteFunc(q.listed(), func(p result.RequestPath) bool { return !long(&p, g) })
	if len(list) > 0 && result.Handled(list[0].Name) && !slices.ContainsFunc(list, func(p result.RequestPath) bool { return p.Name != list[0].Name }) {
		name += " of " + plain(textui.ShortFunc(list[0].Name))
	}
	return name
}

// listed are the slowest requests, before them the typical one where all are slow.
func (q *question) listed() []result.RequestPath {
	if q.all && q.Typical != nil {
		return append([]result.RequestPath{*q.Typical}, q.Slowest...)
	}
	return slices.Clone(q.Slowest)
}

// long reports whether a fifth of a request is such a part.
func long(p *result.RequestPath, g *result.RequestRow) bool {
	var in model.Duration
	for _, x := range p.Parts {
		if (&result.RequestRow{Kind: x.Kind, Function: x.Function, File: x.File, Wait: x.Wait, Waiter: x.Waiter, WaitFile: g.File}).InGroup(g) {
			in += x.Length
		}
	}
	return 5*in >= p.Duration
}

// slowest and middle are the mean lengths of both sides, in nanoseconds.
func (q *question) slowest() float64 {
	return float64(q.RequestTail.Total) / float64(max(q.RequestTail.Count, 1))
}

func (q *question) middle() float64 { return float64(q.Middle.Total) / float64(max(q.Middle.Count, 1)) }

// cost is the time of a part in each slow request, in nanoseconds: what it adds, or all of it.
func (q *question) cost(x *result.RequestRow) float64 {
	return textui.Either(q.all, float64(x.Middle)/float64(max(q.Middle.Count, 1)), q.Gain(x))
}

// whole is what the parts add up to.
func (q *question) whole() float64 { return textui.Either(q.all, q.middle(), q.Diff()) }

// parts returns the groups of parts that are worth an item, most first:
//
//  1. It takes worthTime of a slow request or more; where all are slow and dial, that dialTime. Where an objective is missed, any time.
//  2. Of the slowest at least half have it, and it is leastShare of the difference; of all it
//     takes typicalShare. If none that has the same code at its end does, the greatest of them counts for all: those
//     that write to a file under a lock, and those that wait for the lock. Who does both counts once, as far as
//     the slowest that are listed show.
//  3. Time without a function is nobody's.
//  4. What is spent on the collector is one part, wherever: that of the function with the most.
func (q *question) parts() (list []*result.RequestRow) {
	groups := result.Each(q.Groups, func(x *result.RequestRow) *result.RequestRow { return x })
	if i := slices.IndexFunc(groups, func(x *result.RequestRow) bool { return x.Kind == "gc" }); i >= 0 {
		sum := *groups[i]
		for _, x := range groups[i+1:] {
			if x.Kind == "gc" {
				sum.Slow, sum.Middle, sum.Have = sum.Slow+x.Slow, sum.Middle+x.Middle, max(sum.Have, x.Have)
			}
		}
		groups = append(slices.DeleteFunc(groups, func(x *result.RequestRow) bool { return x.Kind == "gc" }), &sum)
	}
	share := textui.Either(q.all, typicalShare, leastShare)
	dials := q.dials()
	worth := func(x *result.RequestRow, cost float64, have int64) bool {
		return (q.limit != 0 || cost >= worthTime || q.all && x == dials && cost >= dialTime) && q.cost(x) > 0 && cost >= share*q.whole() && (q.all || 2*have >= q.RequestTail.Count) &&
			x.Kind != "unknown" && !(x.Kind == "running" && x.Function == "")
	}
	ends := map[*result.RequestRow]*result.RequestRow{} // what each waits for
	for _, x := range groups {
		if ends[x] = x; worth(x, q.cost(x), x.Have) {
			list = append(list, x)
		}
		if rows := q.within(x); !x.Called() && len(rows) > 0 {
			there := 0.0
			for _, r := range rows {
				if r.Function == rows[0].Function && r.Line == rows[0].Line {
					there += q.cost(r)
				}
			}
			if 2*there >= q.cost(x) {
				ends[x] = rows[0]
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b *result.RequestRow) int { return cmp.Compare(q.cost(b), q.cost(a)) })
	for _, x := range groups {
		var cost float64
		var have int64
		e := ends[x]
		shares := func(y *result.RequestRow) bool {
			f := ends[y]
			return (e.Kind == f.Kind || e.Called() || f.Called()) && e.Function == f.Function && e.Line == f.Line
		}
		for _, y := range groups {
			if shares(y) {
				cost, have = cost+max(q.cost(y), 0), have+y.Have
			}
		}
		once, all := int64(0), int64(0) // of those listed
		for i := range q.Slowest {
			before := all
			for _, y := range groups {
				if shares(y) && long(&q.Slowest[i], y) {
					all++
				}
			}
			once += min(all-before, 1)
		}
		have = have * max(once, 1) / max(all, 1)
		if e.Function != "" && e.Kind != "runnable" && worth(x, cost, have) && (!slices.ContainsFunc(list, shares) || x.Kind == "lock" && e.Awaits() && !slices.Contains(list, x)) {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b *result.RequestRow) int { return cmp.Compare(q.cost(b), q.cost(a)) })
	return list
}

// within are the parts of a group, most first: code before what has no name, unless it is much less.
func (q *question) within(g *result.RequestRow) (rows []*result.RequestRow) {
	for i := range q.Rows {
		if x := &q.Rows[i]; x.InGroup(g) && q.cost(x) > 0 && (x.Wait != "" || x.Kind == "runnable") {
			rows = append(rows, x)
		}
	}
	slices.SortStableFunc(rows, func(a, b *result.RequestRow) int { return cmp.Compare(q.cost(b), q.cost(a)) })
	if i := slices.IndexFunc(rows, func(x *result.RequestRow) bool { return x.Function != "" && x.Kind != "unknown" }); i > 0 && 3*q.cost(rows[i]) >= q.cost(rows[0]) {
		rows[0], rows[i] = rows[i], rows[0]
	}
	return rows
}

func duration(ns float64) string { return textui.Duration(model.Duration(ns)) }

// item says of a group of parts how much of slow requests it is, and which code it is due to.
func (q *question) item(r *result.Report, g *result.RequestRow) item {
	words, cost := requestWords[wordOf(g.Label())], q.cost(g)
	f := item{q: q, parts: []*result.RequestRow{g}, Finding: result.Finding{Kind: SlowRequests, Severity: result.Notable, Group: q.Name, Evidence: []result.Evidence{
		{Name: "in each slow request", Value: cost, Unit: "ns"}, {Name: "of what is to be explained", Value: cost / q.whole(), Unit: "share"}}}}
	f.advise(words.remedy, fix(words.fix))
	does := words.does
	callee := way(g).Callee
	if g.Kind == "waitgroup" && strings.HasPrefix(callee, "golang.org/x/sync/") {
		does = "waits in " + plain(textui.ShortFunc(callee))
	}
	lookup := strings.HasPrefix(callee, "net.(*Resolver).") || strings.HasPrefix(callee, "net.Lookup")
	// A select that goroutines end which timers begin, as those of deadlines are: these have no function of the program.
	timed := g.Kind == "channel" && callee == "runtime.selectgo" && q.mostly(g, func(x *result.RequestRow) bool { return x.Kind == "timer" && x.Function == "" })
	if timed {
		does = requestWords["timer"].does
	} else if lookup {
		does = "looks a name up"
	}
	role := does
	if g.Kind == "queued" { // the function is not of the request
		role = keepsWorker
		if q.mostly(g, func(x *result.RequestRow) bool { return x.Wait == "timer" }) { // it is taken up at a time, however many workers there are
			role = requestWords["timer"].does
			f.advise(otherwise, fix(requestWords["timer"].fix))
		}
	}
	f.Where = []result.Culprit{{Role: role, Function: g.Function, File: g.File, Line: uint64(max(g.Line, 0)), Share: min(cost/q.whole(), 1), Length: model.Duration(q.shown(cost)), Callers: callers(g)}}
	switch {
	case g.Called(), timed:
	case g.Kind == "running" && q.hub(g):
		f.advise(otherwise, "One goroutine does it for one message after another: make it faster, do it in the goroutines that read or write instead, or divide what it keeps among several.")
	case q.all && q.atOnce(g):
		f.advise(otherwise, "The other end begins at once: more workers cannot help. Make what it does faster, begin it earlier, or set a deadline.")
	case !q.all && g.Kind == "channel" && 2*q.own(g) >= cost:
		f.advise(otherwise, "Most of it is one job of the other end: more workers help little. Make that job faster, do it elsewhere, or set a deadline.")
	}
	rows, ran := q.within(g), ""
	if len(rows) > 0 && g.Kind == "lock" && rows[0].Kind == "running" && len(way(rows[0]).Between) == 0 {
		rows[0], ran = q.holder(r, g, rows)
	}
	chained := !lookup && !timed && len(rows) > 0 && (rows[0].Kind != g.Kind || rows[0].Function != g.Function)
	switch of := q.keeper(g, rows); {
	case of != nil:
		q.kept(&f, of)
	case chained && !(g.Called() && !result.OfProgram(rows[0].Function)):
		q.chain(&f, g, rows[0], ran)
	}
	if f.remedy == raiseLimit && !q.all && q.comesLate(r, g) {
		f.Advice = "They all came late in the trace: if ever less is to be had, look for a path on which it is not given back, as after an error, and do that in a defer. Else: " + f.Advice
	}
	switch {
	case lookup:
		f.advise(otherwise, "Keep the answer for as long as it holds (a cache), keep connections for the next request, or ask a resolver nearby.")
	case blocked(g.Kind) && (strings.HasPrefix(callee, "log.") || strings.HasPrefix(callee, "log/slog.")):
		f.advise(otherwise, ownLock(callee))
	case strings.HasPrefix(callee, "golang.org/x/time/rate."):
		f.advise(otherwise, "A rate limiter holds it back: raise its rate or burst, give each client a limiter of its own, or make fewer calls (batch, cache).")
	case flocks(callee):
		f.advise(otherwise, flockAdvice)
	case strings.HasPrefix(callee, "golang.org/x/sync/semaphore."):
		f.advise(raiseLimit, fmt.Sprintf("Raise the limit in %s, or hold it for a shorter time.", plain(textui.Place(g.Function, g.File, g.Line))))
	case strings.HasPrefix(callee, "golang.org/x/sync/errgroup.") && g.Kind == "channel":
		f.advise(raiseLimit, fmt.Sprintf("Raise the limit in %s (SetLimit), or make each that it starts faster.", plain(textui.Place(g.Function, g.File, g.Line))))
	case strings.HasPrefix(callee, "sync.(*Once)") && !chained, way(g).Once:
		f.advise(otherwise, onceAdvice)
	case timed:
		f.advise(otherwise, "A timer ends it, as that of a deadline does before an answer comes: see why that is late, or set a shorter deadline.")
	case g.Kind == "syscall" && strings.HasPrefix(callee, "net/http.(*response).") && q.times(g) <= 2: // with one answer, fewer are not to be had
		f.advise(otherwise, "It sends the answer in one large call: send less (compress it, page it), or bound how many send at once (a semaphore).")
	case g.Kind == "running" && newTimer(callee):
		f.advise(otherwise, timerAdvice)
	case g.Kind == "timer" && callee == "runtime.selectgo":
		f.advise(otherwise, "If it is meant, as the interval of a stream or the time-out of a long poll, accept it (--slo). Else shorten it, or end the wait by an event.")
	case g.Kind == "sleep" && way(g).Polls:
		f.advise(otherwise, pollAdvice)
	case g.Kind == "sleep" && q.retried(g) != nil:
		call := q.retried(g)
		f.advise(otherwise, fmt.Sprintf("It retries: it calls %s again after each sleep, %.1f times on average. See why that fails, limit the attempts, or sleep for less.", plain(textui.Place(call.Function, call.File, call.Line)), q.times(g)))
	case g.Kind == "network" && way(g).Expires, g.Called() && q.mostly(g, func(x *result.RequestRow) bool { return x.Kind == "timer" }):
		f.advise(otherwise, "A deadline ends it, and no answer has come: see why. Back off before each repetition, limit them, or set a shorter deadline.")
	case (g.Called() || g.Kind == "network" && !q.starts(g)) && !q.all && g.Usual == 0:
		f.advise(otherwise, "Others do without it: if it fills a cache, fill that ahead, in the background, before its entries expire. Else ask the other end less often, in parallel or in advance, or set a deadline.")
	case q.starts(g):
		f.advise(otherwise, "It starts a program each time: do it within this one, keep one running and talk to it, or start fewer.")
	}
	if n := q.together(g); n > 2 && 8*n >= len(q.Slowest) && blocked(g.Kind) && !timed && !slices.Contains([]string{"lock", "sleep", "timer", "queued"}, g.Kind) && !(g.Kind == "channel" && chained && (rows[0].Kind == "sleep" || rows[0].Kind == "timer")) && (!q.all && g.Usual == 0 || q.others > 0) && f.remedy != raiseLimit && !(chained && q.limited(g, rows[0])) {
		f.Advice = fmt.Sprintf("%d of the slowest were in it at the same time: if they ask for the same, let only one ask and share its result (singleflight), or refresh it in the background before it expires. ", n) + f.Advice
	}
	if g.Kind == "running" && r.GC.Share >= allocatesShare && !newTimer(callee) {
		f.Advice = fmt.Sprintf("Allocate less in it: reuse buffers (sync.Pool), allocate ahead, avoid short-lived objects; the garbage collector takes %s of the procs' time. ", textui.Percent(r.GC.Share)) + f.Advice
	}
	f.Advice = sleepsLate(r, g) + f.Advice
	switch fn := q.dials(); {
	case fn == nil:
	case g.Called() && fn.Function == g.Function && fn.Line == g.Line:
		f.Advice = "Each dials a new connection. " + fix(requestWords["dial"].fix) + " " + f.Advice
	case g.Kind == "network":
		f.Advice = fmt.Sprintf("Each dials in %s: keep connections for the next request (a pool, keep-alive), so that what a new one takes, such as a login, is done once. ", plain(textui.Place(fn.Function, fn.File, fn.Line))) + f.Advice
	}
	if times := q.many(g); times > 0 && !(chained && q.limited(g, rows[0])) {
		if !g.Called() { // each takes several waits
			does = fmt.Sprintf("%s %.0f times", words.does, times)
			if !q.all {
				does += fmt.Sprintf(" (others %.0f)", q.usual(g))
			}
		}
		switch {
		case timed, lookup, g.Kind == "sleep", g.Kind == "timer", g.Kind == "queued", q.starts(g), g.Kind == "network" && way(g).Expires: // what helps against one helps against many
		case g.Kind == "cond":
			f.advise(otherwise, "It is woken and waits again: if each wake-up is for one of those that wait, wake only that one (Signal instead of Broadcast), or give each a channel.")
		case g.Called():
			f.advise(askOnce, "Ask once for all of it instead of many times: batch, join, prefetch, or run them in parallel. If they are repetitions of what failed, back off before each, and limit them.")
		default:
			f.advise(askOnce, fmt.Sprintf("Ask once for all of it instead of %.0f times %s each: batch, join, prefetch, or run them in parallel.", times, duration(cost/times)))
			if q.kind == "func" {
				f.Advice = fmt.Sprintf("Calls without a wait in between count as one: these may be %.0f, of %s each. Else: %s", times, duration(cost/times), f.Advice)
			}
		}
	}
	if g.Kind == "running" && g.Function != "" && g.Function != q.Name {
		does += " " + plain(textui.ShortFunc(g.Function))
	}
	f.Title, f.Gain = q.titled(g)+" "+does, q.gain(cost)
	switch slow := q.RequestTail; {
	case q.all:
		f.Text = q.ofTypical(cost)
	default:
		f.Text = fmt.Sprintf("%s of the %s, %s of the slowest %s", duration(cost), duration(q.slowest()), textui.Count(g.Have), textui.Count(slow.Count))
		f.Evidence = append(f.Evidence, result.Evidence{Name: "of the slowest that have it", Value: float64(g.Have), Unit: "count"}, result.Evidence{Name: "slowest", Value: float64(slow.Count), Unit: "count"})
	}
	inTraces(r, &f.Finding, g.Traces, g.In)
	for i := range f.Where { // the group is in the title
		c := &f.Where[i].Callers
		*c = slices.DeleteFunc(*c, func(s string) bool {
			return q.Name != "" && strings.HasPrefix(s, textui.ShortFunc(q.Name)+" (") && i > 0
		})
	}
	f.Look = q.look(g)
	return f
}

// way returns how a part came about, an empty one if that is not known.
func way(x *result.RequestRow) *result.RequestWay { return cmp.Or(x.Way, &result.RequestWay{}) }

// callers are the functions that called that of a row, short of wrappers, at most 3.
func callers(x *result.RequestRow) []string { return append([]string{}, places(way(x).Callers)...) }

// places are frames in words, at most 3.
func places(frames []result.Frame) []string {
	return result.Each(frames[:min(len(frames), 3)], func(f *result.Frame) string { return textui.Place(f.Function, f.File, f.Line) })
}

// starts reports whether a part is in a line that starts a program: that takes the thread, without a system call in the trace;
// or for a pipe, in a function that starts one.
func (q *question) starts(g *result.RequestRow) bool {
	return slices.ContainsFunc(q.Groups, func(x result.RequestRow) bool {
		return x.Function == g.Function && (x.Line == g.Line || g.Piped()) && (strings.HasPrefix(way(&x).Callee, "os/exec.") || strings.HasPrefix(way(&x).Callee, "os.StartProcess"))
	})
}

// comesLate reports whether the slowest that are listed with a part, as many as can be judged, all began in the last third
// of the trace: what they wait for may become less.
func (q *question) comesLate(r *result.Report, g *result.RequestRow) bool {
	list := slices.DeleteFunc(slices.Clone(q.Slowest), func(p result.RequestPath) bool { return p.Duration < q.From || !long(&p, g) })
	return len(list) >= fewest && !slices.ContainsFunc(list, func(p result.RequestPath) bool {
		return p.Trace >= len(r.Traces) || p.Start < model.Time(2*r.Traces[p.Trace].Span/3)
	})
}

// meant returns a note about a part that requests seem to wait for by design, "" if it is none: they do next to nothing else
// than wait in select, once, until their own timer ends that, as a long poll without news does, or who gets no answer; or
// see news.
func (q *question) meant(r *result.Report, x *result.RequestRow) string {
	switch {
	case q.all && x.Kind == "timer" && way(x).Callee == "runtime.selectgo" && q.cost(x) >= (1-likeMedian)*q.middle() && q.usual(x) < 2:
		return fmt.Sprintf(" Note that %s waits in select until its timer ends that, each time after %s: a long poll without news, or an answer that never comes.", q.name(), textui.Duration(q.P50))
	case q.brought(x):
		return fmt.Sprintf(" Note that %s waits for what other clients send, for up to %s: a long poll.", plain(textui.ShortFunc(x.Function)), textui.Duration(q.RequestGroup.Max))
	case q.news(r, x):
		return fmt.Sprintf(" Note that %s waits in select for what comes at times, for up to %s: a long poll, or what a timer begins.", plain(textui.ShortFunc(x.Function)), textui.Duration(q.RequestGroup.Max))
	}
	return ""
}

// brought reports whether requests wait for a channel until another goroutine of a handler has read what its client sends: it
// waits for the network where no request does, between two of them. A handler of net/http waits in select, and what a
// request of another handler brings ends that, unless its own timer does.
func (q *question) brought(x *result.RequestRow) bool {
	rows := q.within(x)
	if q.kind == "http" && way(x).Callee == "runtime.selectgo" && q.cost(x) >= q.whole()/2 {
		news, idle := false, 0.0
		for y := range result.Refs(q.Rows) {
			if !y.InGroup(x) {
				continue
			}
			if y.Kind == "timer" || y.Kind == "network" && !result.OfProgram(y.Function) { // where net/http waits for a request
				idle += q.cost(y)
			}
			news = news || y.Kind == "running" && slices.ContainsFunc(q.sets, func(s result.RequestGroup) bool {
				in := func(f result.Frame) bool { return f.Function == s.Name }
				return s.Name != q.Name && result.Handled(s.Name) && (s.Name == y.Function || slices.ContainsFunc(way(y).Callers, in))
			})
		}
		return news && 2*idle >= q.cost(x)
	}
	if x.Kind != "channel" || q.kind != "tcp" && q.kind != "message" || len(rows) == 0 || rows[0].Kind != "network" || 2*q.cost(rows[0]) < q.cost(x) {
		return false
	}
	return slices.ContainsFunc(q.sets, func(s result.RequestGroup) bool { return s.Name == rows[0].Function }) && !slices.ContainsFunc(q.sets, func(s result.RequestGroup) bool {
		return len(s.Tails) > 0 && slices.ContainsFunc(s.Tails[0].Groups, func(y result.RequestRow) bool {
			return y.Kind == "network" && y.Function == rows[0].Function && y.Line == rows[0].Line
		})
	})
}

// sleepsLate says how late sleeps end where procs are in use nearly all the time, and by whom, "" for what does not sleep:
// runtime/proc.go: schedule looks at timers, and sysmon preempts after 10 ms, Go 1.26.
func sleepsLate(r *result.Report, x *result.RequestRow) string {
	if x.Kind != "sleep" || r.Procs.Utilisation < allInUse {
		return ""
	}
	by := ""
	if rows := r.Blame.Of(result.CauseGoroutine.String()); len(rows) > 0 && 2*rows[0].Total > r.Blame.Kind(rows[0].Kind).Total {
		by = ", most of all by " + plain(textui.ShortFunc(rows[0].Function))
	}
	return fmt.Sprintf("The procs are %s busy%s: sleeps end late, when one looks at its timers, after up to 10ms of what runs. If this one asks for less, shorten what runs. ", textui.Percent(r.Procs.Utilisation), by)
}

// onlyWaits reports whether one of few goroutines hardly does anything but wait where a row says, as far as that is known.
func onlyWaits(r *result.Report, x *result.RequestRow) bool {
	return slices.ContainsFunc(r.Goroutines, func(g result.Group) bool {
		known, longest := g.Lifetime, model.Duration(0)
		for _, w := range g.Waiting {
			if w.Reason == result.NoName { // since before the trace
				known -= w.Total
			} else {
				longest = max(longest, w.Total)
			}
		}
		return g.Function == x.Function && g.Created < fewTurns && float64(longest) >= (1-likeMedian)*float64(known)
	})
}

// news reports whether those of the slowest that are listed of a group without a handler are of another one that always takes
// as long, or are messages that wait where others do not, and do next to nothing else than wait in select, until their own
// timer ends that or somebody who does nothing but wait for a time: as a long poll does.
func (q *question) news(r *result.Report, x *result.RequestRow) bool {
	waits := func(x *result.RequestRow) bool {
		rows := q.within(x)
		return way(x).Callee == "runtime.selectgo" && (x.Kind == "timer" || x.Kind == "channel" && len(rows) > 0 && 2*q.cost(rows[0]) >= q.cost(x) && (rows[0].Kind == "timer" || rows[0].Kind == "sleep" && onlyWaits(r, rows[0])))
	}
	listed := slices.DeleteFunc(q.listed(), func(p result.RequestPath) bool { return p.Duration < q.From })
	unnamed := q.kind == "tcp" || q.kind == "message" // messages of one handler, however unlike
	if unnamed && x.Middle > 0 || !unnamed && result.Handled(q.Name) || q.all || !waits(x) || len(listed) == 0 || !unnamed && slices.ContainsFunc(listed, func(p result.RequestPath) bool {
		return !slices.ContainsFunc(r.Requests, func(k result.RequestKind) bool {
			return k.Kind == q.kind && slices.ContainsFunc(k.Handlers, func(h result.RequestHandler) bool {
				return h.Name == p.Name && 2*h.Total >= model.Duration(h.Count)*q.From
			})
		})
	}) {
		return false
	}
	sum := result.Sum(q.Groups, func(y *result.RequestRow) float64 { return textui.Either(waits(y) && q.times(y) < 2, q.cost(y), 0) })
	return sum >= (1-likeMedian)*q.whole()
}

// awaits says for whom requests of net/http wait, and do next to nothing else, "" if for nobody: for a goroutine that only waits for a
// time, until it closes a channel or calls Broadcast, which whoever waits hears: who sends is in runtime.chansend1. So does a long poll,
// and so does what is done for many at once, as a commit: only the program's author knows.
func (q *question) awaits(r *result.Report, x *result.RequestRow) string {
	rows := q.within(x)
	if q.kind != "http" || x.Kind != "channel" && x.Kind != "cond" || q.cost(x) < (1-likeMedian)*q.whole() || q.usual(x) >= 2 ||
		len(rows) == 0 || 2*q.cost(rows[0]) < q.cost(x) || rows[0].Kind != "timer" && rows[0].Kind != "sleep" || !onlyWaits(r, rows[0]) ||
		!slices.ContainsFunc(r.Blame.Rows, func(b result.BlameRow) bool {
			return model.WaitOf(b.Kind).HeldUp() && b.Waiter == x.Function && slices.ContainsFunc(b.Stacks, func(s result.BlameStack) bool {
				return len(s.Stack) > 0 && (result.OfProgram(s.Stack[0].Function) || s.Stack[0].Function == "sync.(*Cond).Broadcast") && slices.ContainsFunc(s.Stack, func(f result.Frame) bool { return f.Function == rows[0].Function })
			})
		}) {
		return ""
	}
	return fmt.Sprintf("%s waits for up to %s, until %s, which sleeps, wakes all that wait: if it waits for news, as a long poll does, nothing here needs fixing; if for what is done for many at once, sleep for a shorter time (%s).",
		plain(textui.ShortFunc(x.Function)), textui.Duration(q.RequestGroup.Max), plain(textui.ShortFunc(rows[0].Function)), plain(textui.Place(rows[0].Function, rows[0].File, rows[0].Line)))
}

// limited reports whether a wait is for a place among a number of them, as of a semaphore or a pool: who
// gives way was meanwhile in the function that waits, in a function literal of it, or in its caller, or it is a
// request of another group that waits at the same place.
func (q *question) limited(g, x *result.RequestRow) bool {
	return (g.Kind == "channel" || g.Kind == "cond") && (way(x).Within || slices.ContainsFunc(q.sets, func(s result.RequestGroup) bool {
		in := func(f result.Frame) bool { return f.Function == s.Name && s.Name != q.Name }
		return (slices.ContainsFunc(way(x).Between, in) || slices.ContainsFunc(way(x).Callers, in)) && len(s.Tails) > 0 &&
			slices.ContainsFunc(s.Tails[0].Groups, func(y result.RequestRow) bool { return y.Kind == g.Kind && y.Function == g.Function })
	}))
}

// job is what workers do for the requests of a group, which wait for it.
type job struct {
	set    *result.RequestGroup
	worker string       // the function that takes jobs
	does   result.Frame // what that calls for it
	each   float64      // how long one keeps a worker, in nanoseconds
}

// mostly reports whether half or more of a group's time is in parts that are so.
func (q *question) mostly(g *result.RequestRow, so func(*result.RequestRow) bool) bool {
	sum := result.Sum(q.Rows, func(x *result.RequestRow) float64 { return textui.Either(x.InGroup(g) && so(x), q.cost(x), 0) })
	return 2*sum >= q.cost(g)
}

// jobOf returns what workers do for requests that wait for a channel, by the parts of that wait; nil if that is not known.
func (q *question) jobOf(g *result.RequestRow, rows []*result.RequestRow) *job {
	if g.Kind != "channel" || g.Called() || len(rows) == 0 || rows[0].Way == nil || q.limited(g, rows[0]) {
		return nil
	}
	stack, _ := waitsAt(rows[0])
	if n := len(stack); n > 1 {
		return &job{q.RequestGroup, stack[n-1].Function, stack[n-2], q.own(g)}
	}
	return nil
}

// keeper returns the job that keeps the workers which requests wait for, if it is of another group than theirs, and not
// what most of their wait is behind: jobs make those in a queue wait as their number times the square of their time
// (Pollaczek and Khinchine). One that has not half of that is none.
func (q *question) keeper(g *result.RequestRow, rows []*result.RequestRow) (of *job) {
	own := q.jobOf(g, rows)
	if own == nil {
		return nil
	}
	var sum, most float64
	for i := range q.sets {
		if len(q.sets[i].Tails) == 0 {
			continue
		}
		o := &question{kind: q.kind, sets: q.sets, RequestGroup: &q.sets[i], RequestTail: &q.sets[i].Tails[0], all: true}
		for y := range result.Refs(o.Groups) {
			if x := o.jobOf(y, o.within(y)); x != nil && y.Function == g.Function && x.worker == own.worker {
				load := float64(o.RequestGroup.Count) * x.each * x.each
				if sum += load; load > most {
					of, most = x, load
				}
			}
		}
	}
	if of == nil || 2*most < sum || of.set == q.RequestGroup || of.does.Function == own.does.Function && !sends(g) {
		return nil
	}
	return of
}

// kept says of a wait for workers which job keeps them.
func (q *question) kept(f *item, of *job) {
	who := &question{kind: q.kind, RequestGroup: of.set}
	f.Grade = result.Inferred
	f.Where = append(f.Where, result.Culprit{Role: fmt.Sprintf("keeps a worker for %s, for each of %s %s", duration(of.each), textui.Count(of.set.Count), who.name()),
		Function: of.does.Function, File: of.does.File, Line: of.does.Line, Depth: 1, Callers: []string{plain(textui.ShortFunc(of.worker))}})
	f.advise(moreWorkers, fmt.Sprintf("Few long jobs keep the workers, and short ones wait behind them: let %s have workers of its own, make %s faster, or start more workers.",
		who.name(), plain(textui.Place(of.does.Function, of.does.File, of.does.Line))))
}

// many returns how often slow requests have a part, if that is what makes them slow: 0 if not.
func (q *question) many(g *result.RequestRow) float64 {
	if slices.Contains([]string{"running", "runnable", "gc", "stw", "unknown"}, g.Kind) {
		return 0
	}
	times, usual := q.times(g), textui.Either(q.all, 0, q.usual(g))
	return textui.Either(times < manyParts || times < timesMiddle*usual, 0, times)
}

// ofTypical says how much of the typical request a part is: of the median, which the table has, if the
// middle fifth is like it, as it is not between two kinds of requests.
func (q *question) ofTypical(cost float64) string {
	whole, _, of := q.typical()
	return fmt.Sprintf(of, duration(q.shown(cost)), duration(whole))
}

// shown is how much of a request a part is said to be: of the median at most all, which the mean of the middle fifth may exceed.
func (q *question) shown(cost float64) float64 {
	whole, _, _ := q.typical()
	return textui.Either(q.all, min(cost, whole), cost)
}

// atOnce reports whether whoever is at the other end of a channel begins when it is asked, as an idle worker or a
// goroutine for it alone does: most waits of the middle begin while it is woken up, which is soon.
func (q *question) atOnce(g *result.RequestRow) bool {
	if rows := q.within(g); g.Kind != "channel" || len(rows) > 0 && q.limited(g, rows[0]) {
		return false
	}
	var woken int64
	var waking model.Duration
	for i := range q.Rows {
		if x := &q.Rows[i]; x.Kind == "runnable" && x.InGroup(g) {
			woken, waking = woken+x.Usual, waking+x.Middle
		}
	}
	return 2*woken > g.Usual && 10*waking < g.Middle
}

// gain says how long requests take at least without some of their time: the typical one as much less as those of the middle.
func (q *question) gain(cost float64) string {
	whole, who := q.slowest(), "the slowest"
	rest := max(whole-cost, min(q.middle(), whole)) // they cannot be faster than the others
	if q.all {
		whole, who, _ = q.typical()
		rest = whole * max(1-cost/max(q.middle(), 1), 0)
	}
	before, after := duration(whole), duration(rest)
	return textui.If(before != after, fmt.Sprintf("%s %s -> about %s", who, before, after))
}

// most returns how much of a request an item explains at most, in nanoseconds: its parts and other waits for
// its code, and if it is about waiting to run, not about a stopped world, all of that. Who does not wait for a lock or a place still
// does what it is held for, what was polled for still takes its time, who asks once still asks, and more workers do what they do when they can have a proc.
func (q *question) most(of *result.Report, x *item) (sum float64) {
	culprit, contended, g := "", x.contended(), x.parts[0]
	if n := len(x.Where); n > 0 && result.OfProgram(x.Where[n-1].Function) { // others end in the same function of a library, for something else
		culprit = x.Where[n-1].Function
	}
	for r := range result.Refs(q.Rows) {
		part := slices.ContainsFunc(x.parts, func(g *result.RequestRow) bool { return r.InGroup(g) })
		waits := culprit != "" && r.Function == culprit && r.Waiter != culprit && (!contended && r.Kind == "runnable" || r.Wait != "" && (!contended || r.Wait == g.Kind))
		if part || waits || x.Kind != SlowRequests && ofScheduling(x.Kind) && g.Kind != "stw" && slices.Contains(scheduling, r.Kind) {
			sum += q.cost(r)
		}
	}
	sum = max(sum, x.Evidence[0].Value)
	all := textui.Either(q.all, q.cost(g), float64(g.Slow)/float64(max(q.RequestTail.Count, 1)))
	switch {
	case way(g).Polls && g.Kind != "lock": // what is looked for comes during the last sleep, half of which is lost on average
		return sum / (2 * max(1, q.times(g)))
	case x.remedy == askOnce:
		if rows := q.within(g); g.Called() && len(rows) > 0 { // each takes several waits
			g = rows[0]
		}
		return min(sum, all-all/max(1, q.times(g)))
	case x.remedy == moreWorkers:
		return max(min(sum, all-q.own(g)), 0)
	case x.remedy == startWorkers:
		return sum * min(1, (1-of.Procs.Utilisation)*of.Procs.Mean)
	}
	return sum
}

// sends reports whether a part is of waits to send: they end as soon as the worker takes the job up, and all that it does
// meanwhile is for others.
func sends(g *result.RequestRow) bool { return way(g).Callee == "runtime.chansend1" }

// own returns how long a worker takes for a request itself, without what it does for others before: the last part of
// a wait for it, on average.
func (q *question) own(g *result.RequestRow) float64 { return textui.Either(sends(g), 0, q.last(g)) }

// last returns how long the last job takes that is done before a wait ends, on average.
func (q *question) last(g *result.RequestRow) float64 {
	list := q.listed()
	if q.all { // the typical one
		list = list[:min(len(list), 1)]
	}
	var sum model.Duration
	rows := q.within(g)
	for _, p := range list {
		for _, x := range slices.Backward(p.Parts) {
			if len(rows) > 0 && x.Wait == g.Kind && x.Waiter == g.Function && x.Kind == rows[0].Kind && x.Function == rows[0].Function {
				sum += x.Length
				break
			}
		}
	}
	return float64(sum) / float64(max(len(list), 1))
}

// contended reports whether an item is about waits for a lock or for a place among a number of them.
func (x *item) contended() bool {
	return x.remedy == raiseLimit || len(x.Where) > 0 && slices.Contains([]string{requestWords["lock"].does, requestWords["connection"].does}, x.Where[0].Role)
}

// typical returns the length of the typical request, what it is called, and how to say what a part of it is.
func (q *question) typical() (whole float64, who, of string) {
	p50 := float64(q.P50)
	switch {
	case q.others > 0:
		return q.middle(), "a request of the middle fifth", "%s of %s where it is seen"
	case !q.Unknown && math.Abs(p50-q.middle()) <= likeMedian*q.middle():
		return p50, "the typical request", "%s of the typical %s"
	}
	return q.middle(), "a request of the middle fifth", "%s of %s in the middle fifth"
}

// dials returns where nearly each request of the middle dials a connection, nil if they do not.
func (q *question) dials() *result.RequestRow {
	return result.Find(q.Groups, func(x *result.RequestRow) bool {
		calls := slices.ContainsFunc([]string{"net.Dial", "net.(*Dialer)", "crypto/tls.Dial", "crypto/tls.(*Dialer)"}, func(dial string) bool { return strings.HasPrefix(way(x).Callee, dial) })
		return (x.Kind == "dial" || calls) && q.usual(x) >= eachDials
	})
}

// streams reports whether requests send something after each of many waits, as where clients listen to news: that takes as
// long as they listen. What a handler of net/http writes without Flush is sent where the buffer is full, which shows of a wait
// for others in the program. Elsewhere the same calls may write a file.
func (q *question) streams(g *result.RequestRow) bool {
	return q.many(g) > 0 && slices.ContainsFunc(q.Groups, func(x result.RequestRow) bool {
		callee := way(&x).Callee
		sent := strings.HasPrefix(callee, "net/http.") && strings.HasSuffix(callee, ".Flush") || q.kind == "http" && (g.Kind == "channel" || g.Kind == "timer") && x.Function == g.Function &&
			slices.ContainsFunc([]string{"net/http.(*response).Write", "fmt.Fprint", "io.", "encoding/"}, func(by string) bool { return strings.HasPrefix(callee, by) })
		return x.Kind == "syscall" && sent && q.times(&x) >= eachDials*q.times(g)
	})
}

// times returns how often a slow request has a part.
func (q *question) times(g *result.RequestRow) float64 {
	return textui.Either(q.all, q.usual(g), float64(g.Times)/float64(max(q.RequestTail.Count, 1)))
}

// retried returns what slow requests do again after a sleep, by its function or one that it calls: they wait for others there,
// more often than they sleep. It is nil if they do not, or those of the middle sleep as well.
func (q *question) retried(g *result.RequestRow) *result.RequestRow {
	return result.Find(q.Groups, func(x *result.RequestRow) bool {
		calls := x
		if rows := q.within(x); x.Called() && len(rows) > 0 {
			calls = rows[0]
		}
		return (x.Called() || x.Kind == "network") && !q.all && 2*q.usual(g) <= q.times(g) && q.times(calls) >= q.times(g)+q.usual(calls)/2 &&
			(x.Function == g.Function || slices.ContainsFunc(way(x).Callers, func(f result.Frame) bool { return f.Function == g.Function }))
	})
}

// computes reports whether requests run what a part is behind, called from the same place.
func (q *question) computes(x *result.RequestRow) bool {
	from := func(x *result.RequestRow) string {
		list := append([]result.Frame{{Function: x.Function}}, way(x).Callers...)
		return list[len(list)-1].Function
	}
	return slices.ContainsFunc(q.Rows, func(y result.RequestRow) bool {
		return y.Kind == "running" && y.Wait == "" && y.Function == x.Function && from(&y) == from(x)
	})
}

// hub reports whether all requests that are listed of a trace have a part on one and the same goroutine, which gets them from
// those that read them.
func (q *question) hub(g *result.RequestRow) bool {
	hubs, handed := map[int]model.GoID{}, false // by trace
	for _, p := range q.listed() {
		for _, x := range p.Parts {
			if x.Depth > 0 || x.Kind != g.Kind || x.Function != g.Function {
				continue
			}
			if hub, ok := hubs[p.Trace]; ok && x.Goroutine != hub {
				return false
			}
			hubs[p.Trace], handed = x.Goroutine, handed || x.Goroutine != p.Parts[0].Goroutine
		}
	}
	return handed && (q.kind == "tcp" || q.kind == "message")
}

// usual returns how often a request of the middle has a part.
func (q *question) usual(g *result.RequestRow) float64 {
	return float64(g.Usual) / float64(max(q.Middle.Count, 1))
}

// flocks reports whether a function waits for the lock of a file.
func flocks(callee string) bool {
	return strings.HasSuffix(callee, ".Flock") || strings.HasSuffix(callee, ".FcntlFlock")
}

// newTimer reports whether a function makes a timer: what a loop allocates with it, it can use again.
func newTimer(fn string) bool {
	return slices.Contains([]string{"time.After", "time.NewTimer", "time.Tick", "time.NewTicker"}, fn)
}

const timerAdvice = "It makes a new timer each time: make one before the loop (time.NewTimer), and Reset it."

const flockAdvice = "Another process, or another file of this one, holds the lock of the file: hold it there for a shorter time, or ask for it without waiting (LOCK_NB) and try again later."

const pollAdvice = "Wait for the event itself instead of sleeping: receive from a channel, or use a sync.Cond."

const onceAdvice = "Load it ahead, before requests need it: at the start of the program or in the background. Those that come meanwhile wait in sync.Once."

// together returns how many of the slowest requests with a part were in the slowest one's time, for at
// least half of their own.
func (q *question) together(g *result.RequestRow) int {
	return result.CountOf(q.Slowest, func(p *result.RequestPath) bool {
		first := &q.Slowest[0]
		from, to := max(p.Start, first.Start), min(p.Start+model.Time(p.Duration), first.Start+model.Time(first.Duration))
		return p.Trace == first.Trace && 2*to.Sub(from) >= p.Duration && slices.ContainsFunc(p.Parts, func(x result.RequestPart) bool {
			return (x.Wait == g.Kind && x.Waiter == g.Function) || x.Kind == g.Kind && x.Function == g.Function
		})
	})
}

// holder names who held a lock by where it was released most, which is nearer than what ran until then, if that was on
// the way to what ran: by the line of the call, if that is known, and with what ran. It is not for a lock whose holder waited for another one:
// what ran is what that one did. Where no line is seen of the holder, what it calls for a fifth as long shows one.
func (q *question) holder(r *result.Report, g *result.RequestRow, rows []*result.RequestRow) (_ *result.RequestRow, ran string) {
	x, y := rows[0], *rows[0]
	code := func(x *result.RequestRow) string {
		return " " + plain(textui.Place(x.Function, x.File, uint64(max(x.Line, 0))))
	}
	calls := func(x *result.RequestRow) *result.Frame {
		return result.Find(way(x).Callers, func(c *result.Frame) bool { return c.Function == y.Function && c.Line > 0 })
	}
	if x.Line == 0 {
		for _, z := range rows[1:] {
			if c := calls(z); c != nil && z.Kind == "running" && 5*q.cost(z) >= q.cost(x) {
				y.File, y.Line = c.File, int(c.Line)
				return &y, code(z)
			}
		}
	}
	var most *result.BlameRow
	for _, reason := range r.Waiting.ByReason {
		if !isLock(reason.Name) {
			continue
		}
		for _, b := range r.Blame.Of(reason.Name) {
			if b.Waiter == g.Function && b.Unknown < b.Total && (most == nil || b.Total > most.Total) && onWay(b, x.Way) {
				most = b
			}
		}
	}
	if most == nil || most.Function == x.Function {
		return x, ""
	}
	y.Function, y.File, y.Line, y.Way = most.Function, most.File, int(most.Line), nil
	if c := calls(x); c != nil {
		y.File, y.Line = c.File, int(c.Line)
	}
	return &y, textui.If(x.Line > 0, code(x))
}

// onWay reports whether who released a lock may be on the way to what ran: it calls that, or one and the same function
// called both.
func onWay(b *result.BlameRow, w *result.RequestWay) bool {
	return w == nil || len(w.Callers) == 0 || slices.ContainsFunc(w.Callers, func(c result.Frame) bool { return c.Function == b.Function || within(b, c.Function) })
}

// blocked reports whether a kind of time is that of somebody who does not run and could not.
func blocked(kind string) bool {
	return !slices.Contains([]string{"running", "runnable", "gc", "stw", "unknown"}, kind)
}

// chain adds to a wait what it was for: who was waited for, and what that one did; ran is what it calls, "" if that is not known.
func (q *question) chain(f *item, g, x *result.RequestRow, ran string) {
	if x.Inferred {
		f.Grade = result.Inferred
	}
	add := func(role, fn, file string, line uint64, length float64, callers []string) {
		if fn != "" {
			f.Where = append(f.Where, result.Culprit{Role: role, Function: fn, File: file, Line: line, Depth: len(f.Where), Length: model.Duration(max(length, 0)),
				Share: min(max(length/q.cost(g), 0), 1), Callers: callers})
		}
	}
	does := requestWords[wordOf(x.Label())].does
	if x.Kind == "runnable" { // the function is what ran meanwhile
		does = "had the proc that was waited for"
	}
	if last := q.last(g); g.Kind == "channel" && blocked(x.Kind) && x.Kind != "timer" && !g.Called() && !q.limited(g, x) && !strings.HasPrefix(way(g).Callee, "golang.org/") && last > 0 && 2*last <= q.cost(x) && q.times(x) >= 1.5*q.times(g) {
		if does += " for each in the queue"; !sends(g) {
			does += fmt.Sprintf(" (%s for this one)", duration(last))
		}
	}
	// The call in the function that waits, by which the other came to where it was: it is what to move.
	var call *result.Frame
	var between []result.Frame
	if w := x.Way; w != nil {
		between = w.Between
		for i := range w.Callers {
			if w.Callers[i].Function == g.Function {
				call = &w.Callers[i]
			}
		}
		sending := g.Kind == "lock" && w.BetweenKind == "channel" // with it held, in whatever function
		if len(between) > 0 && (between[0].Function != g.Function || sending) && between[0].Function != x.Function {
			held := textui.If(sending, "holds it and ")
			add(held+requestWords[w.BetweenKind].does, between[0].Function, between[0].File, between[0].Line, 0, places(between[1:]))
		} else {
			between = nil
		}
	}
	held := textui.If(g.Kind == "lock" && between == nil, "holds it and ")
	add(held+does+ran, x.Function, x.File, uint64(max(x.Line, 0)), q.shown(q.cost(x)), callers(x))
	who := plain(textui.ShortFunc(x.Function))
	at := place(x)
	if call != nil {
		at = lineOf(call)
	}
	taken := "is taken at " + place(g)
	for i := range q.Groups { // and by others that wait for the same
		if y := &q.Groups[i]; y.Kind == "lock" && g.Kind == "lock" && 10*q.cost(y) >= q.cost(g) && !strings.Contains(taken, place(y)) {
			if rows := q.within(y); len(rows) > 0 && rows[0].Kind == x.Kind && rows[0].Function == x.Function {
				taken += " and " + place(y)
			}
		}
	}
	if between != nil && x.Way.BetweenKind == "lock" { // x holds what that one waits for, as readers do before a writer
		taken = fmt.Sprintf("%s waits for at %s", plain(textui.ShortFunc(between[0].Function)), lineOf(&between[0]))
	}
	idle, awaits := idleWith(g, x), way(g).Callee == "runtime.selectgo" && len(callers(x)) == 0 && between == nil
	switch {
	case x.Function == "", g.Called():
	case between != nil && x.Way.BetweenKind == "channel" && g.Kind == "channel" && !q.limited(g, x):
		f.advise(otherwise, oneReceiver(between[0].Function))
	case strings.HasPrefix(way(g).Callee, "sync.(*Once)"):
		f.advise(otherwise, onceAdvice)
	case g.Kind == "lock" && blocked(x.Kind) && x.Function == g.Function && call == nil && locks(way(g).Callee) && way(g).Callee == way(x).Callee:
		f.advise(otherwise, ownLock(way(g).Callee))
	case g.Kind == "lock" && blocked(x.Kind):
		switch {
		case between != nil && x.Way.BetweenKind == "lock":
		case between != nil: // that is what the holder does
			who, at = callBy(between, g.Function)
		case x.Function == g.Function && call == nil && way(x).Callee != "": // it cannot be outside of itself
			who = plain(textui.ShortFunc(way(x).Callee))
		}
		what, less := fmt.Sprintf("Call %s (%s) outside the lock", who, at), ""
		switch {
		case between != nil && x.Way.BetweenKind == "channel": // whoever is at the other end does not hold it
			if between[0].Function == g.Function {
				what = fmt.Sprintf("Do not wait for the channel (%s) with the lock held", at)
			}
			less = " If it sends, give each receiver a buffer, or drop what does not fit (select with default)."
		case x.Kind == "network" && q.eachCalls(g, x) && !strings.HasPrefix(way(x).Callee, "net/http.(*response)."): // each has its own
			less = " If it guards what that uses, as one connection that all share, use several instead (a pool)."
		}
		f.advise(otherwise, outOfLock(what, taken, less))
	case g.Kind == "lock":
		f.advise(otherwise, fmt.Sprintf("Hold the lock for a shorter time: move what %s computes outside the lock that %s, or divide what it guards (shards).", who, taken))
	case idle != "":
		f.advise(otherwise, fmt.Sprintf("Hold each for a shorter time: close the rows, or end the transaction, before it %s. Or allow more connections (SetMaxOpenConns).", idle))
	case q.limited(g, x) && blocked(x.Kind):
		less := "shorten " + who
		if between != nil { // for what others do not need it
			who, at := callBy(between, append(result.Each(way(g).Callers, func(f *result.Frame) string { return f.Function }), g.Function)...)
			if less = fmt.Sprintf("release it before %s (%s)", who, at); x.Way.Within {
				less += ", if that needs none, or make that faster"
			}
		}
		f.advise(raiseLimit, fmt.Sprintf("Raise the limit in %s (more permits or connections): only so many pass it at a time, and they wait. Or hold each for less time: %s.", plain(textui.Place(g.Function, g.File, g.Line)), less))
	case g.Kind == "dial": // whatever it takes, it is done once for many
	case !blocked(x.Kind):
		f.advise(otherwise, fix(requestWords[x.Kind].fix))
	case g.Kind == "channel" && x.Kind == "network" && !result.OfProgram(x.Function): // where net/http waits for a request
		f.advise(otherwise, "It waits for what another request brings. If that is meant, as in a long poll, accept it (--slo); else answer without it, or set a deadline.")
	case g.Kind == "network" && x.Kind == "sleep": // what the far end does until it answers
	case x.Kind == "sleep" && way(x).Polls:
		f.Advice = pollAdvice + " " + f.Advice
	case x.Kind == "sleep" && x.Wait != "":
		f.Advice += fmt.Sprintf(" Or shorten the sleep at %s, unless it is meant.", place(x))
		if awaits {
			f.advise(otherwise, fmt.Sprintf(pollsAdvice+"look at who does that: more workers, less work for each, or a shorter sleep at %s.", at))
		}
	case x.Kind == "timer" && g.Kind == "channel" && awaits:
		f.advise(otherwise, fmt.Sprintf(pollsAdvice+"shorten the interval at %s, or end the wait by an event.", at))
	case x.Kind == "timer": // whoever is waited for does nothing else meanwhile
		f.advise(otherwise, fix(requestWords[x.Kind].fix))
	case g.Kind == "connection" && x.Kind == "network": // to ask less often is among its remedies
	case x.Kind == "network" && g.Kind == "waitgroup": // it asks in parallel
		f.Advice = strings.Replace(askLess, ", in parallel or", " or", 1) + " " + f.Advice
	case x.Kind != g.Kind && x.Wait != "":
		f.Advice = fix(requestWords[x.Kind].fix) + " " + f.Advice
	}
}

const pollsAdvice = "If it waits for news, as a long poll does, that is meant: accept it (--slo). If it waits for work, "

// locks reports whether what code of the program calls takes a lock of its own: it is not the lock.
func locks(callee string) bool { return callee != "" && !strings.HasPrefix(callee, "sync.") }

// ownLock is what to do about a lock that is taken in a library.
func ownLock(callee string) string {
	return plain(textui.ShortFunc(callee)) + " has a lock of its own, and holds it meanwhile: call it less often, or let what it works with not block, as by a buffer that a goroutine of its own writes out."
}

// outOfLock is what to do about what is done with a lock held.
func outOfLock(what, taken, less string) string {
	return fmt.Sprintf("%s that %s: copy what is needed and release the lock first.%s Or hold it for a shorter time.", what, taken, less)
}

// eachCalls reports whether those that wait for a lock do themselves what its holder waits for, as often.
func (q *question) eachCalls(g, x *result.RequestRow) bool {
	return slices.ContainsFunc(q.Groups, func(y result.RequestRow) bool {
		return y.Kind == x.Kind && y.Function == x.Function && q.usual(&y) >= eachDials*q.usual(g) && q.usual(g) > 0
	})
}

// idleWith says what whoever has the connection to a data base that a request waits for waits for meanwhile, if that is not
// the data base, and where the function that asks for connections calls it.
func idleWith(g, x *result.RequestRow) string {
	w := x.Way
	if g.Kind != "connection" || w == nil || w.SQL || !strings.HasPrefix(way(g).Callee, "database/sql.") {
		return ""
	}
	list, kind := waitsAt(x)
	if !blocked(kind) || slices.Contains([]string{"network", "syscall", "connection", "dial"}, kind) {
		return ""
	}
	who, at := callBy(list, g.Function)
	if does := requestWords[kind].does; list[0].Function == g.Function {
		return fmt.Sprintf("%s (%s)", does, at)
	}
	return fmt.Sprintf("calls %s (%s)", who, at)
}

// callBy returns what one of some functions called on a way, innermost first, and where; else the innermost.
func callBy(way []result.Frame, fns ...string) (who, at string) {
	i := max(slices.IndexFunc(way, func(f result.Frame) bool { return slices.Contains(fns, f.Function) }), 0)
	return plain(textui.ShortFunc(way[max(i-1, 0)].Function)), lineOf(&way[i])
}

// place is where a part is.
func place(x *result.RequestRow) string {
	return lineOf(&result.Frame{File: x.File, Line: uint64(max(x.Line, 0))})
}

// lineOf is the file and line of a frame.
func lineOf(f *result.Frame) string {
	return strings.TrimSuffix(strings.TrimPrefix(plain(textui.Place("f", f.File, f.Line)), "f ("), ")")
}

// look returns the first request that is listed and has a long such part.
func (q *question) look(g *result.RequestRow) *result.Moment {
	for _, p := range q.listed() {
		if long(&p, g) {
			return &result.Moment{Trace: p.Trace, At: p.Start, Length: p.Duration, Goroutine: p.Goroutine}
		}
	}
	return nil
}

// fix returns advice: that of the catalogue, if it is a name there.
func fix(advice string) string { return cmp.Or(Symptom(advice).Advice, advice) }

// requests sums up in a sentence the requests that a report begins with.
func requests(r *result.Report) (f result.Finding, ok bool) {
	k := r.MainRequests()
	if k == nil {
		return f, false
	}
	cut := textui.If(k.Censored.Count > 0, fmt.Sprintf(" (%s truncated)", textui.Count(k.Censored.Count)))
	spread := fmt.Sprintf("p50 %s, ", textui.Duration(k.P50)) + textui.If(k.Count >= fewWaits, fmt.Sprintf("p99 %s, ", textui.Duration(k.P99)))
	certain := result.Ratio(k.Certain, k.Listed)
	return result.Finding{Kind: "requests", Text: fmt.Sprintf("Requests (%s): %s%s, %smax %s; %s of path time is certain.",
		k.Kind, textui.Count(k.Count), cut, textui.If(!k.Unknown, spread), textui.Duration(k.Max), textui.Percent(certain)),
		Evidence: []result.Evidence{{Name: "requests", Value: float64(k.Count), Unit: "count"}, {Name: "p50", Value: float64(k.P50), Unit: "ns"},
			{Name: "p99", Value: float64(k.P99), Unit: "ns"}, {Name: "longest", Value: float64(k.Max), Unit: "ns"},
			{Name: "of the time on the path certain", Value: certain, Unit: "share"}}}, true
}
