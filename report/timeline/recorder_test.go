package timeline

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/causes"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// told is all that a Machine and an Explainer told.
type told struct {
	goroutines []model.GoSpan
	procs      []model.ProcSpan
	threads    []model.ThreadSpan
	counts     []model.Counts
	stops      int
	tasks      int
	regions    []model.Region
	waits      []causes.ExplainedWait
	steals     []runqueue.Steal
	names      map[model.GoID]model.StringID
	tables     *model.Tables
	start, end model.Time
}

func (x *told) GoSpan(s *model.GoSpan) {
	x.goroutines = append(x.goroutines, *s)
	if s.Func != 0 {
		x.names[s.G] = s.Func
	}
}
func (x *told) ProcSpan(s *model.ProcSpan)     { x.procs = append(x.procs, *s) }
func (x *told) ThreadSpan(s *model.ThreadSpan) { x.threads = append(x.threads, *s) }
func (x *told) Counts(c *model.Counts)         { x.counts = append(x.counts, *c) }
func (x *told) STW(*model.STW)                 { x.stops++ }
func (x *told) Task(*model.Task)               { x.tasks++ }
func (x *told) Region(r *model.Region)         { x.regions = append(x.regions, *r) }
func (x *told) Steal(s *runqueue.Steal)        { x.steals = append(x.steals, *s) }

