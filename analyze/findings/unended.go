package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// unended are the requests of the handler of which some were in progress at the end for the longest time: hangTime or more, or
// [result.LongOpen] if at least hangCount hang.
//
//  1. They hang if others of the handler ended HangTimes as soon, or if they, or goroutines of the program, waited half as long for
//     locks that nobody released, or they for connections of a pool. Of a wait that is older than the trace, the stack of the
//     goroutine's state shows what it is for.
//  2. Else they may be streams or long polls. Connections may be open all the time, and one function may answer what
//     differs: of those it is never known. Of tasks and the like others of the name must have ended as soon.
type unended struct {
	handler *result.RequestHandler // nil: there are none
	kind    *result.RequestKind    // of the handler
	hangs   bool
	count   int64               // of them
	longest model.Duration      // that one of them is open, at least
	hanging int64               // of all handlers, if they hang
	others  []unended           // the other handlers of these
	path    *result.RequestPath // the longest that is listed; nil: none is
	at      *result.RequestPart // what the longest waits for; nil: not known
	most    *result.RequestPart // what most of them wait for, of such if locked; nil: not known
	other   *result.RequestPart // and most of the others; nil: none
	locked  bool                // they wait for locks or connections, which somebody has
	stands  bool                // the longest has done nothing else for most of the time
	locks   model.Duration      // that goroutines of the program waited for locks which they did not get
}

// HangTimes as long as those that ended take requests that hang.
const (
	HangTimes, hangCount = 10, 3
	hangTime             = 500_000_000
)

func findUnended(r *result.Report) (u unended) {
	for i := range r.Goroutines {
		for _, x := range r.Goroutines[i].Waiting {
			if isLock(x.Reason) {
				u.locks += x.Total
			}
		}
	}
	u.locks = max(u.locks-lockWaits(r), 0)
	var hang []unended
	for k := range result.Refs(r.Requests) {
		served, inferred := slices.Contains([]string{"http", "grpc", "rpc"}, k.Kind), k.Kind == "tcp" || k.Kind == "message"
		for h := range result.Refs(k.Handlers) {
			c := opened(h)
			if h.Count < enough && (h.Count > 0 || !served) {
				continue
			}
			x := stuck(k, h.Name)
			if !served && !x.stands {
				continue
			}
			x.handler, x.kind, x.locks = h, k, u.locks
			if x.longest == 0 { // an older version wrote the report, or others were open for longer
				x.count, x.longest = c.Count, c.Max
				if c.MaxAt < model.Time(r.Totals.Span)-model.Time(worthTime) {
					continue
				}
			}
			least := model.Duration(hangTime)
			if h.Count >= enough && longer(c, HangTimes*h.Max) >= hangCount {
				least = result.LongOpen
			}
			if x.longest < max(least, HangTimes*h.Max) {
				continue
			}
			if h.Open.Count > 0 || len(k.Unended) == result.MostOpen { // not all are listed
				x.count = c.Count
			}
			x.locked = x.locked || x.at == nil && 2*u.locks >= c.Total
			x.hangs = (h.Count > 0 || x.locked) && !inferred
			if x.hangs {
				hang = append(hang, x)
			}
			if u.handler == nil || x.hangs && !u.hangs || x.hangs == u.hangs && x.longest > u.longest {
				u = x
			}
		}
	}
	for _, x := range hang {
		if u.hanging += x.count; x.handler != u.handler {
			u.others = append(u.others, x)
		}
	}
	return u
}

// stuck returns what is known of those requests of a handler that are listed as open.
func stuck(k *result.RequestKind, name string) (u unended) {
	var locks, total model.Duration
	var last []*result.RequestPart
	for p := range result.Refs(k.Unended) {
		if cmp.Or(p.Name, result.NoName) != cmp.Or(name, result.NoName) || len(p.Parts) == 0 {
			continue
		}
		x := &p.Parts[len(p.Parts)-1]
		if u.path == nil {
			u.path, u.stands = p, 2*x.Length >= p.Duration
		}
		u.count, u.longest, total = u.count+1, max(u.longest, p.Duration), total+p.Duration
		if x.Function != "" && (u.at == nil || u.at.Kind == "unknown" && x.Kind != "unknown" && sameWait(x, u.at, true)) {
			u.at = x // if it is not known what the longest waits for, perhaps another shows that
		}
		if lent(x.Kind) {
			locks += x.Length
		}
		last = append(last, x)
	}
	u.locked = u.count > 0 && 2*locks >= total
	mostOf := func(ok func(x *result.RequestPart) bool) (most *result.RequestPart) {
		longest := model.Duration(0)
		for _, x := range last {
			sum := model.Duration(0)
			for _, y := range last {
				if sameWait(x, y, false) {
					sum += y.Length
				}
			}
			if x.Function != "" && ok(x) && sum > longest {
				most, longest = x, sum
			}
		}
		return most
	}
	u.most = mostOf(func(x *result.RequestPart) bool { return lent(x.Kind) || !u.locked })
	u.other = mostOf(func(x *result.RequestPart) bool {
		return u.most != nil && blocked(x.Kind) && !sameWait(x, u.most, false)
	})
	return u
}

