package verdict

import (
	"fmt"
	"io"
	"strconv"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/internal/textui"
)

// History writes the sessions of a baseline file, oldest first, which rules it can carry,
// and how the median of each of their quantities went from the first to the last session.
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
	t.line("")
	t.line(t.wrap(carries(len(f.Sessions)), 0))
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

// carries says what a history of so many sessions is good for.
func carries(sessions int) string {
	if sessions < gate.FullHistory {
		return fmt.Sprintf("Rules against it only warn: that they fail takes %d sessions of the candidate's machine.", gate.FullHistory)
	}
	return fmt.Sprintf("Rules against it can fail if %d sessions or more are of the candidate's machine.", gate.FullHistory)
}
