package parquet

import (
	"fmt"
	"io"

	"github.com/schedscope/schedscope/report"
)

// Writer writes the rows of one table as a Parquet file. It is a [report.Sink].
//
// Rows are collected in batches, which another goroutine encodes: every Writer must see
// Close or Abort. Memory is that of one row group, compressed.
type Writer struct {
	width  int // cells in a row
	cell   int // of the row begun
	nulls  uint64
	batch  *batch
	names  int // told so far
	free   chan *batch
	full   chan *batch
	done   chan error
	closed bool
}

// batchRows is the number of rows in a batch.
const batchRows = 1024

// batch is some rows, one after another.
type batch struct {
	cells []int64  // numbers; of names their number; 1 is true
	nulls []uint64 // for each row, a bit for each cell that has no value
	names []string // those that the rows are the first to have
}

// maxColumns is the number of columns that the bits of a batch are enough for.
const maxColumns = 64

// NewWriter returns a Writer of a file with these columns, and those of an Origin, to w.
// The Origin may be filled in until the first row is begun, and not changed after that.
func NewWriter(w io.Writer, columns []report.Column, origin *Origin) *Writer {
	if len(columns) > maxColumns {
		panic(fmt.Sprintf("parquet: table of %d columns, want at most %d", len(columns), maxColumns))
	}
	p := &Writer{width: len(columns), batch: new(batch), free: make(chan *batch, 3), full: make(chan *batch, 1), done: make(chan error, 1)}
	p.free <- new(batch)
	p.free <- new(batch)
	go p.encode(newEncoder(w, columns, origin))
	return p
}

// encode takes batches to an encoder until there are no more.
func (p *Writer) encode(e *encoder) {
	var err error
	for b := range p.full {
		if err == nil {
			err = e.write(b)
		}
		b.cells, b.nulls, b.names = b.cells[:0], b.nulls[:0], b.names[:0]
		p.free <- b
	}
	if err == nil && p.closed {
		err = e.close()
	}
	p.done <- err
}

// Int implements [report.Sink].
func (p *Writer) Int(n int64) {
	p.batch.cells = append(p.batch.cells, n)
	p.cell++
}

// Uint implements [report.Sink]. What the engines' 64-bit integers do not hold is null.
func (p *Writer) Uint(n uint64) {
	if int64(n) < 0 {
		p.None()
		return
	}
	p.Int(int64(n))
}

// None implements [report.Sink].
func (p *Writer) None() {
	p.nulls |= 1 << p.cell
	p.Int(0)
}

// Bool implements [report.Sink].
func (p *Writer) Bool(b bool) {
	n := int64(0)
	if b {
		n = 1
	}
	p.Int(n)
}

// Name implements [report.Sink].
func (p *Writer) Name(i int, s string) {
	if i == p.names {
		p.names++
		p.batch.names = append(p.batch.names, s)
	}
	p.Int(int64(i))
}

// End implements [report.Sink].
func (p *Writer) End() {
	if p.cell != p.width {
		panic(fmt.Sprintf("parquet: row of %d cells in a table of %d columns", p.cell, p.width))
	}
	b := p.batch
	b.nulls = append(b.nulls, p.nulls)
	p.cell, p.nulls = 0, 0
	if len(b.nulls) == batchRows {
		p.full <- b
		p.batch = <-p.free
	}
}

// Close implements [report.Sink]: it writes what is held back and ends the file.
func (p *Writer) Close() error {
	p.full <- p.batch
	return p.end(true)
}

// Abort ends the Writer; what it wrote is no file. After Close it does nothing.
func (p *Writer) Abort() {
	if p.batch != nil {
		p.end(false) // the data is unwanted, and so is news about it
	}
}

func (p *Writer) end(complete bool) error {
	p.batch, p.closed = nil, complete
	close(p.full)
	return <-p.done
}
