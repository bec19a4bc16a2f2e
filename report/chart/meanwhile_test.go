package chart

import (
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
	"gonum.org/v1/plot/vg"
)

func TestMeanwhile(t *testing.T) {
	type funcs = []analyze.AntagonistFunc
	two := make([]analyze.ProcDuring, 2)
	ran := funcs{{Func: "runtime.gcBgMarkWorker", Use: result.UseGC, Total: 9000}, {Func: "x/main.g", Use: result.UseSyscall, Total: 3000}, {Func: "main.f", Use: result.UseUser, Total: 2200}}
	for _, tt := range []struct {
		name string
		w    analyze.Wait
		want string
	}{
		{"nothing known", analyze.Wait{}, ""},
		{"system calls", analyze.Wait{Uses: result.Uses{result.UseSyscall: 96, result.UseUser: 4}, AntagonistFuncs: ran, Procs: two}, "procs in system calls 96%: main.g"},
		{"system calls of nobody known", analyze.Wait{Uses: result.Uses{result.UseSyscall: 96, result.UseUser: 4}, Procs: two}, "procs in system calls 96%"},
		{"idle", analyze.Wait{Uses: result.Uses{result.UseIdle: 998, result.UseUser: 2}, AntagonistFuncs: ran, Procs: two[:1]}, "proc idle 99.8%"},
		{"collector and assists", analyze.Wait{Uses: result.Uses{result.UseGC: 30, result.UseAssist: 30, result.UseUser: 40}, AntagonistFuncs: ran, Procs: two}, "procs in garbage collection 60%"},
		{"goroutines", analyze.Wait{Uses: result.Uses{result.UseUser: 9}, AntagonistFuncs: ran, Procs: two}, "main.f, 2.2µs"},
		{"joined", analyze.Wait{Uses: result.Uses{result.UseUser: 9}, AntagonistFuncs: ran, UnattributedFuncs: 500, Procs: two}, "main.f, ≥2.2µs"},
		{"cut", analyze.Wait{Uses: result.Uses{result.UseUser: 9}, AntagonistFuncs: ran, Approximate: true, Procs: two[1:]}, "main.f, ≈2.2µs"},
	} {
		tt.w.G, tt.w.Start, tt.w.End = 7, 1000, 3000
		if got := meanwhile(&tt.w); got.value != tt.want || (got.name != "") != (tt.want != "") {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestMarkedIn(t *testing.T) {
	for _, tt := range []struct {
		name string
		as   []analyze.Antagonist
		want bool
	}{
		{"nobody", nil, false},
		{"ran for long", []analyze.Antagonist{{G: 5, Total: 200}}, true},
		{"one of many", []analyze.Antagonist{{G: 5, Total: 199}}, false},
		{"the waiter", []analyze.Antagonist{{G: 7, Total: 900}, {G: 5, Total: 100}}, false},
		{"mark worker first", []analyze.Antagonist{{G: 9, Use: result.UseGC, Total: 900}, {G: 5, Total: 300}}, true},
	} {
		w := analyze.Wait{G: 7, Start: 0, End: 2000, Antagonists: tt.as}
		if g, role := markedIn(&w); (role != "") != tt.want || tt.want && g != 5 {
			t.Errorf("%s: got G%d, %q, want %v", tt.name, g, role, tt.want)
		}
	}
}

// TestWaitedBehind checks that where causes are known the picture shows whom a
// wait was behind, not who ran meanwhile on another proc.
func TestWaitedBehind(t *testing.T) {
	cells := []analyze.Cell{{Cause: result.CauseGoroutine, Total: 2000}}
	for _, tt := range []struct {
		name     string
		blockers []analyze.Blocker
		marked   bool
		fact     string
	}{
		{"nobody", nil, false, ""},
		{"one", []analyze.Blocker{{G: 5, Func: "a/b.f", Total: 1900}}, true, "G5 b.f, 1.9µs"},
		{"after a worker", []analyze.Blocker{{G: 9, Func: "runtime.gcBgMarkWorker", Work: model.WorkGCIdle, Total: 1000}, {G: 5, Func: "f", Total: 900}},
			true, "G9 runtime.gcBgMarkWorker, 1µs, and 1 more"},
		{"several", []analyze.Blocker{{G: model.NoGoroutine, Func: "(earlier)", Total: 1900}}, false, "(earlier), 1.9µs"},
		{"in a system call", []analyze.Blocker{{G: 5, Func: "f", Syscall: true, Total: 1500}}, false, "G5 f, 1.5µs in a system call"},
		{"assisting", []analyze.Blocker{{G: 5, Func: "f", Work: model.WorkGCAssist, Total: 1500}}, false, "G5 f, 1.5µs of GC assist"},
		{"for a little", []analyze.Blocker{{G: 5, Func: "f", Total: 199}}, false, ""},
	} {
		w := analyze.Wait{G: 7, End: 2000, Cells: cells, Blockers: tt.blockers, Antagonists: []analyze.Antagonist{{G: 8, Total: 2000}}}
		if g, role := markedIn(&w); (role != "") != tt.marked || tt.marked && g != 5 {
			t.Errorf("%s: marked G%d, %q, want %v", tt.name, g, role, tt.marked)
		}
		if f := meanwhile(&w); f.value != tt.fact {
			t.Errorf("%s: got %q, want %q", tt.name, f, tt.fact)
		}
	}
}

// TestLossLabels checks that no part of what a wait was lost to is unnamed.
func TestLossLabels(t *testing.T) {
	sty := style(textSize, ink)
	cells := []analyze.Cell{{Cause: result.CauseGoroutine, Total: 26e6}, {Cause: result.CauseOSGap, Total: 4e6}, {Cause: result.CausePickup, Total: 3000}, {Cause: result.CauseSwitching, Total: 500}}
	rests := map[int]string{4: "4 others 30ms", 3: "3 others 4ms", 2: "2 others 3.5µs"}
	for free := vg.Length(5); free < 800; free += 5 {
		labels, rest := lossLabels(sty, cells, 30e6+3500, free, 9)
		if left := len(cells) - len(labels); left < 2 || rest != rests[left] {
			t.Errorf("in %v: got %q and %q", free, labels, rest)
		}
	}
	if _, rest := lossLabels(sty, cells[2:], 3500, 200, 9); rest != "switching 500ns" {
		t.Errorf("got %q", rest)
	}
}

func TestBarLabel(t *testing.T) {
	sty := style(smallSize, ink)
	b := bar{g: 81, name: "http.(*conn).serve"}
	for _, tt := range []struct{ want, next string }{
		{"G81 http.(*conn).serve", "G81 (*conn).serve"},
		{"G81 (*conn).serve", "G81 serve"},
		{"G81 serve", "G81"},
		{"G81", ""},
	} {
		w := sty.Width(tt.want) + 1e-6
		if got := b.label(sty, w); got != tt.want {
			t.Errorf("in %v: got %q, want %q", w, got, tt.want)
		}
		if got := b.label(sty, w-0.1); got != tt.next {
			t.Errorf("in %v: got %q, want %q", w-0.1, got, tt.next)
		}
	}
	if got := (bar{g: model.NoGoroutine, name: "5 procs idle"}).label(sty, 200); got != "5 procs idle" {
		t.Errorf("no goroutine: got %q", got)
	}
}
