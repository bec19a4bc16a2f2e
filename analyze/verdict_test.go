package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// scene is a trace of one second on two procs, made up of a few records.
type scene struct {
	records
	r *Report
	f testFeed
}

func newScene() *scene {
	rec := newRecords()
	s := &scene{records: rec, r: New(rec.tables, Options{})}
	s.f = newTestFeed(s.r)
	return s
}

// waits adds n equal waits, one after the other, with bursts after them.
func (s *scene) waits(fn string, n int, length, burst model.Duration) {
	g := s.goroutine(1, fn)
	for i := range n {
		start := model.Duration(i) * (length + burst)
		s.f.GoSpan(goSpan(g, model.GoRunnable, start, length))
		s.f.GoSpan(goSpan(g, model.GoRunning, start+length, burst))
	}
}

// procs fills both procs with the same for a second.
func (s *scene) procs(state model.ProcState, work model.WorkKind, fn string) {
	for p := range model.ProcID(2) {
		x := s.procSpan(p, model.GoID(50+p), fn, 0, 1000*ms)
		x.State, x.Work = state, work
		if state == model.ProcIdle {
			x.G, x.Func = model.NoGoroutine, 0
		}
		s.f.ProcSpan(x)
	}
}

func (s *scene) verdict() []result.Finding {
	s.r.Finish(0, model.Time(1000*ms))
	return findings.Verdict(s.r.Result())
}

func TestVerdict(t *testing.T) {
	whole := func(c model.Counts) *model.Counts {
		c.End, c.Procs = model.Time(1000*ms), 2
		return &c
	}
	for _, tt := range []struct {
		name  string
		play  func(*scene)
		kinds string // of all findings, in order
		first string // part of the first text
	}{
		{"empty", func(*scene) {}, "no-waits", "no goroutine"},
		{"quiet", func(s *scene) { s.waits("main.f", 200, 5*us, 5*us) }, "no-notable-waiting", "the longest 5.00µs"},
		{"saturated", func(s *scene) {
			s.waits("main.f", 200, 4*ms, ms)
			s.procs(model.ProcRunning, model.WorkUser, "main.hog")
			s.f.Counts(whole(model.Counts{Running: 2, Runnable: 3}))
		}, "waiting procs-saturated", "Goroutines waited to run"},
		{"idle", func(s *scene) {
			s.waits("main.f", 200, 4*ms, ms)
			s.procs(model.ProcIdle, model.WorkUser, "")
			s.f.Counts(whole(model.Counts{Idle: 2, Runnable: 1}))
		}, "waiting idle-while-runnable", "Goroutines waited to run"},
		{"syscalls", func(s *scene) {
			s.waits("main.f", 200, 4*ms, ms)
			s.procs(model.ProcSyscall, model.WorkUser, "main.reader")
			x := goSpan(s.goroutine(1, "main.f"), model.GoRunnable, 0, 4*ms)
			x.Origin = model.OriginSyscall
			s.f.GoSpan(x)
			s.f.SyscallExit(&model.SyscallExit{Func: s.str("main.f"), End: 10, Path: model.ExitQueued})
			s.f.Counts(whole(model.Counts{Syscall: 2, Runnable: 1}))
		}, "waiting procs-saturated syscall-exits-queue", "Goroutines waited to run"},
		{"in part", func(s *scene) {
			s.waits("main.f", 200, 5*us, 5*us)
			x := goSpan(s.goroutine(2, "main.g"), model.GoRunnable, 0, 50*ms)
			x.OpenStart = true
			s.f.GoSpan(x)
			s.f.GoSpan(x)
		}, "waiting", "2 waits are seen in part only, because the trace begins or ends in them, the longest for 50.0ms at least"},
		{"blocked", func(s *scene) {
			s.waits("main.f", 200, 5*us, 5*us)
			x := goSpan(s.goroutine(1, "main.f"), model.GoWaiting, 0, 9*ms)
			x.Reason = s.str("sync")
			for range 100 {
				s.f.GoSpan(x)
			}
			g := s.goroutine(1, "main.f")
			g.Times[model.GoWaiting] = 1000 * ms
			s.f.GoEnd(g)
		}, "no-notable-waiting lock", "No wait to run was notably long"},
		{"few", func(s *scene) {
			s.waits("main.f", 1, 5*us, 5*us)
			s.waits("main.g", 2, 7*us, 5*us)
		}, "no-notable-waiting", "3 waits took 5.00µs to 7.00µs"},
		{"long bursts", func(s *scene) {
			s.waits("main.f", 20, 15*ms, 30*ms)
		}, "waiting long-bursts", "at most 15.0ms (main.f, at 15.0ms)"},
		{"starving", func(s *scene) {
			s.waits("main.f", 200, 5*us, 5*us)
			x := goSpan(s.goroutine(2, "main.g"), model.GoRunnable, 0, 700*ms)
			x.OpenEnd = true
			s.f.GoSpan(x)
		}, "waiting starving", "1 wait is seen in part only, because the trace begins or ends in it, for 700ms at least"},
		{"network", func(s *scene) {
			s.waits("main.f", 200, 5*us, 5*us)
			for range 20 {
				s.f.Netpoll(&model.NetpollWake{Poller: model.PollerSysmon, Time: 10, Started: 20})
			}
		}, "no-notable-waiting netpoll-late", ""},
		{"retakes", func(s *scene) {
			for range 5000 {
				s.f.Handoff(&model.Handoff{Cause: model.HandoffSysmon, Got: 20})
			}
		}, "no-waits sysmon-retakes", ""},
		{"herd", func(s *scene) {
			g := s.goroutine(9, "main.waiter")
			stack := s.tables.AddStack([]model.Frame{{Func: "sync.(*Cond).Broadcast"}, {Func: "main.main"}})
			for i := range model.Time(150) {
				at := model.Time(100*ms) + i
				s.f.Counts(&model.Counts{Start: at, End: at + 1, Procs: 2, Runnable: int(i) + 1})
			}
			for i := range model.Duration(150) {
				x := goSpan(g, model.GoRunnable, 100*ms+i, 20*ms+2*i)
				if i >= 10 {
					x.Origin, x.Waker, x.WakerStack = model.OriginGoroutine, 1, stack
				}
				s.f.GoSpan(x)
			}
		}, "waiting batch", "Goroutines waited"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene()
			tt.play(s)
			found := s.verdict()
			var kinds []string
			for _, f := range found {
				kinds = append(kinds, f.Kind)
				if strings.Contains(f.Text, "%!") || strings.Contains(f.Text, "%%") {
					t.Errorf("badly formatted: %s", f.Text)
				}
			}
			if got := strings.Join(kinds, " "); got != tt.kinds {
				t.Errorf("findings %s, want %s", got, tt.kinds)
			}
			if !strings.Contains(found[0].Text, tt.first) {
				t.Errorf("first finding %q, want one with %q", found[0].Text, tt.first)
			}
		})
	}
}

