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
	batch  *batch
	names  int // told so far
	free   chan *batch
	full   chan *batch
	done   chan error
	closed bool
}

// batchRows is the number of rows in a batch.
const batchRows = 1024

// batch is some rows.
type batch struct {
	cells [][]int64 // by column, those that have a value: numbers; of names their number; 1 is true
	nulls []uint64  // for each row, a bit for each cell that has no value
	names []string  // those that the rows are the first to have
}

// maxColumns is the number of columns that the bits of a batch are enough for.
const maxColumns = 64

// NewWriter returns a Writer of a file with these columns, and those of an Origin, to w.
// The Origin may be filled in until the first row comes, and not changed after that.
func NewWriter(w io.Writer, columns []report.Column, origin *Origin) *Writer {
	if len(columns) > maxColumns {
		panic(fmt.Sprintf("parquet: table of %d columns, want at most %d", len(columns), maxColumns))
	}
	p := &Writer{free: make(chan *batch, 3), full: make(chan *batch, 1), done: make(chan error, 1)}
	for range cap(p.free) {
		p.free <- &batch{cells: make([][]int64, len(columns))}
	}
	p.batch = <-p.free
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
		for i := range b.cells {
			b.cells[i] = b.cells[i][:0]
		}
		b.nulls, b.names = b.nulls[:0], b.names[:0]
		p.free <- b
	}
	if err == nil && p.closed {
		err = e.close()
	}
	p.done <- err
}

// Row implements [report.Sink]. What the engines' 64-bit integers do not hold is null.
func (p *Writer) Row(r *report.Row) {
	b, nulls := p.batch, r.Nulls|r.Wide
	if len(r.Cells) != len(b.cells) {
		panic(fmt.Sprintf("parquet: row of %d cells in a table of %d columns", len(r.Cells), len(b.cells)))
	}
	for i, n := range r.Cells {
		if nulls>>i&1 == 0 {
			b.cells[i] = append(b.cells[i], n)
		}
	}
	b.nulls = append(b.nulls, nulls)
	b.names = append(b.names, r.Names[p.names:]...)
	p.names = len(r.Names)
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
