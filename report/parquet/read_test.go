package parquet

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/rle"

	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/internal/textui"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/ingest"
	"github.com/schedscope/schedscope/report"
)

// open opens a file that was written.
func open(t *testing.T, data []byte) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// header returns the names of a file's columns.
func header(f *parquet.File) []string {
	var names []string
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name())
	}
	return names
}

// each calls do with each row of a file.
func each(t *testing.T, f *parquet.File, do func(row parquet.Row)) {
	t.Helper()
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, r := range buf[:n] {
				do(r)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
}

// text returns a value as CSV has it.
func text(v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case v.Kind() == parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	}
	s := textui.Clean(string(v.ByteArray()))
	if s != "" && strings.Contains("=+-@", s[:1]) {
		return "'" + s
	}
	return s
}

// both is a table in both formats.
type both struct {
	name         string
	csv, parquet bytes.Buffer
}

// write fills every table of a fixture in both formats, but those that the trace is too
// old for. It returns nil if there is nothing to be read.
func write(t *testing.T, name string) []*both {
	t.Helper()
	f, err := fixtures.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var empty *ingest.EmptyError
	r, err := ingest.NewReader(f, ingest.Options{})
	if errors.As(err, &empty) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	m := model.NewMachine(r.Tables(), model.Config{Version: r.Header().Version})
	var list []*both
	var all report.Tables
	add := func(table string, sink report.Sink, err error) {
		if err == nil {
			_, err = all.Add(table, sink)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range report.TableNames() {
		if err := report.CheckTable(table, r.Header().Version); err != nil {
			continue
		}
		b := &both{name: table}
		text, err := report.NewTextSink(table, report.CSV, &b.csv)
		add(table, text, err)
		add(table, NewWriter(&b.parquet, report.TableColumns(table), &someOrigin), nil)
		list = append(list, b)
	}
	if err := all.Follow(m, r.Header().Version); err != nil {
		t.Fatal(err)
	}
	all.Begin(m, 0)
	err = ingest.Each(r, func(ev *model.Event) error {
		_ = m.Apply(ev) // what contradicts itself is the model's business
		all.Event(ev)
		return nil
	})
	if err != nil && !errors.As(err, &empty) {
		t.Fatal(err)
	}
	_ = m.Finish(m.Now())
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestCells compares every cell of every table of every fixture with that of the CSV.
func TestCells(t *testing.T) {
	names := fixtures.Chosen(fixtures.Names())
	if testing.Short() {
		names = []string{"tasks.go1.26.p4.trace", "mixed.go1.22.p2.trace"}
	}
	rows := 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			for _, b := range write(t, name) {
				rows += sameCells(t, b)
			}
		})
	}
	if rows < 50_000 {
		t.Errorf("only %d rows", rows)
	}
}

func sameCells(t *testing.T, b *both) (rows int) {
	t.Helper()
	in := csv.NewReader(&b.csv)
	in.ReuseRecord = true
	want, err := in.Read()
	if err != nil {
		t.Fatal(err)
	}
	width := len(want)
	f := open(t, b.parquet.Bytes())
	if got := header(f); !slices.Equal(got, slices.Concat(want, OriginColumns)) {
		t.Fatalf("%s: columns %q, want %q and those of the origin", b.name, got, want)
	}
	bad := 0
	each(t, f, func(row parquet.Row) {
		rows++
		want, err := in.Read()
		if err != nil {
			t.Fatalf("%s: row %d: %v", b.name, rows, err)
		}
		for i, cell := range want {
			// A count beyond what 64-bit integers hold is the one that differs.
			if got := text(row[i]); got != cell && !(row[i].IsNull() && len(cell) > 18) && bad < 10 {
				bad++
				t.Errorf("%s: row %d: column %d is %q, in CSV %q", b.name, rows, i, got, cell)
			}
		}
		if len(row) != width+len(OriginColumns) || text(row[width]) != someOrigin.Host {
			t.Fatalf("%s: row %d has %d values: %v", b.name, rows, len(row), row)
		}
	})
	if _, err := in.Read(); err != io.EOF {
		t.Errorf("%s: CSV has more than %d rows: %v", b.name, rows, err)
	}
	return rows
}

// numbers is a table for tests by hand.
var numbers = []report.Column{{Name: "time", Unit: "time"}, {Name: "name", Unit: "name"}, {Name: "ok", Unit: "bool"}, {Name: "value", Unit: "count"}}

// row is a row of one of these tables.
func row(names []string, nulls, wide uint64, cells ...int64) *report.Rows {
	return &report.Rows{Cells: cells, Names: names, Nulls: []uint64{nulls}, Wide: []uint64{wide}}
}

