package ingest

import (
	"io"
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestWallAt checks the wall clock against the snapshots of later generations, and that
// it is that of the first event where the trace begins.
func TestWallAt(t *testing.T) {
	data := fixture(t, "generations.go1.26.p4.trace")
	r := openBytes(t, data, Options{})
	events, err := r.Next()
	if err != nil || len(events) == 0 {
		t.Fatal("no events: ", err)
	}
	first := events[0].Time
	for err == nil {
		_, err = r.Next()
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	x := r.Index()
	if len(x.Generations) < 3 {
		t.Fatalf("%d generations", len(x.Generations))
	}
	for i := range x.Generations {
		g := &x.Generations[i]
		if d := x.WallAt(g.Snapshot) - g.Wall; d < -2000 || d > 2000 {
			t.Errorf("generation %d: the wall clock is off by %d ns", i, d)
		}
		if g.Snapshot < g.First {
			t.Errorf("generation %d: snapshot at %d before its beginning at %d", i, g.Snapshot, g.First)
		}
		t.Logf("generation %d: snapshot %d ns after its beginning, wall clock off by %d ns", i, g.Snapshot.Sub(g.First), x.WallAt(g.Snapshot)-g.Wall)
	}
	if first != x.Start() {
		t.Errorf("first event at %d, trace begins at %d", first, x.Start())
	}
	if got, want := x.WallAt(first), x.Generations[0].Wall-int64(x.Generations[0].Snapshot.Sub(first)); got != want {
		t.Errorf("wall clock at the first event %d, want %d", got, want)
	}
}

// TestWallUnknown checks that traces that do not tell the wall clock have none.
func TestWallUnknown(t *testing.T) {
	for _, name := range []string{"mixed.go1.24.p2.trace", "foreign/trace.go1.19.trace"} {
		x := openBytes(t, fixture(t, name), Options{}).Index()
		if got := x.WallAt(model.Time(1e9)); got != 0 {
			t.Errorf("%s: wall clock %d", name, got)
		}
	}
}
