package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/schedscope/schedscope/internal/atomicfile"
)

// An Input is an open trace, decompressed. Read and the reader of ReaderAt may
// be used together; Read is for one goroutine, ReaderAt and Progress for any.
type Input struct {
	Name        string // Ref.Name
	Compression string // "gzip", "zstd" or "" for none
	Saved       string // where a fetched trace is kept; empty if it is not
	JSON        bool   // it is JSON, not a trace: Options.JSON allowed that

	// Interrupted is set if a fetched trace is only the part that came
	// before ^C, a limit or a broken connection; Cause says which.
	Interrupted bool
	Cause       error
	// Unsampled is why the server of a fetched trace did not take the CPU samples that
	// HTTPOptions.Samples asks for; nil also if it was not asked.
	Unsampled error

	r       io.Reader
	at      io.ReaderAt // nil if the data is not a plain file
	size    int64       // of what at reads
	total   int64       // bytes as stored, compressed ones included; -1: unknown
	read    atomic.Int64
	over    atomic.Bool    // there is more than Options.MaxBytes
	closers []func() error // run last to first

	file *os.File // regular, nil if there is none
	info fs.FileInfo
}

// Changed reports whether the file behind the input has another size than when it was opened,
// or was written to at least.
func (in *Input) Changed() (size, written bool) {
	if in.file == nil {
		return false, false
	}
	now, err := in.file.Stat()
	if err != nil {
		return false, false
	}
	return now.Size() != in.info.Size(), !now.ModTime().Equal(in.info.ModTime())
}

// TooLarge reports whether reading ended at Options.MaxBytes.
func (in *Input) TooLarge() bool { return in.over.Load() }

// EndedBy returns what ended the recording of an interrupted trace.
func (in *Input) EndedBy() string {
	if errors.Is(in.Cause, context.Canceled) {
		return "interrupted"
	}
	return in.Cause.Error()
}

// Regular reports whether a regular file is behind the input, of which no read lasts.
func (in *Input) Regular() bool { return in.file != nil }

// Read reads the decompressed trace.
func (in *Input) Read(p []byte) (int, error) { return in.r.Read(p) }

// ReaderAt returns random access to the trace and its size in bytes, or nil if
// there is none: compressed data, a pipe.
func (in *Input) ReaderAt() (io.ReaderAt, int64) { return in.at, in.size }

// StoredSize returns the size in bytes of the data as it is stored, which for
// compressed data is the compressed size, and -1 if that is unknown.
func (in *Input) StoredSize() int64 { return in.total }

// Progress returns how many bytes were read, through Read and ReaderAt together, of how many: of
// those that ReaderAt gives if there is one, else of StoredSize. Data read twice counts twice, but
// never beyond that.
func (in *Input) Progress() (read, total int64) {
	read, total = in.read.Load(), in.total
	if in.at != nil {
		total = in.size
	}
	if total >= 0 {
		read = min(read, total)
	}
	return read, total
}

// Close closes the files behind the input, but not Options.Stdin, and removes
// a fetched trace that was not to be saved. A second Close does nothing.
func (in *Input) Close() error {
	var errs []error
	for i := len(in.closers) - 1; i >= 0; i-- {
		errs = append(errs, in.closers[i]())
	}
	in.closers = nil
	return errors.Join(errs...)
}

// Unpack copies what can be read only once, such as compressed data or a pipe, to a
// temporary file: then it has a ReaderAt. Where the data is damaged the copy ends, with the
// damage. Close removes the file.
func (in *Input) Unpack() (damage, err error) {
	if in.at != nil {
		return nil, nil
	}
	f, err := in.scratch()
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(f, in)
	if unwritten := new(fs.PathError); err != nil && (n == 0 || errors.As(err, &unwritten)) {
		return nil, fmt.Errorf("unpacking %s: %w", in.Name, err)
	}
	in.read.Store(0)
	in.size = n
	in.at = &counterAt{f, &in.read}
	in.r = io.NewSectionReader(in.at, 0, n)
	return err, nil
}

// Keep returns a function for the same input once more, to be called when this one has been read.
// It is read in the same way: what can be read only once is copied to a temporary file while it is
// read, and is a stream again, of what was read. Close of this input removes the file.
func (in *Input) Keep() (func() (*Input, error), error) {
	if in.at != nil {
		return func() (*Input, error) { return in, nil }, nil
	}
	f, err := in.scratch()
	if err != nil {
		return nil, err
	}
	in.r = io.TeeReader(in.r, f)
	return func() (*Input, error) {
		info, err := f.Stat()
		if err != nil {
			return nil, fmt.Errorf("reading %s again: %w", in.Name, err)
		}
		return &Input{Name: in.Name, Compression: in.Compression, total: in.total, file: in.file, info: in.info,
			r: io.NewSectionReader(f, 0, info.Size())}, nil
	}, nil
}

