package perfetto

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
)

// A label is a name with a number of its own, by which it is interned.
type label struct {
	n    uint32
	text string
}

// Labels of what is not named by the trace.
var (
	labelReady     = label{1, "ready"}
	labelRun       = label{2, "run"}
	labelStolen    = label{3, "stolen from"}
	labelSteal     = label{4, "steal"}
	labelStolenOne = label{5, "stolen from runnext"}
	labelStealOne  = label{6, "steal of runnext"}
	labelTaken     = label{7, "proc lost"}
	labelGot       = label{8, "proc handed over"}
	labelStopping  = label{9, "stopping"}
	labelStopped   = label{10, "stopped"}
	labelNone      = label{11, "(no name)"}
)

// Numbers of labels: of causes of waiting, and of the trace's own strings.
const (
	firstCause = 32
	firstName  = 128
)

// causeLabel returns the label of a cause, as a name and as a key.
func causeLabel(c result.Cause) label { return label{firstCause + uint32(c), c.String()} }

// names are the strings of a trace as they are shown: untrusted text, cleaned.
type names struct {
	tables *model.Tables
	labels []label // by StringID; the zero label if not asked for yet
}

// of returns the label of a string of the trace.
func (n *names) of(id model.StringID) label {
	l := result.Slot(&n.labels, int(id))
	if l.n == 0 {
		*l = label{firstName + uint32(id), cleanText(n.tables.String(id))}
		l.text = cmp.Or(l.text, labelNone.text)
	}
	return *l
}

// maxText bounds a text, in bytes: a trace may hold names of any length.
const maxText = 1 << 10

// cleanText returns untrusted text as valid UTF-8 on one line.
func cleanText(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	if s = textui.Clean(s); !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "?")
	}
	return s
}
