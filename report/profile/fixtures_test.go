package profile

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
)

// allOptions are all profiles that there are.
func allOptions() []Options {
	var all []Options
	for k := range numKinds {
		all = append(all, Options{Kind: k})
		if k.HasWaker() {
			all = append(all, Options{Kind: k, Waker: true})
		}
	}
	return all
}

// read makes profiles and the report of a trace from one reading. A window begins
// with its second half. It returns nil if nothing can be read.
func read(t *testing.T, name string, window bool, options ...Options) ([]*Profile, *analyze.Report) {
	t.Helper()
	start := model.Time(0)
	if window {
		_, r := read(t, name, false)
		if r == nil {
			return nil, nil
		}
		start = model.Time(r.Totals.Span / 2)
	}
	f, err := os.Open(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.NewReader(f, ingest.Options{})
	var empty *ingest.EmptyError
	if errors.As(err, &empty) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()

	m := model.NewMachine(in.Tables(), model.Config{Version: in.Header().Version})
	r := analyze.New(in.Tables(), analyze.Options{Version: in.Header().Version})
	r.ObserveSteps(m)
	var collectors []*Collector
	var profiles []*Profile
	for _, o := range options {
		p := New(o)
		profiles = append(profiles, p)
		if o.Kind >= Blame {
			continue
		}
		c := p.Collect(in.Tables(), in.Header().Version)
		c.ObserveSteps(m)
		collectors = append(collectors, c)
	}
	first, begun := model.Time(0), false
	err = ingest.Each(in, func(ev *model.Event) error {
		if first == 0 {
			first = ev.Time
		}
		if !begun && ev.Time >= first+start {
			begun = true
			if window {
				m.Begin(first + start)
			}
			r.Begin(first)
			r.Observe(m)
			for _, c := range collectors {
				c.Observe(m)
			}
		}
		_ = m.Apply(ev) // what contradicts itself is the model's business
		if begun {
			r.Event(ev)
			for _, c := range collectors {
				c.Event(ev)
			}
		}
		return nil
	})
	if errors.As(err, &empty) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	r.Finish(m.Start(), m.Now())
	for _, c := range collectors {
		c.Finish(m.Now().Sub(m.Start()))
	}
	for i, o := range options {
		switch {
		case o.Kind == Blame:
			profiles[i] = OfBlame(r.Result())
		case o.Kind > Blame:
			profiles[i] = OfRequests(r.Result(), o.Kind)
		}
	}
	return profiles, r
}

// totals adds all samples up.
func (p *Profile) totals() values {
	var sum values
	for i := range p.cells {
		for j, v := range p.cells[i].values {
			sum[j] += v
		}
	}
	return sum
}

// reported returns what the report says of a kind.
func reported(r *analyze.Report, k Kind) values {
	switch k {
	case Runnable:
		return values{r.Latency.All.Count(), int64(r.Latency.All.Total())}
	case Waiting:
		return values{r.Waits.All.Count(), int64(r.Waits.All.Total())}
	case Syscalls:
		return values{r.Syscalls.All.Count(), int64(r.Syscalls.All.Total()), int64(r.Syscalls.Blocked.Total())}
	}
	var v values
	if k > Blame {
		for _, q := range r.Result().Requests {
			for _, t := range q.Tails[:min(1, len(q.Tails))] {
				for _, x := range t.Rows {
					if k == Slow {
						v[0] += int64(x.Slow) / t.Count
					} else if t.Middle.Count > 0 {
						v[0] += int64(x.Middle) / t.Middle.Count
					}
				}
			}
		}
		return v
	}
	if k == Blame {
		blame := &r.Result().Blame
		for _, x := range blamed(blame) {
			v[0] += x.count
			v[1] += x.time
		}
		for i := range blame.Kinds {
			if k := &blame.Kinds[i]; k.Blocked && k.Kind != result.BlameOpen {
				v[2] += int64(k.Total)
			}
		}
		return v
	}
	for i := range r.Handoffs.ByCause {
		c := &r.Handoffs.ByCause[i]
		v[0] += int64(c.InSyscall.Total())
		v[1] += int64(c.Gap.Total())
		v[2] += c.Count
	}
	return v
}

// TestTotals checks on every fixture, and on a window of each, that profiles add up to
// the report: in all, and waits also by each of their labels that it tells of.
func TestTotals(t *testing.T) {
	options := allOptions()
	seen := map[Options]bool{}
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		for _, window := range []bool{false, true} {
			profiles, r := read(t, name, window, options...)
			for i, p := range profiles {
				o := options[i]
				if got, want := p.totals(), reported(r, o.Kind); got != want {
					t.Errorf("%s, window %v, %+v: totals %v, want %v", name, window, o, got, want)
				}
				if got, want := p.span, r.Totals.Span; got != want {
					t.Errorf("%s, window %v: span %d, want %d", name, window, got, want)
				}
				seen[o] = seen[o] || len(p.cells) > 0
				switch o.Kind {
				case Runnable:
					p.checkWaits(t, name, r)
				case Waiting:
					compareRows(t, name, p.by("reason"), rows(r.Waits.ByReason()))
				case Blame:
					compareRows(t, name, p.by("kind"), blamed(&r.Result().Blame))
				case Syscalls:
					compareRows(t, name, p.by("function"), rows(r.Syscalls.ByFunc()))
				}
			}
		}
	}
	for _, o := range options {
		if !seen[o] {
			t.Errorf("%+v: no fixture has any", o)
		}
	}
}

