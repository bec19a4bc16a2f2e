package causes

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// reference cuts waits into cells in the obvious way: at every change of
// anything, trying the conditions of the causes in order on each piece. It hears
// what an attribution hears, and asks it only for its limits and for the time up
// to which it takes no late news any more.
type reference struct {
	a      *attribution
	procs  map[model.ProcID][]refState
	runs   map[model.ProcID]bool
	stops  []refSwitch
	resize []refSwitch
	gaps   [][2]model.Time
	wakes  []refWake
	last   model.Time
	active bool
}

type refState struct {
	at, searches, stuck model.Time
	state               model.ProcState
	work                model.WorkKind
}

type refSwitch struct {
	at model.Time
	n  int
}

type refWake struct{ from, late, to model.Time }

func newReference(t *model.Tables) *reference {
	r := &reference{a: newAttribution(New(t), t, 1<<20), procs: map[model.ProcID][]refState{}, runs: map[model.ProcID]bool{}}
	r.a.counts = true
	return r
}

func (r *reference) Step(s *model.Step) {
	if r.active && s.Time.Sub(r.last) >= osGapMin {
		if len(r.runs) > 0 {
			r.gaps = append(r.gaps, [2]model.Time{r.last, s.Time})
		}
		r.a.Silence(r.last, s.Time)
	}
	r.active, r.last = true, max(r.last, s.Time)
	at, usual := max(s.Time, r.a.activity.now), r.a.estimates.items[len(r.a.estimates.items)-1]
	switch s.Kind {
	case model.StepProc:
		if delete(r.runs, s.P); model.ProcState(s.To) == model.ProcRunning {
			r.runs[s.P] = true
		}
		x := refState{at: at, state: model.ProcState(s.To), work: s.Work, searches: at}
		if model.ProcState(s.From) != model.ProcIdle {
			x.searches += model.Time(usual.grace)
		}
		x.stuck = x.searches + model.Time(usual.search)
		r.procs[s.P] = append(r.procs[s.P], x)
		slices.SortStableFunc(r.procs[s.P], func(x, y refState) int { return int(x.at - y.at) })
	case model.StepStopping:
		r.stops = append(r.stops, refSwitch{at, 1})
	case model.StepRestarted:
		r.stops = append(r.stops, refSwitch{at, 0})
	case model.StepProcs:
		r.resize = append(r.resize, refSwitch{at, int(s.N)})
	}
	r.a.Step(s)
}

func (r *reference) Start(s *runqueue.Start) { r.a.Start(s) }

func (r *reference) Wakeup(w *runqueue.Wakeup) {
	if w.Caused {
		limit := model.Time(r.a.limits.wakeLimit())
		if now := r.a.activity.now; w.Got > now || !r.a.activity.began {
			r.wakes = append(r.wakes, refWake{max(w.Trigger, now), min(w.Got, w.Trigger+limit), w.Got})
		}
	}
	r.a.Wakeup(w)
}

// valueAt returns the value of the last switch at or before t, 0 before all.
func valueAt(list []refSwitch, t model.Time) int {
	n := 0
	for _, x := range list {
		if x.at <= t {
			n = x.n
		}
	}
	return n
}

// stateAt returns the state of a proc, and whether it was seen by then.
func (r *reference) stateAt(p model.ProcID, t model.Time) (x refState, ok bool) {
	for _, s := range r.procs[p] {
		if s.at > t {
			break
		}
		x, ok = s, true
	}
	return x, ok
}

// count returns how many procs are idle, search, have searched for too long, and are not idle.
func (r *reference) count(t model.Time) (idle, searching, stuck, busy int) {
	n, seen := valueAt(r.resize, t), 0
	for p := range r.procs {
		x, ok := r.stateAt(p, t)
		if ok {
			seen = max(seen, int(p)+1)
		}
		if ok && x.state == model.ProcSearching && t >= x.stuck {
			stuck++
		} else if ok && x.state == model.ProcSearching && t >= x.searches {
			searching++
		}
	}
	if n == 0 {
		n = seen
	}
	for p := range model.ProcID(n) {
		x, ok := r.stateAt(p, t)
		if !ok || x.state == model.ProcIdle || x.state == model.ProcStopped && r.removed(p, x.at, t) {
			idle++
		}
	}
	return idle, searching, stuck, n - idle
}

// removed reports whether a proc that was stopped at from was done away with by t.
func (r *reference) removed(p model.ProcID, from, t model.Time) bool {
	if n := valueAt(r.resize, from); n > 0 && int(p) >= n {
		return true
	}
	for _, x := range r.resize {
		if x.at >= from && x.at <= t && int(p) >= x.n {
			return true
		}
	}
	return false
}

