package perfetto_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message is a decoded protobuf message: the values of each field.
type message map[protowire.Number][]value

type value struct {
	n    uint64 // of varints and fixed64
	data []byte
}

// has returns the single value of a field.
func (m message) has(f protowire.Number) (value, bool) {
	if len(m[f]) == 0 {
		return value{}, false
	}
	return m[f][len(m[f])-1], true
}

func (m message) n(f protowire.Number) uint64 {
	v, _ := m.has(f)
	return v.n
}

// decode parses a message whose fields are those of allowed, with their wire types.
func decode(data []byte, allowed map[protowire.Number]protowire.Type) (message, error) {
	m := message{}
	for len(data) > 0 {
		f, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
		if want, ok := allowed[f]; !ok || want != typ {
			return nil, fmt.Errorf("field %d of type %d, want one of %v", f, typ, allowed)
		}
		var v value
		switch typ {
		case protowire.VarintType:
			v.n, n = protowire.ConsumeVarint(data)
		case protowire.Fixed64Type:
			v.n, n = protowire.ConsumeFixed64(data)
		default:
			v.data, n = protowire.ConsumeBytes(data)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
		m[f] = append(m[f], v)
	}
	return m, nil
}

const (
	vi = protowire.VarintType
	fx = protowire.Fixed64Type
	by = protowire.BytesType
)

type fields = map[protowire.Number]protowire.Type

// The messages, as perfetto_subset.proto has them.
var (
	traceFields      = fields{1: by}
	packetFields     = fields{8: vi, 10: vi, 11: by, 12: by, 13: vi, 60: by, 87: vi, 117: by, 122: by}
	stateFields      = fields{1: vi, 3: vi, 4: vi}
	treeFields       = fields{1: by, 2: by}
	processFields    = fields{1: vi, 3: by}
	threadFields     = fields{1: vi, 2: vi, 3: by, 4: vi}
	descriptorFields = fields{1: vi, 2: by, 3: by, 4: by, 5: vi, 8: by}
	processDescs     = fields{1: vi, 6: by}
	threadDescs      = fields{1: vi, 2: vi}
	counterDescs     = fields{3: vi}
	eventFields      = fields{4: by, 9: vi, 10: vi, 11: vi, 30: vi, 47: fx, 48: fx}
	annotationFields = fields{1: vi, 4: vi, 6: by}
	internedFields   = fields{2: by, 3: by}
	entryFields      = fields{1: vi, 2: by}
)

// A packet is one of a trace, in the order in which Perfetto sorts them.
type packet struct {
	at    uint64
	state message // of a thread
	tree  []thread
	event *event
}

type thread struct {
	tid  uint64
	name string
}

type event struct {
	kind, track uint64
	name        string
	value       int64
	flow, until uint64
	args        map[string]string
}

// A trackInfo is a track that the file describes.
type trackInfo struct {
	name    string
	tid     uint64
	thread  bool
	counter bool
}

type traceFile struct {
	packets []packet
	tracks  map[uint64]trackInfo
}

// reader reads a file as Perfetto's importer does: names by sequence, in the order of
// the file; everything else by time.
type reader struct {
	t     *testing.T
	file  traceFile
	names map[uint64]map[uint64]string // by sequence
	keys  map[uint64]map[uint64]string
}

func readFile(t *testing.T, data []byte) *traceFile {
	t.Helper()
	r := &reader{t: t, names: map[uint64]map[uint64]string{}, keys: map[uint64]map[uint64]string{}}
	r.file.tracks = map[uint64]trackInfo{}
	for _, p := range r.decode(data, traceFields)[1] {
		r.packet(p.data)
	}
	slices.SortStableFunc(r.file.packets, func(a, b packet) int { return cmp.Compare(a.at, b.at) })
	return &r.file
}

func (r *reader) decode(data []byte, allowed fields) message {
	r.t.Helper()
	m, err := decode(data, allowed)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func (r *reader) text(v value) string {
	r.t.Helper()
	if !utf8.Valid(v.data) {
		r.t.Fatalf("invalid UTF-8: %q", v.data)
	}
	return string(v.data)
}

func (r *reader) packet(data []byte) {
	r.t.Helper()
	m := r.decode(data, packetFields)
	if d, ok := m.has(60); ok {
		r.track(d.data)
		return
	}
	if _, ok := m.has(8); !ok {
		r.t.Fatal("a packet without a time")
	}
	p := packet{at: m.n(8)}
	if d, ok := m.has(117); ok {
		p.state = r.decode(d.data, stateFields)
	}
	if d, ok := m.has(122); ok {
		p.tree = r.tree(d.data)
	}
	if d, ok := m.has(11); ok {
		p.event = r.event(m, d.data)
	}
	r.file.packets = append(r.file.packets, p)
}

func (r *reader) tree(data []byte) []thread {
	m := r.decode(data, treeFields)
	for _, p := range m[1] {
		r.text(r.decode(p.data, processFields)[3][0])
	}
	var list []thread
	for _, d := range m[2] {
		x := r.decode(d.data, threadFields)
		list = append(list, thread{x.n(1), r.text(x[3][0])})
	}
	return list
}

func (r *reader) track(data []byte) {
	m := r.decode(data, descriptorFields)
	var x trackInfo
	if v, ok := m.has(2); ok {
		x.name = r.text(v)
	}
	if v, ok := m.has(3); ok {
		r.decode(v.data, processDescs)
	}
	if v, ok := m.has(4); ok {
		x.thread, x.tid = true, r.decode(v.data, threadDescs).n(2)
	}
	if v, ok := m.has(8); ok {
		r.decode(v.data, counterDescs)
		x.counter = true
	}
	if old, ok := r.file.tracks[m.n(1)]; ok && old != x {
		r.t.Fatalf("track %d is %+v and %+v", m.n(1), old, x)
	}
	r.file.tracks[m.n(1)] = x
}

func (r *reader) event(packet message, data []byte) *event {
	r.t.Helper()
	sequence := packet.n(10)
	if sequence == 0 {
		r.t.Fatal("an event without a sequence")
	}
	if packet.n(13)&1 != 0 {
		r.names[sequence], r.keys[sequence] = map[uint64]string{}, map[uint64]string{}
	}
	if r.names[sequence] == nil {
		r.t.Fatalf("sequence %d does not begin", sequence)
	}
	if d, ok := packet.has(12); ok {
		m := r.decode(d.data, internedFields)
		for f, into := range map[protowire.Number]map[uint64]string{2: r.names[sequence], 3: r.keys[sequence]} {
			for _, v := range m[f] {
				e := r.decode(v.data, entryFields)
				if _, again := into[e.n(1)]; again {
					r.t.Fatalf("entry %d is told twice", e.n(1))
				}
				into[e.n(1)] = r.text(e[2][0])
			}
		}
	}
	m := r.decode(data, eventFields)
	e := &event{kind: m.n(9), track: m.n(11), value: int64(m.n(30)), flow: m.n(47), until: m.n(48), args: map[string]string{}}
	if v, ok := m.has(10); ok {
		if e.name, ok = r.names[sequence][v.n]; !ok || packet.n(13)&2 == 0 {
			r.t.Fatalf("name %d was not told", v.n)
		}
	}
	for _, v := range m[4] {
		a := r.decode(v.data, annotationFields)
		key, ok := r.keys[sequence][a.n(1)]
		if !ok || packet.n(13)&2 == 0 {
			r.t.Fatalf("key %d was not told", a.n(1))
		}
		e.args[key] = fmt.Sprint(int64(a.n(4)))
		if v, ok := a.has(6); ok {
			e.args[key] = r.text(v)
		}
	}
	if _, ok := r.file.tracks[e.track]; !ok {
		r.t.Fatalf("track %d was not told", e.track)
	}
	return e
}
