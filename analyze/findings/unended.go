package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// unended are the requests of the handler of which some were in progress at the end for the longest time: hangTime or more, or
// [result.LongOpen] if at least hangCount hang.
//
//  1. They hang if others of the handler ended hangTimes as soon, or if they, or goroutines of the program, waited half as long for
//     locks that nobody released. Of a wait that is older than the trace, the stack shows that it is for a lock.
//  2. Else they may be streams or long polls. Tasks and connections may be open all the time.
type unended struct {
	handler *result.RequestHandler // nil: there are none
	kind    *result.RequestKind    // of the handler
	hangs   bool
	count   int64               // of them
	at      *result.RequestPart // what the longest waits for; nil: not known
	lock    bool                // they wait for locks
	locks   model.Duration      // that goroutines of the program waited for locks which they did not get
}

// hangTimes as long as those that ended take requests that hang.
const (
	hangTimes, hangCount = 10, 3
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
	for i := range r.Waiting.ByReason {
		if x := &r.Waiting.ByReason[i]; isLock(x.Name) {
			u.locks -= x.Total
		}
	}
	u.locks = max(u.locks, 0)
	for i := range r.Requests {
		k := &r.Requests[i]
		if !slices.Contains([]string{"http", "grpc", "rpc"}, k.Kind) {
			continue
		}
		for n := range k.Handlers {
			h := &k.Handlers[n]
			c := &h.Censored
			least := model.Duration(hangTime)
			if h.Count >= enough && longer(c, hangTimes*h.Max) >= hangCount {
				least = result.LongOpen
			}
			if c.Max < max(least, hangTimes*h.Max) || c.MaxAt < model.Time(r.Totals.Span)-model.Time(worthTime) || h.Count > 0 && h.Count < enough {
				continue
			}
			at, open, lock := stuck(k, h.Name)
			lock = lock || 2*u.locks >= c.Total
			hangs := h.Count > 0 || lock
			if u.handler == nil || hangs && !u.hangs || hangs == u.hangs && c.Max > u.handler.Censored.Max {
				u.handler, u.kind, u.hangs, u.at, u.lock = h, k, hangs, at, lock
				if u.count = c.Count; len(k.Unended) < result.MostOpen { // else not all are listed
					u.count = cmp.Or(open, c.Count)
				}
			}
		}
	}
	return u
}

// stuck returns what the longest request of a handler that is open waits for, by another at the same place if that alone says, how many are open, and whether they wait for
// locks most of the time.
func stuck(k *result.RequestKind, name string) (at *result.RequestPart, open int64, lock bool) {
	var locks, total model.Duration
	for i := range k.Unended {
		p := &k.Unended[i]
		if cmp.Or(p.Name, result.NoName) != name || len(p.Parts) == 0 {
			continue
		}
		last := &p.Parts[len(p.Parts)-1]
		open, total = open+1, total+p.Duration
		if last.Function != "" && (at == nil || at.Kind == "unknown" && last.Kind != "unknown" && last.Function == at.Function && last.Line == at.Line) {
			at = last
		}
		if last.Kind == "lock" {
			locks += last.Length
		}
	}
	return at, open, open > 0 && 2*locks >= total
}

// text says that they do not end.
func (u *unended) text() string {
	c, where := &u.handler.Censored, ""
	if u.at != nil {
		where = " in " + plain(textui.Place(u.at.Function, u.at.File, uint64(max(u.at.Line, 0))))
	}
	why := "streams or long polls, or they hang" + where
	switch {
	case u.lock:
		why = "they wait for a lock" + where + " that nobody releases"
	case u.hangs && where != "":
		why = fmt.Sprintf("the longest %s%s; the slowest of %s that ended took %s", requestWords[u.at.Kind].does, where, textui.Count(u.handler.Count), textui.Duration(u.handler.Max))
	case u.hangs:
		why = fmt.Sprintf("the slowest of %s that ended took %s", textui.Count(u.handler.Count), textui.Duration(u.handler.Max))
	}
	return fmt.Sprintf("%s of %s did not end for up to %s: %s; /debug/pprof/goroutine?debug=2 shows where they are.",
		textui.Plural(u.count, "request"), plain(textui.ShortFunc(u.handler.Name)), textui.Duration(c.Max), why)
}

// Hangs says which requests hang, "" if none does.
func Hangs(r *result.Report) string {
	if u := findUnended(r); u.hangs {
		return u.text()
	}
	return ""
}

// longer returns how many of them are longer than a limit, at least: each is by as much as the longest at most.
func longer(c *result.Tally, limit model.Duration) float64 {
	if c.Max <= limit {
		return 0
	}
	return float64(c.Total-model.Duration(c.Count)*limit) / float64(c.Max-limit)
}
