package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"time"

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
	beam.RegisterDoFn(&analyzeFn{})
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

// analyzeFn analyses files. It emits reports by key, lines by the file of results that they belong
// to, and rows of tables by the folder of theirs.
type analyzeFn struct {
	Fixed    string // what names of traces leave out of paths
	Key      string
	MaxBytes int64    // of a trace, stored or unpacked
	Output   string   // for what rows there are many of
	Tables   []string // none: no rows

	key *keyer
}

// Setup is called before the first file.
func (f *analyzeFn) Setup() (err error) {
	f.key, err = parseKey(f.Key)
	return err
}

// ProcessElement analyses one file. What is not a trace, damaged, too large, gone or not allowed to be
// read is listed, and fails nothing. Any other error fails the bundle, which the runner tries again.
func (f *analyzeFn) ProcessElement(ctx context.Context, file fileio.FileMetadata, emit func(string, Reports), line func(string, string), part func(string, Part)) error {
	if strings.HasSuffix(file.Path, env.NextTo("")) {
		return nil
	}
	if info, err := os.Stat(file.Path); err == nil && info.IsDir() { // patterns match directories, too
		return nil
	}
	name := strings.TrimPrefix(file.Path, f.Fixed)
	t := &tablesOf{ctx: ctx, output: f.Output, tables: f.Tables, name: name}
	defer t.Close()
	v, err := f.analyze(ctx, name, file, t)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.As(err, new(*workerError)) {
		return err
	}
	key := f.key.of(name, t.fields())
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
	if err := t.emit(key, v.Traces[0], part); err != nil {
		return err
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

// workerError is an error of the worker or the storage, not of the trace: another time may do better.
type workerError struct{ error }

func (e *workerError) Unwrap() error { return e.error }

// slots bound how many traces a worker analyses at a time: runners may have it work on more bundles
// than it has processors, which would take memory only.
var slots = make(chan struct{}, runtime.GOMAXPROCS(0))

// analyze returns the report of one file, and sets what is known of it from elsewhere.
func (f *analyzeFn) analyze(ctx context.Context, name string, file fileio.FileMetadata, t *tablesOf) (v *result.Report, err error) {
	scan := f.key.needsEnv() || len(f.Tables) > 0
	if scan {
		if t.record, err = environment(ctx, file.Path); err != nil {
			return nil, err
		}
	}
	if file.Size > f.MaxBytes {
		return nil, fmt.Errorf("reading %s: %w: %s, and --max-bytes is %d", name, single.ErrTooLarge, textui.Bytes(file.Size), f.MaxBytes)
	}
	r, err := fetch(ctx, file, f.MaxBytes)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	slots <- struct{}{}
	defer func() { <-slots }()
	follow := t.follow
	if len(f.Tables) == 0 {
		follow = nil
	}
	if scan {
		t.look(r.ReadSeeker, f.MaxBytes)
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return nil, &workerError{err}
		}
	}
	return single.Follow(ctx, name, r.ReadSeeker, single.Options{Workers: 1, MaxBytes: f.MaxBytes}, follow)
}

// fetched is a file that is at hand: single.Follow knows what kind of reader it is.
type fetched struct {
	io.ReadSeeker
	temporary *os.File // nil: it is in memory
}

// Close removes temporary files.
func (f fetched) Close() {
	if f.temporary != nil {
		f.temporary.Close()
		os.Remove(f.temporary.Name())
	}
}

// How often a file is tried before its worker fails, and the pause after the first time, which
// grows fourfold: a storage that is away for some seconds fails nothing.
const tries = 4

var firstPause = time.Second

// fetch reads a file. An error that is not a workerError says that it is not there, or may not be
// read. Of more than most bytes one is there beyond them.
func fetch(ctx context.Context, file fileio.FileMetadata, most int64) (f fetched, err error) {
	pause := firstPause
	for try := 1; ; try++ {
		if f, err = fetchOnce(ctx, file, most); err == nil || ctx.Err() != nil || absent(file.Path, err) {
			return f, err
		}
		if try == tries {
			return f, &workerError{fmt.Errorf("%s, tried %d times: %w", file.Path, tries, err)}
		}
		select {
		case <-ctx.Done():
			return f, ctx.Err()
		case <-time.After(pause):
		}
		pause *= 4
	}
}

func fetchOnce(ctx context.Context, file fileio.FileMetadata, most int64) (fetched, error) {
	fs, err := filesystem.New(ctx, file.Path)
	if err != nil {
		return fetched{}, err
	}
	defer fs.Close()
	stored, err := fs.OpenRead(ctx, file.Path)
	if err != nil {
		return fetched{}, err
	}
	defer stored.Close()
	r := io.LimitReader(stored, min(most, math.MaxInt64-1)+1)
	if file.Size <= inMemory {
		all, err := io.ReadAll(r)
		return fetched{ReadSeeker: bytes.NewReader(all)}, err
	}
	t, err := os.CreateTemp("", "schedscope-fleet-")
	if err != nil {
		return fetched{}, &workerError{err}
	}
	f := fetched{t, t}
	if _, err = io.Copy(onDisk{t}, r); err == nil {
		if _, err = t.Seek(0, io.SeekStart); err != nil {
			err = &workerError{err}
		}
	}
	if err != nil {
		f.Close()
		return fetched{}, err
	}
	return f, nil
}

// onDisk is a file of the worker.
type onDisk struct{ f *os.File }

func (d onDisk) Write(p []byte) (int, error) {
	n, err := d.f.Write(p)
	if err != nil {
		err = &workerError{err}
	}
	return n, err
}

// absent reports whether a storage says that a file is not there, or may not be read.
func absent(path string, err error) bool { return gone(path, err) || forbidden(path, err) }

func gone(path string, err error) bool {
	return !errors.As(err, new(*workerError)) && (errors.Is(err, fs.ErrNotExist) || remotelyGone.MatchString(without(path, err)))
}

func forbidden(path string, err error) bool {
	text := without(path, err)
	return !errors.As(err, new(*workerError)) && (errors.Is(err, fs.ErrPermission) || remotelyForbidden.MatchString(text) && !tooFast.MatchString(text))
}

// without returns what an error says, without the path of the file, which may say anything.
func without(path string, err error) string { return strings.ReplaceAll(err.Error(), path, "") }

// Errors of S3 and Google Cloud Storage, of which Beam keeps the texts only.
var (
	remotelyGone      = regexp.MustCompile(`StatusCode: 404\b|googleapi: Error 404\b|storage: object doesn't exist`)
	remotelyForbidden = regexp.MustCompile(`StatusCode: 403\b|googleapi: Error 403\b`)
	tooFast           = regexp.MustCompile(`(?i)rateLimitExceeded|SlowDown`)
)

// environment returns the environment record next to a trace, nil if there is none. One that may not be read is an
// error, lest the trace get another key.
func environment(ctx context.Context, path string) (json.RawMessage, error) {
	r, err := fetch(ctx, fileio.FileMetadata{Path: env.NextTo(path)}, maxRecord)
	if err != nil {
		if gone(env.NextTo(path), err) {
			err = nil
		}
		return nil, err
	}
	var run struct {
		Begin json.RawMessage `json:"begin"`
	}
	if json.NewDecoder(r).Decode(&run) != nil {
		return nil, nil
	}
	return run.Begin, nil
}

// maxRecord is the most bytes of an environment record that are read.
const maxRecord = 1 << 20

// Files of results, with their first lines.
const (
	reportFile   = "report.json"
	tracesFile   = "traces.csv"
	requestsFile = "requests.csv"
	culpritsFile = "culprits.csv"
	unreadFile   = "unread.csv"
)

var headings = map[string]string{
	unreadFile: heading("trace", "why"),
	tracesFile: heading("trace", "bytes", "lost_bytes", "events", "span_ns", "procs", "utilisation", "waits", "total_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns",
		"main_cause", "verdict", "requests", "request_p50_ns", "request_p99_ns", "request_max_ns"),
	requestsFile: heading("trace", "kind", "name", "requests", "total_ns", "p50_ns", "p99_ns", "max_ns"),
	culpritsFile: heading("trace", "place", "kind", "title", "request", "function", "file", "line", "share", "request_ns"),
}

// heading returns a first line. Its names are quoted, so that who guesses the format by the first lines knows how texts
// are quoted.
func heading(names ...string) string { return `"` + strings.Join(names, `","`) + "\"\n" }

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
	line(requestsFile, "") // who has none has a file with nothing but the first line
	line(culpritsFile, "")
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

// csvLine returns a line, of which no text is a formula.
func csvLine(cells ...any) string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		if texts[i] = fmt.Sprint(c); reflect.TypeOf(c).Kind() == reflect.String {
			texts[i] = textui.CSV(texts[i])
		}
	}
	return strings.Join(texts, ",") + "\n"
}
