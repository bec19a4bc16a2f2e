package verdict

import (
	"fmt"
	"io"
	"strconv"

	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/internal/textui"
)

// History writes the sessions of a baseline file, oldest first, and how the median of each
// quantity went from the first to the last.
func History(w io.Writer, f *baseline.File, o Options) error {
	t := &text{o: o}
	name := "no workload named"
	if f.Workload != "" {
		name = "workload " + textui.Clean(f.Workload)
	}
	t.line(fmt.Sprintf("%s, %s, definitions %s", name, textui.Plural(len(f.Sessions), "session"), textui.Clean(f.MetricDefs)))
	t.line("")
	sessions := o.table("LLLrL", "session", "commit", "time", "traces", "recorded")
	for i := range f.Sessions {
		s := &f.Sessions[i]
		sessions.Row(textui.Clean(s.ID), shortCommit(textui.Clean(s.Commit)), textui.Clean(s.Time), strconv.Itoa(len(s.Samples)), textui.Clean(s.Design))
	}
	t.table(sessions)
	drifts := o.table("Lrrr", "medians of sessions", "first", "last", "ratio")
	for _, d := range f.Drifts(nil) {
		ratio := ""
		if d.First > 0 {
			ratio = times(d.Last / d.First)
		}
		u := unitOfQuantity(d.Quantity)
		drifts.Row(textui.Clean(d.Quantity), value(d.First, u), value(d.Last, u), ratio)
	}
	t.line("")
	t.table(drifts)
	_, err := io.WriteString(w, t.finish())
	return err
}
