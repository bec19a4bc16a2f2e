package rule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schedscope/schedscope/internal/textui"
)

// maxText is how long a rule may be, in bytes: function names are long, rules are not.
const maxText = 4096

// DefaultConfidence is the confidence of an absolute rule without one.
const DefaultConfidence = 0.95

// SyntaxError describes a syntax error in a text.
type SyntaxError struct {
	Text   string
	Offset int    // in bytes
	Msg    string // what is wrong
	Hint   string // what to write instead, or ""
}

// Error returns the place, the message and the hint in one line.
func (e *SyntaxError) Error() string {
	column := utf8.RuneCountInString(e.Text[:e.Offset]) + 1
	return textui.Join("; ", fmt.Sprintf("%q, character %d: %s", textui.Shorten(e.Text, 100), column, e.Msg), e.Hint)
}

// Parse reads a rule. Errors are of type *SyntaxError.
func Parse(text string) (*Rule, error) {
	p := newParser(text)
	r := &Rule{Quantity: p.quantity()}
	r.Op = p.op()
	r.Bound = p.bound(r.Quantity.Unit())
	p.confidence(r)
	if err := p.end(); err != nil {
		return nil, err
	}
	return r, nil
}

// ParseQuantity reads the part of a rule before the comparison, such as
// "p99(runnable)". Errors are of type *SyntaxError.
func ParseQuantity(text string) (Quantity, error) {
	p := newParser(text)
	q := p.quantity()
	return q, p.end()
}

// ParseBound reads the part of a rule behind the comparison, for a quantity of unit u.
// Errors are of type *SyntaxError.
func ParseBound(text string, u Unit) (Bound, error) {
	p := newParser(text)
	b := p.bound(u)
	return b, p.end()
}

// parser reads a text from left to right. After an error it stands at the text's end,
// and all that follows is ignored.
type parser struct {
	text string
	pos  int
	err  error
}

func newParser(text string) *parser {
	p := &parser{text: text}
	if len(text) > maxText {
		p.text = text[:maxText]
		p.fail(0, "", "longer than %d bytes", maxText)
	}
	return p
}

