// Package textui lays out plain text for terminals: numbers with units, sparklines,
// and names that come from untrusted input.
//
// Everything is produced in Unicode, one column per rune as far as the package
// makes it up itself; [ASCII] turns the finished text into ASCII of the same
// width, so that no layout depends on what the terminal can show.
package textui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Clean returns s with all that could disturb a terminal or a line-oriented
// file escaped as in a Go string: control characters, escape sequences, line
// ends, marks that change the direction of writing, invisible characters and
// bytes that are not UTF-8.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < ' ' && r != '\n' && r != '\t':
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII, as nearly all names are.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Width returns how many columns of a terminal the printable text s takes.
func Width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Shorten returns s in at most limit columns. It cuts the middle, because the ends of a
// function's name matter most: the module and the method. A limit of 0 or less means none.
func Shorten(s string, limit int) string {
	if limit <= 0 || Width(s) <= limit {
		return s
	}
	if limit <= 2 {
		return strings.Repeat("…", limit)
	}
	runes := []rune(s)
	tail := (limit - 1) * 3 / 5
	i, head := 0, limit-1-tail
	for w := 0; i < len(runes) && w+runeWidth(runes[i]) <= head; i++ {
		w += runeWidth(runes[i])
	}
	j := len(runes)
	for w := 0; j > i && w+runeWidth(runes[j-1]) <= tail; j-- {
		w += runeWidth(runes[j-1])
	}
	return string(runes[:i]) + "…" + string(runes[j:])
}

// ascii holds what ASCII puts in the place of the characters that this program
// prints itself.
var ascii = map[rune]rune{
	'µ': 'u', '…': '~', '·': '|', '–': '-', '→': '>', '←': '<', '≥': '>', '≤': '<', '×': 'x', '±': '~', '└': '`',
	'▁': '_', '▂': '.', '▃': '-', '▄': '=', '▅': '+', '▆': '*', '▇': '%', '█': '#',
}

// ASCII returns s with each character that is not ASCII replaced by one of
// similar meaning, or by question marks, of the same width.
func ASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch c, ok := ascii[r]; {
		case r < 0x80:
			b.WriteRune(r)
		case ok:
			b.WriteRune(c)
		default:
			b.WriteString("??"[:runeWidth(r)])
		}
	}
	return b.String()
}

// Join returns the parts that are not empty, with sep between them.
func Join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// FirstOf returns the first of some names, and how many more there are: "a.trace and 3 more".
func FirstOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0] + If(len(names) > 1, fmt.Sprintf(" and %d more", len(names)-1))
}

// Either returns the first of two values if it is wanted, else the second.
func Either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// If returns a text if it is wanted, else "".
func If(wanted bool, text string) string { return Either(wanted, text, "") }

// Plural returns n and the noun, in the plural unless n is one: "1 trace",
// "1,204 waits". The noun's plural ends in s.
func Plural[N ~int | ~int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Count(n) + " " + noun
}

// ShortFunc returns a function's name without the directories of import paths,
// its own and that of a type argument: "chart.(*T).Draw", "main.f[heap.Item]". Of a route, such as
// "GET /order/{id}", it returns all.
func ShortFunc(name string) string {
	head, args, generic := strings.Cut(name, "[")
	if method, _, ok := strings.Cut(head, " "); strings.HasPrefix(head, "/") || ok && method == strings.ToUpper(method) {
		return name
	}
	if head = head[strings.LastIndexByte(head, '/')+1:]; !generic && !strings.Contains(head, ".") {
		return name // a route without a method
	}
	if generic {
		head += "[" + args[strings.LastIndexByte(args, '/')+1:]
	}
	return head
}

// Place returns a function and its position, "main.(*T).run (server.go:88)", without unknown
// parts; "" without the function.
func Place[N int | uint64](function, file string, line N) string {
	s := Clean(ShortFunc(function))
	if function == "" || file == "" {
		return s
	}
	s += " (" + Clean(file[strings.LastIndexAny(file, `/\`)+1:])
	if line > 0 {
		s += ":" + strconv.FormatUint(uint64(line), 10)
	}
	return s + ")"
}

// Columns wraps the words of s into lines of at most limit columns; all but the
// first begin with indent, which does not count. A limit of 0 or less is none.
func Columns(s string, limit int, indent string) string {
	return columns(strings.Fields(s), limit, "\n"+indent)
}

func columns(words []string, limit int, end string) string {
	var b strings.Builder
	used := 0
	for _, word := range words {
		w := Width(word)
		switch {
		case used == 0:
		case limit > 0 && used+1+w > limit:
			b.WriteString(end)
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += w
	}
	return b.String()
}

// Command is [Columns] for a command: it breaks no quoted word, and continues lines as a shell does.
func Command(s string, limit int, indent string) string {
	var words []string
	quoted := false
	for _, part := range strings.Split(s, " ") {
		if quoted {
			words[len(words)-1] += " " + part
		} else {
			words = append(words, part)
		}
		quoted = quoted != (strings.Count(strings.ReplaceAll(part, `'\''`, ""), "'")%2 > 0) // as ShellWord quotes
	}
	return columns(words, limit-2, " \\\n"+indent)
}

// ShellWord quotes s if a shell would split or expand it.
func ShellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+=:@%,"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
