package source

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

const hintSave = "choose another directory to save to, or do not save"

// A sink is the file that a fetched trace goes to. drop takes the file away
// unless keep was called before; remove takes it away in any case.
type sink struct {
	saved *atomicfile.File // nil: temporary
	temp  *os.File
	kept  bool
}

func newSink(o HTTPOptions, host string) (*sink, error) {
	if o.NoSave {
		f, err := os.CreateTemp("", "schedscope-*.out")
		return &sink{temp: f}, err
	}
	f, err := atomicfile.CreateNew(filepath.Join(o.SaveDir, saveName(o, host)))
	return &sink{saved: f}, err
}

// saveName returns trace-<host>-<time>.out, in characters that every file
// system takes.
func saveName(o HTTPOptions, host string) string {
	host = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, host), "-.")
	name := "trace-" + host
	if o.Now != nil {
		name += o.Now().Format("-20060102-150405")
	}
	return name + ".out"
}

func (s *sink) Write(p []byte) (int, error) {
	if s.saved != nil {
		return s.saved.Write(p)
	}
	return s.temp.Write(p)
}

// path is final once keep has returned.
func (s *sink) path() string {
	if s.saved != nil {
		return s.saved.Name()
	}
	return s.temp.Name()
}

func (s *sink) keep() error {
	if s.saved != nil {
		if err := s.saved.Commit(); err != nil {
			return err
		}
	} else if err := s.temp.Close(); err != nil {
		return err
	}
	s.kept = true
	return nil
}

func (s *sink) drop() {
	if s.kept {
		return
	}
	if s.saved != nil {
		s.saved.Abort()
		return
	}
	s.temp.Close()
	s.remove()
}

func (s *sink) remove() error {
	err := os.Remove(s.path())
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
