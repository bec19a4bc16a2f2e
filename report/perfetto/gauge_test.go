package perfetto

import (
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// counted keeps what counters are told.
type counted struct {
	encoder
	got [][2]int64
}

func (c *counted) counter(_ track, at model.Time, v int64) {
	c.got = append(c.got, [2]int64{int64(at), v})
}

func TestGauge(t *testing.T) {
	c := &counted{}
	g := newGauge(track{kind: trackIdle})
	g.set(nil, 10, 4) // before the window
	g.begin(100)
	for _, s := range [][2]int64{
		{1099, 5},            // 4 did not last
		{2098, 6}, {3098, 6}, // 6 did: 5 for 999 ns not
		{4000, 7}, {4000, 8}, {4999, 6}, // there and back
		{9000, 3}, {10000, 2},
	} {
		g.set(c, model.Time(s[0]), s[1])
	}
	g.finish(c, 10500)
	want := [][2]int64{{2098, 6}, {9000, 3}, {10000, 2}, {10500, 2}}
	if !reflect.DeepEqual(c.got, want) {
		t.Errorf("got %v, want %v", c.got, want)
	}
	c.got = nil
	empty := newGauge(track{kind: trackIdle})
	if empty.finish(c, 1); c.got != nil {
		t.Errorf("a gauge without a value wrote %v", c.got)
	}
}
