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
	longest model.Duration      // that one of them is open, at least
	at      *result.RequestPart // what the longest waits for; nil: not known
	lock    *result.RequestPart // what the longest waits for that waits for a lock
	locked  bool                // they wait for locks
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
			if h.Count > 0 && h.Count < enough {
				continue
			}
			x := stuck(k, h.Name)
			x.handler, x.kind, x.locks = h, k, u.locks
			if x.longest == 0 { // an older version wrote the report, or others were open for longer
				x.count, x.longest = c.Count, c.Max
				if c.MaxAt < model.Time(r.Totals.Span)-model.Time(worthTime) {
					continue
				}
			}
			least := model.Duration(hangTime)
			if h.Count >= enough && longer(c, hangTimes*h.Max) >= hangCount {
				least = result.LongOpen
			}
			if x.longest < max(least, hangTimes*h.Max) {
				continue
			}
			if len(k.Unended) == result.MostOpen { // not all are listed
				x.count = c.Count
			}
			x.locked = x.locked || x.at == nil && 2*u.locks >= c.Total
			x.hangs = h.Count > 0 || x.locked
			if u.handler == nil || x.hangs && !u.hangs || x.hangs == u.hangs && x.longest > u.longest {
				u = x
			}
		}
	}
	return u
}

// stuck returns what is known of those requests of a handler that are listed as open.
func stuck(k *result.RequestKind, name string) (u unended) {
	var locks, total model.Duration
	for i := range k.Unended {
		p := &k.Unended[i]
		if cmp.Or(p.Name, result.NoName) != cmp.Or(name, result.NoName) || len(p.Parts) == 0 {
			continue
		}
		last := &p.Parts[len(p.Parts)-1]
		u.count, u.longest, total = u.count+1, max(u.longest, p.Duration), total+p.Duration
		if last.Function != "" && (u.at == nil || u.at.Kind == "unknown" && last.Kind != "unknown" && last.Function == u.at.Function && last.Line == u.at.Line) {
			u.at = last // if it is not known what the longest waits for, perhaps another shows that
		}
		if last.Kind == "lock" {
			locks += last.Length
			if u.lock == nil && last.Function != "" {
				u.lock = last
			}
		}
	}
	u.locked = u.count > 0 && 2*locks >= total
	return u
}

// text says that they do not end. Who holds a lock and waits for something else is before those that wait for it.
func (u *unended) text() string {
	in := func(p *result.RequestPart) string {
		if p == nil {
			return ""
		}
		return " in " + plain(textui.Place(p.Function, p.File, uint64(max(p.Line, 0))))
	}
	ended := fmt.Sprintf("the slowest of %s that ended took %s", textui.Count(u.handler.Count), textui.Duration(u.handler.Max))
	longest := ""
	if u.at != nil {
		longest = fmt.Sprintf("the longest %s%s; ", requestWords[u.at.Kind].does, in(u.at))
	}
	why := "streams or long polls, or they hang" + in(u.at)
	switch {
	case u.locked && u.at != nil && u.at.Kind != "lock":
		why = longest + "most wait for a lock" + in(u.lock)
	case u.locked:
		why = "they wait for a lock" + in(u.lock) + " that nobody releases"
	case u.hangs:
		why = longest + ended
	}
	return fmt.Sprintf("%s of %s did not end for up to %s: %s; /debug/pprof/goroutine?debug=2 shows where they are.",
		textui.Plural(u.count, "request"), plain(textui.ShortFunc(u.handler.Name)), textui.Duration(u.longest), why)
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