func (p *parser) fail(at int, hint, format string, args ...any) {
	if p.err == nil {
		p.err = &SyntaxError{Text: p.text, Offset: min(at, len(p.text)), Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
	p.pos = len(p.text)
}

func (p *parser) end() error {
	p.blank()
	if p.pos < len(p.text) {
		p.fail(p.pos, "a rule is one comparison; write others as rules of their own", "unexpected %s after the end", p.seen())
	}
	return p.err
}

// seen describes what comes next.
func (p *parser) seen() string {
	if p.pos >= len(p.text) {
		return "end"
	}
	rest := p.text[p.pos:]
	if i := strings.IndexAny(rest, " \t\n"); i > 0 {
		rest = rest[:i]
	}
	return strconv.Quote(textui.Shorten(rest, 30))
}

func (p *parser) blank() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// next returns the next byte that is not blank, 0 at the end.
func (p *parser) next() byte {
	p.blank()
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// accept skips c if it comes next.
func (p *parser) accept(c byte) bool {
	if p.next() != c || p.pos >= len(p.text) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(c byte, hint string) {
	if !p.accept(c) {
		p.fail(p.pos, hint, "%q is missing before %s", c, p.seen())
	}
}

// take returns the longest beginning of the rest of bytes for which is holds.
func (p *parser) take(is func(byte) bool) string {
	p.blank()
	start := p.pos
	for p.pos < len(p.text) && is(p.text[p.pos]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' || c == '_' || c == '-' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func (p *parser) quantity() Quantity {
	var q Quantity
	p.agg(&q)
	p.expect('(', "write for example p99(runnable)")
	p.blank()
	at := p.pos
	q.Metric = p.take(isWord)
	if p.next() == '=' {
		p.short(&q, at)
	} else {
		p.metric(&q, at)
	}
	p.expect(')', "")
	if p.err == nil {
		if msg, hint := q.fault(); msg != "" {
			p.fail(at, hint, "%s", msg)
		}
	}
	return q
}

// otherAggs are words that people use, and ours.
var otherAggs = map[string]string{
	"min": "p0", "median": "p50", "med": "p50", "avg": "mean", "average": "mean", "total": "sum", "count": "sum", "maximum": "max", "ratio": "share",
}

const aggHint = "there are p0 to p100 (such as p99.9), mean, max, sum and share"

func (p *parser) agg(q *Quantity) {
	p.blank()
	at := p.pos
	name := p.take(isWord)
	if i := slices.Index(aggNames[:], name); i > int(Quantile) {
		q.Agg = Agg(i)
	} else {
		p.quantile(q, name, at)
	}
}

func (p *parser) quantile(q *Quantity, name string, at int) {
	digits, isP := strings.CutPrefix(name, "p")
	share, ok := percent(digits)
	switch {
	case isP && ok && share <= 1:
		q.Agg, q.Q = Quantile, share
	case isP && ok && len(digits) > 2 && digits[0] == '9' && !strings.Contains(digits, "."):
		p.fail(at, fmt.Sprintf("did you mean p%s.%s?", digits[:2], digits[2:]), "%s is beyond p100", name)
	case isP && ok:
		p.fail(at, aggHint, "%s is beyond p100", name)
	case name == "":
		p.fail(at, aggHint, "an aggregation is missing before %s", p.seen())
	default:
		hint := aggHint
		if near := cmp.Or(otherAggs[strings.ToLower(name)], textui.Closest(name, []string{"p50", "p99", "mean", "max", "sum", "share"})); near != "" {
			hint = fmt.Sprintf("did you mean %s? %s", near, aggHint)
		}
		p.fail(at, hint, "there is no aggregation %q", name)
	}
}

// short reads share(cause=...), which leaves out the metric.
func (p *parser) short(q *Quantity, at int) {
	if q.Agg != Share {
		p.fail(at, "write the metric first: mean(wait{cause=behind-gc}/op)", "only share may leave out the metric")
		return
	}
	q.Metric = "runnable"
	p.pos = at
	p.selectors(q, ')')
}

func (p *parser) metric(q *Quantity, at int) {
	if q.Metric == "" {
		p.fail(at, metricsHint(""), "a metric is missing before %s", p.seen())
		return
	}
	if _, ok := Lookup(q.Metric); !ok {
		p.fail(at, metricsHint(q.Metric), "there is no metric %q", q.Metric)
		return
	}
	for {
		switch start := p.pos; {
		case p.next() == '{' && q.Select == nil:
			p.pos++
			p.selectors(q, '}')
			p.expect('}', "")
		case p.next() == '{':
			p.fail(p.pos, "write {key=pattern,key=pattern}", "selectors stand in one pair of braces")
		case p.next() == '/' && q.Per == PerNone:
			p.pos++
			p.per(q)
		case p.next() == '/':
			p.fail(start, "", "there can be one of /op and /s only")
		default:
			return
		}
	}
}

func metricsHint(word string) string {
	names := make([]string, len(Metrics))
	for i := range Metrics {
		names[i] = Metrics[i].Name
	}
	listed := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.HasPrefix(name, "request.") })
	return textui.DidYouMean(word, names) + "metrics are " + strings.Join(listed, ", ")
}

func (p *parser) per(q *Quantity) {
	p.blank()
	at := p.pos
	switch word := p.take(isWord); word {
	case "op":
		q.Per = PerOp
	case "s":
		q.Per = PerSecond
	default:
		p.fail(at, "", "behind / stands op or s, not %q", word)
	}
}

const quotesHint = `patterns with commas, braces or blanks stand in double quotes: reason="chan receive"`

// selectors reads key=pattern,... up to the closing character, which stays.
func (p *parser) selectors(q *Quantity, closing byte) {
	for p.err == nil {
		p.blank()
		at := p.pos
		key := p.take(isWord)
		switch {
		case key == "":
			p.fail(at, "write key=pattern; "+quotesHint, "a selector is missing before %s", p.seen())
		case q.Selected(key) != nil:
			p.fail(at, "use * in the pattern to select several", "the selector %s is there twice", key)
		}
		p.expect('=', "write key=pattern, with * for any text"+textui.If(len(q.Select) > 0, "; "+quotesHint))
		q.Select = append(q.Select, Selector{key, p.pattern(closing)}.canonical())
		if !p.accept(',') {
			break
		}
	}
	if p.err == nil && p.next() != closing {
		p.fail(p.pos, quotesHint, "unexpected %s behind a pattern", p.seen())
	}
	sortSelectors(q.Select)
}

func (p *parser) pattern(closing byte) string {
	p.blank()
	if p.next() != '"' {
		return p.bare(closing)
	}
	quoted, err := strconv.QuotedPrefix(p.text[p.pos:])
	if err != nil {
		p.fail(p.pos, `" and \ within it are written \" and \\`, "the quoted pattern does not end well")
		return ""
	}
	p.pos += len(quoted)
	s, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
	return s
}

// bare reads a pattern without quotes. Parentheses belong to it, as in
// main.(*T).run, except for the one that closes share(key=pattern).
func (p *parser) bare(closing byte) string {
	depth := 0
	s := p.take(func(c byte) bool {
		switch {
		case c == '(':
			depth++
		case c == ')' && closing == ')':
			depth--
		}
		return depth >= 0 && !endsBare(c)
	})
	if s == "" {
		p.fail(p.pos, "write * for any", "a pattern is missing before %s", p.seen())
	}
	return s
}

func endsBare(c byte) bool { return c <= ' ' || c == 0x7f || strings.IndexByte(`,{}"\`, c) >= 0 }

func (p *parser) op() Op {
	p.blank()
	at := p.pos
	sign := p.take(func(c byte) bool { return strings.IndexByte("<>=!", c) >= 0 })
	i := slices.Index(opSigns[:], sign)
	switch {
	case sign == "":
		p.fail(at, "write for example p99(runnable) < 5ms", "a comparison is missing before %s", p.seen())
	case i < 0:
		p.fail(at, "there are <, <=, > and >=", "there is no comparison %q", sign)
	}
	return Op(max(i, 0))
}

func (p *parser) bound(u Unit) Bound {
	p.blank()
	if p.pos < len(p.text) && isLetter(p.text[p.pos]) {
		return p.relative(u)
	}
	at := p.pos
	if strings.Contains(p.text[p.pos:], "baseline") {
		p.fail(at, moreHint, "a bound begins with baseline or is a value")
		return Bound{}
	}
	x := p.literal(u, "write "+u.example())
	if u == Fraction && x > 1 {
		p.fail(at, "", "a share is at most 100%%")
	}
	return Bound{Add: x}
}

const moreHint = "10 % more is baseline*1.10"

func (p *parser) relative(u Unit) Bound {
	at := p.pos
	if word := p.take(isWord); word != "baseline" {
		p.fail(at, "a bound is "+u.example()+", or baseline*1.10", "%q is not a bound", word)
	}
	b := Bound{Relative: true, Factor: 1}
	if p.accept('*') {
		b.Factor = p.factor()
	}
	if p.accept('+') {
		b.Add = p.literal(u, "write "+u.example()+"; "+moreHint)
	}
	if c := p.next(); c == '-' || c == '/' || c == '*' {
		p.fail(p.pos, "10 % less is baseline*0.9", "a bound is baseline*factor + room, without %q", c)
	}
	return b
}

func (p *parser) factor() float64 {
	p.blank()
	at := p.pos
	text := p.number()
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !isDecimal(text):
		p.fail(at, moreHint, "a factor is a number such as 1.10, not %q", text)
	case x <= 0:
		p.fail(at, "", "a factor is greater than 0")
	}
	return x
}

// number reads all that looks like a number with or without a unit.
func (p *parser) number() string {
	p.blank()
	start := p.pos
	for p.pos < len(p.text) && p.inNumber(start) {
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *parser) inNumber(start int) bool {
	c := p.text[p.pos]
	if isLetter(c) || isDigit(c) || c == '.' || c == '%' || c == '_' || c >= utf8.RuneSelf {
		return true
	}
	sign := c == '+' || c == '-'
	return sign && p.pos > start+1 && (p.text[p.pos-1] == 'e' || p.text[p.pos-1] == 'E') && isDigit(p.text[p.pos-2]) // 1e+5
}

// isDecimal reports whether s, which strconv reads, has none of its specialities: no
// hexadecimal number, infinity or underscore.
func isDecimal(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.eE+-") == "" && isDigit(s[len(s)-1])
}

// literal reads a value of the unit. Hint says what to write if there is none.
func (p *parser) literal(u Unit, hint string) float64 {
	at := p.pos
	if p.next() == '-' {
		p.fail(p.pos, "", "a bound is not negative")
		return 0
	}
	text := p.number()
	x, why := readLiteral(text, u)
	if p.err == nil && text == "" {
		p.fail(at, hint, "a bound is missing before %s", p.seen())
	} else if why != "" {
		p.fail(p.pos-len(text), hint, "%s", why)
	}
	return x
}

func readLiteral(text string, u Unit) (x float64, why string) {
	switch u {
	case Nanoseconds:
		return readDuration(text)
	case Fraction:
		return readFraction(text)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !isDecimal(text) {
		return 0, fmt.Sprintf("the quantity is a plain number, and %q is not one", text)
	}
	return x, ""
}

func readDuration(text string) (float64, string) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return float64(d), ""
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, fmt.Sprintf("the quantity is a time, and %q has no unit", text)
	}
	return 0, fmt.Sprintf("the quantity is a time, and %q is not one", text)
}

func readFraction(text string) (float64, string) {
	if digits, ok := strings.CutSuffix(text, "%"); ok {
		if x, ok := percent(digits); ok {
			return x, ""
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !isDecimal(text) {
		return 0, fmt.Sprintf("the quantity is a share, and %q is not one", text)
	}
	return x, ""
}

func (p *parser) confidence(r *Rule) {
	if !p.accept('@') {
		if !r.Bound.Relative {
			r.Confidence = DefaultConfidence
		}
		return
	}
	p.blank()
	at := p.pos
	text := p.number()
	if text == "point" {
		if r.Point = true; r.Bound.Relative {
			p.fail(at, "leave out @ point", "@ point compares each trace by itself, and the bound needs a baseline")
		}
		return
	}
	digits, isPercent := strings.CutSuffix(text, "%")
	x, ok := percent(digits)
	switch {
	case !isPercent || !ok:
		p.fail(at, "write @ 95% or @ point", "behind @ stands a percentage or point, not %q", text)
	case x < 0.5 || x >= 1:
		p.fail(at, "write @ 95%", "a confidence is at least 50%% and below 100%%")
	}
	r.Confidence = x
}

// percent returns digits / 100. It moves the point in the text, so that what is
// printed reads back as the same number.
func percent(digits string) (float64, bool) {
	if !isDecimal(digits) || strings.Trim(digits, "0123456789.") != "" || strings.Count(digits, ".") > 1 {
		return 0, false
	}
	x, err := strconv.ParseFloat(movePoint(digits, -2), 64)
	return x, err == nil && !math.IsInf(x, 0)
}
