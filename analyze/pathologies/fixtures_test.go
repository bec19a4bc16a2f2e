package pathologies_test

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/pathologies"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// analyze looks for pathologies in a fixture. It returns nil if it is not a
// trace at all. Others observe the machine, too,
// and are told when it begins.
func analyze(t testing.TB, path string, others ...any) *pathologies.Analysis {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{})
	var empty *ingest.EmptyError
	if errors.As(err, &empty) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	version := in.Header().Version
	m := model.NewMachine(in.Tables(), model.Config{Version: version})
	p := pathologies.New(in.Tables())
	m.Observe(p)
	p.Follow(m)
	for _, o := range others {
		m.Observe(o)
	}
	queues, err := runqueue.New(in.Tables(), version)
	if err == nil {
		queues.Observe(p)
		m.Observe(queues)
	}
	begun := false
	err = ingest.Each(in, func(ev *model.Event) error {
		if !begun {
			begun = true
			p.Begin(ev.Time)
			for _, o := range others {
				o.(interface{ Begin(model.Time) }).Begin(ev.Time)
			}
			p.BeginAt(ev.Time)
		}
		if ev.Kind == model.EventStackSample {
			p.Sample(ev.Time)
		}
		_ = m.Apply(ev)
		return nil
	})
	if errors.As(err, &empty) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	if queues != nil {
		queues.Finish()
	}
	p.Finish(m.Start(), m.Now())
	return p
}

// healthy fixtures have no pathology at all.
var healthy = []string{"quiet", "pipeline", "http", "mixed", "goroutines", "timers", "tasks", "files", "flight", "iterpull"}

// sick fixtures are recorded to show something, by the first part of their names: what the program
// is made to show, and what else the recording shows.
var sick = []struct {
	name      string
	must, may []string
}{
	{"starve", []string{"global-queue-aging"}, nil},
	// Goroutines that yield, in the global queue, behind a pair that chats.
	{"oneproc", []string{"global-queue-aging"}, []string{"runnext-chain"}},
	// Waiters that an unlock puts into runnext follow one another for a slice.
	{"convoy", []string{"runnext-chain"}, crowded},
	{"hogs", nil, nil}, {"gc", nil, crowded}, {"assist", nil, crowded}, {"trees", nil, crowded}, {"lockthread", nil, crowded},
	{"rpc", nil, crowded}, {"proxy", nil, crowded}, {"relay", nil, crowded}, {"mutex", nil, crowded}, {"echo", nil, crowded},
	{"cgo", nil, crowded}, {"fanin", nil, crowded}, {"fanout", nil, crowded}, {"yield", nil, crowded}, {"resize", nil, crowded},
	{"manyprocs", nil, crowded}, {"syscalls", nil, crowded},
	{"handmade/go122-gc-stress", nil, crowded},
	{"generations", []string{"cpu-throttling"}, nil}, // nine of the 23 silences end within 70 us of a grid of 100 ms
}

// crowded is what a recording with more procs than the machine had CPUs shows.
var crowded = []string{"frozen-process"}

func TestPathologiesOfFixtures(t *testing.T) {
	checked := 0
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			ends := &goEnds{since: map[goEnd]model.Time{}}
			p := analyze(t, fixtures.Path(name), ends)
			if p == nil {
				t.Skip("not a trace")
			}
			ends.check(t, p)
			found := p.Found()
			for _, x := range found {
				t.Logf("%s %s (%s): %d cases, %d ns, worst %d ns at %d", x.Severity, x.Name, x.Grade, x.Count, x.Total, x.Worst, x.At)
				for _, e := range x.Evidence {
					t.Logf("    %s: %g %s", e.Name, e.Value, e.Unit)
				}
				for _, w := range x.Who {
					t.Logf("    %s: %s in %s, proc %d: %d times, %d ns", w.Role, w.Function, w.Place, w.Proc, w.Count, w.Total)
				}
			}
			must, may, known := expected(name)
			if !known {
				return
			}
			checked++
			for _, want := range must {
				if !slices.ContainsFunc(found, func(x result.Pathology) bool { return x.Name == want }) {
					t.Errorf("no %s", want)
				}
			}
			for _, x := range found {
				if !slices.Contains(must, x.Name) && !slices.Contains(may, x.Name) {
					t.Errorf("%s is not expected", x.Name)
				}
			}
		})
	}
	if checked < 30 {
		t.Errorf("%d fixtures checked: were they read?", checked)
	}
}

// expected returns which pathologies a fixture must and may have.
func expected(name string) (must, may []string, known bool) {
	first, _, _ := strings.Cut(name, ".")
	if slices.Contains(healthy, first) {
		return nil, nil, true
	}
	for _, s := range sick {
		if s.name == first {
			return s.must, s.may, true
		}
	}
	return nil, nil, false
}

// TestPathologiesDeterministic looks twice.
func TestPathologiesDeterministic(t *testing.T) {
	for _, name := range []string{"convoy.go1.26.p4.trace", "syscalls.go1.22.p4.trace", "lockthread.go1.26.p4.trace"} {
		a, b := analyze(t, fixtures.Path(name)), analyze(t, fixtures.Path(name))
		if !reflect.DeepEqual(a.Found(), b.Found()) || !reflect.DeepEqual(a.Late, b.Late) {
			t.Errorf("%s: two readings differ", name)
		}
	}
}
