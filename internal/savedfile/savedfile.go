// Package savedfile is the one way in for files that were saved earlier: they may be damaged
// since, or not be what they are taken for.
package savedfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
)

// descriptor is a name of a device or an open file, passed on purpose: <(...) in a shell.
var descriptor = regexp.MustCompile(`^(/dev/[^/]*$|/dev/fd/|/proc/self/fd/)`)

var errNotRegular = errors.New("is not a regular file")

// Regular returns an [*fs.PathError] unless a path is that of a regular file, of a link to one, or
// of a device. A program may have left a pipe there: whoever opens it might wait for ever.
func Regular(path string) error {
	info, err := os.Stat(path)
	switch _, link := os.Lstat(path); {
	case err == nil && !info.Mode().IsRegular() && !descriptor.MatchString(path):
		return &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	case errors.Is(err, fs.ErrNotExist) && link == nil: // who leaves out what is not there does not mean this
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("is a dangling symbolic link")}
	}
	return err
}

// Open opens a [Regular] file, through a link only if it may follow one. It waits for nobody, whatever
// comes in the place of a file meanwhile.
func Open(path string, follow bool) (*os.File, error) {
	if err := Regular(path); err != nil {
		return nil, err
	}
	flags, passed := noWait, descriptor.MatchString(path)
	if passed {
		flags = 0 // who writes a pipe of a shell is waited for
	}
	if !follow {
		flags |= noFollow
	}
	f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil || passed {
		return f, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return f, nil
}

// ReadFile returns the content of a file that [Open] opens, of at most limit bytes. Whatever is wrong
// is an [*fs.PathError].
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path, true)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := ReadAll(f, limit)
	if _, named := err.(*fs.PathError); err != nil && !named {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, err
}

// ReadAll returns what r has, which is an error if it is more than limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("larger than the limit of %d bytes", limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// SchemaError is the error of a file of another schema, or of another version of it.
type SchemaError struct{ Got, Want string }

func (e *SchemaError) Error() string {
	text := fmt.Sprintf("its schema is %s, not %q", quote(e.Got), e.Want)
	kind, version, _ := strings.Cut(e.Got, "/v")
	if wantKind, _, _ := strings.Cut(e.Want, "/v"); kind == wantKind && strings.Trim(version, "0123456789.") == "" {
		text += ": a newer schedscope wrote it, so update this one"
	}
	return text
}

// Decode reads JSON that was saved into v, a pointer to a struct, if it is an object of the
// schema, unless that is "", and holds nothing but what the types allow:
//
//  1. All keys of an object are fields of its struct, as they are written, and none is there twice.
//  2. All fields are there, except those with omitempty or omitzero, and none is null.
//  3. Numbers are in the range of their field, which the tag range declares ("-1..", "0..1"),
//     and not negative where it declares none. It is that of numbers in lists, too.
//  4. Lists for arrays have their length.
//  5. The sum is that of the content, see [Sum], where there is one: what may be left out, and
//     numbers that are as good as others, are those that were written.
//
// An error says what is wrong and where, in one line, without the name of the file; v is then
// as it was. Schemas of JSON have the same ranges and required keys: see [RangeOf].
func Decode(data []byte, schema string, v any) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var head struct {
		Schema *string `json:"schema"`
	}
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &head); {
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("the file is empty")
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(data)):
		return fmt.Errorf("the JSON is cut off after %d bytes", len(data))
	case errors.As(err, &syntax):
		return fmt.Errorf("not valid JSON: %s (byte %d)", syntax, syntax.Offset)
	case schema == "" && (err == nil || errors.As(err, &wrong)):
	case errors.As(err, &wrong), err == nil && head.Schema == nil:
		return fmt.Errorf("not a file of schedscope: it does not name a schema such as %q", schema)
	case err != nil:
		return err
	case *head.Schema != schema:
		return &SchemaError{*head.Schema, schema}
	}
	if err := check(data, v); err != nil {
		return err
	}
	into := reflect.New(reflect.TypeOf(v).Elem())
	if err := json.Unmarshal(data, into.Interface()); err != nil {
		return err
	}
	if f, ok := into.Type().Elem().FieldByName("Sum"); ok {
		field := into.Elem().FieldByIndex(f.Index)
		if sum := field.String(); sum != "" && sum != sumOf(data) {
			return errors.New(`its content does not match its "sum": restore the original or, if the change is meant, remove that key`)
		}
		field.SetString("")
	}
	reflect.ValueOf(v).Elem().Set(into.Elem())
	return nil
}

// Sum returns the hash of what a struct is as JSON, for its field
//
//	Sum string `json:"sum,omitempty"`
//
// which is left out. Neither the layout of the file nor the order of its keys matters. Files
// without a sum, such as those that somebody edits on purpose, are good.
func Sum(v any) string {
	content, err := json.Marshal(v)
	if err != nil {
		return "" // the caller, who writes it, has the same error
	}
	return sumOf(content)
}

// sumOf returns the hash of a JSON object without its key sum.
func sumOf(content []byte) string {
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	var keys map[string]any
	if d.Decode(&keys) != nil {
		return ""
	}
	delete(keys, "sum")
	sorted, _ := json.Marshal(keys) // of what JSON became it can be made
	h := sha256.Sum256(sorted)
	return hex.EncodeToString(h[:8])
}
