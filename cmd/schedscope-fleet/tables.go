package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/klauspost/compress/zstd"

	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/single"
	"github.com/schedscope/schedscope/internal/source"
	"github.com/schedscope/schedscope/report"
	"github.com/schedscope/schedscope/report/parquet"
)

// The way of the rows of tables:
//
//  1. While a trace is analysed tablesOf collects them: each table's are a Part. One that is small goes
//     through the pipeline, any other is a file in partsFolder.
//  2. A packFn gets the Parts of one folder of results. It writes them in the order of the traces' names
//     into Parquet files, of which one ends with the trace that fills it.
//  3. When the pipeline is done, the parts are removed.
//
// Nothing of that depends on how traces are grouped on the way, or how often they are tried.

const (
	partsFolder = "_parts" // engines pass over names like that
	inPipeline  = 16 << 10 // most bytes of a small part: those of a folder are in memory together
)

// fileBytes is what fills a file of rows.
var fileBytes = int64(32 << 20)

// Part is the rows of a table of one trace: batches of [report.Rows], of which each has only the names
// that were not in those before, by gob and zstd.
type Part struct {
	Origin parquet.Origin
	Data   []byte
	File   string // has the data, if there is one
	Size   int64  // of it
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[Part](), encodePart, decodePart)
	register.Emitter2[string, Part]()
	register.Iter1[Part]()
	beam.RegisterDoFn(&packFn{})
}

func encodePart(p Part) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(p)
	return b.Bytes(), err
}

func decodePart(data []byte) (p Part, err error) {
	err = gob.NewDecoder(bytes.NewReader(data)).Decode(&p)
	return p, err
}

// parseTables returns the tables of a list of names, none for none. That of traces is one of all others.
func parseTables(text string) ([]string, error) {
	all := append(report.TableNames(), report.TracesTable)
	switch text {
	case "none":
		return nil, nil
	case "all":
		return all, nil
	}
	tables := []string{report.TracesTable}
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("--tables %s: want all, none or some of %s", name, strings.Join(all, ","))
		}
		tables = append(tables, name)
	}
	slices.Sort(tables)
	return slices.Compact(tables), nil
}

// tablesOf is what is to be known of a trace next to its report: its environment, and its rows.
type tablesOf struct {
	ctx    context.Context
	output string
	tables []string // none: there are no rows
	name   string
	scan   parquet.TraceScan
	record json.RawMessage // of the environment, next to the trace; nil: there is none

	now   *tableReading // a damaged trace has two
	whole *tableReading // the last that came to its end
}

// look looks at all bytes of the trace. What cannot be read is for those to say who analyse it.
func (t *tablesOf) look(r io.Reader, most int64) {
	in, err := source.Open(t.ctx, source.Ref{Kind: source.Stdin, Name: t.name}, source.Options{Stdin: r, MaxBytes: most})
	if err == nil {
		t.scan = parquet.Scan(in)
		in.Close()
	}
}

// fields returns those of the environment record in the trace, and of that next to it, which counts if both
// have one.
func (t *tablesOf) fields() map[string]any {
	var in, next map[string]any
	if own, err := json.Marshal(t.scan.Record); err == nil {
		json.Unmarshal(own, &in) // of no record: none
	}
	json.Unmarshal(t.record, &next)
	all := map[string]any{}
	for _, record := range []map[string]any{in, next} {
		for name, x := range record {
			if x != "" {
				all[name] = x
			}
		}
	}
	return all
}

// tableReading is one reading of the trace.
type tableReading struct {
	parquet.Trace
	of    *tablesOf
	sinks map[string]*rowSink // by table
}

// follow begins a reading.
func (t *tablesOf) follow(rd *single.Reading) (single.Follower, error) {
	t.now = &tableReading{of: t, sinks: map[string]*rowSink{}}
	t.now.Create = t.now.create
	var next env.Record
	json.Unmarshal(t.record, &next) // what cannot be read is not known
	t.now.Identify(t.name, t.scan, &next)
	t.now.Origin.Trace = parquet.TraceID(strings.ReplaceAll(t.name, "/", "_"), t.scan.Sum) // names differ by their folders
	tables := slices.DeleteFunc(slices.Clone(t.tables), func(name string) bool { return name == report.TracesTable })
	return t.now, t.now.Follow(rd.Reading, tables)
}

// End is called when the trace is read.
func (r *tableReading) End() error {
	if err := r.Trace.End(); err != nil {
		return &workerError{err}
	}
	r.of.whole = r
	return nil
}

func (r *tableReading) create(table string, _ []report.Column) (report.Sink, error) {
	name := partsFolder + "/" + table + "-" + rand.Text() // of its own, should the trace be tried twice at a time
	s := &rowSink{part: partFile{file: resultFile{ctx: r.of.ctx, name: under(r.of.output, name)}}}
	s.packed, _ = zstd.NewWriter(&s.part, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true))
	s.rows = gob.NewEncoder(s.packed)
	r.sinks[table] = s
	return s, nil
}