// causeAt returns the cause of waiting at t, before the search began.
func (r *reference) causeAt(w *wait, t model.Time) Cause {
	if valueAt(r.stops, t) == 1 {
		return result.CauseSTW
	}
	idle, searching, stuck, _ := r.count(t)
	decided := w.known && !w.contra && w.source != runqueue.SourceUnknown
	if idle > 0 {
		for _, x := range r.wakes {
			if x.from <= t && t < x.late {
				return result.CauseWaking
			}
		}
		for _, x := range r.wakes {
			if max(x.from, x.late) <= t && t < x.to {
				return result.CauseOSWake
			}
		}
		_, known := r.procs[w.proc]
		switch {
		case decided && known && w.source == runqueue.SourceLocked:
			return result.CauseHandoff
		case decided && known && (w.source == runqueue.SourceRunnext || w.source == runqueue.SourceStealRunnext):
			return result.CauseRunnext
		case searching+stuck > 0:
			return result.CauseSpinner
		}
		return result.CauseUnexplained
	}
	if searching > 0 {
		return result.CauseSearching
	}
	if !decided {
		return result.CauseUnresolved
	}
	return r.heldAt(w.proc, t)
}

// alone returns how long one proc ran code of the program, and no other had a goroutine or was being woken for one; how
// long no proc had a goroutine, only one had, or else; and how long several ran such code.
func (r *reference) alone(cuts []model.Time) (sum model.Duration, widths [3]model.Duration, several model.Duration) {
	for i, t := range cuts {
		end := r.a.activity.now
		if i+1 < len(cuts) {
			end = min(end, cuts[i+1])
		}
		idle, searching, _, busy := r.count(t)
		waking := slices.ContainsFunc(r.wakes, func(x refWake) bool { return x.from <= t && t < x.to })
		held, user := 0, 0
		for p := range model.ProcID(idle + busy) {
			if x, ok := r.stateAt(p, t); ok && x.state.Held() {
				held++
				if r.heldAt(p, t) == result.CauseGoroutine {
					user++
				}
			}
		}
		width := min(held, widthMore)
		if valueAt(r.stops, t) == 1 || idle > 0 && waking || idle == 0 && searching == 0 {
			width = widthMore
		}
		d := max(end.Sub(max(t, r.a.first)), 0)
		if widths[width] += d; width == widthOne && user == 1 {
			sum += d
		}
		users := 0
		for p := range r.procs {
			if x, ok := r.stateAt(p, t); ok && x.state == model.ProcRunning && x.work == model.WorkUser {
				users++
			}
		}
		if users > 1 {
			several += d
		}
	}
	return sum, widths, several
}

// heldAt returns the cause of waiting for a proc.
func (r *reference) heldAt(p model.ProcID, t model.Time) Cause {
	x, ok := r.stateAt(p, t)
	if !ok {
		return result.CauseUnresolved
	}
	for _, g := range r.gaps {
		if g[0] <= t && t < g[1] {
			return result.CauseOSGap
		}
	}
	switch x.state {
	case model.ProcSearching:
		if t >= x.stuck {
			return result.CauseOSScheduler
		}
	case model.ProcSyscall:
		return result.CauseSyscall
	case model.ProcRunning:
		return map[model.WorkKind]Cause{model.WorkUser: result.CauseGoroutine, model.WorkGCDedicated: result.CauseGCDedicated, model.WorkGCFractional: result.CauseGCFractional,
			model.WorkGCIdle: result.CauseGCIdle, model.WorkGCAssist: result.CauseAssist, model.WorkSystem: result.CauseRuntime}[x.work]
	}
	return result.CauseSwitching
}

// causeSearched returns the cause after the search began.
func (r *reference) causeSearched(w *wait, search, t model.Time) Cause {
	age := t.Sub(search)
	switch {
	case valueAt(r.stops, t) == 1:
		return result.CauseSTW
	case age < w.pickup:
		return result.CausePickup
	case !w.contra && age < w.pickup+w.backoff:
		return result.CauseBackoff
	case w.clamped || w.contra || w.source == runqueue.SourceUnknown:
		return result.CauseUnresolved
	}
	return result.CauseOSScheduler
}

