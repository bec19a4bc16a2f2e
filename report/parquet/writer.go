package parquet

import (
	"io"

	"github.com/schedscope/schedscope/report"
)

// Writer writes rows of one table as a Parquet file: of one trace, or of several, one after the
// other. It is a [report.Sink].
//
// Another goroutine encodes the rows: every Writer must see Close or Abort. Memory is that of
// one row group, encoded.
type Writer struct {
	// Origin is that of the rows that come. It may be filled in until the first of them, and not
	// changed after that: another trace has another one, and names of its own.
	Origin *Origin

	full   chan originRows // nil: it has ended
	free   chan report.Rows
	done   chan error
	closed bool
}

type originRows struct {
	report.Rows
	origin *Origin
	size   chan<- int64 // nil: nobody asks
}

// NewWriter returns a Writer of a file with these columns, and those of an Origin, to w.
func NewWriter(w io.Writer, columns []report.Column, origin *Origin) *Writer {
	p := &Writer{Origin: origin, full: make(chan originRows, 1), free: make(chan report.Rows, 2), done: make(chan error, 1)}
	for range cap(p.free) {
		p.free <- report.Rows{}
	}
	go p.encode(newEncoder(w, columns), p.full)
	return p
}

// encode takes rows to an encoder until there are no more.
func (p *Writer) encode(e *encoder, full chan originRows) {
	for rows := range full {
		if rows.size != nil {
			rows.size <- e.size()
			continue
		}
		if e.err == nil {
			e.rows(&rows.Rows, rows.origin)
		}
		rows.Clear()
		p.free <- rows.Rows
	}
	if e.err == nil && p.closed {
		e.close()
	}
	p.done <- e.err
}

// Rows implements [report.Sink].
func (p *Writer) Rows(r *report.Rows) {
	p.full <- originRows{*r, p.Origin, nil}
	*r = <-p.free
}

// Size returns how many bytes the rows so far come to, without those of the last page, and with
// nothing of the end of the file.
func (p *Writer) Size() int64 {
	size := make(chan int64)
	p.full <- originRows{size: size}
	return <-size
}

// Close implements [report.Sink]: it ends the file.
func (p *Writer) Close() error { return p.end(true) }

// Abort ends the Writer. Its output is not a valid file. After Close it does nothing.
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
