package result

import (
	"math"
	"slices"

	"github.com/schedscope/schedscope/model"
)

// The picture of a path; times count from the request's beginning.
type (
	// RequestLane is the part of a path in one goroutine, or in those that do not fit.
	RequestLane struct {
		Goroutine model.GoID // NoGoroutine: several
		Bars      []RequestBar
	}

	// RequestBar is a part of a lane. Waiting: its goroutine waited, and the path was elsewhere.
	RequestBar struct {
		Start model.Duration
		RequestPart
		Waiting bool
	}

	// RequestWake is a point where a path goes on in another lane: one goroutine made the other
	// runnable.
	RequestWake struct {
		At       model.Duration
		From, To int // places of lanes
	}
)

// Lanes returns the picture of a path:
//
//  1. Each goroutine has a lane, in the order in which the path comes to them; what is of
//     several, or of nobody known, has one of its own, as have all others if there are more than most.
//  2. Parts of the same kind and function that follow each other are one bar, and what is shorter
//     than a thousandth goes to its neighbour.
//  3. Where the path comes back from deeper, or goes on elsewhere, somebody woke up.
//  4. The lane of the goroutine that the request is with is filled with its waits.
func (p *RequestPath) Lanes(most int) (lanes []RequestLane, wakes []RequestWake) {
	least := p.Duration / 1000
	place := func(g model.GoID) int {
		i := slices.IndexFunc(lanes, func(l RequestLane) bool { return l.Goroutine == g })
		switch {
		case i < 0 && len(lanes) < most:
			i = len(lanes)
			lanes = append(lanes, RequestLane{Goroutine: g})
		case i < 0:
			if i = slices.IndexFunc(lanes, func(l RequestLane) bool { return l.Goroutine == model.NoGoroutine }); i < 0 {
				i = most - 1
				lanes[i].Goroutine = model.NoGoroutine
			}
		}
		return i
	}
	if i := slices.IndexFunc(p.Parts, func(x RequestPart) bool { return x.Depth == 0 }); i >= 0 {
		place(p.Parts[i].Goroutine)
	}
	var at model.Duration
	last, own := -1, 0
	for i := range p.Parts {
		x := &p.Parts[i]
		k := place(x.Goroutine)
		if x.Depth == 0 {
			own = k
		}
		if last >= 0 && k != last && x.Depth <= p.Parts[i-1].Depth {
			w := RequestWake{at, last, k}
			if n := len(wakes); n == 0 || w.At-wakes[n-1].At > 5*least || wakes[n-1].From != w.From || wakes[n-1].To != w.To {
				wakes = append(wakes, w)
			}
		}
		add := func(k int, b RequestBar) {
			bars := lanes[k].Bars
			if n := len(bars); n > 0 {
				if y := &bars[n-1]; at-y.Start-y.Length <= least && (b.Length < least || y.Waiting == b.Waiting && y.Kind == b.Kind && y.Function == b.Function) {
					y.Length = at + b.Length - y.Start
					return
				}
			}
			lanes[k].Bars = append(bars, b)
		}
		add(k, RequestBar{Start: at, RequestPart: *x})
		if k != own && x.Wait != "" {
			add(own, RequestBar{at, RequestPart{Length: x.Length, Kind: x.Wait, Function: x.Waiter, Goroutine: lanes[own].Goroutine}, true})
		}
		at, last = at+x.Length, k
	}
	return lanes, wakes
}

// Function returns the function with the most time in the lane, without waits for a proc; ""
// if none is known.
func (l *RequestLane) Function() (most string) {
	times := map[string]model.Duration{}
	for i := range l.Bars {
		if b := &l.Bars[i]; b.Function != "" && b.Kind != "runnable" {
			if times[b.Function] += b.Length; times[b.Function] > times[most] {
				most = b.Function
			}
		}
	}
	return most
}

// Shorten joins parts of the path that follow each other until it has at most most: first those of
// the same goroutine, kind and place, then the shortest with those before them. Lengths still add
// up.
func (p *RequestPath) Shorten(most int) {
	for least := model.Duration(0); len(p.Parts) > most; least = max(2*least, p.Duration/1000, 1) {
		out := p.Parts[:0:0]
		for x := range Refs(p.Parts) {
			if n := len(out); n > 0 {
				y := &out[n-1]
				same := *x
				same.Length, same.Depth, same.Line, same.Inferred = y.Length, y.Depth, y.Line, y.Inferred
				switch {
				case same == *y || x.Length < least:
					y.Length += x.Length
					continue
				case y.Length < least: // the first
					sum := y.Length + x.Length
					*y = *x
					y.Length = sum
					continue
				}
			}
			out = append(out, *x)
		}
		p.Parts = out
		if least > math.MaxInt64/4 { // what a report says may be nonsense
			return
		}
	}
}
