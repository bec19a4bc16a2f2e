package profile

import (
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// OfBlame returns the profile of kind [Blame] of a report. Its values add up to the kinds of
// the report, of which those of goroutines that were created, or that timers woke, are left out, as their
// time is in others, too, and so is that of waits that had not ended.
// What has no stack is at a frame that has the function's name.
func OfBlame(r *result.Report) *Profile {
	p := New(Options{Kind: Blame})
	p.span = r.Totals.Span
	for _, x := range r.Blame.Parts() {
		v := values{x.Turns, int64(x.Total), 0}
		if x.Kind.Kind == result.BlameOpen {
			continue
		}
		if x.Kind.Blocked {
			v = values{x.Turns, 0, int64(x.Total)}
		} else if !x.Kind.Runnable() {
			continue
		}
		stack, waiter := x.Stack, ""
		if x.Row != nil {
			waiter = x.Row.Waiter
		}
		if len(stack) == 0 {
			stack = []result.Frame{{}}
			if x.Row != nil {
				stack[0] = result.Frame{Function: x.Row.Function, File: x.Row.File}
			}
		}
		frames := result.Each(stack, func(f *result.Frame) model.Frame {
			return model.Frame{Func: clean(f.Function), File: textui.Clean(f.File), Line: f.Line}
		})
		k := key{stack: p.tables.AddStack(frames)}
		for i, s := range []string{x.Kind.Kind, x.Basis, waiter} {
			k.labels[i] = p.tables.AddString(textui.Clean(s))
		}
		p.add(k, v)
	}
	return p
}

// OfRequests returns the profile of kind [Slow] or [Typical] of a report. A value is the mean over
// the requests of a kind, so that the two can be compared.
func OfRequests(r *result.Report, kind Kind) *Profile {
	p := New(Options{Kind: kind})
	p.span = r.Totals.Span
	for i := range r.Requests {
		q := &r.Requests[i]
		if len(q.Tails) == 0 {
			continue
		}
		tail := &q.Tails[0]
		n := textui.Either(kind == Typical, tail.Middle.Count, tail.Count)
		for _, x := range tail.Rows {
			total := textui.Either(kind == Typical, x.Middle, x.Slow)
			if n == 0 || total < model.Duration(n) {
				continue
			}
			frames := []model.Frame{{Func: clean(x.Function), File: textui.Clean(x.File), Line: uint64(x.Line)}}
			if x.Waiter != "" && x.Waiter != x.Function {
				frames = append(frames, model.Frame{Func: clean(x.Waiter), File: textui.Clean(x.WaitFile), Line: uint64(x.WaitLine)})
			}
			k := key{stack: p.tables.AddStack(frames)}
			for i, s := range []string{x.Kind, x.Wait, q.Kind} {
				k.labels[i] = p.tables.AddString(textui.Clean(s))
			}
			p.add(k, values{int64(total) / n})
		}
	}
	return p
}
