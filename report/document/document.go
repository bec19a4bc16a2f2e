package document

import (
	"fmt"
	"strings"

	"github.com/schedscope/schedscope/analyze/result"
)

// Document is a sequence of sections under a title.
type Document struct {
	Title    string // what it is about, a name
	About    string // of what kind that is, in a few words
	Sections []*Section
}

// Add adds sections, without those that are nil.
func (d *Document) Add(list ...*Section) {
	for _, s := range list {
		if s != nil {
			d.Sections = append(d.Sections, s)
		}
	}
}

// Section returns the section of this ID, nil if there is none.
func (d *Document) Section(id string) *Section {
	for _, s := range d.Sections {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Section is a part of a document. One without a title belongs to its head.
type Section struct {
	ID       string // lower case with hyphens; equal in all versions of the program
	Title    string
	Inferred bool // all of it is reconstructed, not measured
	Fold     bool // Markdown shows only the title at first
	Blocks   []Block
}

// Block is a part of a section: a [Paragraph], [*Table], [List], [Facts], [Cards] or
// [Parts].
type Block interface{ block() }

type (
	// Paragraph is running text.
	Paragraph struct {
		Strong string // what it begins with, to be seen first
		Text   string
		Good   bool // says that something is fine
	}

	// List is a list of statements.
	List []Item

	// Item is a statement with the numbers that it rests on.
	Item struct {
		Text     string
		Strong   bool
		Severity string // info, notable, serious; "" if there is no such thing
		Grade    string // certain, inferred; "" if there is no such thing
		Evidence []Pair
	}

	// Facts are lines with a label each. A line without a label continues the one before.
	Facts []Pair

	// Pair is a value with its name.
	Pair struct {
		Name, Value string
		Good        bool // says that something is well
	}

	// Cards are things of the same kind, shown one by one.
	Cards []Card

	// Card is one thing and its details.
	Card struct {
		ID              string
		Title           string
		Summary         string // what goes on from the title in the same line
		Severity, Grade string // as of an Item
		Fold            bool   // HTML shows only the title at first
		Moment          *Moment
		Bar             []Part
		Text            []string
		Facets          []Facet
	}

	// Facet is one aspect of a card; Text, Pairs or Stack is set.
	Facet struct {
		Label string
		Text  string
		Depth int // steps that it is below the facet before it, as a branch of a tree
		Pairs []Pair
		// Rows has text show the pairs below each other and not in a line.
		Rows bool
		// Most is how many pairs text and Markdown show; 0 is all.
		Most  int
		Stack []Frame
		// HTMLOnly facets are left out elsewhere, as another one shows the same shorter.
		HTMLOnly bool
		// Place, which is in Text, is what terminals link to URL, if there is one.
		Place, URL string
	}

	// Frame is a frame of a stack, the innermost first.
	Frame struct {
		Func, File string
		Line       uint64
	}

	// Part is a part of a bar, by which a whole is divided.
	Part struct {
		Class string // of its colour
		Label string
		Size  int64
	}

	// Parts are a bar with a legend, which HTML shows.
	Parts []Part

	// Moment is an interval that a value is about. HTML links to it.
	Moment struct {
		From, Length int64
		Goroutine    int64 // -1: none
	}
)

func (Paragraph) block() {}
func (List) block()      {}
func (Facts) block()     {}
func (Cards) block()     {}
func (Parts) block()     {}
func (*Table) block()    {}

// Add adds a line unless its text is empty.
func (f *Facts) Add(label, text string) {
	if text != "" {
		*f = append(*f, Pair{Name: label, Value: text})
	}
}

// New returns a section with introductory paragraphs.
func New(id, title string, lead ...string) *Section {
	return &Section{ID: id, Title: title, Blocks: result.Each(lead, func(text *string) Block { return Paragraph{Text: *text} })}
}

// Statements returns a section with a list of texts, nil if there are none.
func Statements(id, title string, texts []string) *Section {
	if len(texts) == 0 {
		return nil
	}
	list := result.Each(texts, func(text *string) Item { return Item{Text: *text} })
	return &Section{ID: id, Title: title, Blocks: []Block{List(list)}}
}

// Text adds a paragraph.
func (s *Section) Text(format string, args ...any) {
	s.Blocks = append(s.Blocks, Paragraph{Text: fmt.Sprintf(format, args...)})
}

// Add adds blocks.
func (s *Section) Add(list ...Block) { s.Blocks = append(s.Blocks, list...) }

// Table adds a table with these columns.
func (s *Section) Table(id string, columns ...Column) *Table {
	t := &Table{ID: id, Columns: columns}
	s.Blocks = append(s.Blocks, t)
	return t
}

// OrNil returns the section, nil if it has nothing but paragraphs, empty tables and no cards.
// It drops tables without rows, and paragraphs that directly follow one.
func (s *Section) OrNil() *Section {
	var kept []Block
	content, dropped := false, false
	for _, b := range s.Blocks {
		switch b := b.(type) {
		case Paragraph:
			if !dropped {
				kept = append(kept, b)
			}
			continue
		case *Table:
			if dropped = len(b.Rows) == 0; dropped {
				continue
			}
		case Cards:
			if len(b) == 0 {
				continue
			}
		}
		content, dropped = true, false
		kept = append(kept, b)
	}
	if s.Blocks = kept; !content {
		return nil
	}
	return s
}

// Tables returns the tables of a section.
func (s *Section) Tables() []*Table {
	var list []*Table
	for _, b := range s.Blocks {
		if t, ok := b.(*Table); ok {
			list = append(list, t)
		}
	}
	return list
}

// Paragraphs adds paragraphs, without those that are empty.
func (s *Section) Paragraphs(texts ...string) {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			s.Blocks = append(s.Blocks, Paragraph{Text: text})
		}
	}
}

// branch is what a facet below another one begins with.
func (f *Facet) branch() string {
	if f.Depth == 0 {
		return ""
	}
	return strings.Repeat("\u00a0\u00a0", f.Depth-1) + "└ "
}