// cuts returns all times at which anything changes, in order.
func (r *reference) cuts() []model.Time {
	var all []model.Time
	for _, list := range r.procs {
		for _, x := range list {
			all = append(all, x.at, x.searches, x.stuck)
		}
	}
	for _, list := range [][]refSwitch{r.stops, r.resize} {
		for _, x := range list {
			all = append(all, x.at)
		}
	}
	for _, x := range r.wakes {
		all = append(all, x.from, x.late, x.to)
	}
	for _, g := range r.gaps {
		all = append(all, g[0], g[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// cells cuts a wait.
func (r *reference) cells(w *wait, cuts []model.Time) Totals {
	var cells Totals
	search := w.end
	if w.known {
		search = w.search
	}
	own := []model.Time{w.start, search, min(w.end, search+model.Time(w.pickup)), min(w.end, search+model.Time(w.pickup+w.backoff)), w.end}
	i, _ := slices.BinarySearch(cuts, w.start)
	j, _ := slices.BinarySearch(cuts, w.end)
	own = append(own, cuts[i:j]...)
	slices.Sort(own)
	for k := 0; k+1 < len(own); k++ {
		from, to := own[k], own[k+1]
		if from == to {
			continue
		}
		if from < search {
			cells[r.causeAt(w, from)] += to.Sub(from)
		} else {
			cells[r.causeSearched(w, search, from)] += to.Sub(from)
		}
	}
	return cells
}

// compare checks the cells of at most limit waits.
func (r *reference) compare(t *testing.T, limit int) (waits int, seen Totals) {
	t.Helper()
	cuts := r.cuts()
	every := max(len(r.a.worst.Items)/limit, 1)
	for i := 0; i < len(r.a.worst.Items); i += every {
		w := r.a.worst.Items[i]
		want := r.cells(&w.wait, cuts)
		if w.cells != want {
			t.Fatalf("wait of goroutine %d from %d to %d, search %d, source %v, proc %d, known %v:\n got %s\nwant %s",
				w.g, w.start, w.end, w.search, w.source, w.proc, w.known, cellText(&w.cells), cellText(&want))
		}
		waits++
		seen.merge(&want)
	}
	return waits, seen
}

func cellText(c *Totals) string {
	s := ""
	for i, d := range c {
		if d != 0 {
			s += fmt.Sprintf("%v %d, ", Cause(i), d)
		}
	}
	return s
}

// TestCausesAgainstReferenceOnFixtures compares the cells of waits of real
// traces with those of the reference.
func TestCausesAgainstReferenceOnFixtures(t *testing.T) {
	names := []string{"mixed.go1.26.p2.trace", "gc.go1.26.p4.trace", "syscalls.go1.26.p4.trace", "resize.go1.26.p4.trace"}
	if fixtures.Sweep() {
		names = append(names, "mutex.go1.26.p4.trace", "http.trace")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := readReference(t, name)
			waits, _ := r.compare(t, 60)
			if waits < 30 {
				t.Errorf("only %d waits", waits)
			}
		})
	}
}

func readReference(t *testing.T, name string) *reference {
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
	r := newReference(in.Tables())
	q, err := runqueue.New(in.Tables(), in.Header().Version)
	if err != nil {
		t.Fatal(err)
	}
	q.Observe(r)
	m.Observe(r)
	m.Observe(q)
	m.Observe(stepFunc(func(*model.Step) { r.a.catchUp() }))
	err = ingest.Each(in, func(ev *model.Event) error { return m.Apply(ev) })
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(m.Now()); err != nil {
		t.Fatal(err)
	}
	q.Finish()
	r.a.Finish()
	return r
}

type stepFunc func(*model.Step)

func (f stepFunc) Step(s *model.Step) { f(s) }

// TestCausesAgainstReference does so with random steps, in which everything
// happens, and with so little memory that the past is forgotten all the time.
func TestCausesAgainstReference(t *testing.T) {
	var seen Totals
	for seed := range uint64(40) {
		r := newReference(model.NewTables())
		if seed%2 == 1 {
			r.a.maxPoints = 40
		}
		p := &play{rnd: rand.New(rand.NewPCG(seed, 7)), r: r, procs: 1 + int(seed%5)}
		p.run(1500)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		waits, s := r.compare(t, 1000)
		if waits < 100 {
			t.Errorf("seed %d: only %d waits", seed, waits)
		}
		seen.merge(&s)
		p.checkSums(t)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for c, d := range seen {
		if d == 0 {
			t.Errorf("no wait was lost to: %v", Cause(c))
		}
	}
}

// TestAlone checks the time in which code ran alone, but not in silences of all threads, nor where its proc was taken away.
func TestAlone(t *testing.T) {
	const ms = 1_000_000
	p := &play{r: newReference(model.NewTables()), ps: make([]playProc, 3)}
	for _, x := range []struct {
		at    model.Time
		procs int32 // 0: the proc changes instead
		proc  int
		state model.ProcState
	}{
		{at: 1 * ms, procs: 3},
		{at: 1 * ms, state: model.ProcRunning}, // alone
		{at: 5 * ms, state: model.ProcRunning}, // in a silence
		{at: 55 * ms, state: model.ProcRunning},
		{at: 57 * ms, proc: 2, state: model.ProcRunning}, // two
		{at: 58 * ms, state: model.ProcIdle},
		{at: 61 * ms, procs: 2}, // none
		{at: 64 * ms, procs: 3},
		{at: 65 * ms, proc: 2, state: model.ProcRunning},
		{at: 66 * ms, procs: 3}, // the trace ends, and it goes on
	} {
		if p.now = x.at; x.procs > 0 {
			p.step(model.Step{Kind: model.StepProcs, N: x.procs})
		} else {
			p.setProc(x.proc, x.state, model.WorkUser, 1)
		}
	}
	p.r.a.Finish()
	p.r.compare(t, 1)
	p.checkSums(t)
	sum, widths, several := p.r.alone(p.r.cuts())
	equal(t, "alone", sum, 11*ms)
	equal(t, "several", several, 1*ms)
	equal(t, "widths", widths, [3]model.Duration{3 * ms, 61 * ms, 1 * ms})
}

// play makes up steps as a Machine might tell them, and starts as a Resolver
// might, late.
type play struct {
	rnd   *rand.Rand
	r     *reference
	now   model.Time
	procs int
	ps    []playProc
	gs    [16]playGo
	stw   bool
	late  []func() // starts and wakeups that are still to be told
	names [3]model.StringID
	stack model.StackID
}

type playProc struct {
	state model.ProcState
	work  model.WorkKind
	g     int
	since model.Time
}

type playGo struct {
	runnable bool
	waiting  bool
	since    model.Time
}

func (p *play) run(n int) {
	p.now = 1_000_000
	p.ps = make([]playProc, p.procs+1) // one more than there are at first
	for i := range p.ps {
		p.ps[i] = playProc{state: model.ProcIdle, g: -1}
	}
	for i := range p.gs {
		p.gs[i].waiting = true
	}
	p.step(model.Step{Kind: model.StepProcs, N: int32(p.procs)})
	for range n {
		p.now += model.Time(64 * (1 + p.rnd.IntN(1<<p.rnd.IntN(14))))
		if p.rnd.IntN(400) == 0 {
			p.now += osGapMin + model.Time(p.rnd.IntN(20_000_000))
		}
		p.act()
		for len(p.late) > 20 || len(p.late) > 0 && p.rnd.IntN(4) == 0 {
			p.late[0]()
			p.late = p.late[1:]
		}
		if p.rnd.IntN(30) == 0 {
			p.r.a.settleUntil(p.r.a.horizon())
		}
	}
	for _, f := range p.late {
		f()
	}
	p.r.a.Finish()
}

func (p *play) step(s model.Step) {
	s.Time = p.now
	p.r.Step(&s)
}

func (p *play) setProc(i int, state model.ProcState, work model.WorkKind, g int) {
	x := &p.ps[i]
	s := model.Step{Kind: model.StepProc, P: model.ProcID(i), From: uint8(x.state), To: uint8(state), Work: work, G: model.GoID(g), Func: p.names[max(g, 0)%3]}
	*x = playProc{state, work, g, p.now}
	p.step(s)
}

// act lets something random happen.
func (p *play) act() {
	i := p.rnd.IntN(len(p.ps))
	switch k := p.rnd.IntN(24); {
	case k < 8:
		p.wake()
	case k == 8:
		p.stw = !p.stw
		kind := model.StepRestarted
		if p.stw {
			kind = model.StepStopping
		}
		p.step(model.Step{Kind: kind})
	case k == 9 && p.rnd.IntN(8) == 0:
		p.step(model.Step{Kind: model.StepProcs, N: int32(1 + p.rnd.IntN(len(p.ps)))})
	default:
		p.turn(i)
	}
}

func (p *play) wake() {
	g := p.rnd.IntN(len(p.gs))
	if x := &p.gs[g]; x.waiting {
		*x = playGo{runnable: true, since: p.now}
		p.step(model.Step{Kind: model.StepGo, G: model.GoID(g), From: uint8(model.GoWaiting), To: uint8(model.GoRunnable), P: model.NoProc})
	}
}

// turn lets a proc go on.
func (p *play) turn(i int) {
	x := &p.ps[i]
	switch x.state {
	case model.ProcIdle, model.ProcStopped:
		if p.rnd.IntN(3) == 0 {
			p.wakeup()
		}
		p.setProc(i, model.ProcSearching, 0, -1)
	case model.ProcSearching:
		if !p.start(i) {
			p.setProc(i, []model.ProcState{model.ProcIdle, model.ProcIdle, model.ProcStopped}[p.rnd.IntN(3)], 0, -1)
		}
	case model.ProcRunning:
		if p.rnd.IntN(3) == 0 {
			p.setProc(i, []model.ProcState{model.ProcRunning, model.ProcSyscall}[p.rnd.IntN(2)], model.WorkKind(p.rnd.IntN(int(model.NumWorkKinds))), x.g)
			return
		}
		p.stop(i)
	case model.ProcSyscall:
		p.stop(i)
	}
}

func (p *play) stop(i int) {
	g := p.ps[i].g
	p.setProc(i, model.ProcSearching, 0, -1)
	to := model.GoWaiting
	if p.rnd.IntN(3) == 0 {
		to = model.GoRunnable
	}
	p.gs[g] = playGo{runnable: to == model.GoRunnable, waiting: to == model.GoWaiting, since: p.now}
	p.step(model.Step{Kind: model.StepGo, G: model.GoID(g), P: model.ProcID(i), From: uint8(model.GoRunning), To: uint8(to), Stack: p.stack * model.StackID(g%2)})
}

func (p *play) wakeup() {
	got := p.now
	w := runqueue.Wakeup{Caused: true, Trigger: got - model.Time(p.rnd.IntN(1<<(8+p.rnd.IntN(13)))), Got: got}
	p.late = append(p.late, func() { p.r.Wakeup(&w) })
}

// start lets a proc run a goroutine, if there is one.
func (p *play) start(i int) bool {
	g := p.rnd.IntN(len(p.gs))
	x := &p.gs[g]
	if !x.runnable {
		return false
	}
	since := p.ps[i].since
	p.setProc(i, model.ProcRunning, model.WorkKind(p.rnd.IntN(3))*model.WorkKind(p.rnd.IntN(3)), g)
	end := model.Step{Kind: model.StepGo, G: model.GoID(g), Func: p.names[g%3], P: model.ProcID(i), From: uint8(model.GoRunnable), To: uint8(model.GoRunning),
		Since: x.since, Waited: model.OriginGoroutine}
	if p.now > x.since {
		if end.Flags = model.StepWait; p.rnd.IntN(20) == 0 {
			end.Flags |= model.StepClamped
		}
	}
	p.step(end)
	s := runqueue.Start{Time: p.now, G: model.GoID(g), P: model.ProcID(i), LastP: model.ProcID(p.rnd.IntN(len(p.ps)+1) - 1),
		Source: runqueue.Source(p.rnd.IntN(int(runqueue.NumSources))), Search: since, Grade: runqueue.Grade(p.rnd.IntN(int(runqueue.NumGrades)))}
	p.late = append(p.late, func() { p.r.Start(&s) })
	*x = playGo{}
	return true
}

// checkSums checks that series and antagonists hold what the cells do.
func (p *play) checkSums(t *testing.T) {
	t.Helper()
	c := p.r.a.c
	var want, series, behind Totals
	for _, w := range p.r.a.worst.Items {
		want.merge(&w.cells)
		if w.cells.Total() != w.end.Sub(w.start) {
			t.Errorf("cells of %d ns, want %d", w.cells.Total(), w.end.Sub(w.start))
		}
	}
	for _, bin := range c.bins.Used() {
		series.merge(&bin)
	}
	equal(t, "series", cellText(&series), cellText(&want))
	var alone model.Duration
	for k, a := range c.antagonists.byID {
		if k.alone {
			alone += a.waited
		} else {
			behind[heldCauses[k.class]] += a.waited
		}
	}
	wantAlone, widths, several := p.r.alone(p.r.cuts())
	equal(t, "alone", alone, wantAlone)
	equal(t, "widths", c.antagonists.widths, widths)
	equal(t, "several", c.antagonists.several, several)
	for class, d := range c.antagonists.earlier {
		behind[heldCauses[class]] += d
	}
	for i := range want {
		if !Cause(i).Behind() {
			want[i] = 0
		}
	}
	equal(t, "antagonists", cellText(&behind), cellText(&want))
}
