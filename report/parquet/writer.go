package parquet

import (
	"io"

	"github.com/schedscope/schedscope/report"
)

// Writer writes the rows of one table as a Parquet file. It is a [report.Sink].
//
// Another goroutine encodes the rows: every Writer must see Close or Abort. Memory is that of
// one row group, encoded.
type Writer struct {
	full   chan report.Rows // nil: it has ended
	free   chan report.Rows
	done   chan error
	closed bool
}

// NewWriter returns a Writer of a file with these columns, and those of an Origin, to w.
// The Origin may be filled in until the first row comes, and not changed after that.
func NewWriter(w io.Writer, columns []report.Column, origin *Origin) *Writer {
	p := &Writer{full: make(chan report.Rows, 1), free: make(chan report.Rows, 2), done: make(chan error, 1)}
	for range cap(p.free) {
		p.free <- report.Rows{}
	}
	go p.encode(newEncoder(w, columns, origin), p.full)
	return p
}

// encode takes rows to an encoder until there are no more.
func (p *Writer) encode(e *encoder, full chan report.Rows) {
	for rows := range full {
		if e.err == nil {
			e.rows(&rows)
		}
		rows.Clear()
		p.free <- rows
	}
	if e.err == nil && p.closed {
		e.close()
	}
	p.done <- e.err
}

// Rows implements [report.Sink].
func (p *Writer) Rows(r *report.Rows) {
	p.full <- *r
	*r = <-p.free
}

// Close implements [report.Sink]: it ends the file.
func (p *Writer) Close() error { return p.end(true) }

// Abort ends the Writer; what it wrote is no file. After Close it does nothing.
func (p *Writer) Abort() {
	if p.full != nil {
		p.end(false) // the data is unwanted, and so is news about it
	}
}

func (p *Writer) end(complete bool) error {
	p.closed = complete
	close(p.full)
	p.full = nil
	return <-p.done
}
