package ingest_test

import (
	"errors"
	"os"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestModel runs every fixture, the broken ones as far as they can be read,
// through a Machine that is watched by the validator.
func TestModel(t *testing.T) {
	events := 0
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		for _, clock := range []ingest.Clock{ingest.ClockRaw, ingest.ClockReader} {
			t.Run(name, func(t *testing.T) {
				f, err := os.Open(fixtures.Path(name))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				r, err := ingest.NewReader(f, ingest.Options{Clock: clock})
				var empty *ingest.EmptyError
				if errors.As(err, &empty) {
					return // not a trace at all
				}
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				events += model1(t, r)
			})
		}
	}
	if events < 100_000 && !testing.Short() {
		t.Errorf("all fixtures together have %d events: were they read?", events)
	}
}

// model1 folds a trace into a Machine and returns how many events it had.
func model1(t *testing.T, r *ingest.Reader) int {
	t.Helper()
	m := model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
	v := modeltest.NewValidator(r.Tables())
	m.Observe(v)
	n := 0
	err := ingest.Each(r, func(ev *model.Event) error {
		n++
		v.Event(ev)
		if err := m.Apply(ev); err != nil {
			t.Errorf("event %d: %v", n, err)
		}
		return nil
	})
	var empty *ingest.EmptyError
	if err != nil && !errors.As(err, &empty) {
		t.Fatal(err)
	}
	if n == 0 {
		return 0
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Errorf("finishing: %v", err)
	}
	if err := v.Err(); err != nil {
		t.Errorf("validating: %v", err)
	}
	return n
}

// TestModelWindow accounts for the second half of every recorded trace only.
func TestModelWindow(t *testing.T) {
	for _, name := range fixtures.Chosen(fixtures.Real()) {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(fixtures.Path(name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := ingest.NewReader(f, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var events []model.Event
			if err := ingest.Each(r, func(ev *model.Event) error {
				events = append(events, *ev)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			m := model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
			v := modeltest.NewValidator(r.Tables())
			for i := range events {
				ev := &events[i]
				switch begin := len(events) / 2; {
				case i == begin:
					m.Begin(ev.Time)
					v.Begin(ev.Time)
					m.Observe(v)
					fallthrough
				case i > begin:
					v.Event(ev)
				}
				if err := m.Apply(ev); err != nil {
					t.Errorf("event %d: %v", i, err)
				}
			}
			if err := m.Finish(m.Now()); err != nil {
				t.Errorf("finishing: %v", err)
			}
			if err := v.Err(); err != nil {
				t.Errorf("validating: %v", err)
			}
		})
	}
}
