package savedfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

// Printable returns encoded JSON, which may be a part of a document, with all that is escaped in
// text (textui.Clean) written as \uXXXX: package encoding/json leaves C1 controls and marks that
// change the direction of writing as they are. It means the same.
func Printable(encoded []byte) []byte {
	odd := func(r rune) bool { return r > '~' && !unicode.IsPrint(r) } // those before are escaped, or layout
	if !bytes.ContainsFunc(encoded, odd) {
		return encoded
	}
	var b bytes.Buffer
	for _, r := range string(encoded) {
		if !odd(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}

// WriteJSON writes v as JSON, indented and [Printable], with what HTML has a meaning for escaped if
// the JSON may become a part of a page; without, rules and commands can be read. If there is an error
// of encoding, it writes nothing.
func WriteJSON(w io.Writer, v any, html bool) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(Printable(b.Bytes()))
	return err
}