// scratch returns a temporary file for the data, which lasts until Close.
func (in *Input) scratch() (*os.File, error) {
	f, remove, err := atomicfile.Scratch(filepath.Join(os.TempDir(), "trace"))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", in.Name, err)
	}
	os.Remove(f.Name()) // most systems let an open file go: it lasts as long as the program, however that ends
	in.onClose(func() error { remove(); return nil })
	return f, nil
}

func (in *Input) onClose(f func() error) { in.closers = append(in.closers, f) }

// openFile opens the file path, whatever it is, under the given name.
func openFile(path, name string, o Options) (*Input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, opening(name, err)
	}
	in := &Input{Name: name}
	in.onClose(f.Close)
	if err := in.start(f, o); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

func openStdin(ref Ref, o Options) (*Input, error) {
	in := &Input{Name: show(ref.Name)}
	if o.Stdin == nil {
		return nil, in.fail(errors.New("there is none"), "")
	}
	if err := in.start(o.Stdin, o); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// start looks at the first bytes of src and builds the reader for them.
func (in *Input) start(src io.Reader, o Options) error {
	in.total = -1
	plain, err := false, error(nil)
	switch src := src.(type) {
	case *os.File:
		plain, err = in.startFile(src, o)
	case sized:
		in.total = src.Size()
		plain, err = in.startAt(src, src.Size(), o)
	}
	if plain || err != nil {
		return err
	}
	br := bufio.NewReaderSize(&counter{src, &in.read}, SniffLen)
	head, err := peek(br)
	if len(head) == 0 && err != nil {
		return in.fail(err, "")
	}
	g := Sniff(head)
	if g.Format.packed() {
		return in.startCompressed(g.Format, br, o)
	}
	in.r = br
	return in.check(g, o)
}

// startFile is the fast path: it reports plain if f is a regular file at its
// start that is not compressed, and then in reads it by position.
func (in *Input) startFile(f *os.File, o Options) (plain bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, in.fail(err, "")
	}
	if info.IsDir() {
		return false, in.fail(errors.New("is a directory"), "")
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	if info.Size() > 0 {
		in.file, in.info = f, info
	}
	// A file handed over as stdin may be half read: what is left is a stream.
	offset, err := f.Seek(0, io.SeekCurrent)
	if err != nil || offset > info.Size() {
		return false, nil
	}
	// Files of /proc say that they are empty and are not.
	if info.Size() > 0 {
		in.total = info.Size() - offset
	}
	if offset != 0 || info.Size() == 0 {
		return false, nil
	}
	return in.startAt(f, info.Size(), o)
}

// sized is data in memory, or a part of a file.
type sized interface {
	io.ReaderAt
	Size() int64
}

// startAt is startFile for data of a size that is not 0.
func (in *Input) startAt(f io.ReaderAt, size int64, o Options) (plain bool, err error) {
	head := make([]byte, min(SniffLen, size))
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return false, in.fail(err, "")
	}
	g := Sniff(head[:n])
	if g.Format.packed() {
		return false, nil
	}
	in.at, in.size = &counterAt{f, &in.read}, size
	in.r = io.NewSectionReader(in.at, 0, in.size)
	return true, in.check(g, o)
}

func (in *Input) startCompressed(format Format, src io.Reader, o Options) error {
	name, dec, err := decompress(format, src)
	in.Compression = name
	if err != nil {
		return in.fail(&PackedError{name, err}, hintDamaged)
	}
	in.onClose(dec.Close)
	br := bufio.NewReaderSize(&limited{r: dec, left: o.MaxBytes, limit: o.MaxBytes, name: name, over: &in.over}, SniffLen)
	head, err := peek(br)
	if len(head) == 0 && err != nil {
		return in.fail(err, hintDamaged)
	}
	in.r = br
	return in.check(Sniff(head), o)
}

// check returns an error unless g is a trace to be read, or JSON if the options allow it.
func (in *Input) check(g *Guess, o Options) error {
	if g.Format == Trace {
		return nil
	}
	if g.Format == JSON && o.JSON {
		in.JSON = true
		return nil
	}
	if in.Compression != "" {
		g.Seems += " (" + in.Compression + "-compressed)"
	}
	return in.fail(g, g.Hint)
}

func (in *Input) fail(err error, hint string) error {
	return &Error{Doing: "reading " + in.Name, Err: cause(err), Hint: hint}
}

// peek returns up to SniffLen bytes without consuming them, and the error that
// made them fewer, unless that is the end of the data.
func peek(br *bufio.Reader) ([]byte, error) {
	head, err := br.Peek(SniffLen)
	if err == io.EOF {
		err = nil
	}
	return head, err
}

// A counter adds the bytes read through it to n.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// A counterAt adds the bytes read through it to n.
type counterAt struct {
	r io.ReaderAt
	n *atomic.Int64
}

func (c *counterAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(p, off)
	c.n.Add(int64(n))
	return n, err
}