// row is a count and a time under a name.
type row struct {
	name        string
	count, time int64
}

// by adds samples up by the values of a label.
func (p *Profile) by(label string) []row {
	at := slices.Index(p.o.Kind.Labels(), label)
	sums := map[string]row{}
	for i := range p.cells {
		name := p.tables.String(p.cells[i].labels[at])
		sums[name] = row{name, sums[name].count + p.cells[i].values[0], sums[name].time + p.cells[i].values[1]}
	}
	var out []row
	for _, x := range sums {
		out = append(out, x)
	}
	return out
}

func rows(list []result.Named) []row {
	var out []row
	for _, d := range list {
		out = append(out, row{d.Name, d.Count, int64(d.Total)})
	}
	return out
}

// blamed returns the kinds of blame that profiles have: turns, and the time of those that were
// runnable.
func blamed(b *result.Blame) []row {
	var out []row
	for i := range b.Kinds {
		k := &b.Kinds[i]
		if !k.Blocked && !k.Runnable() || k.Kind == result.BlameOpen {
			continue
		}
		x := row{name: k.Kind}
		if !k.Blocked {
			x.time = int64(k.Total)
		}
		for i := range b.Rows {
			if b.Rows[i].Kind == k.Kind {
				x.count += b.Rows[i].Turns
			}
		}
		out = append(out, x)
	}
	return out
}

func compareRows(t *testing.T, name string, got, want []row) {
	t.Helper()
	less := func(a, b row) int {
		if a.name < b.name {
			return -1
		}
		return 1
	}
	slices.SortFunc(got, less)
	slices.SortFunc(want, less)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// checkWaits compares the labels of waits with the report.
func (p *Profile) checkWaits(t *testing.T, name string, r *analyze.Report) {
	t.Helper()
	compareRows(t, name, p.by("function"), rows(r.Latency.ByFunc()))
	var origins, causes []row
	for o := range r.Latency.ByOrigin {
		if d := &r.Latency.ByOrigin[o]; d.Count() > 0 {
			origins = append(origins, row{model.Origin(o).String(), d.Count(), int64(d.Total())})
		}
	}
	compareRows(t, name, p.by("origin"), origins)
	p.checkReasons(t, name, r)
	if r.Causes.Refused != "" {
		return
	}
	got := p.by("cause")
	for i := range got {
		got[i].count = 0 // a wait counts for the greatest of its causes only
	}
	for c := range r.Causes.ByCause {
		if d := r.Causes.ByCause[c].Total; d != 0 {
			causes = append(causes, row{result.Cause(c).String(), 0, int64(d)})
		}
	}
	compareRows(t, name, got, causes)
}

// checkReasons checks that no more waits follow a reason to block than blocked for it.
// (Preempted is also a reason to stop without blocking.)
func (p *Profile) checkReasons(t *testing.T, name string, r *analyze.Report) {
	t.Helper()
	blocked := map[string]int64{}
	for _, d := range r.Waits.ByReason() {
		blocked[d.Name] = d.Count
	}
	named := int64(0)
	for _, x := range p.by("reason") {
		if n, ok := blocked[x.name]; ok && x.name != result.NoName && x.name != "preempted" {
			named += x.count
			// Censored at the start: what had blocked before.
			if most := n + r.Waits.Censored.AtStart.Count; x.count > most {
				t.Errorf("%s: %d waits after %q, %d blocked", name, x.count, x.name, most)
			}
		}
	}
	if len(blocked) > 0 && r.Latency.All.Count() > 1000 && named == 0 {
		t.Errorf("%s: no wait has a reason to block", name)
	}
}