// lent reports whether somebody has what a wait is for: it is not for an event.
func lent(kind string) bool { return kind == "lock" || kind == "connection" }

// event is what they wait for that nobody has, nil if there is none.
func (u *unended) event() *result.RequestPart {
	for _, p := range []*result.RequestPart{u.at, u.most, u.other} {
		if p != nil && blocked(p.Kind) && !lent(p.Kind) {
			return p
		}
	}
	return nil
}

// does says what a part does.
func (u *unended) does(p *result.RequestPart) string {
	return requestWords[wordOf((&result.RequestGroup{RequestSet: u.kind.RequestSet}).Label(p.Kind, p.Function))].does
}

// sameWait reports whether two parts are at one place, of whatever kinds.
func sameWait(x, y *result.RequestPart, kinds bool) bool {
	return x.Function == y.Function && x.Line == y.Line && (kinds || x.Kind == y.Kind)
}

// HangingRequests is the kind of the item about requests that hang.
const HangingRequests = "hanging-requests"

// hangFixes say what ends waits of a kind that do not end.
var hangFixes = map[string]string{
	"lock":       "Release the lock on each path: defer the Unlock right after the Lock, also where the code returns early. Take several locks in the same order everywhere, and do not wait for others while one is held.",
	"channel":    "Look for the path on which nobody sends, receives or closes: an early return, a nil channel, or something lent by a pool and not put back. Do it in a defer, and select on ctx.Done() as well, so that a request ends at its deadline.",
	"connection": "Look for the path on which a connection is not given back: defer rows.Close(), tx.Rollback(), conn.Close() or resp.Body.Close() where it is taken. Give each call a context with a deadline.",
	"waitgroup":  "Look for the goroutine that does not call Done: it returned early (defer it, or use WaitGroup.Go), or waits itself.",
	"cond":       "Look for the change that no Signal or Broadcast follows: signal after each change under the lock, and test the condition in a loop before Wait.",
	"network":    "Set a deadline: a context with a time-out, http.Client.Timeout or SetDeadline. The other end did not answer.",
	"syscall":    "Set a deadline for what it waits for: exec.CommandContext for a program, SetDeadline for a pipe, a goroutine of its own for a file that may block.",
	"running":    "Look for the loop that does not end: schedscope record takes CPU samples, which show its lines.",
}

// enders are how who ends a wait of a kind is called.
var enders = map[string]string{"lock": "released it for those before", "channel": "was at the other end for those before", "connection": "gave one back to those before",
	"waitgroup": "ended such waits before", "cond": "signalled to those before"}

func placeOf(p *result.RequestPart) string {
	if p == nil {
		return ""
	}
	return " in " + plain(textui.Place(p.Function, p.File, uint64(max(p.Line, 0))))
}

// text says that they do not end. Who holds a lock and waits for something else is before those that wait for it.
func (u *unended) text() string {
	return fmt.Sprintf("%s of %s did not end for up to %s: %s.", textui.Plural(u.count, "request"), plain(textui.ShortFunc(u.handler.Name)), textui.Duration(u.longest), u.why())
}

// why says what they wait for.
func (u *unended) why() string {
	longest, most := "", " for a lock"
	if u.at != nil {
		longest = fmt.Sprintf("the longest %s%s; ", u.does(u.at), placeOf(u.at))
	}
	if u.most != nil {
		most = strings.TrimPrefix(u.does(u.most), "waits") + placeOf(u.most)
	}
	switch {
	case u.locked && u.at != nil && !lent(u.at.Kind):
		return longest + "most wait" + most
	case u.locked:
		return "they wait" + most + " that nobody releases"
	case u.hangs:
		return fmt.Sprintf("%sthe slowest of %s that ended took %s", longest, textui.Count(u.handler.Count), textui.Duration(u.handler.Max))
	}
	return "streams or long polls, or they hang" + placeOf(u.at) + "; /debug/pprof/goroutine?debug=2 shows where they are"
}

