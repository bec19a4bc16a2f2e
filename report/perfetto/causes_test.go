package perfetto_test

import (
	"bytes"
	"io"
	"maps"
	"strconv"
	"testing"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	. "github.com/schedscope/schedscope/report/perfetto"
)

func withCauses(w io.Writer, t *model.Tables, o Options) (*Writer, error) {
	o.Causes = true
	return NewWriter(w, t, o)
}

// causeTotals returns what the waits of a trace were lost to, by cause.
func causeTotals(t *testing.T, data []byte) (totals map[string]int64, waits int) {
	t.Helper()
	in, err := ingest.NewReader(bytes.NewReader(data), ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	totals = map[string]int64{}
	x, err := causes.NewExplainer(in.Tables(), in.Header().Version, func(w *causes.ExplainedWait) {
		waits++
		for _, c := range w.Cells {
			totals[c.Cause.String()] += int64(c.Total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	x.Observe(m)
	if err := ingest.Each(in, func(ev *model.Event) error {
		_ = m.Apply(ev)
		x.Event(ev)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	m.Finish(m.Now())
	x.Finish()
	return totals, waits
}

// TestCauses adds up the causes of all slices of waits, and checks that the rest is told
// as without them and that it is the same each time.
func TestCauses(t *testing.T) {
	isCause := map[string]bool{}
	for c := range result.NumCauses {
		isCause[c.String()] = true
	}
	for _, name := range []string{"http.trace", "tasks.go1.26.p4.trace", "assist.go1.26.p4.trace", "generations.go1.26.p4.trace", "mixed.go1.22.p2.trace"} {
		data := fixture(t, name)
		x := export(t, data, withCauses, ingest.Options{})
		if again := export(t, data, withCauses, ingest.Options{}); !bytes.Equal(again.data, x.data) {
			t.Errorf("%s: not the same bytes each time", name)
		}
		f := readFile(t, x.data)
		checkStates(t, x, f)
		checkEvents(t, x, f, map[string]int{})
		got, slices := map[string]int64{}, 0
		for _, p := range f.packets {
			if p.event == nil || p.event.kind != 1 || p.event.args["source"] == "" {
				continue
			}
			slices++
			if !isCause[p.event.name] || !f.tracks[p.event.track].thread {
				t.Fatalf("%s: a wait is named %q on %+v", name, p.event.name, f.tracks[p.event.track])
			}
			for key, v := range p.event.args {
				if isCause[key] {
					n, err := strconv.ParseInt(v, 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					got[key] += n
				}
			}
		}
		want, waits := causeTotals(t, data)
		if slices != waits || !maps.Equal(got, want) {
			t.Errorf("%s: %d waits lost to %v, want %d lost to %v", name, slices, got, waits, want)
		}
		if waits < 100 {
			t.Errorf("%s: only %d waits", name, waits)
		}
	}
}