// TestValues checks the values that are not as they are.
func TestValues(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, numbers, &Origin{Service: "a\xff\xfeb", Recorded: time.Unix(12, 345_678_999)})
	hostile := []string{"", "plain", "a\xffb\xfe\xfd", "<script>", "=1+1", "nul\x00", strings.Repeat("long", 10_000)}
	for i := range hostile {
		if i%2 == 0 {
			w.Rows(row(hostile[:i+1], 0, 1<<3, int64(-i), int64(i), 1, -1))
		} else {
			w.Rows(row(hostile[:i+1], 0, 0, int64(-i), int64(i), 0, 1<<63-1))
		}
	}
	w.Rows(row(hostile, 1, 0, 0, 1, 1, -1<<63))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Abort() // does nothing now
	n := 0
	each(t, open(t, out.Bytes()), func(row parquet.Row) {
		defer func() { n++ }()
		if n == len(hostile) {
			if !row[0].IsNull() || string(row[1].ByteArray()) != "plain" || row[3].Int64() != -1<<63 {
				t.Errorf("last row %v", row)
			}
			return
		}
		want := strings.NewReplacer("\xff", "\ufffd", "\xfe", "\ufffd", "\xfd", "\ufffd").Replace(hostile[n])
		if string(row[1].ByteArray()) != want {
			t.Errorf("name %q, want %q", row[1].ByteArray(), want)
		}
		if row[0].Int64() != int64(-n) || row[2].Boolean() != (n%2 == 0) {
			t.Errorf("row %d: %v", n, row)
		}
		if n%2 == 0 && !row[3].IsNull() || n%2 == 1 && row[3].Int64() != 1<<63-1 {
			t.Errorf("row %d: value %v", n, row[3])
		}
		for i, want := range []string{"", "a\ufffd\ufffdb", "", "", "12345678"} {
			if got := text(row[4+i]); got != want || row[4+i].IsNull() != (want == "") {
				t.Errorf("%s is %q, want %q", OriginColumns[i], got, want)
			}
		}
	})
	if n != len(hostile)+1 {
		t.Errorf("%d rows, want %d", n, len(hostile)+1)
	}
}

// TestBytes checks that a file has the same bytes whatever processor wrote it.
func TestBytes(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, numbers, &someOrigin)
	rnd := rand.New(rand.NewPCG(1, 1))
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("name %d", i))
	}
	name := int64(0)
	for i := range int64(pageRows + 100) {
		if rnd.IntN(12) == 0 {
			name = rnd.Int64N(1 + i%int64(len(names)))
		}
		w.Rows(row(names, uint64(i/30%2*8), 0, i*1000+rnd.Int64N(100), name, rnd.Int64N(2), rnd.Int64()>>rnd.IntN(64)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%x", sha256.Sum256(out.Bytes())), "5a284552354e454a306b500d5910140194686bef1920804f314e9c5577a9f7bb"; got != want {
		t.Errorf("a file of %d bytes has the sum %s, want %s", out.Len(), got, want)
	}
}

// TestPlaces reads encoded places back.
func TestPlaces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var library rle.DictionaryEncoding
	for i := range 2000 {
		list, place := make([]int32, 1+rnd.IntN(100)), int32(0)
		width := i % 32
		for k := range list {
			if rnd.IntN(1+i%20) == 0 {
				place = rnd.Int32() >> (31 - width)
			}
			list[k] = place
		}
		got, err := library.DecodeInt32(nil, appendPlaces(nil, list, width))
		if err != nil || len(got) < len(list) || !slices.Equal(got[:len(list)], list) {
			t.Fatalf("%d bits: %d, %v, want %d", width, got, err, list)
		}
	}
}

