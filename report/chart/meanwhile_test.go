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
	joined := slice(2200, 2600, result.UseUser, 6)
	joined.Joined = true
	named := func(slices ...analyze.ProcSlice) []analyze.ProcSlice {
		for i := range slices {
			slices[i].Func = "main.f"
		}
		return slices
	}
	two := []analyze.ProcDuring{
		{P: 0, Slices: named(slice(800, 1000, result.UseUser, 3), slice(1000, 2000, result.UseUser, 4), slice(2000, 2200, result.UseUser, 5))},
		{P: 1, Slices: named(slice(1000, 2000, result.UseUser, 5), slice(2000, 2500, result.UseSyscall, 8))},
	}
	some := append([]analyze.ProcDuring{{P: 2, Slices: named(joined)}}, two...)
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
		{"goroutines", analyze.Wait{Uses: result.Uses{result.UseUser: 9}, AntagonistFuncs: ran, Procs: two}, "main.f, 2.2µs in 2 goroutines on 2 procs"},
		{"joined", analyze.Wait{Uses: result.Uses{result.UseUser: 9}, AntagonistFuncs: ran, UnattributedFuncs: 500, Procs: some}, "main.f, ≥2.2µs in 3+ goroutines on 3 procs"},
		{"cut", analyze.Wait{Uses: result.Uses{result.UseUser: 9}, AntagonistFuncs: ran, Approximate: true, Procs: two[1:]}, "main.f, ≈2.2µs"},
	} {
		tt.w.G, tt.w.Start, tt.w.End = 7, 1000, 3000
		f, ok := meanwhileOf(&tt.w)
		if got := f.value(); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: got %q, %v, want %q", tt.name, got, ok, tt.want)
		}
	}
}

func TestAntagonistOf(t *testing.T) {
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
		if g, _, ok := antagonistOf(&w); ok != tt.want || ok && g != 5 {
			t.Errorf("%s: got G%d, %v, want %v", tt.name, g, ok, tt.want)
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
		if g, _, ok := antagonistOf(&w); ok != tt.marked || ok && g != 5 {
			t.Errorf("%s: marked G%d, %v, want %v", tt.name, g, ok, tt.marked)
		}
		if f, _ := waitedBehind(&w); f.value() != tt.fact {
			t.Errorf("%s: got %q, want %q", tt.name, f.value(), tt.fact)
		}
	}
}

// TestLossLabels checks that no part of what a wait was lost to is unnamed.
func TestLossLabels(t *testing.T) {
	sty := style(textSize, ink)
	ls := []loss{{result.CauseGoroutine, 26e6}, {result.CauseOSGap, 4e6}, {result.CausePickup, 3000}, {result.CauseSwitching, 500}}
	for free := vg.Length(5); free < 800; free += 5 {
		labels, rest := lossLabels(sty, ls, 30e6+3500, free)
		if left := len(ls) - len(labels); left < 2 || rest != restLabel(ls[len(labels):]) {
			t.Errorf("in %v: got %q and %q", free, labels, rest)
		}
	}
	if got, want := restLabel(ls[2:]), "2 others 3.5µs"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := restLabel(ls[3:]), "switching 500ns"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFitFacts checks what is left of names when there is less and less room.
func TestFitFacts(t *testing.T) {
	sty := boldStyle(headingSize, ink)
	f := fact{before: "created by goroutine 12, ", fn: "http.(*Transport).startDialConnForLocked.func1"}
	g := fact{fn: "main.subscriber", after: []string{", 261ms", " in 40 goroutines", " on 2 procs"}}
	for _, tt := range []struct {
		f    fact
		want string // fits exactly; anything less wide gives next
		next string
	}{
		{f, f.value(), "created by goroutine 12, (*Transport).startDialConnForLocked.func1"},
		{f, "created by goroutine 12, (*Transport).startDialConnForLocked.func1", "created by goroutine 12, startDialConnForLocked.func1"},
		{f, "created by goroutine 12", "created … goroutine 12"},
		{procAt("RAN ON", 3, 1234567), "P3 at 1.23457ms", "P3"},
		{procAt("RAN ON", model.NoProc, 1234567), "no proc, at 1.23457ms", "no proc"},
		{g, g.value(), "main.subscriber, 261ms in 40 goroutines"},
		{g, "main.subscriber, 261ms in 40 goroutines", "subscriber, 261ms in 40 goroutines"},
		{g, "main.subscriber, 261ms", "subscriber, 261ms"},
	} {
		w := sty.Width(tt.want)
		if got := tt.f.fit(sty, w); got != tt.want {
			t.Errorf("in %v: got %q, want %q", w, got, tt.want)
		}
		if got := tt.f.fit(sty, w-0.1); got != tt.next {
			t.Errorf("in %v: got %q, want %q", w-0.1, got, tt.next)
		}
	}
	fs := []fact{f, {name: "RAN ON", before: "P1"}, g}
	small := style(smallSize, ink)
	for free := vg.Length(600); free > 50; free -= 7 {
		values, widths := fitFacts(fs, sty, small, free)
		sum := vg.Length(0)
		for i, v := range values {
			sum += widths[i]
			if sty.Width(v) > widths[i]+1e-3 {
				t.Fatalf("%v for all: %q is wider than its %v", free, v, widths[i])
			}
		}
		if sum > free+1e-3 {
			t.Fatalf("%v for all: took %v", free, sum)
		}
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
