package capture

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

// maxName is the greatest length of the part of a file's name that Options give.
const maxName = 60

// safeName returns a name in characters that every file system takes.
func safeName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, s)
	s = strings.Trim(s[:min(len(s), maxName)], "-.")
	return cmp.Or(s, "program")
}

// timeLayout sorts by time. It is in UTC.
const timeLayout = "20060102T150405.000Z"

// fileName returns NAME-TIME-REASON.trace.
func fileName(name string, t time.Time, r Reason) string {
	return name + "-" + t.UTC().Format(timeLayout) + "-" + string(r) + ".trace"
}

// ownFile matches what fileName returns for a name, with the number that a second file of
// the same millisecond has.
func ownFile(name string) *regexp.Regexp {
	return regexp.MustCompile(`^` + regexp.QuoteMeta(name) + `-[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[a-z]+(-[0-9]+)?\.trace$`)
}

// prune removes the oldest own files of a folder beyond so many and so many bytes, but not
// the newest. Left are paths that dead processes may have left there half-written, which count if
// they are of the name. Somebody else may remove files at the same time.
func prune(dir, name string, keep int, keepBytes int64, left []string) error {
	entries, err := os.ReadDir(dir) // by name, which is by time
	if err != nil {
		return err
	}
	bytes := int64(0)
	for _, path := range left {
		target, _ := atomicfile.Target(filepath.Base(path))
		if info, err := os.Lstat(path); err == nil && strings.HasPrefix(target, name+"-") {
			keep--
			bytes += info.Size()
		}
	}
	own := ownFile(name)
	kept, full := 0, false
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		if !e.Type().IsRegular() || !own.MatchString(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // gone meanwhile
		}
		kept++
		bytes += info.Size()
		full = full || kept > 1 && (kept > keep || bytes > keepBytes)
		if !full {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// TooLargeError is returned for a trace that exceeds Options.MaxFile and is discarded.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the trace is larger than MaxFile, %d bytes: raise that, or lower MaxBytes or MinAge", e.Limit)
}

// limitedWriter fails from the first error on, which may be that more than left bytes
// were written.
type limitedWriter struct {
	w      io.Writer
	left   int64
	limit  int64
	err    error
	failed func(error) // called with the first error; nil: nobody wants to know
}

func limitWriter(w io.Writer, limit int64) *limitedWriter {
	return &limitedWriter{w: w, left: limit, limit: limit}
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if int64(len(p)) > l.left {
		return 0, l.fail(&TooLargeError{l.limit})
	}
	n, err := l.w.Write(p)
	l.left -= int64(n)
	if err != nil {
		l.fail(err)
	}
	return n, err
}

func (l *limitedWriter) fail(err error) error {
	l.err = err
	if l.failed != nil {
		l.failed(err)
	}
	return err
}
