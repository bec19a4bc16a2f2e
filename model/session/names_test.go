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
