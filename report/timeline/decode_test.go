package timeline

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
)

// decoded is an encoding read back by what its documentation says, sharing no code
// with the encoder.
type decoded struct {
	start, end                 int64
	words                      [][]string
	strings                    []string
	frames                     [][3]uint64
	stacks                     [][]uint64
	places                     []uint64
	goroutines                 []decodedG
	threads                    []int64
	classes                    [3]decodedClass
	omitted, omittedSpans      int64
	omittedTimes               [8]int64
	least, depthQuantum        int64
	depth                      []decodedStep
	stops, marks, tasks        [][]int64
	regions                    [][]int64
	lostStops, lostMarks, lost int64
	lostRegions                int64
	stealsEvery                int64
	steals                     [][]int64
}

type decodedG struct {
	id     int64
	name   string
	system bool
}

type decodedClass struct {
	quantum int64
	lanes   []decodedLane
}

type decodedLane struct {
	id          uint64
	told, ended int64
	times       [8]int64
	spans       []decodedSpan
}

type decodedSpan struct {
	start, end                                         int64
	state                                              uint64
	openStart, openEnd, mixed, waits                   bool
	g, thread, proc, reason, stack, wakerStack, detail uint64
	mix                                                [8]int64
	mixSpans                                           int64
	source, grade, lastP, from                         uint64
	cells                                              [][2]int64
}

type decodedStep struct{ start, end, most, area, idle, procs int64 }

// input is a reader of varints that remembers that it went wrong.
type input struct {
	b   []byte
	err error
}

func (in *input) u() uint64 {
	v, n := binary.Uvarint(in.b)
	if n <= 0 {
		in.err, in.b = fmt.Errorf("no number in %d bytes", len(in.b)), nil
		return 0
	}
	in.b = in.b[n:]
	return v
}

func (in *input) i() int64 { return int64(in.u()) }

func (in *input) zigzag() int64 {
	v := in.u()
	return int64(v>>1) ^ -int64(v&1)
}

func (in *input) text() string { return string(in.take()) }

func (in *input) take() []byte {
	n := in.u()
	if n > uint64(len(in.b)) {
		in.err, n = fmt.Errorf("%d bytes wanted of %d", n, len(in.b)), 0
	}
	p := in.b[:n]
	in.b = in.b[n:]
	return p
}

func (in *input) texts() []string {
	list := make([]string, in.count())
	for i := range list {
		list[i] = in.text()
	}
	return list
}

// count returns a number of things that take a byte at least.
func (in *input) count() int {
	n := in.u()
	if n > uint64(len(in.b)) {
		in.err, n = fmt.Errorf("%d things in %d bytes", n, len(in.b)), 0
	}
	return int(n)
}

func (in *input) times() (t [8]int64) {
	for i := range t {
		t[i] = in.i()
	}
	return t
}

func decode(blob []byte) (*decoded, error) {
	z, err := gzip.NewReader(bytes.NewReader(blob))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	b, ok := bytes.CutPrefix(b, []byte("schedscope timeline\x02"))
	if !ok {
		return nil, fmt.Errorf("not a timeline of version 2")
	}
	in := &input{b: b}
	d := &decoded{start: in.i(), end: in.i()}
	for range in.count() {
		d.words = append(d.words, in.texts())
	}
	d.tables(in)
	for i := range d.classes {
		d.classes[i].read(in, d.start)
	}
	d.omitted, d.omittedSpans, d.omittedTimes = in.i(), in.i(), in.times()
	d.least, d.depthQuantum = in.i(), in.i()
	at := d.start
	for range in.count() {
		s := decodedStep{start: at + in.zigzag()}
		length := in.i()
		s.end, s.most = s.start+length, in.i()
		s.area, s.idle, s.procs = s.most*length-in.i(), in.i(), in.i()
		d.depth = append(d.depth, s)
		at = s.end
	}
	d.lostStops, d.stops = in.i(), in.rows(7)
	d.lostMarks, d.marks = in.i(), in.rows(2)
	d.lost, d.tasks = in.i(), in.rows(7)
	d.lostRegions, d.regions = in.i(), in.rows(6)
	d.stealsEvery, d.steals = in.i(), in.rows(6)
	if in.err == nil && len(in.b) > 0 {
		in.err = fmt.Errorf("%d bytes left", len(in.b))
	}
	return d, in.err
}

// rows reads a list of rows whose first column counts from the row before.
func (in *input) rows(columns int) (list [][]int64) {
	at := int64(0)
	for range in.count() {
		row := make([]int64, columns)
		for i := range row {
			row[i] = in.i()
		}
		at += row[0]
		row[0] = at
		list = append(list, row)
	}
	return list
}

func (d *decoded) tables(in *input) {
	d.strings = in.texts()
	for range in.count() {
		d.frames = append(d.frames, [3]uint64{in.u(), in.u(), in.u()})
	}
	for range in.count() {
		d.places = append(d.places, in.u())
		stack := make([]uint64, in.count())
		for i := range stack {
			stack[i] = in.u()
		}
		d.stacks = append(d.stacks, stack)
	}
	last := int64(0)
	for range in.count() {
		last += in.i()
		d.goroutines = append(d.goroutines, decodedG{last, d.text(in.u()), in.u() == 1})
	}
	last = 0
	for range in.count() {
		last += in.i()
		d.threads = append(d.threads, last)
	}
}

// text returns what a reference to the strings means.
func (d *decoded) text(ref uint64) string {
	if ref == 0 {
		return ""
	}
	return d.strings[ref-1]
}

func (c *decodedClass) read(in *input, start int64) {
	c.quantum = in.i()
	var sets [8]uint64
	for i := range sets {
		sets[i] = in.u()
	}
	for range in.count() {
		l := decodedLane{id: in.u()}
		l.spans = make([]decodedSpan, in.count())
		l.told, l.ended, l.times = in.i(), in.i(), in.times()
		c.lanes = append(c.lanes, l)
	}
	cols := make([]*input, in.count())
	for i := range cols {
		cols[i] = &input{b: in.take()}
	}
	for i := range c.lanes {
		at := start
		for j := range c.lanes[i].spans {
			c.lanes[i].spans[j] = readSpan(cols, &sets, at)
			at = c.lanes[i].spans[j].end
		}
	}
	for i, col := range cols {
		if col.err == nil && len(col.b) > 0 {
			col.err = fmt.Errorf("column %d: %d bytes left", i, len(col.b))
		}
		if col.err != nil && in.err == nil {
			in.err = col.err
		}
	}
}

func readSpan(cols []*input, sets *[8]uint64, at int64) decodedSpan {
	head := cols[0].u()
	s := decodedSpan{state: head & 7, openStart: head&8 != 0, openEnd: head&16 != 0, mixed: head&32 != 0, waits: head&64 != 0}
	s.start = at + cols[1].zigzag()
	s.end = s.start + cols[2].i()
	if s.mixed {
		s.mix, s.mixSpans = cols[10].times(), cols[10].i()
		return s
	}
	for i, field := range []*uint64{&s.g, &s.thread, &s.proc, &s.reason, &s.stack, &s.wakerStack, &s.detail} {
		if sets[s.state]&(8<<i) != 0 {
			*field = cols[3+i].u()
		}
	}
	if s.waits {
		w := cols[11]
		s.source, s.grade, s.lastP, s.from = w.u(), w.u(), w.u(), w.u()
		for range w.count() {
			s.cells = append(s.cells, [2]int64{w.i(), w.i()})
		}
	}
	return s
}
