package result

import (
	"fmt"

	"github.com/schedscope/schedscope/model"
)

// twice finds traces that are there more than once: copies, compressed and saved ones
// included. Those that overlap in part it does not find.
type twice struct {
	traces map[traceMark]string // names
	texts  []string             // about those found, a sentence each
}

// traceMark are figures that no two traces have in common.
type traceMark struct {
	waits            int64
	span, total, max model.Duration
	maxAt            model.Time
}

// add adds a trace.
func (t *twice) add(f *TraceFigures, name string) {
	if t.traces == nil {
		t.traces = map[traceMark]string{}
	}
	k := traceMark{f.Waits, f.Span, f.Total, f.Max, f.MaxAt}
	if first, ok := t.traces[k]; ok && f.Waits > 1 {
		t.texts = append(t.texts, fmt.Sprintf("%s has all the figures of %s: the same trace counts twice.", name, first))
		return
	}
	t.traces[k] = name
}

// Twice says which traces seem to be there more than once.
func Twice(list []TraceFigures, name func(i int) string) []string {
	var t twice
	for i := range list {
		t.add(&list[i], name(i))
	}
	return t.texts
}
