package analyze_test

import (
	"maps"
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/dist"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// checkCauses checks that not a nanosecond is lost or made up: cells add up to
// their waits, and in every grouping to what Latency measured.
func checkCauses(t *testing.T, r *analyze.Report) {
	t.Helper()
	c := r.Causes
	if c.Refused != "" {
		if c.Waits != 0 || len(c.ByFunc()) != 0 {
			t.Errorf("%d waits have causes although refused: %s", c.Waits, c.Refused)
		}
		return
	}
	if c.Waits != r.Latency.All.Count() || c.Total != r.Latency.All.Total() {
		t.Errorf("%d waits of %d ns have causes, want %d of %d", c.Waits, c.Total, r.Latency.All.Count(), r.Latency.All.Total())
	}
	var byCause, byOrigin, byFunc, byTime causes.Totals
	var dominated dist.Dist
	for i := range c.ByCause {
		byCause[i] = c.ByCause[i].Total
		dominated.Merge(&c.ByCause[i].Dominated)
	}
	for i := range c.ByOrigin {
		addCauses(&byOrigin, &c.ByOrigin[i])
		if got, want := c.ByOrigin[i].Total(), r.Latency.ByOrigin[i].Total(); got != want {
			t.Errorf("origin %v: causes of %d ns, want %d", model.Origin(i), got, want)
		}
	}
	for _, row := range c.ByFunc() {
		for _, x := range row.Causes {
			byFunc[result.Parse(x.Cause, result.NumCauses)] += x.Total
		}
	}
	for _, curve := range c.Series().Causes {
		for _, n := range curve.Bins {
			byTime[result.Parse(curve.Cause, result.NumCauses)] += model.Duration(n)
		}
	}
	if got := byCause.Total(); got != c.Total {
		t.Errorf("causes add up to %d, want %d", got, c.Total)
	}
	for name, got := range map[string]causes.Totals{"by origin": byOrigin, "by function": byFunc, "over time": byTime} {
		if got != byCause {
			t.Errorf("causes %s: %d, want %d", name, got, byCause)
		}
	}
	if dominated.Count() != c.Waits || dominated.Total() != c.Total {
		t.Errorf("causes dominate %d waits of %d ns, want %d of %d", dominated.Count(), dominated.Total(), c.Waits, c.Total)
	}
	checkBehind(t, r)
	for _, w := range r.Worst.Waits() {
		checkCells(t, &w)
	}
}

// checkBehind checks that all waiting behind something and in stopped worlds is in rows of blame,
// and nothing else is.
func checkBehind(t *testing.T, r *analyze.Report) {
	t.Helper()
	var got, want causes.Totals
	for _, row := range r.Blame.Behind() {
		cause := result.CauseSyscall
		if row.Kind != result.BlameShortSyscall {
			cause = result.Parse(row.Kind, result.NumCauses)
		}
		got[cause] += row.Total
		if row.Turns < 1 && row.Estimated+row.Sampled == 0 { // a turn counts for the first of its samples
			t.Errorf("%d ns behind %s are of %d turns", row.Total, row.Function, row.Turns)
		}
	}
	for i := range result.NumCauses {
		if i.Behind() || i == result.CauseSTW {
			want[i] = r.Causes.ByCause[i].Total
		}
	}
	if got != want {
		t.Errorf("waits were behind rows of blame for %d, want %d", got, want)
	}
}

func checkCells(t *testing.T, w *result.Wait) {
	t.Helper()
	var sum, behind, named model.Duration
	for i, c := range w.Causes {
		sum += c.Total
		if result.Parse(c.Cause, result.NumCauses).Behind() {
			behind += c.Total
		}
		if c.Total <= 0 || i > 0 && c.Total > w.Causes[i-1].Total {
			t.Errorf("wait at %d: cells %v", w.Start, w.Causes)
		}
	}
	for _, b := range w.Blockers {
		named += b.Total
	}
	if sum != w.Duration {
		t.Errorf("wait at %d: cells of %d ns, want %d", w.Start, sum, w.Duration)
	}
	if named > behind || named < behind && len(w.Blockers) < 10 {
		t.Errorf("wait at %d: behind others for %d ns, of which %d have names", w.Start, behind, named)
	}
}

func addCauses(sum, part *causes.Totals) {
	for i, d := range part {
		sum[i] += d
	}
}

// TestCausesInWindow checks that queues are followed from before a window, and
// that only the waits in it count.
func TestCausesInWindow(t *testing.T) {
	for _, before := range []bool{true, false} {
		r := readWindow(t, "http.trace", 300_000_000, before)
		checkCauses(t, r)
		if r.Causes.Waits < 1000 || r.Causes.Waits > 6000 {
			t.Errorf("%d waits in the window", r.Causes.Waits)
		}
		if r.Queues.Starts < r.Causes.Waits || r.Queues.Starts > 10_000 {
			t.Errorf("%d starts in the window, %d waits", r.Queues.Starts, r.Causes.Waits)
		}
		if r.Queues.Span != r.Totals.Span {
			t.Errorf("queues were followed for %d ns, want %d", r.Queues.Span, r.Totals.Span)
		}
	}
}

// readWindow analyses a fixture from an offset on.
func readWindow(t *testing.T, name string, from model.Duration, before bool) *analyze.Report {
	t.Helper()
	f, err := os.Open(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	r := analyze.New(in.Tables(), analyze.Options{Version: in.Header().Version})
	if before {
		r.ObserveSteps(m)
	}
	begun, first := false, model.Time(0)
	err = ingest.Each(in, func(ev *model.Event) error {
		if first == 0 {
			first = ev.Time
		}
		if start := first + model.Time(from); !begun && ev.Time >= start {
			begun = true
			m.Begin(start)
			r.Begin(first)
			r.Observe(m)
		}
		return m.Apply(ev)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	r.Finish(m.Start(), m.Now())
	return r
}

// checkBlame checks that each kind of blame is its bases and its rows, and explains a sum of
// the report to the nanosecond.
func checkBlame(t *testing.T, r *result.Report) {
	t.Helper()
	want := map[string]model.Duration{}
	for i := range r.Causes.Rows {
		if c := &r.Causes.Rows[i]; result.Parse(c.Cause, result.NumCauses).Behind() || c.Cause == result.CauseSTW.String() {
			want[c.Cause] = c.Total
		}
	}
	for i := range r.Waiting.ByReason {
		if x := &r.Waiting.ByReason[i]; model.WaitOf(x.Name).HeldUp() && x.Total > 0 {
			want[x.Name] = x.Total
		}
	}
	for i := range r.Latency.ByOrigin {
		if o := &r.Latency.ByOrigin[i]; o.Name == model.OriginCreated.String() && o.Total > 0 {
			want[result.BlameCreated] = o.Total
		} else if o.Name == model.OriginTimer.String() && o.Total > 0 {
			want[result.BlameTimers] = o.Total
		}
	}
	if d := r.Waiting.Censored.AtEnd.Total; d > 0 {
		want[result.BlameOpen] = d
	}
	if d := r.Syscalls.All.Total; d > 0 {
		want[result.BlameInSlow] = d
	}
	if k := r.Blame.Kind(result.BlameAlone); k != nil { // see TestCausesAgainstReference
		if want[k.Kind] = k.Total; k.Total > r.Totals.Span {
			t.Errorf("code ran alone for %d of %d", k.Total, r.Totals.Span)
		}
	}
	rows := map[string]result.BlameBasis{}
	for i := range r.Blame.Rows {
		row := &r.Blame.Rows[i]
		if row.Sum() != row.Total {
			t.Errorf("blame of %s for %s: %d on all bases, want %d", row.Function, row.Kind, row.Sum(), row.Total)
		}
		stacks := model.Duration(0)
		for _, s := range row.Stacks {
			stacks += s.Total
		}
		if stacks > row.Total {
			t.Errorf("blame of %s for %s: %d by stacks, want at most %d", row.Function, row.Kind, stacks, row.Total)
		}
		sum := rows[row.Kind]
		sum.Add(&row.BlameBasis)
		rows[row.Kind] = sum
	}
	parts, turns := map[string]result.BlameBasis{}, map[*result.BlameRow]int64{}
	for _, p := range r.Blame.Parts() {
		if p.Total < 0 || p.Turns < 0 {
			t.Errorf("blame of %+v for %s: a part of %d, %d turns", p.Row, p.Kind.Kind, p.Total, p.Turns)
		}
		sum := parts[p.Kind.Kind]
		*sum.Of(p.Basis) += p.Total
		parts[p.Kind.Kind] = sum
		turns[p.Row] += p.Turns
	}
	for i := range r.Blame.Rows {
		if row := &r.Blame.Rows[i]; turns[row] != row.Turns {
			t.Errorf("blame of %s for %s: %d turns in parts, want %d", row.Function, row.Kind, turns[row], row.Turns)
		}
	}
	got := map[string]model.Duration{}
	for i := range r.Blame.Kinds {
		k := &r.Blame.Kinds[i]
		if parts[k.Kind] != k.BlameBasis {
			t.Errorf("blame for %s: parts %+v, want %+v", k.Kind, parts[k.Kind], k.BlameBasis)
		}
		name := k.Kind
		switch name {
		case result.BlameShortSyscall:
			name = result.CauseSyscall.String()
		case result.BlameInShort:
			name = result.BlameInSlow
		}
		if k.Total > 0 {
			got[name] += k.Total
		}
		b := rows[k.Kind]
		if k.Sum() != k.Total || b.Sampled != k.Sampled || b.Seen != k.Seen || b.Estimated != k.Estimated || b.Unknown > k.Unknown {
			t.Errorf("blame for %s: %+v, rows %+v", k.Kind, k, b)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("blame explains %v, want %v", got, want)
	}
}
