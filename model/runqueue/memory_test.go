package runqueue_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
	"github.com/schedscope/schedscope/model/runqueue"
)

// count counts starts and listens to all the rest.
type count struct{ starts, contradicted int }

func (c *count) Start(s *runqueue.Start) {
	c.starts++
	if s.Grade == runqueue.GradeContradicted {
		c.contradicted++
	}
}
func (c *count) Steal(*runqueue.Steal)         {}
func (c *count) Overflow(*runqueue.Overflow)   {}
func (c *count) Fairness(*runqueue.Fairness)   {}
func (c *count) Injection(*runqueue.Injection) {}
func (c *count) Queue(*runqueue.Lengths)       {}
func (c *count) Wakeup(*runqueue.Wakeup)       {}

// firstNew is the first of the goroutines that live for one period only.
const firstNew = 100

// period returns the steps before and of a period of a program that ends as it
// began, and the length of the period. In it goroutines from firstNew on are
// created, woken, polled, stolen and handed to their threads, and exit.
func period(tb testing.TB) (tables *model.Tables, before, body steps, length model.Duration) {
	s := newScene(2, 2)
	s.m(1).Stop("runtime.Gosched").Start(1)
	s.m(2).Block("chan receive").ProcStop()
	from := modeltest.At(s.tick + 100)
	fresh := ids(firstNew, firstNew+39)
	s.create(fresh[:20]...)
	s.m(2).ProcStart(1)
	s.soon(2).Start(fresh[9]) // steals ten
	for _, g := range fresh[:9] {
		s.m(2).Exit()
		s.soon(2).Start(g)
	}
	s.m(2).Exit().ProcStop()
	s.m(1).Block("chan receive")
	s.soon(1).Start(fresh[19])
	for _, g := range fresh[10:19] {
		s.m(1).Block("network")
		s.soon(1).Start(g)
	}
	s.m(1).Exit()
	s.poll(fresh[11:18]...)
	s.soon(1).Start(fresh[11])
	for _, g := range fresh[12:18] {
		s.m(1).Exit()
		s.soon(1).Start(g)
	}
	s.m(1).With("main.f").Unblock(1)
	s.m(1).Exit()
	s.soon(1).Unblock(fresh[19])
	s.soon(1).Unblock(fresh[10])
	s.soon(1).Start(fresh[10])
	s.m(1).Stop("preempted")
	s.soon(1).Start(1)
	s.m(1).Syscall()
	s.m(9).ProcSteal(0)
	s.m(1).SyscallEndBlocked()
	s.soon(1).ProcStart(0)
	s.soon(1).Start(1)
	s.m(1).Stop("runtime.Gosched")
	for _, g := range []model.GoID{fresh[19], fresh[10]} {
		s.soon(1).Start(g)
		s.m(1).Exit()
	}
	s.soon(1).Start(1)
	s.m(1).Create(fresh[20], "main.g") // is locked to thread 2
	s.m(1).Stop("runtime.Gosched").ProcStop()
	s.m(2).ProcStart(0)
	s.soon(2).Start(fresh[20])
	s.m(2).Exit().ProcStop()
	s.m(1).ProcStart(0).Start(1)
	to := s.tick + 100
	s.At(to)
	list := steps(nil)
	modeltest.Apply(tb, s.Tables, 26, s.Events(), &list)
	for i := range list {
		if list[i].Time < from {
			before = append(before, list[i])
		} else {
			body = append(body, list[i])
		}
	}
	for len(body) > 0 && body[len(body)-1].Time >= modeltest.At(to) {
		body = body[:len(body)-1] // the end of the trace
	}
	return s.Tables, before, body, modeltest.At(to).Sub(from)
}

// TestMemory: what the Resolver keeps does not grow with the trace.
func TestMemory(t *testing.T) {
	starts := short(300_000)
	tables, before, body, length := period(t)
	q, err := runqueue.New(tables, 26)
	if err != nil {
		t.Fatal(err)
	}
	c := &count{}
	q.Observe(c)
	for i := range before {
		q.Step(&before[i])
	}
	var early uint64
	for n := model.GoID(0); c.starts < starts; n++ {
		for _, s := range body {
			s.Time += model.Time(n) * model.Time(length)
			s.Since += model.Time(n) * model.Time(length)
			if s.G >= firstNew {
				s.G += 100 * n
			}
			if s.By >= firstNew {
				s.By += 100 * n
			}
			q.Step(&s)
		}
		if early == 0 && c.starts > starts/10 {
			early = heap()
		}
	}
	late := heap()
	t.Logf("%d starts, %d contradicted; heap %d kB after a tenth, %d kB in the end", c.starts, c.contradicted, early>>10, late>>10)
	if late > early+256<<10 {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
	q.Finish()
}

// heap returns the bytes of live objects.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkResolver measures the Resolver without the Machine; an operation is one
// step.
func BenchmarkResolver(b *testing.B) {
	for _, name := range []string{"http.trace", "rpc.go1.26.p4.trace", "fanout.go1.26.p4.trace", "goroutines.go1.26.p4.trace", "manyprocs.go1.26.p64.trace"} {
		data, err := os.ReadFile(fixtures.Path(name))
		if err != nil {
			b.Fatal(err)
		}
		x := fold(b, data)
		for _, l := range []struct {
			name string
			o    any
		}{{"starts", struct{ runqueue.StartObserver }{&count{}}}, {"all", &count{}}} {
			b.Run(name+"/"+l.name, func(b *testing.B) {
				b.ReportAllocs()
				for n := 0; n < b.N; n += len(x.steps) {
					resolve(b, x.tables, x.version, x.steps[:min(len(x.steps), b.N-n)], l.o)
				}
			})
		}
	}
}
