package chart

import (
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

func TestMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		uses result.Uses
		want string
	}{
		{result.Uses{}, ""},
		{result.Uses{result.UseUnknown: 90, result.UseUser: 10}, ""},
		{result.Uses{result.UseSyscall: 96, result.UseUser: 4}, "in syscalls 96%"},
		{result.Uses{result.UseIdle: 998, result.UseUser: 2}, "idle 99.8%"},
	} {
		x := &history{wait: &result.Wait{Duration: 2000}, uses: tt.uses}
		if got := x.meanwhile(); got.value != tt.want || (got.name != "") != (tt.want != "") {
			t.Errorf("%v: got %q, want %q", tt.uses, got, tt.want)
		}
	}
}

func TestMarked(t *testing.T) {
	user := func(d model.Duration) *result.Uses { return &result.Uses{result.UseUser: d} }
	for _, tt := range []struct {
		name string
		ran  map[model.GoID]*result.Uses
		want bool
	}{
		{"nobody", nil, false},
		{"ran for long", map[model.GoID]*result.Uses{5: user(200)}, true},
		{"as long as another", map[model.GoID]*result.Uses{5: user(200), 6: user(200)}, true},
		{"one of many", map[model.GoID]*result.Uses{5: user(199)}, false},
		{"the waiter", map[model.GoID]*result.Uses{7: user(900), 5: user(100)}, false},
		{"mark worker first", map[model.GoID]*result.Uses{9: {result.UseGC: 900}, 5: user(300)}, true},
	} {
		x := &history{wait: &result.Wait{Goroutine: 7, Duration: 2000}, ran: tt.ran}
		if g, role := x.marked(); (role != "") != tt.want || tt.want && g != 5 {
			t.Errorf("%s: got G%d, %q, want %v", tt.name, g, role, tt.want)
		}
	}
}

// TestWaitedBehind checks that where causes are known the picture shows whom a
// wait was behind, not who ran meanwhile on another proc.
func TestWaitedBehind(t *testing.T) {
	cells := []result.CauseTotal{{Cause: result.CauseGoroutine.String(), Total: 2000}}
	for _, tt := range []struct {
		name     string
		blockers []result.Blocker
		marked   bool
		fact     string
	}{
		{"nobody", nil, false, ""},
		{"one", []result.Blocker{{Goroutine: 5, Function: "a/b.f", Total: 1900}}, true, "G5 b.f, 1.9µs"},
		{"after a worker", []result.Blocker{{Goroutine: 9, Function: "runtime.gcBgMarkWorker", Work: model.WorkGCIdle.String(), Total: 1000}, {Goroutine: 5, Function: "f", Total: 900}},
			true, "G9 runtime.gcBgMarkWorker, 1µs, and 1 more"},
		{"several", []result.Blocker{{Goroutine: model.NoGoroutine, Function: "(earlier)", Total: 1900}}, false, "(earlier), 1.9µs"},
		{"in a system call", []result.Blocker{{Goroutine: 5, Function: "f", Syscall: true, Total: 1500}}, false, "G5 f, 1.5µs in a system call"},
		{"assisting", []result.Blocker{{Goroutine: 5, Function: "f", Work: model.WorkGCAssist.String(), Total: 1500}}, false, "G5 f, 1.5µs of GC assist"},
		{"for a little", []result.Blocker{{Goroutine: 5, Function: "f", Total: 199}}, false, ""},
	} {
		x := &history{wait: &result.Wait{Goroutine: 7, Duration: 2000, Causes: cells, Blockers: tt.blockers}}
		if g, role := x.marked(); (role != "") != tt.marked || tt.marked && g != 5 {
			t.Errorf("%s: marked G%d, %q, want %v", tt.name, g, role, tt.marked)
		}
		if f := x.meanwhile(); f.value != tt.fact {
			t.Errorf("%s: got %q, want %q", tt.name, f, tt.fact)
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