// TestGroups checks files of several row groups: of as many rows as one has, and of fewer, since
// names are too many for a dictionary.
func TestGroups(t *testing.T) {
	const n = 2*groupRows + 5
	write := func(different int) []byte {
		var out bytes.Buffer
		w := NewWriter(&out, numbers, &someOrigin)
		var names []string
		for i := range n {
			if i < different {
				names = append(names, fmt.Sprintf("request-%06d", i)+strings.Repeat(" of many", 4))
			}
			w.Rows(row(names, 0, 0, int64(i*1000), int64(i%different), int64(max(0, 1-i%3)), int64(i%7)))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	most := int64(dictionaryBytes/50 + 1) // names of 46 bytes and their lengths
	for different, want := range map[int][]int64{
		10_000: {groupRows, groupRows, 5},
		n:      append(slices.Repeat([]int64{most}, n/int(most)), n%most),
	} {
		data := write(different)
		f := open(t, data)
		var sizes []int64
		for _, g := range f.RowGroups() {
			sizes = append(sizes, g.NumRows())
		}
		if !slices.Equal(sizes, want) {
			t.Errorf("row groups of %d rows, want %d", sizes, want)
		}
		i := 0
		each(t, f, func(row parquet.Row) {
			want := fmt.Sprintf("request-%06d", i%different) + strings.Repeat(" of many", 4)
			if row[0].Int64() != int64(i)*1000 || string(row[1].ByteArray()) != want || row[2].Boolean() != (i%3 == 0) || row[3].Int64() != int64(i%7) {
				t.Fatalf("row %d: %v", i, row)
			}
			i++
		})
		if i != n {
			t.Errorf("%d rows", i)
		}
		if !bytes.Equal(write(different), data) {
			t.Error("the same rows are other bytes")
		}
		if got := f.Metadata().CreatedBy; got != "schedscope version 1(build 0)" {
			t.Errorf("created by %q", got)
		}
		if v, _ := f.Lookup("schema"); v != Schema {
			t.Errorf("schema %q", v)
		}
	}
}

// TestOrigins checks a file of several traces, some without rows, whose names have other numbers, over
// the end of a row group.
func TestOrigins(t *testing.T) {
	origins := []*Origin{{Host: "b", Trace: "1"}, {Trace: "2"}, {Host: "a", Trace: "3", Recorded: time.Unix(-5, 0)}, {Host: "b", Trace: "4", Recorded: time.Unix(7, 0)}, {Trace: "5"}}
	sizes := []int{3, groupRows, 0, 5, 1}
	var out bytes.Buffer
	w := NewWriter(&out, numbers, nil)
	for i, o := range origins {
		w.Origin = o
		names := []string{"", "x", fmt.Sprint("only ", i)}
		if i%2 == 1 {
			slices.Reverse(names)
		}
		for n := range sizes[i] {
			name := slices.Index(names, []string{"x", fmt.Sprint("only ", i)}[n%2])
			w.Rows(row(names, 0, 0, int64(n), int64(name), 1, int64(i)))
		}
	}
	size := w.Size()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if whole := int64(out.Len()); size > whole || size < whole/2 {
		t.Errorf("size %d of %d", size, whole)
	}
	f := open(t, out.Bytes())
	got := make([]int, len(origins))
	each(t, f, func(row parquet.Row) {
		i := row[3].Int64()
		n := got[i]
		got[i]++
		o, recorded := origins[i], ""
		if !o.Recorded.IsZero() {
			recorded = fmt.Sprint(o.Recorded.UnixMicro())
		}
		want := []string{[]string{"x", fmt.Sprint("only ", i)}[n%2], "true", fmt.Sprint(i), o.Host, "", "", "", recorded, o.Trace}
		for k, want := range want {
			if text := text(row[1+k]); text != want || row[0].Int64() != int64(n) {
				t.Fatalf("row %d of trace %d: %v is %q, want %q", n, i, header(f)[1+k], text, want)
			}
		}
	})
	if !slices.Equal(got, sizes) || len(f.RowGroups()) != 2 {
		t.Errorf("%d row groups with %d rows, want %d", len(f.RowGroups()), got, sizes)
	}
	for i, want := range []struct {
		least, most string
		nulls       int64
	}{{"b", "b", groupRows - 3}, {"b", "b", 4}} {
		if s := f.Metadata().RowGroups[i].Columns[len(numbers)].MetaData.Statistics; string(s.MinValue) != want.least || string(s.MaxValue) != want.most || s.NullCount != want.nulls {
			t.Errorf("row group %d: hosts from %q to %q, %d of none", i, s.MinValue, s.MaxValue, s.NullCount)
		}
	}
}

// TestEmpty checks that a table without rows is a file with columns.
func TestEmpty(t *testing.T) {
	var out bytes.Buffer
	if err := NewWriter(&out, numbers, &someOrigin).Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, out.Bytes())
	if f.NumRows() != 0 || len(header(f)) != len(numbers)+len(OriginColumns) {
		t.Errorf("%d rows, columns %q", f.NumRows(), header(f))
	}
}

type full struct{ room int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestErrors checks that what cannot be written is told at the end, wherever it was.
func TestErrors(t *testing.T) {
	write := func(to io.Writer) error {
		w := NewWriter(to, numbers, &someOrigin)
		var names []string
		for i := range int64(groupRows + 5000) {
			if i < 100 {
				names = append(names, strconv.FormatInt(i, 10))
			}
			w.Rows(row(names, 0, 0, i*i, i%100, 1, i*7919%1e6))
		}
		return w.Close()
	}
	var size counter
	if err := write(&size); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 100, int(size) / 2, int(size) - 1} {
		if err := write(&full{room}); !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d: Close = %v, want %v", room, size, err, errFull)
		}
	}
	w := NewWriter(new(full), numbers, &someOrigin)
	w.Rows(row([]string{""}, 0, 0, make([]int64, len(numbers))...))
	w.Abort()
	w.Abort()
}
