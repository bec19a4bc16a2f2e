package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/report/document"
)

// app is what all commands share: the streams and how to speak on them.
// Results go to stdout, everything else to stderr.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	// Flags of all commands.
	color   string // auto, always, never
	verbose bool
	quiet   bool

	help     helpWriter
	progress progressLine

	event func() // called for each input that is open and at each event that is read, by tests
	late  func() // called when work goes on although its context has ended; nil: it may

	// patient is whether the end of the context ends, or has ended, only a recording, or serving: what
	// follows may take its time. Copies of an app share it.
	patient *atomic.Bool
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{stdin: stdin, stdout: stdout, stderr: stderr, help: helpWriter{w: stdout}, progress: progressLine{w: stderr, on: isTerminal(stderr)}, patient: new(atomic.Bool)}
}

// helpWriter is where help goes. It keeps the first error: the library of commands has no use for it.
type helpWriter struct {
	w   io.Writer
	err error
}

func (h *helpWriter) Write(p []byte) (int, error) {
	if h.err == nil {
		_, h.err = h.w.Write(p)
	}
	return len(p), nil
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// longestMessage bounds a message in bytes, as it may repeat what somebody passed or a file has.
const longestMessage = 4 << 10

// say prints a message of this program. The text may hold anything.
func (a *app) say(format string, args ...any) {
	a.progress.clear()
	message := fmt.Sprintf(format, args...)
	if n := len(message) - longestMessage; n > 0 { // one line of its ends, which say most
		message = fmt.Sprintf("%s ... (%d bytes) ... %s", message[:longestMessage/2], n, message[len(message)-longestMessage/2:])
		message = strings.ReplaceAll(message, "\n", " ")
	}
	for line := range strings.Lines(message) {
		text := "schedscope: " + textui.Clean(strings.TrimRight(line, "\n"))
		if !unicodeLocale() {
			text = textui.ASCII(text)
		}
		fmt.Fprintln(a.stderr, text)
	}
}

// hint says what the user can do.
func (a *app) hint(format string, args ...any) { a.say("hint: "+format, args...) }

// warn says what is wrong but does not end the work.
func (a *app) warn(format string, args ...any) { a.say("warning: "+format, args...) }

// note says what is good to know, unless -q.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		a.say(format, args...)
	}
}

// detail says what only -v wants to know.
func (a *app) detail(format string, args ...any) {
	if a.verbose {
		a.say(format, args...)
	}
}

// textOptions says how text is written to w. Only a terminal has a width.
func (a *app) textOptions(w io.Writer) document.TextOptions {
	o := document.TextOptions{Color: a.useColor(w), Unicode: unicodeLocale()}
	if f, ok := w.(*os.File); ok && isTerminal(w) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = width
		}
	}
	return o
}

// useColor decides by --color, then NO_COLOR (no-color.org), CLICOLOR_FORCE and
// FORCE_COLOR, then whether w is a terminal that can.
func (a *app) useColor(w io.Writer) bool {
	switch {
	case a.color == "never":
		return false
	case a.color == "always":
		return true
	case os.Getenv("NO_COLOR") != "":
		return false
	case isSet("CLICOLOR_FORCE") || isSet("FORCE_COLOR"):
		return true
	}
	return isTerminal(w) && os.Getenv("TERM") != "dumb"
}

func isSet(name string) bool {
	v := os.Getenv(name)
	return v != "" && v != "0"
}

// unicodeLocale reports whether what is written will be read as UTF-8. No
// setting at all, as in containers, means yes.
func unicodeLocale() bool {
	if os.Getenv("TERM") == "dumb" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(os.Getenv(name)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return true
}
