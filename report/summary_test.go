package report

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

// TestPausesSeenInPart checks that what has no known length is not counted among
// those that the total is of.
func TestPausesSeenInPart(t *testing.T) {
	whole := &model.STW{Reason: "GOMAXPROCS", Stopped: 10, Effective: 2000, End: 2000}
	part := &model.STW{Reason: "GOMAXPROCS", Start: 3000, Effective: 9000, End: 9000, OpenEnd: true}
	for _, tt := range []struct {
		stws []*model.STW
		want string
	}{
		{nil, "STW        none\n"},
		{[]*model.STW{whole}, "STW        1 time, 2.00µs in all, the longest 2.00µs from 0\n"},
		{[]*model.STW{whole, part}, "STW        1 time, 2.00µs in all, the longest 2.00µs from 0; 1 more seen in part\n"},
		{[]*model.STW{part}, "STW        0 times; 1 more seen in part\n"},
	} {
		r := analyze.New(model.NewTables(), analyze.Options{})
		for _, s := range tt.stws {
			r.STWs.STW(s)
		}
		x := text{r: r, width: 100}
		x.pauses()
		if got := x.b.String(); !strings.HasSuffix(got, tt.want) {
			t.Errorf("got %q, want %q at the end", got, tt.want)
		}
	}
}

func TestFormats(t *testing.T) {
	x := text{doc: &Document{Traces: []Trace{{Version: 26}, {Version: 21}, {Version: 26}}}}
	if got, want := x.formats(), "Go 1.21, Go 1.26 trace format"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMainly checks what the line of a long wait says of it.
func TestMainly(t *testing.T) {
	wait := func(approximate bool, uses result.Uses, funcs ...analyze.AntagonistFunc) *analyze.Wait {
		return &analyze.Wait{End: 6_000_000, Approximate: approximate, Uses: uses, AntagonistFuncs: funcs}
	}
	hog := analyze.AntagonistFunc{Func: "example.org/x/main.hog", Use: result.UseUser, Total: 5_000_000}
	for _, tt := range []struct {
		wait *analyze.Wait
		want string
	}{
		{wait(false, result.Uses{}), ""},
		{wait(false, result.Uses{result.UseIdle: 998, result.UseUser: 2}, analyze.AntagonistFunc{Func: "main.f", Total: 12_000}), "procs idle 99.8%"},
		{wait(false, result.Uses{result.UseStopped: 60, result.UseUser: 40}, hog), "procs stopped 60%, main.hog ran 5.00ms"},
		{wait(false, result.Uses{result.UseUser: 60, result.UseIdle: 40}, hog), "main.hog ran 5.00ms"},
		{wait(true, result.Uses{result.UseUser: 60, result.UseIdle: 40}, hog), "main.hog ran about 5.00ms"},
		{wait(false, result.Uses{result.UseSyscall: 9}, analyze.AntagonistFunc{Func: "main.logger", Use: result.UseSyscall, Total: 50_000_000}),
			"main.logger in syscalls 50.0ms"},
		{wait(false, result.Uses{result.UseAssist: 9}, analyze.AntagonistFunc{Func: "main.f", Use: result.UseAssist, Total: 9}),
			"main.f ran 9ns, mostly GC assist"},
	} {
		if got := strings.Join(mainly(tt.wait), ", "); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestEndedEarly checks that the missing end of a recording that was interrupted
// is not told as damage.
func TestEndedEarly(t *testing.T) {
	d := &Document{Report: analyze.New(model.NewTables(), analyze.Options{}), Traces: []Trace{{Name: "live", Version: 26,
		EndedEarly: "interrupted", Loss: &Loss{Bytes: 66, Size: 1000, After: 3_200_000_000, Cause: "cut off"}}}}
	const want = "the recording ended early: interrupted; analysed the first 3.20s, up to the last complete part"
	x := text{doc: d, r: d.Report, width: 100}
	x.completeness()
	if got := strings.Join(strings.Fields(x.b.String()), " "); got != "INCOMPLETE: "+want {
		t.Errorf("got %q, want %q", got, want)
	}
	notes := strings.Join(d.Notes(), "\n")
	if !strings.Contains(notes, "live: "+want+".") || strings.Contains(notes, "lost") {
		t.Errorf("notes: %s", notes)
	}
}

// TestUpTo checks that what does not fit is left out whole.
func TestUpTo(t *testing.T) {
	for limit, want := range map[int]string{2: "one", 7: "one", 8: "one; two", 14: "one; two", 15: "one; two; three"} {
		if got := upTo(limit, "one", []string{"; two", "; three"}); got != want {
			t.Errorf("%d columns: got %q, want %q", limit, got, want)
		}
	}
}

// TestInputsNotRead checks how the head counts what is missing.
func TestInputsNotRead(t *testing.T) {
	loss := &Loss{Bytes: 66, Size: 1000, Cause: "cut off"}
	for _, tt := range []struct {
		traces  []Trace
		skipped int
		want    string
	}{
		{[]Trace{{}}, 2, "of 3 inputs, 2 could not be read at all;"},
		{[]Trace{{Loss: loss}, {}}, 0, "of 2 inputs, 1 could be read in part;"},
		{[]Trace{{Loss: loss}, {}}, 1, "of 3 inputs, 1 could be read in part, 1 could not be read at all;"},
	} {
		x := text{doc: &Document{Traces: tt.traces, Skipped: make([]Skipped, tt.skipped)}, width: 100}
		x.completeness()
		if got := strings.Join(strings.Fields(x.b.String()), " "); !strings.HasPrefix(got, "INCOMPLETE: "+tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
