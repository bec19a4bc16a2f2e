package requests

import (
	"testing"

	"github.com/schedscope/schedscope/model"
)

// TestSlept checks what shows that a goroutine polls: it sleeps at one place again, and only ran in between.
func TestSlept(t *testing.T) {
	sleep := segment{kind: Sleep, stack: 1}
	for name, tt := range map[string]struct {
		before []segment
		want   bool
	}{
		"again":            {[]segment{sleep, {kind: Runnable}, {kind: Running}}, true},
		"woke somebody":    {[]segment{sleep, {kind: Runnable}, {kind: Running, stack: 2}, {kind: Running}}, false},
		"wrote":            {[]segment{sleep, {kind: Runnable}, {kind: Running}, {kind: Syscall}, {kind: Running}}, false},
		"at another place": {[]segment{{kind: Sleep, stack: 3}, {kind: Runnable}, {kind: Running}}, false},
		"for the first":    {nil, false},
	} {
		g := &goroutine{segs: append(tt.before, sleep)}
		if got := g.slept(len(tt.before), 1); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}

// TestExpires checks what shows that a deadline ended a wait to read: that nothing is read then.
func TestExpires(t *testing.T) {
	tables := model.NewTables()
	stack := func(names ...string) model.StackID {
		var frames []model.Frame
		for _, n := range names {
			frames = append(frames, model.Frame{Func: n})
		}
		return tables.AddStack(frames)
	}
	wait, read, write := stack("internal/poll.(*FD).Read", "main.ask"), stack("syscall.read", "internal/poll.(*FD).Read", "main.ask"), stack("syscall.write", "internal/poll.(*FD).Write", "main.ask")
	w := &walker{t: &Tracker{tables: tables}}
	for name, tt := range map[string]struct {
		stack model.StackID
		then  []segment
		state model.GoState // since then
		at    model.StackID
		want  bool
	}{
		"read":              {wait, []segment{{kind: Runnable}, {kind: Running}, {kind: Syscall, stack: read}}, 0, 0, false},
		"asked again":       {wait, []segment{{kind: Runnable}, {kind: Running}, {kind: GC}, {kind: Syscall, stack: write}}, 0, 0, true},
		"slept":             {wait, []segment{{kind: Running}, {kind: Sleep, waits: true}}, 0, 0, true},
		"reads":             {wait, []segment{{kind: Running}}, model.GoSyscall, read, false},
		"writes":            {wait, nil, model.GoSyscall, write, true},
		"runs":              {wait, nil, model.GoRunning, wait, false},
		"was not to read":   {stack("internal/poll.(*FD).Accept"), []segment{{kind: Syscall, stack: write}}, 0, 0, false},
		"waits for unknown": {wait, []segment{{kind: Unknown}}, 0, 0, false},
	} {
		g := &goroutine{segs: append([]segment{{kind: Network, stack: tt.stack, waits: true}}, tt.then...), state: tt.state, stack: tt.at}
		if got := w.expires(g, 0); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