func TestNamesInText(t *testing.T) {
	s := newScene()
	s.waits("evil%s\x1b[2J\nname", 200, 20*ms, ms)
	s.procs(model.ProcRunning, model.WorkUser, "100%d\x07")
	for _, f := range s.verdict() {
		if strings.ContainsFunc(f.Text, func(r rune) bool { return r < ' ' }) || strings.Contains(f.Text, "%!") {
			t.Errorf("text %q", f.Text)
		}
	}
}

// TestFindingsSorted checks that what is serious comes before what is not.
func TestFindingsSorted(t *testing.T) {
	s := newScene()
	s.waits("main.f", 200, 20*ms, 30*ms)
	s.f.Counts(&model.Counts{End: model.Time(1000 * ms), Procs: 2, Running: 2, Runnable: 3})
	found := s.verdict()[1:]
	if len(found) < 2 || !slices.IsSortedFunc(found, func(a, b result.Finding) int { return int(b.Severity) - int(a.Severity) }) {
		t.Errorf("findings are not sorted by severity: %+v", found)
	}
}

// TestVerdictNumber checks sentences about a single goroutine or wait.
func TestVerdictNumber(t *testing.T) {
	s := newScene()
	s.waits("main.f", 1, 5*us, 5*us)
	x := goSpan(s.goroutine(2, "main.g"), model.GoRunnable, 0, 700*ms)
	x.OpenEnd = true
	s.f.GoSpan(x)
	found := s.verdict()
	if len(found) != 2 {
		t.Fatalf("got %d findings, want 2", len(found))
	}
	if want := "Goroutines waited to run: 1 wait took 5.00µs (main.f, at 5.00µs). 1 wait is seen in part only"; !strings.HasPrefix(found[0].Text, want) {
		t.Errorf("headline: %q, want %q at its beginning", found[0].Text, want)
	}
	if want := "1 goroutine was waiting to run, for 700ms already"; !strings.Contains(found[1].Text, want) {
		t.Errorf("starving: %q, want %q in it", found[1].Text, want)
	}
}
