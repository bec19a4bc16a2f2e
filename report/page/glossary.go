package page

import (
	"regexp"
	"strings"
)

// term is an entry of the glossary.
type term struct {
	ID, Name string
	Pieces   []termPiece
}

// termPiece is a paragraph or a word with its meaning.
type termPiece struct{ Word, Text string }

// Lines of [view.MetricsHelp]: those of an entry are indented by four columns, words that
// it explains by six, how those go on by more.
var (
	termLine = regexp.MustCompile(`^(\S.*?)  +(\S.*)$`)
	wordLine = regexp.MustCompile(`^ {6}(\S.*?)  +(\S.*)$`)
	moreLine = regexp.MustCompile(`^ {8,}(\S.*)$`)
)

func glossary(help string) []term {
	var terms []term
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		if m := termLine.FindStringSubmatch(line); m != nil {
			terms = append(terms, term{ID: termID(m[1]), Name: m[1], Pieces: []termPiece{{Text: m[2]}}})
			continue
		}
		if !strings.HasPrefix(line, " ") { // a name alone
			terms = append(terms, term{ID: termID(line), Name: line})
			continue
		}
		t := &terms[len(terms)-1]
		last := len(t.Pieces) - 1
		if m := wordLine.FindStringSubmatch(line); m != nil {
			t.Pieces = append(t.Pieces, termPiece{m[1], m[2]})
		} else if m := moreLine.FindStringSubmatch(line); m != nil && last >= 0 {
			t.Pieces[last].Text += " " + m[1]
		} else if text := strings.TrimSpace(line); last >= 0 && t.Pieces[last].Word == "" {
			t.Pieces[last].Text += " " + text
		} else {
			t.Pieces = append(t.Pieces, termPiece{Text: text})
		}
	}
	return terms
}

// termID is the fragment of a term.
func termID(name string) string { return "term-" + strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// termLink returns the fragment of a term of the glossary.
func (t tile) TermLink() string { return "#" + termID(t.Term) }
