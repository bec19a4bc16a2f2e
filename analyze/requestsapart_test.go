package analyze

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/analyze/sums"
	"github.com/schedscope/schedscope/model"
)

// TestRequestsApart checks when requests of which the handler is seen are a group of their own: a route
// that never waits shows none, and its requests say nothing of those of another.
func TestRequestsApart(t *testing.T) {
	const us = model.Duration(1000)
	for _, tt := range []struct {
		name           string
		seen, others   model.Duration // the least, of 1 to 1.5 times as long
		n, m           int
		spread         bool // those that are seen take 1 to 5.5 times as long
		running, apart bool
		waits          requests.Kind // of the parts, if they are known
	}{
		{"a slow route next to one that never waits", 4000 * us, 60 * us, 40, 60, false, false, true, 0},
		{"a fast one", 60 * us, 4000 * us, 40, 60, false, false, true, 0},
		{"the slow requests of a route", 4000 * us, 60 * us, 15, 85, false, false, false, 0},
		{"a rare route that asks for what it waits for", 4000 * us, 60 * us, 15, 485, false, false, true, requests.Network},
		{"the slow requests of a route, which wait for others", 4000 * us, 60 * us, 15, 485, false, false, false, requests.Lock},
		{"asks for what not all of them take alike", 4000 * us, 60 * us, 15, 485, true, false, false, requests.Network},
		{"too rare", 4000 * us, 60 * us, 10, 900, false, false, false, requests.Network},
		{"those of a route that had to wait", 4000 * us, 60 * us, 40, 60, true, false, false, 0},
		{"about as long", 4000 * us, 3500 * us, 40, 60, false, false, false, 0},
		{"seen because they run for long", 4000 * us, 60 * us, 40, 60, false, true, false, 0},
		{"most are seen", 4000 * us, 3500 * us, 60, 40, false, false, true, 0},
	} {
		k := &requestKind{all: newRequestSet(1), groups: sums.NewByName[*requestSet](nil)}
		add := func(name string, n int, least model.Duration, kind requests.Kind) *requestSet {
			s := k.groups.Named(name)
			*s = newRequestSet(1)
			for i := range n {
				d := least + least*model.Duration(i)/model.Duration(2*n)
				if tt.spread && name != "" {
					d += 8 * (d - least)
				}
				k.all.all.Add(d, 0)
				(*s).all.Add(d, 0)
				(*s).own[kind] += d
				if tt.waits != 0 {
					x := &keptRequest{length: d, parts: []keptPart{{0, 1, d}}}
					(*s).slowest, (*s).sample = append((*s).slowest, x), append((*s).sample, x)
				}
			}
			return *s
		}
		kind := requests.Network
		if tt.running {
			kind = requests.Running
		}
		seen := add("main.order", tt.n, tt.seen, kind)
		add("", tt.m, tt.others, requests.Running)
		r := &Requests{ids: map[partID]int32{}, parts: []partSum{{partID: partID{kind: tt.waits, wait: requests.NumKinds}}}}
		if got := r.apart(k, seen); got != tt.apart {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.apart)
		}
		k.handlers = sums.NewByName[requestHandler](nil)
		v, n := r.kind(k), int64(0)
		for _, g := range v.Groups {
			n += g.Count
		}
		if tt.apart && n != v.Count || tt.apart != (len(v.Groups) == 2) {
			t.Errorf("%s: %d of %d requests in %d groups", tt.name, n, v.Count, len(v.Groups))
		}
	}
}

// TestWithin checks that who gives way at a place among a number of them is known by the function that
// waits, or by its caller, as of a pool.
func TestWithin(t *testing.T) {
	place := func(names ...string) *requests.Place {
		p := &requests.Place{Func: names[0], Stack: "x"}
		for _, n := range names {
			p.Frames = append(p.Frames, model.Frame{Func: n, File: "/src/x.go"})
		}
		return p
	}
	for _, tt := range []struct {
		waiter, holder *requests.Place
		want           bool
	}{
		{place("main.get", "main.query", "main.serve"), place("main.query", "main.serve"), true},
		{place("main.get", "main.query", "main.serve"), place("main.get.func1"), true},
		{place("main.get", "main.query", "main.serve"), place("main.other", "main.serve"), false},
		{place("main.get", "main.query", "main.serve"), place("main.work"), false},
		{place("main.get", "main.serve"), place("main.work", "main.get.func1"), false}, // which main.get has started
	} {
		w := way(tt.holder, &partSum{waiter: tt.waiter}, false)
		if got := w != nil && w.Within; got != tt.want {
			t.Errorf("%v waits for %v: %t, want %t", tt.waiter.Frames, tt.holder.Frames, got, tt.want)
		}
	}
}

// TestRowsOfSlow checks that the line of a row, and who called that, are those of the slow requests, although
// all together wait longer elsewhere in the same function; of what only the middle does, those of the middle.
func TestRowsOfSlow(t *testing.T) {
	const ms = 1_000_000
	place := func(line int, caller string) *requests.Place {
		return &requests.Place{Func: "main.get", File: "main.go", Line: line,
			Frames: []model.Frame{{Func: "main.get", File: "main.go"}, {Func: caller, File: "main.go"}}}
	}
	r := &Requests{parts: []partSum{
		{partID: partID{kind: requests.Network, wait: requests.NumKinds}, at: place(10, "main.stock"), total: 1000 * ms},
		{partID: partID{kind: requests.Network, wait: requests.NumKinds}, at: place(20, "main.shipping"), total: 50 * ms},
	}}
	one := func(of ...keptPart) []*keptRequest { return []*keptRequest{{length: 100 * ms, parts: of}} }
	stock, shipping := keptPart{0, 1, 3 * ms}, keptPart{1, 1, 12 * ms}
	for _, tt := range []struct {
		slow, middle []*keptRequest
		line         int
		caller       string
	}{
		{one(stock, shipping), one(stock), 20, "main.shipping"},
		{one(), one(stock), 10, "main.stock"},
	} {
		for _, groups := range []bool{false, true} {
			rows := r.rows(tt.slow, tt.middle, groups)
			if len(rows) != 1 || rows[0].Line != tt.line || rows[0].Way == nil || rows[0].Way.Callers[0].Function != tt.caller {
				t.Errorf("rows: %+v, want line %d called by %s", rows, tt.line, tt.caller)
			}
		}
	}
}
