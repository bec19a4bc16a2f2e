package source

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

// firstLine returns the first line of s that is not blank, of at most limit
// characters, with white space and what cannot be printed made a space: text
// from elsewhere must not get to a terminal as it is.
func firstLine(s string, limit int) string {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	s, _, _ = strings.Cut(s, "\n")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || odd(r) }), " ")
	if runes := []rune(s); len(runes) > limit {
		s = string(runes[:limit-1]) + "…"
	}
	return s
}

// odd reports whether a character is not to be printed.
func odd(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// show returns a name as it may be printed: quoted if it has anything odd.
func show(name string) string {
	if strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return cmp.Or(name, `""`)
}

// isText reports whether p, of which the end may be cut off, is UTF-8 without
// control characters other than those of plain text.
func isText(p []byte) bool {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(p)
		}
		if r < ' ' && !strings.ContainsRune("\t\r\n\f\b\x1b", r) || r == 0x7f {
			return false
		}
		p = p[n:]
	}
	return true
}

// foreign is an error of net/http, whose text may repeat what a server sent, also an address with a
// password: of that nothing is shown, and of the rest one line.
type foreign struct{ error }

func (e foreign) Error() string {
	text := e.error.Error()
	if before, _, ok := strings.Cut(text, "Location header "); ok {
		text = before + "Location header"
	}
	return firstLine(text, 200)
}

func (e foreign) Unwrap() error { return e.error }

// cause strips what os and net/http put before an error and what a message
// of ours says already: the operation, the path or the address.
func cause(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return atomicfile.Cause(err)
}

// isDialError reports whether nobody answered, for whatever reason.
func isDialError(err error) bool {
	var oe *net.OpError
	return errors.As(err, &oe) && oe.Op == "dial"
}
