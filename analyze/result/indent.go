package result

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"

	"github.com/schedscope/schedscope/internal/savedfile"
)

// Write writes the report as indented JSON. It sets the encodings of distributions, and makes
// nil lists empty: nothing in a report is null. A checksum lets [Read] detect changes.
func Write(w io.Writer, v *Report) error {
	Complete(v)
	emptyLists(reflect.ValueOf(v).Elem())
	v.Sum = savedfile.Sum(v)
	compact, err := json.Marshal(v)
	v.Sum = ""
	if err != nil {
		return err
	}
	_, err = w.Write(IndentJSON(savedfile.Printable(compact)))
	return err
}

// emptyLists makes lists in v that are nil empty, except those that are left out then.
func emptyLists(v reflect.Value) {
	each(v, "", func(x reflect.Value, tag string) error {
		if x.Kind() == reflect.Slice && x.IsNil() && !strings.Contains(tag, ",omit") {
			x.Set(reflect.MakeSlice(x.Type(), 0, 0))
		}
		return nil
	})
}

// IndentJSON returns compact JSON, indented except numbers. Otherwise most of a report would
// be lines with a number each.
//
//  1. A list of nothing but numbers and lists of them is a line, and so is in a list an object
//     of nothing but numbers, such as a point of a curve.
//  2. Elsewhere each comma ends a line, and so do brackets that have anything between them.
//  3. Texts are copied as they are.
func IndentJSON(compact []byte) []byte {
	var out bytes.Buffer
	depth, flat, space := 0, 0, "" // flat is the end of what is a line, space what follows its commas
	newLine := func() {
		out.WriteByte('\n')
		for range depth {
			out.WriteString("  ")
		}
	}
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		if i >= flat && (c == '[' || c == '{' && i > 0 && compact[i-1] != ':') {
			flat, space = i+endOfNumbers(compact[i:]), ""
			if c == '{' {
				space = " "
			}
		}
		switch {
		case c == '"':
			end := i + endOfText(compact[i:])
			out.Write(compact[i:end])
			i = end - 1
		case c == ':':
			out.WriteString(": ")
		case c == ',' && i < flat:
			out.WriteString("," + space)
		case c == ',':
			out.WriteByte(c)
			newLine()
		case (c == '[' || c == '{') && i >= flat:
			out.WriteByte(c)
			if compact[i+1] != c+2 { // its counterpart in ASCII
				depth++
				newLine()
			}
		case (c == ']' || c == '}') && i >= flat:
			if compact[i-1] != c-2 {
				depth--
				newLine()
			}
			out.WriteByte(c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// endOfText returns the end of the text at the beginning of s.
func endOfText(s []byte) int {
	i := 1
	for ; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// endOfNumbers returns the end of the list or object at the beginning of s, 0 if a list has
// anything but numbers and lists of them or an object anything but numbers.
func endOfNumbers(s []byte) int {
	object, depth := s[0] == '{', 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case i == 0, c == '[' && !object:
			depth++
		case c == ']', c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '"' && object && s[i-1] != ':':
			i += endOfText(s[i:]) - 1
		case !bytes.ContainsRune([]byte("0123456789-+.eE,:"), rune(c)):
			return 0
		}
	}
	return 0
}
