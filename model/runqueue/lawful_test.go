package runqueue_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
	. "github.com/schedscope/schedscope/model/runqueue"
)

// A lawful is a scheduler as in runtime/proc.go, written for these tests, that
// knows how each goroutine came to run. Nothing in it happens at the same time, so
// that its traces leave nothing open but where each schedtick stands at first.
type lawful struct {
	*scene
	rnd     *rand.Rand
	procs   []*lawfulProc
	global  []*lawfulG
	waiting []*lawfulG
	next    model.GoID
	alive   int
	gosched int // percent of those that call Gosched, of those that may
	truth   map[key]way
}

type lawfulProc struct {
	id   model.ProcID
	m    model.ThreadID
	g    *lawfulG
	next *lawfulG
	q    []*lawfulG
	tick int
	idle bool
}

type lawfulG struct {
	id  model.GoID
	way way // as far as it is known
}

func newLawful(procs int, seed uint64) *lawful {
	l := &lawful{scene: newScene(procs, procs), rnd: rand.New(rand.NewPCG(seed, 1)), next: model.GoID(procs + 1), alive: procs, truth: map[key]way{}}
	for i := range procs {
		l.procs = append(l.procs, &lawfulProc{id: model.ProcID(i), m: model.ThreadID(i + 1), g: &lawfulG{id: model.GoID(i + 1)}, tick: l.rnd.IntN(61)})
	}
	return l
}

// enqueued begins the way of a goroutine that becomes runnable.
func (g *lawfulG) enqueued(where Place, p model.ProcID) {
	g.way = way{Enqueued: where, QueueP: p, FromP: none, Via: ViaOwn}
}

func (l *lawful) putGlobal(g *lawfulG) { l.global = append(l.global, g) }

func (l *lawful) putNext(p *lawfulProc, g *lawfulG) {
	g.enqueued(PlaceRunnext, p.id)
	kicked := p.next
	if p.next = g; kicked != nil {
		l.putTail(p, kicked)
	}
}

func (l *lawful) putTail(p *lawfulProc, g *lawfulG) {
	if len(p.q) == 256 {
		l.global = append(append(l.global, p.q[:128]...), g)
		p.q = append([]*lawfulG(nil), p.q[128:]...)
		return
	}
	p.q = append(p.q, g)
}

// create makes proc p's goroutine create another one.
func (l *lawful) create(p *lawfulProc) {
	g := &lawfulG{id: l.next}
	l.next, l.alive = l.next+1, l.alive+1
	l.soon(p.m).Create(g.id, "main.g")
	l.putNext(p, g)
}

// stop makes proc p's goroutine stop in some way, and p look for another one.
func (l *lawful) stop(p *lawfulProc) {
	g, m := p.g, l.m(p.m)
	p.g = nil
	switch k := l.rnd.IntN(10); {
	case k < 5:
		m.Block("chan receive")
		l.waiting = append(l.waiting, g)
	case k < 7 && l.alive > 2*len(l.procs):
		m.Exit()
		l.alive--
	case k < 8:
		m.With("runtime.goyield").Stop("preempted")
		g.enqueued(PlaceLocal, p.id)
		l.putTail(p, g)
	case l.rnd.IntN(100) < l.gosched:
		m.Stop("runtime.Gosched")
		g.enqueued(PlaceGlobal, none)
		l.putGlobal(g)
	default:
		m.Block("chan receive")
		l.waiting = append(l.waiting, g)
	}
	l.schedule(p)
}

// schedule finds proc p something to run, or lets it become idle.
func (l *lawful) schedule(p *lawfulProc) {
	g := l.find(p)
	if p.idle = g == nil; p.idle {
		l.soon(p.m).ProcStop()
		return
	}
	if g.way.Source != SourceRunnext {
		p.tick++
	}
	if g.way.Source != SourceLocal {
		g.way.Via = ViaNone
	}
	l.soon(p.m).Start(g.id)
	l.truth[key{g.id, modeltest.At(l.tick)}] = g.way
	p.g = g
}

// find is findRunnable.
func (l *lawful) find(p *lawfulProc) (g *lawfulG) {
	if p.tick%61 == 0 && len(l.global) > 0 {
		return l.batch(p, 1)
	}
	if g = p.next; g != nil {
		p.next, g.way.Source = nil, SourceRunnext
		return g
	}
	if len(p.q) > 0 {
		g, p.q = p.q[0], p.q[1:]
		g.way.Source = SourceLocal
		return g
	}
	if n := len(l.global); n > 0 {
		return l.batch(p, min(128, n, n/len(l.procs)+1))
	}
	for _, i := range l.rnd.Perm(len(l.procs)) {
		if v := l.procs[i]; v != p && len(v.q) > 0 {
			return l.steal(p, v)
		}
	}
	for _, v := range l.procs {
		if g = v.next; v != p && g != nil && l.rnd.IntN(2) == 0 {
			l.tick += 1000
			v.next, g.way.Source, g.way.FromP, g.way.Batch = nil, SourceStealRunnext, v.id, 1
			return g
		}
	}
	return nil
}