// emit emits the parts of a trace that was analysed, by the folders of their files.
func (t *tablesOf) emit(key string, about result.Trace, emit func(string, Part)) error {
	if len(t.tables) == 0 {
		return nil
	}
	r, day := t.whole, noKey
	if err := r.About(about, "raw"); err != nil {
		return &workerError{err}
	}
	if recorded := r.Origin.Recorded; !recorded.IsZero() {
		day = recorded.UTC().Format(time.DateOnly)
	}
	for _, table := range t.tables {
		if s := r.sinks[table]; s != nil { // else the trace is too old
			p := Part{Origin: r.Origin, Data: s.part.data, Size: s.part.size}
			if s.part.file.w != nil {
				p.File = s.part.file.name
			}
			emit(table+"/"+folder(key)+"day="+day+"/", p)
		}
	}
	return nil
}

// Close ends what was begun and did not come to its end.
func (t *tablesOf) Close() {
	if t.now != nil && t.now != t.whole {
		for _, s := range t.now.sinks {
			s.Close() // nobody wants the data, or to know more of it
		}
	}
}

// rowSink makes a Part of rows.
type rowSink struct {
	part   partFile
	packed *zstd.Encoder
	rows   *gob.Encoder
	names  int // that were written
	err    error
}

// Rows implements [report.Sink].
func (s *rowSink) Rows(r *report.Rows) {
	if s.err == nil && len(r.Nulls) > 0 {
		s.err = s.rows.Encode(report.Rows{Cells: r.Cells, Names: r.Names[s.names:], Nulls: r.Nulls, Wide: r.Wide})
		s.names = len(r.Names)
	}
	r.Clear()
}

// Close implements [report.Sink].
func (s *rowSink) Close() error { return errors.Join(s.err, s.packed.Close(), s.part.file.Close()) }

// partFile keeps what is written while it is little, and writes more to a file.
type partFile struct {
	data []byte
	size int64
	file resultFile
}

func (p *partFile) Write(data []byte) (int, error) {
	p.size += int64(len(data))
	if p.data = append(p.data, data...); p.size <= inPipeline {
		return len(data), nil
	}
	_, err := p.file.Write(p.data)
	p.data = p.data[:0]
	return len(data), err
}

// packFn writes the files of rows of a folder.
type packFn struct{ Output string }

// ProcessElement writes those of one.
func (f *packFn) ProcessElement(ctx context.Context, folder string, next func(*Part) bool) error {
	var parts []Part
	for p := (Part{}); next(&p); p = (Part{}) {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b Part) int { return strings.Compare(a.Origin.File, b.Origin.File) })
	for n := 0; len(parts) > 0; n++ {
		done, err := f.pack(ctx, fmt.Sprintf("%s%05d.parquet", folder, n), parts)
		if err != nil {
			return err
		}
		parts = parts[done:]
	}
	return nil
}

// pack writes one file, first to a temporary one, and returns of how many of the parts it has the rows.
func (f *packFn) pack(ctx context.Context, name string, parts []Part) (done int, err error) {
	tmp, err := os.CreateTemp("", "schedscope-fleet-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	table, _, _ := strings.Cut(name, "/")
	columns := report.TableColumns(table)
	if table == report.TracesTable {
		columns = report.TracesColumns()
	}
	w := parquet.NewWriter(tmp, columns, nil)
	defer w.Abort()
	for done < len(parts) && (done == 0 || w.Size() < fileBytes) {
		if err := parts[done].copyTo(ctx, w); err != nil {
			return 0, fmt.Errorf("%s of %s: %w", table, parts[done].Origin.File, err)
		}
		done++
	}
	if err = w.Close(); err == nil {
		_, err = tmp.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = write(ctx, f.Output, name, func(w io.Writer) error {
			_, err := io.Copy(w, tmp)
			return err
		})
	}
	return done, err
}

// copyTo gives the rows to a Writer.
func (p *Part) copyTo(ctx context.Context, w *parquet.Writer) error {
	var data io.Reader = bytes.NewReader(p.Data)
	if p.File != "" {
		f, err := fetch(ctx, fileio.FileMetadata{Path: p.File, Size: p.Size}, math.MaxInt64-1)
		if err != nil {
			return err
		}
		defer f.Close()
		data = f
	}
	unpacked, err := zstd.NewReader(data, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer unpacked.Close()
	w.Origin = &p.Origin
	var names []string
	for d := gob.NewDecoder(unpacked); ; {
		var rows report.Rows
		if err := d.Decode(&rows); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		names = append(names, rows.Names...)
		rows.Names = names
		w.Rows(&rows)
	}
}

// removeParts removes the files of parts, some at a time, and their folder where there are folders.
func removeParts(ctx context.Context, output string) error {
	dir := under(output, partsFolder)
	fs, err := filesystem.New(ctx, dir)
	if err != nil {
		return err
	}
	defer fs.Close()
	remover, ok := fs.(filesystem.Remover)
	if !ok {
		return nil
	}
	files, err := fs.List(ctx, regexp.MustCompile(`[\\*?[]`).ReplaceAllString(dir, `\$0`)+"/*")
	failed := make(chan error, len(files))
	slots := make(chan struct{}, 64)
	for _, file := range files {
		slots <- struct{}{}
		go func() {
			failed <- remover.Remove(ctx, file)
			<-slots
		}()
	}
	for range files {
		err = errors.Join(err, <-failed)
	}
	if len(files) > 0 && !strings.Contains(dir, "://") {
		err = errors.Join(err, remover.Remove(ctx, dir))
	}
	return err
}