// item says what those that hang wait for, who may have what they wait for, and who ended such waits before, if any did.
func (u *unended) item(r *result.Report) (item, bool) {
	first := u.most
	if !u.hangs || first == nil {
		return item{}, false
	}
	does, advice := u.does(first), hangFixes[first.Kind]
	if does == requestWords["call"].does {
		advice = hangFixes["network"]
	}
	f := item{Finding: result.Finding{Kind: HangingRequests, Severity: result.Serious, Group: u.handler.Name,
		Title:    fmt.Sprintf("%s %s and does not end", plain(textui.ShortFunc(u.handler.Name)), does),
		Text:     fmt.Sprintf("%s of %s, for up to %s", textui.Count(u.count), textui.Count(u.count+u.handler.Count), textui.Duration(u.longest)),
		Advice:   cmp.Or(advice, "Give it a deadline (a context with a time-out). /debug/pprof/goroutine?debug=2 shows where it is."),
		Gain:     "those that hang end",
		Evidence: []result.Evidence{{Name: "requests that did not end", Value: float64(u.count), Unit: "count"}, {Name: "open for", Value: float64(u.longest), Unit: "ns"}}}}
	if u.handler.Count > 0 {
		f.Gain += fmt.Sprintf("; the slowest of %s that did took %s", textui.Count(u.handler.Count), textui.Duration(u.handler.Max))
	}
	add := func(role, fn, file string, line uint64, length model.Duration) {
		f.Where = append(f.Where, result.Culprit{Role: role, Function: fn, File: file, Line: line, Length: length, Depth: min(len(f.Where), 1), Callers: []string{}})
	}
	add(does, first.Function, first.File, uint64(max(first.Line, 0)), first.Length)
	of, other := u, u.at
	for i := range u.others { // one of another route may have it
		if p := u.others[i].event(); p != nil && lent(first.Kind) && sameWait(other, first, false) {
			of, other = &u.others[i], p
		}
	}
	if !sameWait(other, first, false) {
		f.Grade = result.Inferred
		if lent(first.Kind) && !lent(other.Kind) {
			f.Advice = fmt.Sprintf("Do not wait%s while it is held. Or: %s", placeOf(other), cmp.Or(hangFixes[other.Kind], f.Advice))
		}
		add(of.does(other)+" first, and may have it", other.Function, other.File, uint64(max(other.Line, 0)), other.Length)
	} else if other = u.other; other != nil {
		add("another "+u.does(other), other.Function, other.File, uint64(max(other.Line, 0)), other.Length)
	}
	for i, x := range u.others[:min(len(u.others), 2)] {
		f.Text += fmt.Sprintf("%s %s of %s", [...]string{"; so do", ","}[i], textui.Count(x.count), plain(textui.ShortFunc(x.handler.Name)))
		if p := x.most; p != nil && !slices.ContainsFunc(f.Where, func(c result.Culprit) bool { return c.Function == p.Function && c.Line == uint64(max(p.Line, 0)) }) {
			add("also "+x.does(p), p.Function, p.File, uint64(max(p.Line, 0)), p.Length)
		}
	}
	var ender *result.BlameRow
	for b := range result.Refs(r.Blame.Rows) {
		if w := model.WaitOf(b.Kind); b.Waiter == first.Function && w.HeldUp() && w.Lock() == (first.Kind == "lock") && b.Unknown < b.Total && result.OfProgram(b.Function) && b.Function != result.OtherNames && (ender == nil || b.Turns > ender.Turns) {
			ender = b
		}
	}
	if role := enders[first.Kind]; ender != nil && role != "" {
		add(role, ender.Function, ender.File, ender.Line, 0)
	}
	if u.path != nil {
		f.Look = &result.Moment{Trace: u.path.Trace, At: u.path.Start, Length: u.path.Duration, Goroutine: u.path.Goroutine}
	}
	return f, true
}

// Open are requests that did not end and may hang.
type Open struct {
	Kind string `json:"kind"`
	// Name is the handler of which they were open for the longest time.
	Name    string         `json:"name"`
	Count   int64          `json:"count"`      // of it; of all handlers if they hang
	Ended   int64          `json:"ended"`      // of the kind
	Longest model.Duration `json:"longest_ns"` // that one was open
	Hang    bool           `json:"hang"`       // else they may be streams or long polls
	Waits   string         `json:"waits,omitempty"`
}

// OpenRequests returns the requests of a report that may hang, nil if there are none.
func OpenRequests(r *result.Report) *Open {
	u := findUnended(r)
	if u.handler == nil {
		return nil
	}
	o := &Open{Kind: u.kind.Kind, Name: u.handler.Name, Count: textui.Either(u.hangs, u.hanging, u.count), Ended: u.kind.Count, Longest: u.longest, Hang: u.hangs}
	if u.most != nil {
		o.Waits = u.does(u.most) + placeOf(u.most)
	}
	return o
}

// opened are the requests of a handler that did not end; as far as an older version's report has them.
func opened(h *result.RequestHandler) *result.Tally {
	return textui.Either(h.Open.Count > 0, &h.Open, &h.Censored)
}

// over returns how many are open for longer than a limit, at least.
func (u *unended) over(limit model.Duration) float64 {
	n := result.CountOf(u.kind.Unended, func(p *result.RequestPath) bool {
		return cmp.Or(p.Name, result.NoName) == cmp.Or(u.handler.Name, result.NoName) && p.Duration > limit
	})
	return max(float64(n), longer(opened(u.handler), limit))
}

// longer returns how many of them are longer than a limit, at least: each is by as much as the longest at most.
func longer(c *result.Tally, limit model.Duration) float64 {
	if c.Max <= limit {
		return 0
	}
	return float64(c.Total-model.Duration(c.Count)*limit) / float64(c.Max-limit)
}
