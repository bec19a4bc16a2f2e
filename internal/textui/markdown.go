package textui

import (
	"fmt"
	"strings"
)

// Markdown returns the printable text s such that nothing in it is markup of a page, also
// in the cell of a table. References to characters mean the character and nothing else; a
// mention needs its @ beside the name.
func Markdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '@':
			b.WriteString("@<!-- -->")
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		case strings.ContainsRune("\\`*_[]<>|&~$#!", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// MarkdownCode returns the printable text s as it is, in the type of code.
func MarkdownCode(s string) string {
	return "<code>" + strings.ReplaceAll(Markdown(s), "@<!-- -->", "&#64;") + "</code>"
}
