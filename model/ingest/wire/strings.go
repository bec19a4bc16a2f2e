package wire

import "github.com/schedscope/schedscope/model"

// stringTable holds the strings of a generation by the numbers that the trace
// gives them, which are dense.
type stringTable struct {
	entries []stringEntry
	numbers map[string]model.StringID
	fixed   [numNames]model.StringID
}

type stringEntry struct {
	text    string
	number  model.StringID // 0 until the first event mentions it
	stw     model.StringID // of the name of the STW with this reason, likewise
	present bool
}

func (t *stringTable) reset() {
	clear(t.entries)
	t.entries = t.entries[:0]
	if t.numbers == nil {
		t.numbers = map[string]model.StringID{}
	}
	clear(t.numbers)
	t.fixed = [numNames]model.StringID{}
}

// add adds the strings of a batch, whose numbers must not exceed a limit
// (internal/trace/generation.go: addStrings). They share one copy of the batch.
func (t *stringTable) add(data []byte, limit uint64) bool {
	text := string(data)
	for pos := 0; pos < len(data); {
		if data[pos] != evString {
			return false
		}
		id, next := number(data, pos+1)
		size, next := number(data, next)
		if next > len(data) || size > maxStringSize || size > uint64(len(data)-next) {
			return false
		}
		pos = next + int(size)
		e := slot(&t.entries, id, limit)
		if e == nil || e.present {
			return false
		}
		e.text, e.present = text[next:pos], true
	}
	return true
}

// slot returns the place of id in a table, nil if id is 0 or exceeds a limit.
func slot[E any](entries *[]E, id, limit uint64) *E {
	if id == 0 || id > limit {
		return nil
	}
	for uint64(len(*entries)) <= id {
		*entries = append(*entries, *new(E))
	}
	return &(*entries)[id]
}

// has reports whether the table has a string; 0 is the empty one.
func (t *stringTable) has(id uint64) bool {
	return id == 0 || id < uint64(len(t.entries)) && t.entries[id].present
}

// names that the trace does not spell out.
const (
	nameProcs = iota
	nameHeapAlloc
	nameHeapGoal
	nameGC
	nameSweep
	nameAssist
	numNames
)

// names are those of internal/trace/event.go (Event.Metric, Event.Range).
var names = [numNames]string{
	nameProcs:     "/sched/gomaxprocs:threads",
	nameHeapAlloc: "/memory/classes/heap/objects:bytes",
	nameHeapGoal:  "/gc/heap/goal:bytes",
	nameGC:        "GC concurrent mark phase",
	nameSweep:     "GC incremental sweep",
	nameAssist:    "GC mark assist",
}

// str returns the number of one of the trace's strings.
func (d *Decoder) str(id uint64) model.StringID {
	if id < uint64(len(d.strings.entries)) {
		if n := d.strings.entries[id].number; n != 0 {
			return n
		}
	}
	return d.newString(id)
}

// newString is str for a string that has no number yet. If there is no such
// string, it notes a failure.
func (d *Decoder) newString(id uint64) model.StringID {
	if id == 0 {
		return 0
	}
	if !d.strings.has(id) {
		d.failed, d.most = true, -1
		return 0
	}
	e := &d.strings.entries[id]
	e.number = d.intern(e.text)
	return e.number
}

// stw returns the number of the name of the STW with a reason that is one of
// the trace's strings.
func (d *Decoder) stw(reason uint64) model.StringID {
	if !d.strings.has(reason) {
		d.failed, d.most = true, -1
		return 0
	}
	if reason == 0 {
		return d.intern("stop-the-world ()")
	}
	e := &d.strings.entries[reason]
	if e.stw == 0 {
		e.stw = d.intern("stop-the-world (" + e.text + ")")
	}
	return e.stw
}

// name returns the number of one of names.
func (d *Decoder) name(i int) model.StringID {
	if n := d.strings.fixed[i]; n != 0 {
		return n
	}
	n := d.intern(names[i])
	d.strings.fixed[i] = n
	return n
}

// intern numbers a string by its content.
func (d *Decoder) intern(s string) model.StringID {
	if s == "" {
		return 0
	}
	n, ok := d.strings.numbers[s]
	if !ok {
		n = model.StringID(len(d.strings.numbers) + 1)
		d.strings.numbers[s] = n
		d.chunk.Strings = append(d.chunk.Strings, s)
	}
	return n
}
