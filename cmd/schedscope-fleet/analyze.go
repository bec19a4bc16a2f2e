package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/klauspost/compress/zstd"

	"github.com/schedscope/schedscope/analyze/findings"
	"github.com/schedscope/schedscope/analyze/gate/env"
	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/single"
	"github.com/schedscope/schedscope/internal/textui"
)

// namespace is that of the counters.
const namespace = "schedscope"

var (
	traces = beam.NewCounter(namespace, "traces")
	unread = beam.NewCounter(namespace, "unread")
	stored = beam.NewCounter(namespace, "bytes")
	events = beam.NewCounter(namespace, "events")
	lost   = beam.NewCounter(namespace, "lost_bytes")
)

// Reports are some of the reports of a key, merged.
type Reports struct{ *result.Merger }

func init() {
	beam.RegisterCoder(reflect.TypeFor[Reports](), encode, decode)
	register.DoFn4x1[context.Context, fileio.FileMetadata, func(string, Reports), func(string, string), error](&analyzeFn{})
	register.Emitter2[string, Reports]()
	register.Emitter2[string, string]()
}

var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<32))
)

func encode(r Reports) ([]byte, error) {
	data, err := r.MarshalBinary()
	return packer.EncodeAll(data, nil), err
}

func decode(data []byte) (Reports, error) {
	r := Reports{new(result.Merger)}
	data, err := unpacker.DecodeAll(data, nil)
	if err == nil {
		err = r.UnmarshalBinary(data)
	}
	return r, err
}

// analyzeFn analyses files. It emits reports by key, and lines by the file of results that they
// belong to.
type analyzeFn struct {
	Fixed string // what names of traces leave out of paths
	Key   string

	key *keyer
}

// Setup is called before the first file.
func (f *analyzeFn) Setup() (err error) {
	f.key, err = parseKey(f.Key)
	return err
}

