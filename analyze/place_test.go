package analyze

import (
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/model"
)

func TestPlaceOf(t *testing.T) {
	for _, tt := range []struct {
		stack string // innermost first
		want  string
	}{
		{"", ""},
		{"runtime.asyncPreempt main.slow net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve", "main.slow"},
		{"runtime.asyncPreempt crypto/sha256.block main.(*T).hash main.main runtime.main", "main.(*T).hash"},
		{"runtime.chanrecv1 example.org/a/net.(*Conn).read main.main", "example.org/a/net.(*Conn).read"},
		{"runtime.gopark internal/poll.(*FD).Read net/http.(*conn).serve", "internal/poll.(*FD).Read"},
		{"runtime.gcMarkDone runtime.gcBgMarkWorker", "runtime.gcMarkDone"},
		{"noperiod", "noperiod"},
	} {
		var stack []model.Frame
		for _, fn := range strings.Fields(tt.stack) {
			stack = append(stack, model.Frame{Func: fn})
		}
		equal(t, tt.stack, result.PlaceOf(stack), tt.want)
	}
}

// TestPlaces checks that long bursts are counted by where they stopped.
func TestPlaces(t *testing.T) {
	s := newScene()
	s.waits("main.f", 20, 15*ms, 5*ms)
	g := s.goroutine(2, "net/http.(*conn).serve")
	for i := range 4 {
		x := goSpan(g, model.GoRunning, model.Duration(i)*20*ms, 15*ms)
		if i > 0 {
			x.Stack = s.tables.AddStack([]model.Frame{{Func: "runtime.asyncPreempt"}, {Func: "main.slow"}, {Func: "net/http.(*conn).serve"}})
		}
		s.f.GoSpan(x)
	}
	s.verdict()
	for fn, want := range map[string]bool{"runtime.gopark": false, "runtime/trace.Start": false, "net/http.(*conn).serve": false,
		"main.slow": true, "example.org/net/http.f": true} {
		equal(t, fn, result.OfProgram(fn), want)
	}
	places := s.r.Bursts.Places()
	if len(places) != 1 || places[0].Function != "main.slow" || places[0].Count != 3 || places[0].Total != 45*ms {
		t.Errorf("places %+v, want main.slow with 3 bursts of 45 ms", places)
	}
}
