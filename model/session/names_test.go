package session

import (
	"os"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// nameless collects goroutines that have a span without a name.
type nameless map[model.GoID]bool

func (n nameless) GoSpan(s *model.GoSpan) {
	if s.Func == 0 {
		n[s.G] = true
	}
}

// TestNames: a goroutine has a name from its first interval on if any event of the trace has a
// stack of it.
func TestNames(t *testing.T) {
	for _, name := range fixtures.Real() {
		f, err := os.Open(fixtures.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rd, err := Stream(f).Read(ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		without, shown := nameless{}, map[model.GoID]bool{}
		rd.Machine.Observe(without)
		err = rd.Run(t.Context(), nil, func(ev *model.Event) {
			if ev.Kind == model.EventGoTransition && ev.SubjectStack != 0 {
				shown[model.GoID(ev.ID)] = true
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for g := range without {
			if shown[g] {
				t.Errorf("%s: goroutine %d has no name at first", name, g)
			}
		}
	}
}

// ends counts goroutines by name.
type ends struct {
	tables *model.Tables
	names  map[string]int
}

func (e *ends) GoEnd(g *model.Goroutine) { e.names[e.tables.String(g.Func)]++ }

// TestSpawned: goroutines are named by what their start functions were handed.
func TestSpawned(t *testing.T) {
	for _, c := range []struct {
		trace, spawner, called string
		n                      int
	}{
		{"convoy.go1.26.p4.trace", "main.work.func1.1", "main.work.func3", 12},
		{"proxy.go1.26.p4.trace", "main.accept.gowrap1", "main.(*proxy).serve", 46},
		{"forward.go1.26.p4.trace", "main.serve.func1.1", "main.echoRaw", 3},
		{"http.trace", "", "net/http.(*conn).serve", 8}, // of several handlers
	} {
		rd, err := file(stored(t, c.trace)).Read(ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := &ends{rd.Tables(), map[string]int{}}
		rd.Machine.Observe(e)
		if err := rd.Run(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		if e.names[c.spawner] != 0 || e.names[c.called] != c.n {
			t.Errorf("%s: %d goroutines of %q and %d of %q, want 0 and %d", c.trace, e.names[c.spawner], c.spawner, e.names[c.called], c.called, c.n)
		}
	}
}
