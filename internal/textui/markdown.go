package textui

import (
	"fmt"
	"strings"
)

// Markdown returns the printable text s such that nothing in it is markup of a page, also
// in the cell of a table. References to characters mean the character and nothing else; a
// mention needs its @ next to the name, a reference its #, and an address its colon or www.
func Markdown(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '@' || r == '#':
			b.WriteRune(r)
			b.WriteString(nothing)
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		case strings.ContainsRune("\\`*_[]<>|&~$!", r), r == ':' && strings.HasPrefix(s[i:], "://"), r == '.' && isWWW(s[:i]):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// nothing is what readers do not see between two characters.
const nothing = "<!-- -->"

func isWWW(s string) bool { return len(s) >= 3 && strings.EqualFold(s[len(s)-3:], "www") }

// MarkdownCode returns the printable text s as it is, in the type of code.
func MarkdownCode(s string) string {
	return "<code>" + strings.NewReplacer("@"+nothing, "&#64;", "#"+nothing, "&#35;").Replace(Markdown(s)) + "</code>"
}
