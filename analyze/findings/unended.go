package findings

import (
	"fmt"
	"slices"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// unended are the requests of the handler of which some were in progress at the end for the longest time, hangTime or more.
//
//  1. They hang if others of the handler ended hangTimes as soon, or if goroutines waited half as long for locks that nobody
//     released.
//  2. Else they may be streams or long polls. Tasks and connections may be open all the time.
type unended struct {
	handler *result.RequestHandler // nil: there are none
	kind    *result.RequestKind    // of the handler
	hangs   bool
	locks   model.Duration // that goroutines of the program waited for locks which they did not get
}

const (
	hangTime  = 500_000_000
	hangTimes = 10
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
			if c.Max < max(hangTime, hangTimes*h.Max) || c.MaxAt < model.Time(r.Totals.Span)-model.Time(worthTime) || h.Count > 0 && h.Count < enough {
				continue
			}
			hangs := h.Count > 0 || 2*u.locks >= c.Total
			if u.handler == nil || hangs && !u.hangs || hangs == u.hangs && c.Max > u.handler.Censored.Max {
				u.handler, u.kind, u.hangs = h, k, hangs
			}
		}
	}
	return u
}

// text says that they do not end.
func (u *unended) text() string {
	c := &u.handler.Censored
	why := "streams or long polls, or they hang"
	switch {
	case u.hangs && 2*u.locks >= c.Total:
		why = "they wait for a lock that nobody releases"
	case u.hangs:
		why = fmt.Sprintf("the slowest of %s that ended took %s", textui.Count(u.handler.Count), textui.Duration(u.handler.Max))
	}
	return fmt.Sprintf("%s of %s did not end for up to %s: %s; /debug/pprof/goroutine?debug=2 shows where they are.",
		textui.Plural(c.Count, "request"), plain(textui.ShortFunc(u.handler.Name)), textui.Duration(c.Max), why)
}

// longer returns how many of them are longer than a limit, at least: each is by as much as the longest at most.
func (u *unended) longer(limit model.Duration) float64 {
	c := &u.handler.Censored
	if c.Max <= limit {
		return 0
	}
	return float64(c.Total-model.Duration(c.Count)*limit) / float64(c.Max-limit)
}
