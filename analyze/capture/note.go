package capture

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/internal/savedfile"
)

// Category is the category of user log messages that hold Notes, as JSON.
const Category = "schedscope.capture"

// TakenCategory is the category of user log messages that follow a Note once its trace was
// taken, with the Note's Time. All other traces of that time have them, but not the Note's
// own.
const TakenCategory = "schedscope.capture.taken"

// SlowCategory is the category of user log messages in which [Recorder.Observe] reports slow
// requests, in the words of [Cause].
const SlowCategory = "schedscope.slow"

// NoteSchema is the schema of a Note.
const NoteSchema = "schedscope.capture/v1"

// Reason is the reason why a trace was written.
type Reason string

// Reasons.
const (
	ReasonLatency Reason = "latency" // the limit of scheduling latency
	ReasonSlow    Reason = "slow"    // a request that took too long
	ReasonSignal  Reason = "signal"
	ReasonCall    Reason = "call" // Snapshot
	ReasonHTTP    Reason = "http" // the Handler
)

// Cause is the reason why a trace was written, with the measurements. Fields that do not apply
// are zero.
type Cause struct {
	Reason Reason `json:"reason"`
	// What is the request that was slow, the text given to Snapshot, or the signal.
	What     string        `json:"what,omitempty"`
	Measured time.Duration `json:"measured_ns,omitempty"`
	Limit    time.Duration `json:"limit_ns,omitempty"`
	// Of a latency: Measured is a lower bound of the Quantile of Count waits during
	// Window, one of eight that there were.
	Quantile float64       `json:"quantile,omitempty"`
	Count    int64         `json:"count,omitempty"`
	Window   time.Duration `json:"window_ns,omitempty"`
	// Seconds that a client asked to be recorded; 0: the past.
	Seconds float64 `json:"seconds,omitempty"`
}

// String returns the cause in words, on one line if What has one.
func (c Cause) String() string {
	switch c.Reason {
	case ReasonLatency:
		return fmt.Sprintf("p%.6g of scheduling latency was at least %v during %v, limit %v (%d waits looked at)",
			100*c.Quantile, short(c.Measured), short(c.Window), c.Limit, c.Count)
	case ReasonSlow:
		return fmt.Sprintf("%s took %v, limit %v", cmp.Or(c.What, "a request"), short(c.Measured), c.Limit)
	case ReasonSignal:
		return "the process got " + c.What
	case ReasonCall:
		if c.What == "" {
			return "the program asked for it"
		}
		return "the program asked for it: " + c.What
	case ReasonHTTP:
		if c.Seconds > 0 {
			return fmt.Sprintf("an HTTP client asked for %g s", c.Seconds)
		}
		return "an HTTP client asked for the past"
	}
	return fmt.Sprintf("reason %q", string(c.Reason))
}

// short returns a time of about three digits.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// Note is written into each trace just before it is taken.
type Note struct {
	Schema string `json:"schema"`
	Name   string `json:"name"` // Options.Name
	Time   string `json:"time"` // RFC 3339, UTC
	Cause
	// Suppressed counts what would have caused further files since the last one.
	Suppressed int64  `json:"suppressed,omitempty"`
	Sum        string `json:"sum,omitempty"` // of all else, see [savedfile.Sum]
}

// encode returns a Note as one line that the runtime does not cut.
func (n Note) encode() string {
	for limit := 512; ; limit /= 2 {
		n.What, n.Name = cut(n.What, limit), cut(n.Name, limit)
		n.Sum = savedfile.Sum(n)
		b, err := json.Marshal(n)
		if err == nil && len(b) <= env.MaxMessage || limit == 0 {
			return string(b)
		}
	}
}

// cut returns the first bytes of s at most, as valid UTF-8.
func cut(s string, limit int) string { return env.Cut(strings.ToValidUTF8(s, "\uFFFD"), limit) }

// maxWord is how long a reason and a time are at most, in bytes.
const maxWord = 64

// Check returns an error if the Note, which another program may have written, is invalid. Its
// texts may be anything.
func (n *Note) Check() error {
	if n.Reason == "" || len(n.Reason) > maxWord || len(n.Time) > maxWord {
		return errors.New("its reason or time is empty or too long")
	}
	return nil
}
