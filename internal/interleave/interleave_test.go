package interleave

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/internal/strict"
)

var both = []Side{Base, Cand}

// TestRound checks that every round has every side once, that the order depends on seed
// and round alone, and that each side comes first about half of the time.
func TestRound(t *testing.T) {
	first := 0
	for r := 1; r <= 1000; r++ {
		got := Round(Random, 7, r, both)
		if again := Round(Random, 7, r, both); !slices.Equal(got, again) {
			t.Fatalf("round %d: %q, then %q", r, got, again)
		}
		if !slices.Equal(got, both) && !slices.Equal(got, []Side{Cand, Base}) {
			t.Fatalf("round %d: %q", r, got)
		}
		if got[0] == Base {
			first++
		}
	}
	if first < 440 || first > 560 { // 3.8 standard deviations of a fair coin
		t.Errorf("base came first in %d of 1000 rounds", first)
	}
	if !slices.Equal(both, []Side{Base, Cand}) {
		t.Error("the argument was changed")
	}
}

func TestRoundSeeds(t *testing.T) {
	draw := func(seed uint32) string {
		var s strings.Builder
		for r := 1; r <= 32; r++ {
			s.WriteString(string(Round(Random, seed, r, both)[0]))
		}
		return s.String()
	}
	if draw(1) == draw(2) {
		t.Error("seeds 1 and 2 give the same order")
	}
}

func TestRoundABBA(t *testing.T) {
	var got []Side
	for r := 1; r <= 4; r++ {
		got = append(got, Round(ABBA, 1, r, both)...)
	}
	if want := []Side{Base, Cand, Cand, Base, Base, Cand, Cand, Base}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFile(t *testing.T) {
	for _, tt := range []struct {
		side  Side
		round int
		want  string
	}{{Base, 1, "base/01.trace"}, {Cand, 1000, "cand/1000.trace"}, {Single, 12, "12.trace"}} {
		if got := File(tt.side, tt.round); got != tt.want {
			t.Errorf("File(%q, %d) = %q, want %q", tt.side, tt.round, got, tt.want)
		}
	}
}

func example() *Order {
	var o Order
	s := o.Begin(Session{Policy: Random, Seed: 9, Base: []string{"./a"}, Cand: []string{"./b", "<x>"}})
	o.Add(Trace{File: "cand/01.trace", Side: Cand, Round: 1, Session: s})
	o.Add(Trace{File: "base/01.trace", Side: Base, Round: 1, Session: s, Attempts: 2, Disturbed: true})
	return &o
}

func TestDesign(t *testing.T) {
	o := example()
	if o.Design != Interleaved {
		t.Errorf("design of both sides in turns is %q", o.Design)
	}
	if n := o.Begin(Session{Cand: []string{"./b"}}); n != 2 || o.Design != Separate {
		t.Errorf("after session %d of one side the design is %q", n, o.Design)
	}
	o.Begin(Session{Base: []string{"./a"}, Cand: []string{"./b"}})
	if o.Design != Separate {
		t.Errorf("a later session made the design %q", o.Design)
	}
}

func TestWriteRead(t *testing.T) {
	o := example()
	name := filepath.Join(t.TempDir(), OrderFile)
	var b bytes.Buffer
	if err := o.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, o) {
		t.Errorf("read %+v, want %+v", got, o)
	}
	if n := got.Rounds(); n != 1 {
		t.Errorf("Rounds = %d, want 1", n)
	}
	if tr := got.Traces[1]; tr.File != "base/01.trace" || tr.Order != 2 || !tr.Disturbed {
		t.Errorf("the second trace is %+v", tr)
	}
}

func TestParseRefuses(t *testing.T) {
	var b bytes.Buffer
	example().Write(&b)
	good := regexp.MustCompile(`,\s*"sum": "[0-9a-f]{16}"`).ReplaceAllString(b.String(), "") // a change is looked at by itself
	if _, err := strict.Decode[Order]([]byte(good), Schema); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, new, want string }{
		{"order/v1", "order/v2", "a newer schedscope wrote it"},
		{`"side": "cand"`, `"side": "other"`, `unknown side "other"`},
		{`"round": 1`, `"round": 0`, "traces[0].round is 0, want 1 to 1000"},
		{`"round": 1`, `"round": 1001`, "round is 1001"},
		{`"order": 2`, `"order": 1`, "order 1"},
		{`"file": "cand/01.trace"`, `"file": "../01.trace"`, `file "../01.trace"`},
		{`"interleaved"`, `"x"`, `unknown design "x"`},
		{`"session": 1`, `"session": 2`, "session 2 of 1"},
		{`"session": 1`, `"session": 0`, "session is 0"},
		{`"attempts": 2`, `"later": 2`, `unknown key "later"`},
		{"{", "[", "does not name a schema"},
	} {
		data := strings.Replace(good, tt.old, tt.new, 1)
		if data == good {
			t.Fatalf("%s is not in the example", tt.old)
		}
		if tt.old == "{" {
			data = "[]"
		}
		if _, err := strict.Decode[Order]([]byte(data), Schema); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("with %s: %v, want an error with %s", tt.new, err, tt.want)
		}
	}
	o := example()
	o.Add(o.Traces[0])
	if err := o.Check(); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a file twice: %v", err)
	}
}

// TestID checks that recordings are told apart, and that added rounds leave them what they are.
func TestID(t *testing.T) {
	var a, b Order
	if got := a.ID(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	a.Begin(Session{Policy: ABBA, Seed: 1, Base: []string{"old"}, Cand: []string{"new"}})
	b.Begin(Session{Policy: ABBA, Seed: 2, Base: []string{"old"}, Cand: []string{"new"}})
	id := a.ID()
	if id == "" || id == b.ID() {
		t.Errorf("two recordings: %q and %q", id, b.ID())
	}
	a.Begin(Session{Policy: ABBA, Seed: 3, Base: []string{"old"}, Cand: []string{"new"}})
	a.Add(Trace{Side: Base, Round: 1, File: File(Base, 1)})
	if a.ID() != id {
		t.Errorf("with more rounds: %q, want %q", a.ID(), id)
	}
}

func TestSameProgram(t *testing.T) {
	same, one := Session{Base: []string{"a", "-x"}, Cand: []string{"a", "-x"}}, Session{Cand: []string{"b"}}
	other := Session{Base: []string{"a", "-x"}, Cand: []string{"a", "-y"}}
	if (&Order{Sessions: []Session{same, one}}).SameProgram() || !(&Order{Sessions: []Session{same, same}}).SameProgram() || (&Order{}).SameProgram() {
		t.Error("one side only or no session counts as the same program, or the same program does not")
	}
	if (&Order{Sessions: []Session{same, other}}).SameProgram() {
		t.Error("different commands count as the same program")
	}
}
