package perfetto

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/schedscope/schedscope/model"
)

// Processes of the JSON: one shows what each proc ran, one what each goroutine did,
// one the rest.
const (
	chromeProcs      = 1
	chromeGoroutines = 2
	chromeProgram    = 3
)

// chrome encodes the JSON of Chrome's trace viewer, one event a line.
type chrome struct {
	buf    []byte
	origin model.Time
	first  bool // of the file: its events need no comma before
	flows  uint64
	prefix uint64
	tracks map[track]bool
}

func newChrome(origin model.Time, sequence uint64) *chrome {
	return &chrome{origin: origin, prefix: sequence, tracks: map[track]bool{}}
}

func (e *chrome) buffer() *[]byte { return &e.buf }

func (e *chrome) begin() {
	e.buf = append(e.buf, `{"displayTimeUnit":"ns","traceEvents":[`...)
	e.first = true
	for i, name := range []string{"procs", "goroutines", "program"} {
		e.meta("process_name", chromeProcs+i, 0, name)
	}
}

func (e *chrome) finish() { e.buf = append(e.buf, "\n]}\n"...) }

// event begins an event; the caller adds more members and closes it.
func (e *chrome) event(phase string, pid int, tid int64, name string) {
	if !e.first {
		e.buf = append(e.buf, ',')
	}
	e.first = false
	e.buf = append(e.buf, "\n{\"ph\":\""...)
	e.buf = append(append(e.buf, phase...), `","pid":`...)
	e.buf = strconv.AppendInt(e.buf, int64(pid), 10)
	e.buf = strconv.AppendInt(append(e.buf, `,"tid":`...), tid, 10)
	e.buf = appendJSON(append(e.buf, `,"name":`...), name)
}

// micros adds a member in microseconds.
func (e *chrome) micros(key string, ns int64) {
	e.buf = append(append(e.buf, `,"`...), key...)
	e.buf = strconv.AppendInt(append(e.buf, `":`...), ns/1000, 10)
	if rest := ns % 1000; rest != 0 {
		e.buf = append(e.buf, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
	}
}

func (e *chrome) at(t model.Time) { e.micros("ts", max(0, int64(t-e.origin))) }

func (e *chrome) args(list []arg) {
	if len(list) == 0 {
		return
	}
	sep := `,"args":{`
	for i := range list {
		e.buf = append(e.buf, sep...)
		e.buf = append(appendJSON(e.buf, list[i].key.text), ':')
		if list[i].text != "" {
			e.buf = appendJSON(e.buf, list[i].text)
		} else {
			e.buf = strconv.AppendInt(e.buf, list[i].number, 10)
		}
		sep = ","
	}
	e.buf = append(e.buf, '}')
}

func (e *chrome) end() { e.buf = append(e.buf, '}') }

// meta names a process or a thread.
func (e *chrome) meta(what string, pid int, tid int64, name string) {
	e.event("M", pid, tid, what)
	e.buf = append(appendJSON(append(e.buf, `,"args":{"name":`...), name), "}}"...)
}

func (e *chrome) goroutine(g *goroutine, _ model.Time) {
	e.meta("thread_name", chromeGoroutines, int64(g.tid()), g.title())
}

func (e *chrome) span(g *goroutine, s *model.GoSpan, cpu int64, reason label) {
	var name string
	var args []arg
	switch s.State {
	case model.GoRunnable:
		name = "runnable"
	case model.GoRunning:
		name = "running"
		e.complete(chromeProcs, e.lane(track{trackProc, cpu}), g.title(), s.Start, s.End,
			[]arg{{key: keyGoroutine, number: int64(s.G)}})
	case model.GoWaiting:
		name = "waiting"
		if reason.n != 0 {
			args = []arg{{key: keyReason, text: reason.text}}
		}
	case model.GoSyscall:
		name = "system call"
	case model.GoSyscallBlocked:
		name = "system call without a proc"
	default:
		return
	}
	e.complete(chromeGoroutines, int64(g.tid()), name, s.Start, s.End, args)
}

func (e *chrome) complete(pid int, tid int64, name string, start, end model.Time, args []arg) {
	e.event("X", pid, tid, name)
	e.at(start)
	e.micros("dur", int64(end.Sub(start)))
	e.args(args)
	e.end()
}

func (e *chrome) exit(*goroutine, model.Time) {}

// lane returns the thread on which a track is shown, and names it at first sight.
func (e *chrome) lane(t track) int64 {
	pid, tid := t.chrome()
	if pid != chromeGoroutines && !e.tracks[t] {
		e.tracks[t] = true
		e.meta("thread_name", pid, tid, t.title(""))
	}
	return tid
}

// chrome returns process and thread of a track.
func (t track) chrome() (pid int, tid int64) {
	switch t.kind {
	case trackGoroutine:
		return chromeGoroutines, int64(tidOf(model.GoID(t.id)))
	case trackProc:
		return chromeProcs, t.id
	case trackSweep:
		return chromeProgram, 1<<16 + t.id
	}
	return chromeProgram, int64(t.kind)
}

func (e *chrome) slice(s *slice) {
	var cat string
	switch s.track.kind {
	case trackGoroutine:
		cat = s.kind
	case trackOpen:
		cat = "open"
	case trackTask:
		cat = "task"
	default:
		pid, _ := s.track.chrome()
		e.complete(pid, e.lane(s.track), s.name.text, s.start, s.end, s.args)
		return
	}
	// Lanes of goroutines are full: what lies across their intervals has its own.
	e.async("b", cat, s, s.start, s.args)
	e.async("e", cat, s, s.end, nil)
}

func (e *chrome) async(phase, cat string, s *slice, at model.Time, args []arg) {
	pid, tid := s.track.chrome()
	e.event(phase, pid, tid, s.name.text)
	e.buf = append(append(append(e.buf, `,"cat":"`...), cat...), `","id":"`...)
	e.buf = append(strconv.AppendInt(e.buf, s.track.id, 10), '"')
	e.at(at)
	e.args(args)
	e.end()
}

func (e *chrome) moment(m *moment) {
	pid, _ := m.track.chrome()
	e.event("i", pid, e.lane(m.track), m.name.text)
	e.at(m.at)
	e.buf = append(e.buf, `,"s":"t"`...)
	e.args(m.args)
	e.end()
}

func (e *chrome) flow(from, to *moment) {
	e.flows++
	if from.track.kind == trackProc || to.track.kind == trackProc {
		e.moment(from) // where arrows of wakeups begin and end there are intervals
		e.moment(to)
	}
	e.arrow("s", from)
	e.arrow("f", to)
}

func (e *chrome) arrow(phase string, m *moment) {
	pid, _ := m.track.chrome()
	e.event(phase, pid, e.lane(m.track), "to")
	e.at(m.at)
	e.buf = strconv.AppendUint(append(e.buf, `,"cat":"flow","id":"`...), e.prefix, 10)
	e.buf = append(strconv.AppendUint(append(e.buf, '.'), e.flows, 10), '"')
	if phase == "f" {
		e.buf = append(e.buf, `,"bp":"e"`...)
	}
	e.end()
}

func (e *chrome) counter(t track, at model.Time, v int64) {
	e.event("C", chromeProgram, 0, t.title(""))
	e.at(at)
	e.buf = append(strconv.AppendInt(append(e.buf, `,"args":{"value":`...), v, 10), "}}"...)
}

// appendJSON appends a string. Nearly all are plain.
func appendJSON(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				panic("perfetto: a string has no JSON: " + err.Error())
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
