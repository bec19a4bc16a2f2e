package report

import (
	"io"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// spanRecorder keeps the intervals of goroutines.
type spanRecorder struct{ spans []model.GoSpan }

func (r *spanRecorder) GoSpan(s *model.GoSpan) { r.spans = append(r.spans, *s) }

// BenchmarkTable writes the rows of recorded intervals, without what it takes to
// read them.
func BenchmarkTable(b *testing.B) {
	f, err := fixtures.Open("http.trace")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var rec spanRecorder
	m := model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
	m.Observe(&rec)
	if err := ingest.Each(r, m.Apply); err != nil {
		b.Fatal(err)
	}
	m.Finish(m.Now())
	for _, name := range []string{"waits", "states"} {
		for _, format := range []RowFormat{CSV, NDJSON} {
			b.Run(name+"/"+[]string{"csv", "ndjson"}[format], func(b *testing.B) {
				rows := newRows(newTextRows(io.Discard, format, tableOf(name).columns))
				rows.tables = r.Tables()
				observer := tableOf(name).machine(rows).(model.GoSpanObserver)
				for b.Loop() {
					for i := range rec.spans {
						observer.GoSpan(&rec.spans[i])
					}
				}
				if err := rows.sink.Close(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(rows.count)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
