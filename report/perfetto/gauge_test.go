package perfetto

import (
	"bytes"
	"testing"

	"github.com/schedscope/schedscope/model"
)

func TestGauge(t *testing.T) {
	idle := track{kind: trackIdle}
	got, want := newEncoder(0, 1), newEncoder(0, 1)
	g := newGauge(idle)
	g.set(nil, 10, 4) // before the window
	g.begin(100)
	for _, s := range [][2]int64{
		{1099, 5},            // 4 did not last
		{2098, 6}, {3098, 6}, // 6 did: 5 for 999 ns not
		{4000, 7}, {4000, 8}, {4999, 6}, // there and back
		{9000, 3}, {10000, 2},
	} {
		g.set(got, model.Time(s[0]), s[1])
	}
	g.finish(got, 10500)
	for _, s := range [][2]int64{{2098, 6}, {9000, 3}, {10000, 2}, {10500, 2}} {
		want.counter(idle, model.Time(s[0]), s[1])
	}
	if !bytes.Equal(got.buf, want.buf) {
		t.Errorf("got % x, want % x", got.buf, want.buf)
	}
	none := newEncoder(0, 1)
	empty := newGauge(idle)
	if empty.finish(none, 1); len(none.buf) > 0 {
		t.Errorf("a gauge without a value wrote % x", none.buf)
	}
}