// ProcessElement analyses one file. What cannot be read is listed and fails nothing.
func (f *analyzeFn) ProcessElement(ctx context.Context, file fileio.FileMetadata, emit func(string, Reports), line func(string, string)) error {
	if strings.HasSuffix(file.Path, env.Beside("")) {
		return nil
	}
	if info, err := os.Stat(file.Path); err == nil && info.IsDir() { // patterns match directories, too
		return nil
	}
	name := strings.TrimPrefix(file.Path, f.Fixed)
	var record map[string]any
	if f.key.needsEnv() {
		record = environment(ctx, file.Path)
	}
	key := f.key.of(name, record)
	v, err := analyzeFile(ctx, name, file)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.As(err, new(*workerError)) {
		return err
	}
	r := Reports{new(result.Merger)}
	if err != nil {
		unread.Inc(ctx, 1)
		line(unreadFile, csvLine(name, err.Error()))
		if errors.Is(err, single.ErrNoTrace) {
			return nil
		}
		r.Skip(result.Skipped{Name: name, Cause: err.Error()})
		emit(key, r)
		return nil
	}
	traces.Inc(ctx, 1)
	events.Inc(ctx, v.Totals.Events)
	stored.Inc(ctx, file.Size)
	if l := v.Traces[0].Loss; l != nil {
		lost.Inc(ctx, l.Bytes)
	}
	rows(v, func(file, text string) { line(folder(key)+file, text) })
	if err := r.Add(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	emit(key, r)
	return nil
}

// folder returns that of the results of a key.
func folder(key string) string { return "key=" + url.PathEscape(key) + "/" }

// inMemory is the size in bytes up to which files are read into memory. Others are copied to a
// temporary one: they are read by position, and again where they are damaged.
const inMemory = 8 << 20

// workerError is an error of the worker, not of the trace: another one may do better.
type workerError struct{ error }

func (e *workerError) Unwrap() error { return e.error }

// temporary is a temporary file that is written.
type temporary struct{ f *os.File }

func (t temporary) Write(p []byte) (int, error) {
	n, err := t.f.Write(p)
	if err != nil {
		err = &workerError{err}
	}
	return n, err
}

// analyzeFile returns the report of one file.
func analyzeFile(ctx context.Context, name string, file fileio.FileMetadata) (*result.Report, error) {
	r, err := open(ctx, file.Path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var data interface {
		io.Reader
		io.ReaderAt
	}
	if file.Size <= inMemory {
		all, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		data = bytes.NewReader(all)
	} else {
		f, err := os.CreateTemp("", "schedscope-fleet-")
		if err != nil {
			return nil, &workerError{err}
		}
		defer os.Remove(f.Name())
		defer f.Close()
		if _, err := io.Copy(temporary{f}, r); err != nil {
			return nil, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		data = f
	}
	return single.Trace(ctx, name, data, single.Options{Workers: 1})
}

func open(ctx context.Context, path string) (io.ReadCloser, error) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	return fs.OpenRead(ctx, path)
}

// environment returns the fields of the environment record next to a trace, nil if there is none.
func environment(ctx context.Context, path string) map[string]any {
	r, err := open(ctx, env.Beside(path))
	if err != nil {
		return nil
	}
	defer r.Close()
	var run struct {
		Begin map[string]any `json:"begin"`
	}
	if json.NewDecoder(r).Decode(&run) != nil {
		return nil
	}
	return run.Begin
}

// Files of results, with their first lines.
const (
	reportFile   = "report.json"
	tracesFile   = "traces.csv"
	requestsFile = "requests.csv"
	culpritsFile = "culprits.csv"
	unreadFile   = "unread.csv"
)

var headings = map[string]string{
	unreadFile: csvLine("trace", "why"),
	tracesFile: csvLine("trace", "bytes", "lost_bytes", "events", "span_ns", "procs", "utilisation", "waits", "total_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns",
		"main_cause", "verdict", "requests", "request_p50_ns", "request_p99_ns", "request_max_ns"),
	requestsFile: csvLine("trace", "kind", "name", "requests", "total_ns", "p50_ns", "p99_ns", "max_ns"),
	culpritsFile: csvLine("trace", "place", "kind", "title", "request", "function", "file", "line", "share", "request_ns"),
}

// rows emits the lines of a trace: scheduling latency with its main requests, a line for each group of
// requests, and one for each culprit, in the order of the first screen.
func rows(v *result.Report, line func(file, text string)) {
	f, t, requests := v.Figures(), &v.Traces[0], v.MainRequests()
	lost := int64(0)
	if t.Loss != nil {
		lost = t.Loss.Bytes
	}
	cells := []any{t.Name, t.Bytes, lost, v.Totals.Events, int64(f.Span), f.Procs, f.Utilisation, f.Waits, int64(f.Total), int64(f.P50), int64(f.P99), int64(f.P999), int64(f.Max),
		f.MainCause, v.Verdict.Word}
	if requests != nil {
		cells = append(cells, requests.Count, int64(requests.P50), int64(requests.P99), int64(requests.Max))
	} else {
		cells = append(cells, 0, "", "", "")
	}
	line(tracesFile, csvLine(cells...))
	for i := range v.Requests {
		for _, g := range v.Requests[i].Sets() {
			if g.Count > 0 {
				line(requestsFile, csvLine(t.Name, v.Requests[i].Kind, g.Name, g.Count, int64(g.Total), int64(g.P50), int64(g.P99), int64(g.Max)))
			}
		}
	}
	place := 0
	for i := range v.Findings {
		d := &v.Findings[i]
		if d.Title == "" {
			continue
		}
		place++
		cells, share := []any{"", "", ""}, d.Sum
		ns := any("")
		if len(d.Where) > 0 {
			w := &d.Where[0]
			if cells = []any{w.Function, w.File, w.Line}; d.Kind == findings.SlowRequests {
				share, ns = w.Share, int64(w.Length)
			}
		}
		line(culpritsFile, csvLine(append(append([]any{t.Name, place, d.Kind, d.Title, d.Group}, cells...), share, ns)...))
	}
}

// csvLine returns a line of cells.
func csvLine(cells ...any) string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		if texts[i] = fmt.Sprint(c); reflect.TypeOf(c).Kind() == reflect.String {
			texts[i] = textui.CSV(texts[i])
		}
	}
	return strings.Join(texts, ",") + "\n"
}
