package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// picture returns a lane's spans as text: start-end state, or the times and number of a mixture.
func (l *lane) picture() string {
	var parts []string
	for s := range l.spans {
		text := fmt.Sprintf("%d-%d", s.start, s.end)
		if s.mix.spans == 0 {
			text += fmt.Sprintf(" %d", s.state)
		} else {
			text += fmt.Sprintf(" %d of %d,%d,%d", s.mix.spans, s.mix.times[1], s.mix.times[2], s.mix.times[3])
		}
		if s.open != 0 {
			text += fmt.Sprintf(" open%d", s.open)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// add adds a span, as an observer does.
func add(c *class, id int64, s span) *lane {
	l, _ := c.add(id, s.start, s.end, s.state, s.open)
	c.bound()
	return l
}

// TestMerge merges a hand-made lane with quanta of 100 and 200 ns, whose cells are 800 and
// 1600 ns.
func TestMerge(t *testing.T) {
	c := newClass(1000)
	for _, s := range []span{
		{start: 0, end: 10, state: 1, open: openStart},
		{start: 10, end: 40, state: 2},
		{start: 50, end: 149, state: 3},  // 99 ns, after a gap
		{start: 149, end: 249, state: 1}, // 100 ns: long
		{start: 249, end: 250, state: 2}, // alone among long ones
		{start: 250, end: 700, state: 1}, // long
		{start: 700, end: 790, state: 2}, // begins in the first cell, alone there
		{start: 800, end: 810, state: 3}, // the second cell
		{start: 810, end: 820, state: 1},
		{start: 820, end: 830, state: 3, open: openEnd},
	} {
		add(&c, 7, s)
	}
	l := c.lane(7)
	told := l.times
	l.merge(100, nil)
	want := "0-149 3 of 10,30,99 open1; 149-249 1; 249-250 2; 250-700 1; 700-790 2; 800-830 3 of 10,0,20 open2"
	if got := l.picture(); got != want {
		t.Errorf("quantum 100:\n got %s\nwant %s", got, want)
	}
	l.merge(200, nil)
	want = "0-250 5 of 110,31,99 open1; 250-700 1; 700-830 4 of 10,90,20 open2"
	if got := l.picture(); got != want {
		t.Errorf("quantum 200:\n got %s\nwant %s", got, want)
	}
	if l.times != told || l.seen != 10 {
		t.Errorf("merging changed what was reported: %d of %d", l.seen, l.times)
	}
}

// TestOmit leaves those out that ended and waited least, of equal ones the younger.
func TestOmit(t *testing.T) {
	c := newClass(1000)
	for id, wait := range []model.Time{30, 10, 10, 5, 20} {
		l := add(&c, int64(id), span{start: 0, end: wait, state: 2})
		c.end(l, id != 3)
	}
	var o omitted
	left := func() (ids []int64) {
		for _, l := range c.sorted() {
			ids = append(ids, l.id)
		}
		return ids
	}
	c.omit(3, false, 2, &o)
	if ids := left(); !slices.Equal(ids, []int64{0, 3, 4}) || o.lanes != 2 || o.spans != 2 || o.times[2] != 20 || c.count != 3 || c.ended != 2 {
		t.Errorf("left %d with %d spans, %d ended, omitted %+v", ids, c.count, c.ended, o)
	}
	c.omit(1, false, 2, &o)
	if ids := left(); !slices.Equal(ids, []int64{3}) || c.ended != 0 {
		t.Errorf("left %d, want the one that has not ended", ids)
	}
	add(&c, 5, span{start: 0, end: 1, state: 2})
	c.omit(1, true, 2, &o)
	if ids := left(); !slices.Equal(ids, []int64{3}) || o.lanes != 5 {
		t.Errorf("left %d, want the one that waited longer; omitted %+v", ids, o)
	}
}

// TestOmitMany checks that next to many goroutines that go on, those that end are omitted
// together, and that not more have a lane in the end than may.
func TestOmitMany(t *testing.T) {
	r := New(model.NewTables(), Options{Lanes: 1000})
	o := observer{r}
	const live, short = 5000, 20_000
	for g := range model.GoID(live) {
		o.GoSpan(&model.GoSpan{G: g, State: model.GoRunning, End: 1})
	}
	most := 0
	for g := range model.GoID(short) {
		start := model.Time(g)
		o.GoSpan(&model.GoSpan{G: live + g, State: model.GoRunnable, Start: start, End: start + 1})
		before := len(r.goroutines.lanes)
		o.GoEnd(&model.Goroutine{ID: live + g})
		if gone := before - len(r.goroutines.lanes); gone > 0 && gone < before/4 {
			t.Fatalf("looking through %d lanes removed %d", before, gone)
		}
		most = max(most, before)
	}
	if most > live*4/3+1 {
		t.Errorf("%d lanes at once, want %d at most", most, live*4/3+1)
	}
	r.Finish(0, short)
	if n := len(r.goroutines.lanes); n != 1000 || r.omitted.lanes != live+short-1000 {
		t.Errorf("%d lanes are left, %d omitted", n, r.omitted.lanes)
	}
}

// TestLimits checks that what is too much is thinned out as it comes.
func TestLimits(t *testing.T) {
	r := New(model.NewTables(), Options{Spans: 100})
	for i := range model.Time(1000) {
		start := i * 100_000
		r.Explained(&causes.ExplainedWait{Span: model.GoSpan{G: 1, Start: start, End: start + i}})
		r.steals.Steal(&runqueue.Steal{Time: start, Size: int(i)})
		r.depth.add(&model.Counts{Start: start, End: start + 99_000, Runnable: 1})
		r.depth.add(&model.Counts{Start: start + 99_000, End: start + 100_000, Runnable: 2})
	}
	if n := len(r.waits.list); n > r.waits.limit || n < r.waits.limit*3/4 {
		t.Errorf("%d waits, want three quarters of %d to all", n, r.waits.limit)
	}
	for _, w := range r.waits.list {
		if w.length < r.waits.least {
			t.Errorf("a wait of %d ns is kept, want %d at least", w.length, r.waits.least)
		}
	}
	if n := len(r.steals.list); n > r.steals.limit || n < r.steals.limit/2-1 {
		t.Errorf("%d steals, limit %d", n, r.steals.limit)
	}
	for _, s := range r.steals.list {
		if s.Size%(1<<r.steals.every) != 0 {
			t.Errorf("steal %d is kept, want every %d-th", s.Size, 1<<r.steals.every)
		}
	}
	var length, area int64
	for _, s := range r.depth.steps {
		length += int64(s.end - s.start)
		area += s.area
	}
	if n := len(r.depth.steps); n > r.depth.limit || length != 100_000_000 || area != 1000*(99_000+2*1000) {
		t.Errorf("%d steps of %d ns, %d Runnable*ns; limit %d", n, length, area, r.depth.limit)
	}
}

// TestShrinkAllItCan checks that what cannot be made as small as asked for is made as small as it can.
func TestShrinkAllItCan(t *testing.T) {
	c := newClass(1000)
	for i := range 30 {
		at := model.Time(100 * i)
		add(&c, int64(i%3), span{start: at, end: at + 10, state: 1})
	}
	if c.shrink(2); c.count != 3 {
		t.Errorf("%d spans are left of 3 lanes, want one of each", c.count)
	}
}
