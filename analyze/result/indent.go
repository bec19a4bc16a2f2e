package result

import (
	"bytes"
	"encoding/json"
	"io"
)

// Write writes the report as JSON, indented. What distributions do not hold yet, their
// encoding, is set.
func Write(w io.Writer, v *Report) error {
	Complete(v)
	compact, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(IndentJSON(compact))
	return err
}

// IndentJSON returns compact JSON, indented but for numbers: a list of numbers is a line,
// and so is an object of nothing but numbers in a list, such as a point of a curve.
// Otherwise most of a report would be lines with a number each.
func IndentJSON(compact []byte) []byte {
	p := &indenter{src: compact}
	p.value(false)
	p.out.WriteByte('\n')
	return p.out.Bytes()
}

// indenter copies src, which is valid, from at on.
type indenter struct {
	src   []byte
	at    int
	out   bytes.Buffer
	depth int
}

// value copies one value, perhaps one in a list.
func (p *indenter) value(inList bool) {
	switch c := p.src[p.at]; {
	case c == '[':
		if end := p.endOfNumbers(); end > 0 {
			p.copySpaced(end)
			return
		}
		p.members(']', func() { p.value(true) })
	case c == '{':
		if end := p.endOfPoint(); inList && end > 0 {
			p.copySpaced(end)
			return
		}
		p.members('}', func() {
			p.scalar()
			p.at++ // the colon
			p.out.WriteString(": ")
			p.value(false)
		})
	default:
		p.scalar()
	}
}

// members copies what is between brackets, a line for each member.
func (p *indenter) members(end byte, member func()) {
	p.out.WriteByte(p.src[p.at])
	p.at++
	if p.src[p.at] != end {
		p.depth++
		for {
			p.newLine()
			member()
			if p.src[p.at] != ',' {
				break
			}
			p.out.WriteByte(',')
			p.at++
		}
		p.depth--
		p.newLine()
	}
	p.out.WriteByte(end)
	p.at++
}

func (p *indenter) newLine() {
	p.out.WriteByte('\n')
	for range p.depth {
		p.out.WriteString("  ")
	}
}

// scalar copies a text, a number or a word.
func (p *indenter) scalar() {
	end := p.endOfScalar(p.at)
	p.out.Write(p.src[p.at:end])
	p.at = end
}

func (p *indenter) endOfScalar(i int) int {
	if p.src[i] != '"' {
		for i < len(p.src) && !bytes.ContainsRune([]byte(",:]}"), rune(p.src[i])) {
			i++
		}
		return i
	}
	for i++; p.src[i] != '"'; i++ {
		if p.src[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// endOfNumbers returns the end of the list that begins here, or 0 if it has anything but
// numbers and lists of them.
func (p *indenter) endOfNumbers() int {
	depth := 0
	for i := p.at; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case c != ',' && !isNumeric(c):
			return 0
		}
	}
	return 0
}

// endOfPoint returns the end of the object that begins here, or 0 if it has anything but
// numbers.
func (p *indenter) endOfPoint() int {
	i := p.at + 1
	for p.src[i] == '"' {
		i = p.endOfScalar(i) + 1
		if !isNumeric(p.src[i]) {
			return 0
		}
		i = p.endOfScalar(i)
		if p.src[i] == '}' {
			return i + 1
		}
		i++
	}
	return 0
}

func isNumeric(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// copySpaced copies up to end on one line, with spaces between the members of an object.
func (p *indenter) copySpaced(end int) {
	object := p.src[p.at] == '{'
	for ; p.at < end; p.at++ {
		c := p.src[p.at]
		p.out.WriteByte(c)
		if object && (c == ',' || c == ':') {
			p.out.WriteByte(' ')
		}
	}
}
