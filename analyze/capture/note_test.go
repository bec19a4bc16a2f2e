package capture

import (
	"strings"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/strict"
)

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 999: "999ns", 1234: "1.23µs", 134217728: "134ms", 1004567890: "1s", 83*time.Minute + 20*time.Second: "1h23m20s"} {
		if got := short(d).String(); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

var causes = []struct {
	cause Cause
	want  string
}{
	{Cause{Reason: ReasonLatency, Quantile: 0.999, Measured: 5242880, Limit: 5e6, Window: 1e9, Count: 1234},
		"p99.9 of scheduling latency was at least 5.24ms during 1s, limit 5ms (1234 waits looked at)"},
	{Cause{Reason: ReasonSlow, What: "GET /x", Measured: 320e6, Limit: 200e6}, "GET /x took 320ms, limit 200ms"},
	{Cause{Reason: ReasonSlow, Measured: 320e6, Limit: 200e6}, "a request took 320ms, limit 200ms"},
	{Cause{Reason: ReasonSignal, What: "SIGUSR2"}, "the process got SIGUSR2"},
	{Cause{Reason: ReasonCall}, "the program asked for it"},
	{Cause{Reason: ReasonCall, What: "queue full"}, "the program asked for it: queue full"},
	{Cause{Reason: ReasonHTTP}, "an HTTP client asked for the past"},
	{Cause{Reason: ReasonHTTP, Seconds: 0.5}, "an HTTP client asked for 0.5 s"},
	{Cause{Reason: "new\n"}, `reason "new\n"`},
}

func decodeNote(text string) (*Note, error) { return strict.Decode[Note]([]byte(text), NoteSchema) }

// TestNote checks that causes survive the trace, and their words.
func TestNote(t *testing.T) {
	for _, tt := range causes {
		if got := tt.cause.String(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
		n, err := decodeNote(Note{Schema: NoteSchema, Name: "shop", Cause: tt.cause, Suppressed: 3}.encode())
		if err != nil || n.Cause != tt.cause || n.Name != "shop" || n.Suppressed != 3 {
			t.Errorf("%+v became %+v, %v", tt.cause, n, err)
		}
	}
}

// TestNoteLength checks that a note is never longer than the runtime takes, and valid.
func TestNoteLength(t *testing.T) {
	for _, what := range []string{strings.Repeat("x", 5000), strings.Repeat("\x00", 5000), strings.Repeat("ä", 5000), "\xff\xfe<&>", strings.Repeat("<", 511)} {
		text := Note{Schema: NoteSchema, Name: what, Cause: Cause{Reason: ReasonSlow, What: what, Measured: time.Hour}}.encode()
		if len(text) > env.MaxMessage {
			t.Errorf("%d bytes of %.10q", len(text), what)
		}
		if n, err := decodeNote(text); err != nil || n.Measured != time.Hour {
			t.Errorf("%.10q: %+v, %v", what, n, err)
		}
	}
}

func TestDecodeNoteRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "the file is empty",
		"[]":                              "does not name a schema",
		`{"schema":1}`:                    "does not name a schema",
		`{}`:                              "does not name a schema",
		`{"schema":"\u001b[2J"}`:          `schema is "\x1b[2J"`,
		`{"schema":"` + NoteSchema + `"}`: "name is missing",
		`{"schema":"` + NoteSchema + `","name":"","time":"","reason":""}`:  "empty or too long",
		`{"schema":"` + NoteSchema + `","reason":"slow","measured_ns":-1}`: "measured_ns is -1, want 0 or more",
	} {
		if n, err := decodeNote(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %s", text, n, err, want)
		}
	}
}

func FuzzDecodeNote(f *testing.F) {
	for _, tt := range causes {
		f.Add(Note{Schema: NoteSchema, Cause: tt.cause}.encode())
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := decodeNote(text)
		if err != nil {
			return
		}
		if again := n.encode(); len(again) > env.MaxMessage {
			t.Errorf("%d bytes", len(again))
		}
		_ = n.String()
	})
}
