package findings

import (
	"fmt"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// traceMark are figures that no two traces have in common.
type traceMark struct {
	waits            int64
	span, total, max model.Duration
	maxAt            model.Time
}

// Twice returns a sentence for each trace that seems to be a copy of another, including
// compressed copies and saved reports. It does not find traces that overlap in part.
func Twice(r *result.Report) []string {
	var texts []string
	traces := map[traceMark]string{}
	for f := range result.Refs(r.PerTrace) {
		k, name := traceMark{f.Waits, f.Span, f.Total, f.Max, f.MaxAt}, r.Traces[f.Trace].Name
		if first, ok := traces[k]; ok && f.Waits > 1 {
			if first == name {
				first = "another one of that name"
			}
			texts = append(texts, fmt.Sprintf("%s has all the figures of %s: the same trace counts twice.", name, first))
			continue
		}
		traces[k] = name
	}
	return texts
}
