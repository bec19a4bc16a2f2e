package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/schedscope/schedscope/internal/savedfile"
	"github.com/schedscope/schedscope/internal/textui"
)

// Limits of saved reports: they bound the memory that hostile ones take. A report grows
// with the number of functions and traces, not with events, and without any white space
// its objects take some hundred bytes on average.
const (
	maxSaved       = 128 << 20
	smallSaved     = 1 << 20 // of which it does not matter what is in it
	bytesPerObject = 32
)

// Read reads a report that [JSON] wrote, of this or another version of the program:
// fields that are not known are passed over, lists that are not there are empty. An error
// says what is wrong with it, without a name; the report keeps nothing of r.
func Read(r io.Reader) (*Report, error) { return read(r, maxSaved) }

func read(r io.Reader, limit int64) (*Report, error) {
	data, err := savedfile.ReadAll(r, limit)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := checkSchema(data); err != nil {
		return nil, err
	}
	if len(data) > smallSaved && countObjects(data) > len(data)/bytesPerObject {
		return nil, errors.New("invalid report: most of its objects are empty")
	}
	v := &Report{}
	if err := json.Unmarshal(data, v); err != nil {
		return nil, describeJSON(err, data)
	}
	if err := validate(v); err != nil {
		return nil, fmt.Errorf("invalid report: %w", err)
	}
	v.SetIncidents()
	return v, nil
}

// checkSchema returns an error unless data is JSON with the name of this schema.
func checkSchema(data []byte) error {
	var head struct {
		Schema *string `json:"schema"`
	}
	err := json.Unmarshal(data, &head)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return errors.New("not a report of schedscope: it does not name a schema")
	case err != nil:
		return describeJSON(err, data)
	case head.Schema == nil:
		return errors.New("not a report of schedscope: it does not name a schema")
	case *head.Schema != Schema:
		return fmt.Errorf("its schema is %q, not %q", textui.Shorten(textui.Clean(*head.Schema), 60), Schema)
	}
	return nil
}

// describeJSON says what keeps data from being decoded, and where.
func describeJSON(err error, data []byte) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("invalid report: %s is a %s, not a %s (byte %d)", wrong.Field, wrong.Value, kindOf(wrong.Type), wrong.Offset)
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(data)):
		return fmt.Errorf("the JSON is cut off after %d bytes", len(data))
	case errors.As(err, &syntax):
		return fmt.Errorf("no valid JSON: %s (byte %d)", textui.Clean(syntax.Error()), syntax.Offset)
	}
	return err
}

// countObjects counts what begins an object, and nulls, outside of strings.
func countObjects(data []byte) int {
	n := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', 'n':
			n++
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}

// kindOf names a type of JSON.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "object"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "bool"
	}
	return "number that fits"
}
