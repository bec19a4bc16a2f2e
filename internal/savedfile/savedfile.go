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
	"regexp"
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

// ReadAll returns the contents of r, and an error if they exceed limit bytes.
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

// Sum returns the hash of a struct's JSON, for its field
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
	var keys map[string]json.RawMessage
	if json.Unmarshal(content, &keys) != nil {
		return ""
	}
	delete(keys, "sum")
	for key, value := range keys { // one after another: decoded, a value is many times as large
		d := json.NewDecoder(bytes.NewReader(value))
		d.UseNumber()
		var x any
		if d.Decode(&x) != nil {
			return ""
		}
		keys[key], _ = json.Marshal(x) // of what JSON became it can be made
	}
	sorted, _ := json.Marshal(keys)
	return SumOf(sorted)
}

// SumOf returns the hash of an object that is compact JSON, as package encoding/json writes it, with
// keys in order and without its key sum.
func SumOf(sorted []byte) string {
	h := sha256.Sum256(sorted)
	return hex.EncodeToString(h[:8])
}