// batch takes n from the global queue, the first of which is to run.
func (l *lawful) batch(p *lawfulProc, n int) *lawfulG {
	list := l.global[:n]
	l.global = l.global[n:]
	for _, g := range list {
		g.way.Source, g.way.Via, g.way.FromP, g.way.Batch = SourceGlobal, ViaGlobal, none, n
	}
	p.q = append(p.q, list[1:]...)
	return list[0]
}

// steal takes half of v's queue, the last of which is to run.
func (l *lawful) steal(p, v *lawfulProc) *lawfulG {
	n := len(v.q) - len(v.q)/2
	list := v.q[:n]
	v.q = v.q[n:]
	for _, g := range list {
		g.way.Source, g.way.Via, g.way.FromP, g.way.Batch = SourceSteal, ViaSteal, v.id, n
	}
	p.q = append(p.q, list[:n-1]...)
	return list[n-1]
}

// step lets some proc do something.
func (l *lawful) step(most int) {
	p := l.procs[l.rnd.IntN(len(l.procs))]
	switch k := l.rnd.IntN(8); {
	case p.idle:
		l.wake(p)
	case k < 2 && l.alive < most:
		burst := 1
		if l.rnd.IntN(50) == 0 {
			burst = min(400, most-l.alive)
		}
		for range burst {
			l.create(p)
		}
	case k < 5 && len(l.waiting) > 0:
		g := take(&l.waiting, l.rnd.IntN(1<<20))
		l.soon(p.m).With("main.f").Unblock(g.id)
		l.putNext(p, g)
	default:
		l.stop(p)
	}
}

// wake makes an idle proc look for something to run; sometimes a timer is due.
func (l *lawful) wake(p *lawfulProc) {
	l.soon(p.m).ProcStart(p.id)
	if len(l.waiting) > 0 && l.rnd.IntN(4) == 0 {
		g := take(&l.waiting, l.rnd.IntN(1<<20))
		l.soon(p.m).Unblock(g.id)
		l.putNext(p, g)
	}
	l.schedule(p)
}

// score compares what is told with the truth. It returns the shares of the starts
// that are right and that are certain. What is certain must be right.
func (l *lawful) score(t *testing.T, r *record) (right, certain float64) {
	t.Helper()
	good, wrong, sure := 0, 0, 0
	for i := range r.starts {
		x := &r.starts[i]
		want, ok := l.truth[key{x.G, x.Time}]
		if !ok {
			t.Fatalf("told of a start that was not: %+v", *x)
		}
		if x.Grade == GradeCertain {
			sure++
		}
		want.Grade = x.Grade
		got := way{x.Source, x.Via, x.FromP, x.Batch, x.Enqueued, x.QueueP, x.Grade}
		if got == want {
			good++
			continue
		}
		if wrong++; wrong <= 2 || x.Grade == GradeCertain {
			t.Logf("at %d goroutine %d:\n got %+v\nwant %+v", x.Time, x.G, got, want)
		}
		if x.Grade == GradeCertain {
			t.Errorf("certain, but wrong")
		}
	}
	if good+wrong != len(l.truth) {
		t.Errorf("told %d starts, want %d", good+wrong, len(l.truth))
	}
	return float64(good) / float64(good+wrong), float64(sure) / float64(good+wrong)
}

// TestRecovery resolves schedules whose truth is known.
func TestRecovery(t *testing.T) {
	for seed, procs := range []int{1, 2, 2, 4, 4, 8, 16} {
		for _, most := range []int{2 * procs, 40 * procs, 1500} {
			t.Run(fmt.Sprintf("seed %d, %d procs, %d goroutines", seed, procs, most), func(t *testing.T) {
				l := newLawful(procs, uint64(seed))
				l.gosched = []int{100, 0, 10}[seed%3]
				for range short(12_000) {
					l.step(most)
				}
				r := &record{}
				resolve(t, l.Tables, 26, stepsOf(t, l.Builder, 26), r)
				right, certain := l.score(t, r)
				t.Logf("%d starts, %d steals, %d overflows: %.4f right, %.4f certain", len(r.starts), len(r.steals), len(r.overflows), right, certain)
				if right < 0.999 || certain < 0.95 {
					t.Errorf("of %d starts %.4f are right and %.4f certain, want 0.999 and 0.95", len(r.starts), right, certain)
				}
			})
		}
	}
}

// TestScale: the time per step must not grow with the number of goroutines that
// stand in line.
func TestScale(t *testing.T) {
	perStep := func(n int) time.Duration {
		l := newLawful(4, 1)
		for range n {
			l.create(l.procs[0])
		}
		for range 3 * n {
			l.step(0)
		}
		list := stepsOf(t, l.Builder, 26)
		best := time.Hour
		for range 3 {
			began := time.Now()
			resolve(t, l.Tables, 26, list, &count{})
			best = min(best, time.Since(began))
		}
		return best / time.Duration(len(list))
	}
	var few, many time.Duration
	for range 20 { // other work on the machine can make many of these wrong
		few, many = perStep(short(1000)), perStep(short(16_000))
		if t.Logf("%v per step with few goroutines, %v with many", few, many); many <= 10*few {
			return
		}
	}
	t.Errorf("%v per step with 16 times the goroutines, %v before", many, few)
}
