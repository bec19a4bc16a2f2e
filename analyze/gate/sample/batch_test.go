package sample

import "testing"

// TestBatch checks of which traces it is known that they are of a whole run, and who waits for goroutines with a WaitGroup.
func TestBatch(t *testing.T) {
	for _, x := range []struct {
		trace, join  string
		whole, paced bool
	}{
		{"goroutines.go1.26.p4.trace", "main.burst", true, false},
		{"serial.go1.26.p2.trace", "main.score", true, false},
		{"http.trace", "", true, true},               // main slept
		{"flight.go1.26.p4.trace", "", false, false}, // of a flight recorder
		{"mixed.go1.22.p2.trace", "", true, false},   // the oldest format that shows it
	} {
		s := mustRead(t, fixture(t, x.trace), Input{}, specOf(t, "all", ""), Options{})
		join := ""
		if len(s.Joins) > 0 {
			join = s.Joins[0].Func
		}
		if (s.Run > 0) != x.whole || s.Paced != x.paced || join != x.join && x.join != "" {
			t.Errorf("%s: run %d, joins %+v", x.trace, s.Run, s.Joins)
		}
	}
}