// record reads a fixture, once for a Recorder and for told. It returns nil of one that
// cannot be read.
func record(t *testing.T, name string, o Options) (*Recorder, *told) {
	t.Helper()
	f, err := os.Open(fixtures.Path(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rd, err := ingest.NewReader(f, ingest.Options{})
	if err != nil {
		return nil, nil
	}
	defer rd.Close()
	version := rd.Header().Version
	m := model.NewMachine(rd.Tables(), model.Config{Version: version})
	rec := New(rd.Tables(), o)
	x := &told{names: map[model.GoID]model.StringID{}, tables: rd.Tables()}
	explainer, err := causes.NewExplainer(rd.Tables(), version, func(w *causes.ExplainedWait) {
		rec.Explained(w)
		own := *w
		own.Cells = slices.Clone(w.Cells)
		x.waits = append(x.waits, own)
	}, rec.Queues(), x)
	if err == nil {
		explainer.Observe(m)
	}
	rec.Observe(m)
	m.Observe(x)
	begun := false
	err = ingest.Each(rd, func(ev *model.Event) error {
		if !begun {
			begun = true
			rec.Begin(ev.Time)
		}
		m.Apply(ev)
		if explainer != nil {
			explainer.Event(ev)
		}
		return nil
	})
	if err != nil || !begun {
		return nil, nil
	}
	m.Finish(m.Now())
	if explainer != nil {
		explainer.Finish()
	}
	rec.Finish(m.Start(), m.Now())
	x.start, x.end = m.Start(), m.Now()
	return rec, x
}

// encodeAndDecode returns what becomes of a recording on the page.
func encodeAndDecode(t *testing.T, r *Recorder) *decoded {
	t.Helper()
	blob, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode(blob)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestExact checks on every fixture that what is encoded without limits is all that
// the Machine told, field by field.
func TestExact(t *testing.T) {
	read := 0
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		t.Run(name, func(t *testing.T) {
			rec, x := record(t, name, Options{})
			if rec == nil {
				t.Skip("cannot be read")
			}
			read++
			c := &comparison{t: t, d: encodeAndDecode(t, rec), x: x}
			c.goroutines()
			c.procs()
			c.threads()
			c.rest()
		})
	}
	if read < 40 {
		t.Errorf("%d fixtures could be read, want 40 at least", read)
	}
}

// comparison compares what was decoded with what was told.
type comparison struct {
	t *testing.T
	d *decoded
	x *told
}

// lines compares lists of lines that say the same in any order.
func (c *comparison) lines(what string, got, want []string) {
	c.t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if len(got) != len(want) {
		c.t.Errorf("%d %s, want %d", len(got), what, len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			c.t.Errorf("%s:\n got %s\nwant %s", what, got[i], want[i])
			return
		}
	}
}

func (c *comparison) at(t model.Time) int64 { return int64(t - c.x.start) }

func (c *comparison) g(ref uint64) int64 {
	if ref == 0 {
		return -1
	}
	return c.d.goroutines[ref-1].id
}

func (c *comparison) thread(ref uint64) int64 {
	if ref == 0 {
		return -1
	}
	return c.d.threads[ref-1]
}

func (c *comparison) stack(ref uint64) string {
	if ref == 0 {
		return ""
	}
	var b bytes.Buffer
	for _, f := range c.d.stacks[ref-1] {
		x := c.d.frames[f]
		fmt.Fprintf(&b, "%s %s:%d;", c.d.strings[x[0]], c.d.strings[x[1]], x[2])
	}
	fmt.Fprint(&b, c.d.places[ref-1])
	return b.String()
}

func (c *comparison) toldStack(id model.StackID) string {
	var b bytes.Buffer
	if id == 0 {
		return ""
	}
	place, frames := 0, c.x.tables.Stack(id)
	for i, f := range frames {
		fmt.Fprintf(&b, "%s %s:%d;", f.Func, f.File, f.Line)
		if x := result.PlaceIn(frames); place == 0 && f == *x && result.OfProgram(x.Func) {
			place = i + 1
		}
	}
	fmt.Fprint(&b, place)
	return b.String()
}

type waitKey struct {
	g     model.GoID
	start model.Time
}

func (c *comparison) goroutines() {
	var got, want []string
	for _, l := range c.d.classes[0].lanes {
		g := c.d.goroutines[l.id-1]
		for i := range l.spans {
			s := &l.spans[i]
			line := fmt.Sprintln(g.id, g.name, g.system, s.start, s.end, c.d.words[0][s.state], s.openStart, s.openEnd, c.stack(s.stack))
			switch model.GoState(s.state) {
			case model.GoRunnable:
				line += fmt.Sprintln(c.d.text(s.reason), s.detail, c.g(s.g), c.thread(s.thread), int64(s.proc)-1, c.stack(s.wakerStack), s.waits, s.cells)
				if s.waits {
					line += fmt.Sprintln(c.d.words[7][s.source], c.d.words[8][s.grade], int64(s.lastP)-1, int64(s.from)-1)
				}
			case model.GoWaiting:
				line += c.d.text(s.reason)
			case model.GoRunning, model.GoSyscall:
				line += fmt.Sprintln(int64(s.proc)-1, c.thread(s.thread))
			}
			got = append(got, line)
		}
	}
	waits := map[waitKey]*causes.ExplainedWait{}
	for i := range c.x.waits {
		w := &c.x.waits[i]
		waits[waitKey{w.Span.G, w.Span.Start}] = w
	}
	system := map[model.GoID]bool{}
	for i := range c.x.goroutines {
		system[c.x.goroutines[i].G] = c.x.goroutines[i].System
	}
	for i := range c.x.goroutines {
		s := &c.x.goroutines[i]
		stack := c.toldStack(s.Stack)
		if s.State == model.GoUndetermined || s.State == model.GoNotExist {
			stack = ""
		}
		line := fmt.Sprintln(int64(s.G), c.x.tables.String(c.x.names[s.G]), system[s.G], c.at(s.Start), c.at(s.End), s.State, s.OpenStart, s.OpenEnd, stack)
		switch s.State {
		case model.GoRunnable:
			w := waits[waitKey{s.G, s.Start}]
			var cells [][2]int64
			if w != nil {
				for _, x := range w.Cells {
					cells = append(cells, [2]int64{int64(x.Cause), int64(x.Total)})
				}
			}
			line += fmt.Sprintln(c.x.tables.String(s.Reason), uint64(s.Origin)|uint64(s.Pseudo)<<4, int64(s.Waker), int64(s.WakerThread), int64(s.WakerProc), c.toldStack(s.WakerStack), w != nil, cells)
			if w != nil {
				line += fmt.Sprintln(w.Source, w.Grade, int64(w.LastP), int64(w.FromP))
			}
		case model.GoWaiting:
			line += c.x.tables.String(s.Reason)
		case model.GoRunning, model.GoSyscall:
			line += fmt.Sprintln(int64(s.P), int64(s.M))
		}
		want = append(want, line)
	}
	c.lines("intervals of goroutines", got, want)
}

func (c *comparison) procs() {
	var got, want []string
	for _, l := range c.d.classes[1].lanes {
		for i := range l.spans {
			s := &l.spans[i]
			got = append(got, fmt.Sprintln(l.id, c.d.words[1][s.state], s.start, s.end, s.openStart, s.openEnd, c.g(s.g), c.thread(s.thread), s.detail))
		}
	}
	for i := range c.x.procs {
		s := &c.x.procs[i]
		want = append(want, fmt.Sprintln(int64(s.P), s.State, c.at(s.Start), c.at(s.End), s.OpenStart, s.OpenEnd, int64(s.G), int64(s.M), uint8(s.Work)))
	}
	c.lines("intervals of procs", got, want)
}

func (c *comparison) threads() {
	var got, want []string
	for _, l := range c.d.classes[2].lanes {
		for i := range l.spans {
			s := &l.spans[i]
			got = append(got, fmt.Sprintln(c.thread(l.id), c.d.words[2][s.state], s.start, s.end, s.openStart, s.openEnd, c.g(s.g), int64(s.proc)-1))
		}
	}
	for i := range c.x.threads {
		s := &c.x.threads[i]
		want = append(want, fmt.Sprintln(int64(s.M), s.State, c.at(s.Start), c.at(s.End), s.OpenStart, s.OpenEnd, int64(s.G), int64(s.P)))
	}
	c.lines("intervals of threads", got, want)
}

// rest compares what is next to the lanes.
func (c *comparison) rest() {
	var area, wantArea, length, wantLength, idle, wantIdle int64
	for _, s := range c.d.depth {
		area, idle, length = area+s.area, idle+s.idle, length+s.end-s.start
	}
	for _, x := range c.x.counts {
		d := int64(x.End - x.Start)
		wantArea, wantLength = wantArea+d*int64(x.Runnable), wantLength+d
		if x.Runnable > 0 {
			wantIdle += d * int64(x.Idle)
		}
	}
	if area != wantArea || idle != wantIdle || length != wantLength {
		c.t.Errorf("depth: %d Runnable, %d idle in %d ns, want %d, %d in %d", area, idle, length, wantArea, wantIdle, wantLength)
	}
	if len(c.d.stops) != c.x.stops || len(c.d.tasks) != c.x.tasks || len(c.d.steals) != len(c.x.steals) {
		c.t.Errorf("%d stops, %d tasks, %d steals, want %d, %d, %d", len(c.d.stops), len(c.d.tasks), len(c.d.steals), c.x.stops, c.x.tasks, len(c.x.steals))
	}
	c.regions()
	if got, want := c.d.end-c.d.start, int64(c.x.end-c.x.start); got != want {
		c.t.Errorf("%d ns recorded, want %d", got, want)
	}
}

func (c *comparison) regions() {
	var got, want []string
	for _, r := range c.d.regions {
		got = append(got, fmt.Sprintln(r[0]-c.d.start, r[1], c.g(uint64(r[2])), c.d.text(uint64(r[3])), r[4], r[5]))
	}
	for _, r := range c.x.regions {
		want = append(want, fmt.Sprintln(c.at(r.Start), int64(r.End-r.Start), r.G, c.x.tables.String(r.Name), r.Depth, openBits(r.OpenStart, r.OpenEnd)))
	}
	slices.Sort(got)
	slices.Sort(want)
	c.lines("regions", got, want)
}

// TestMerged checks on every fixture that whatever is merged or left out keeps each
// lane's times, that long intervals stay as they are and that limits hold.
func TestMerged(t *testing.T) {
	merged, left := 0, int64(0)
	for _, name := range fixtures.Chosen(fixtures.Names()) {
		t.Run(name, func(t *testing.T) {
			o := Options{Spans: 400, Lanes: 20}
			rec, x := record(t, name, o)
			if rec == nil {
				t.Skip("cannot be read")
			}
			d := encodeAndDecode(t, rec)
			left += d.omitted
			if len(d.classes[0].lanes) > o.Lanes {
				t.Errorf("%d goroutines have lanes, want %d at most", len(d.classes[0].lanes), o.Lanes)
			}
			spans, lanes := 0, 0
			for i := range d.classes {
				merged += d.classes[i].check(t)
				lanes += len(d.classes[i].lanes)
				for j := range d.classes[i].lanes {
					spans += len(d.classes[i].lanes[j].spans)
				}
			}
			if most := o.Spans + 4*lanes; spans > most {
				t.Errorf("%d spans, want %d at most", spans, most)
			}
			d.checkTotals(t, x)
			d.checkLong(t, x)
			(&comparison{t: t, d: d, x: x}).area()
		})
	}
	if merged == 0 || left == 0 {
		t.Errorf("%d mixtures, %d goroutines left out: the limits are too wide to test anything", merged, left)
	}
}

// check checks each lane, and returns how many mixtures there are.
func (c *decodedClass) check(t *testing.T) (mixtures int) {
	t.Helper()
	for _, l := range c.lanes {
		var times [8]int64
		told, at := int64(0), int64(0)
		for _, s := range l.spans {
			if s.start < at || s.end <= s.start {
				t.Fatalf("lane %d: a span from %d to %d after %d", l.id, s.start, s.end, at)
			}
			at = s.end
			if !s.mixed {
				times[s.state] += s.end - s.start
				told++
				continue
			}
			mixtures++
			sum := int64(0)
			for i, d := range s.mix {
				times[i] += d
				sum += d
			}
			told += s.mixSpans
			if sum > s.end-s.start || s.mixSpans < 2 || s.end-s.start > 9*c.quantum {
				t.Errorf("lane %d: a mixture of %d spans of %d ns in %d ns", l.id, s.mixSpans, sum, s.end-s.start)
			}
		}
		if times != l.times || told != l.told {
			t.Errorf("lane %d: %d spans of %d ns, want %d of %d", l.id, told, times, l.told, l.times)
		}
	}
	return mixtures
}

// checkTotals compares the times by state, with those of goroutines left out.
func (d *decoded) checkTotals(t *testing.T, x *told) {
	t.Helper()
	got, want := [3][8]int64{d.omittedTimes}, [3][8]int64{}
	for i := range d.classes {
		for _, l := range d.classes[i].lanes {
			for s, ns := range l.times {
				got[i][s] += ns
			}
		}
	}
	for i := range x.goroutines {
		want[0][x.goroutines[i].State] += int64(x.goroutines[i].Duration())
	}
	for i := range x.procs {
		want[1][x.procs[i].State] += int64(x.procs[i].Duration())
	}
	for i := range x.threads {
		want[2][x.threads[i].State] += int64(x.threads[i].Duration())
	}
	if got != want {
		t.Errorf("times by class and state:\n got %d\nwant %d", got, want)
	}
}

// checkLong checks that intervals of a quantum and more of goroutines with a lane are
// all there.
func (d *decoded) checkLong(t *testing.T, x *told) {
	t.Helper()
	type key struct{ g, start, end int64 }
	there, lanes := map[key]bool{}, map[int64]bool{}
	for _, l := range d.classes[0].lanes {
		g := d.goroutines[l.id-1].id
		lanes[g] = true
		for _, s := range l.spans {
			there[key{g, s.start, s.end}] = !s.mixed
		}
	}
	for i := range x.goroutines {
		s := &x.goroutines[i]
		k := key{int64(s.G), int64(s.Start - x.start), int64(s.End - x.start)}
		if lanes[k.g] && d.omitted == 0 && k.end-k.start >= d.classes[0].quantum && !there[k] {
			t.Errorf("an interval of %d ns is gone, with a quantum of %d", k.end-k.start, d.classes[0].quantum)
		}
	}
}

// area compares the sum of what was Runnable.
func (c *comparison) area() {
	var got, want int64
	for _, s := range c.d.depth {
		got += s.area
	}
	for _, x := range c.x.counts {
		want += int64(x.End-x.Start) * int64(x.Runnable)
	}
	if got != want {
		c.t.Errorf("depth: %d Runnable*ns, want %d", got, want)
	}
}

// TestBytes checks that encodings are as small as asked for, and the same each time.
func TestBytes(t *testing.T) {
	const name = "tasks.go1.26.p4.trace"
	full, _ := record(t, name, Options{})
	blob, err := full.Encode()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Bytes: len(blob) * 2 / 3}
	var first []byte
	for range 2 {
		rec, x := record(t, name, o)
		small, err := rec.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(small) > o.Bytes {
			t.Errorf("%d bytes, want %d at most", len(small), o.Bytes)
		}
		if first != nil && !bytes.Equal(first, small) {
			t.Error("the same trace gives other bytes")
		}
		first = small
		d, err := decode(small)
		if err != nil {
			t.Fatal(err)
		}
		d.checkTotals(t, x)
	}
	rec, _ := record(t, name, Options{Bytes: 1})
	if _, err := rec.Encode(); err == nil {
		t.Error("one byte is enough, want an error")
	}
}
