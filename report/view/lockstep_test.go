package view_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/schedscope/schedscope/analyze/lockstep"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/model/runqueue"
	"github.com/schedscope/schedscope/report/document"
	"github.com/schedscope/schedscope/report/view"
)

// lockstepOf is a report with a divergence that has these words.
func lockstepOf(did, want string, traces int) *view.Lockstep {
	r := &lockstep.Result{Version: 26}
	r.Kinds[lockstep.Pick] = lockstep.Tally{Judged: 1000, Agreed: 997, Excluded: 10}
	r.Kinds[lockstep.Pick].Diverged[lockstep.OrderRace] = 2
	r.Kinds[lockstep.Pick].Diverged[lockstep.Unexplained] = 1
	r.Unexplained = []lockstep.Divergence{{Kind: lockstep.Pick, Class: lockstep.Unexplained, Time: 5_000_000, P: 1, M: 7, G: 9, Did: did, Want: want, Rule: "runtime/proc.go: findRunnable", Waited: 2_000_000,
		State: &runqueue.Decision{Place: runqueue.PlaceLocal, At: 2, Index: 3, Next: 4, Own: runqueue.Queue{Len: 5}, Global: runqueue.Queue{Len: 6},
			Victim: runqueue.Queue{Len: 8}, Tick: 60, Idle: 1, Procs: 4}}}
	d := view.NewLockstep()
	for range traces {
		d.Add(result.Trace{Name: "made-up.trace", Format: "go 1.26", Bytes: -1, Complete: true}, 1_000_000, r)
	}
	d.Finish(nil)
	return d
}

func renderLockstep(t *testing.T, d *view.Lockstep) (text, js string) {
	t.Helper()
	var a, b bytes.Buffer
	if err := view.LockstepText(&a, d, document.TextOptions{Unicode: true}); err != nil {
		t.Fatal(err)
	}
	if err := savedfile.WriteJSON(&b, d, true); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

func TestLockstepGolden(t *testing.T) {
	text, js := renderLockstep(t, lockstepOf("ran local", "take goroutine 4 from runnext", 1))
	golden(t, "lockstep.txt", text)
	golden(t, "lockstep.json", js)
}

func TestLockstepHostile(t *testing.T) {
	for _, name := range hostile {
		text, js := renderLockstep(t, lockstepOf(name, name, 1))
		for i, c := range text {
			if c != '\n' && !unicode.IsPrint(c) || c == unicode.ReplacementChar {
				t.Fatalf("the text has %q in %q", c, text[max(0, i-40):i])
			}
		}
		if !json.Valid([]byte(js)) || strings.Contains(js, "<script") || strings.Contains(js, "\x1b") {
			t.Error("the JSON holds what it should escape")
		}
	}
}

// TestLockstepSum checks that the table is of all traces together.
func TestLockstepSum(t *testing.T) {
	text, _ := renderLockstep(t, lockstepOf("x", "y", 2))
	text = strings.Join(strings.Fields(text), " ")
	if !strings.Contains(text, "Of 2,000 decisions") || !strings.Contains(text, "2 are unexplained") || !strings.Contains(text, "goroutine 9, proc 1, thread 7, runnable for 2.00ms in made-up.trace") {
		t.Errorf("got\n%s", text)
	}
}
