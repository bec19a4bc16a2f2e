package parquet

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/schedscope/schedscope/report"
)

// Writer writes the rows of one table as a Parquet file. It is a [report.Sink].
//
// Rows are collected in batches, which another goroutine encodes: every Writer must see
// Close or Abort. Memory is that of one row group, compressed.
type Writer struct {
	columns []report.Column
	names   []parquet.Value // so far, by number
	batch   batch
	free    chan batch
	full    chan batch
	done    chan error
	closed  bool
}

// batchRows is the number of rows in a batch.
const batchRows = 1024

// batch is some rows, by column.
type batch [][]parquet.Value

// NewWriter returns a Writer of a file with these columns, and those of an Origin, to w.
// The Origin may be filled in until the first row comes, and not changed after that.
func NewWriter(w io.Writer, columns []report.Column, origin *Origin) *Writer {
	p := &Writer{columns: columns, free: make(chan batch, 3), full: make(chan batch, 1), done: make(chan error, 1)}
	for range cap(p.free) {
		p.free <- make(batch, len(columns))
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
		for i := range b {
			b[i] = b[i][:0]
		}
		p.free <- b
	}
	if err == nil && p.closed {
		err = e.close()
	}
	p.done <- err
}

// Row implements [report.Sink]. What the engines' 64-bit integers do not hold is null.
func (p *Writer) Row(r *report.Row) {
	for _, s := range r.Names[len(p.names):] {
		p.names = append(p.names, nameValue(s))
	}
	for i, n := range r.Cells {
		v := parquet.NullValue()
		switch unit := p.columns[i].Unit; {
		case unit == "name":
			v = p.names[n]
		case unit == "bool":
			v = parquet.BooleanValue(n == 1)
		case (r.Nulls|r.Wide)>>i&1 == 0:
			v = numberValue(n)
		}
		p.batch[i] = append(p.batch[i], v)
	}
	if len(p.batch[0]) == batchRows {
		p.full <- p.batch
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
