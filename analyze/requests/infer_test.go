package requests_test

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestMessages checks that servers whose connections, and readers of UDP, are older than the trace serve
// requests, and that their clients in the same process do not, and that a handler of net/http may serve
// WebSockets, from their first message on: dns and redis are programs of fixtures/validation with -n 250, chat, pump and
// workers servers of fixtures/validation/requests that answered 128, 127 and 129.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		trace, kind, name string
		count             int
	}{
		{"dns", "message", "github.com/miekg/dns.(*Server).serveUDPPacket", 231},
		{"redis", "tcp", "github.com/tidwall/redcon.handle", 236},
		{"chat", "tcp", "main.(*room).ServeHTTP", 112},
		{"pump", "tcp", "main.serve", 93},
		{"workers", "tcp", "main.read", 42},
		{"workers", "tcp", "main.serve", 53},
	} {
		count := 0
		f, err := os.Open("testdata/" + c.trace + ".trace")
		if err != nil {
			t.Fatal(err)
		}
		_, err = track(t, f, nil, func(r *requests.Request) {
			if c.trace == "workers" && r.Name != c.name { // it serves in two ways
				return
			}
			count++
			if err := check(r); err != nil || r.Kind != c.kind || r.Name != c.name {
				t.Errorf("%s: %s %s, want %s %s: %v", c.trace, r.Kind, r.Name, c.kind, c.name, err)
			}
		})
		f.Close()
		if err != nil || count != c.count {
			t.Errorf("%s: %d requests, want %d: %v", c.trace, count, c.count, err)
		}
	}
}

// TestUnwanted checks that messages are not requests of those who want what is asked for, and the other way round.
func TestUnwanted(t *testing.T) {
	for trace, spec := range map[string]string{"dns": "tcp", "redis": "message"} {
		f, err := os.Open("testdata/" + trace + ".trace")
		if err != nil {
			t.Fatal(err)
		}
		_, err = track(t, f, []string{spec}, func(r *requests.Request) { t.Errorf("%s: %s %s", trace, r.Kind, r.Name) })
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestBegun checks that the first goroutines that a reader starts are requests once these count, unless they have had
// requests of their own.
func TestBegun(t *testing.T) {
	for own, want := range map[string][]string{
		"main.work": {"message main.answer"},
		"main.ask":  {"func main.ask", "message main.answer"},
	} {
		p := newProgram("main.loop")
		for g := range model.GoID(9) {
			p.reads("main.loop:10")
			p.in("main.loop:11").Create(10+g, "main.answer").Stop("preempted").Start(10 + g)
			p.in(own, "main.answer").Block("sleep").Start(1)
			p.b.M(2).Unblock(10 + g)
			p.in("main.loop:12").Stop("preempted").Start(10 + g)
			p.in(own, "main.answer").Stop("preempted").Start(10 + g)
			p.in("main.answer").Exit().Start(1)
		}
		counts := map[string]int{}
		ask, err := requests.ParseSpec("func:^main.ask$")
		if err != nil {
			t.Fatal(err)
		}
		p.each(t, []requests.Spec{{Kind: "message"}, ask}, func(q *requests.Request) { counts[q.Kind+" "+q.Name]++ })
		if got := slices.Sorted(maps.Keys(counts)); !slices.Equal(got, want) || len(want) == 2 && counts[want[0]]+counts[want[1]] != 9 {
			t.Errorf("%s: %v, want %q, nine in all", own, counts, want)
		}
	}
}

// A program has a goroutine, 1, that reads and writes while another one spins.
type program struct {
	*modeltest.Thread
	b    *modeltest.Builder
	now  int
	asks bool // it writes further up than it reads
}

func newProgram(fn string) *program {
	b := modeltest.NewBuilder()
	p := &program{Thread: b.M(1).Proc(0), b: b}
	p.Status(1, model.GoRunnable, fn).Status(2, model.GoRunnable, "main.spin").Start(1)
	return p
}

// TestMainLoop checks that what main.main serves itself is named after the function with the loop, else the one that reads.
func TestMainLoop(t *testing.T) {
	for want, c := range map[string]struct{ reads, writes []string }{
		"tcp main.consume": {[]string{"main.read:3", "main.consume:10", "main.main:5"}, []string{"main.write:4", "main.consume:11", "main.main:5"}},
		"tcp main.read":    {[]string{"main.read:3", "main.main:5"}, []string{"main.write:4", "main.main:6"}},
		"tcp main.main":    {[]string{"main.main:5"}, []string{"main.main:6"}},
	} {
		p := newProgram("main.main")
		for range 12 {
			p.reads(c.reads...)
			p.calls(slices.Concat([]string{"net.(*netFD).Write"}, c.writes)...)
		}
		if got := p.requests(t); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestEarly checks that the first messages of a server are requests as the others are, unless the first takes so long
// that the time since would have to be kept for what may be none.
func TestEarly(t *testing.T) {
	for long, want := range map[int]int{0: 12, 2_000_000: 11} {
		p := newProgram("main.loop")
		for range 12 {
			p.reads("main.loop:10")
			p.now += long
			for id := range model.TaskID(2) { // of others, or nobody looks
				p.in("main.loop:11").TaskBegin(id+1, 0, "other")
				p.in("main.loop:11").TaskEnd(id+1, 0, "other")
			}
			long = 0
			p.calls("net.(*netFD).Write", "main.loop:12")
		}
		count := 0
		p.each(t, nil, func(q *requests.Request) {
			if q.Kind == "tcp" {
				count++
			}
		})
		if count != want {
			t.Errorf("%d requests, want %d", count, want)
		}
	}
}

// TestUnwaited checks that a message for which a server does not wait is a request of its own, and that of the first ones,
// which may be none, those with several in them are not.
func TestUnwaited(t *testing.T) {
	p := newProgram("main.loop")
	for i := range 12 {
		p.reads("main.loop:10")
		p.calls("net.(*netFD).Write", "main.loop:12")
		if i%4 == 3 {
			p.calls("net.(*netFD).Read", "bufio.(*Reader).Read", "main.loop:10")
			p.now += 1000
			p.calls("net.(*netFD).Write", "main.loop:12")
		}
		p.calls("net.(*netFD).Read", "bufio.(*Reader).Read", "main.loop:10")
	}
	long := map[bool]int{}
	p.each(t, nil, func(q *requests.Request) { long[q.Duration() > 50_000]++ })
	if want := map[bool]int{true: 1, false: 10}; !maps.Equal(long, want) {
		t.Errorf("%v requests are long, want %v", long, want)
	}
}

// TestHandedToMany checks that who writes first answers a message that was handed to many, of the first ones only if most are.
func TestHandedToMany(t *testing.T) {
	for many, want := range map[int]int{1: 9, 10: 10} {
		p := newProgram("main.read")
		p.Status(3, model.GoWaiting, "main.hub")
		for g := range model.GoID(3) {
			p.Status(4+g, model.GoWaiting, "main.write")
		}
		waits := func(g model.GoID) {
			p.in("runtime.chanrecv1", map[bool]string{true: "main.hub:10", false: "main.write:10"}[g == 3]).Block("chan receive").Start(2)
		}
		p.rests()
		for g := range model.GoID(4) {
			p.begins(3 + g)
			waits(3 + g)
		}
		for i := range 10 {
			writers := []model.GoID{4, 5, 6}
			if i >= many {
				writers = writers[:1]
			}
			p.hands(1, 3)
			p.in().Stop("preempted").Start(3)
			for _, g := range writers {
				p.in("runtime.chansend1", "main.hub:11").Unblock(g)
			}
			waits(3)
			for _, g := range writers {
				if p.in().Stop("preempted").Start(g); g == 4 {
					p.calls("net.(*netFD).Write", "main.write:11")
				}
				waits(g)
			}
		}
		count := 0
		p.each(t, nil, func(*requests.Request) { count++ })
		if count != want {
			t.Errorf("%d of 10 to many: %d requests, want %d", many, count, want)
		}
	}
}

// TestDeep checks that the parts of a path of more than 32 waits in a row add up, and that what is summed up there is of nobody in particular.
func TestDeep(t *testing.T) {
	const n = 40
	p := newProgram("main.main")
	for g := range model.GoID(n) {
		p.in("main.main:5").Create(10+g, "main.hold").Stop("preempted").Start(10 + g)
		p.in("sync.(*Mutex).Lock", "main.hold:7").Block("sync.(*Mutex).Lock").Start(1)
	}
	from := p.now
	p.in("sync.(*Mutex).Unlock", "main.main:9").Unblock(9 + n).Stop("preempted").Start(9 + n)
	for g := model.GoID(n - 1); g > 0; g-- {
		p.in("sync.(*Mutex).Unlock", "main.hold:8").Unblock(9 + g)
		p.in().Exit().Start(9 + g)
	}
	p.in().Exit()
	spec, err := requests.ParseSpec("goroutine:^main.hold$")
	if err != nil {
		t.Fatal(err)
	}
	summed := 0
	p.each(t, []requests.Spec{spec}, func(r *requests.Request) {
		if err := check(r); err != nil {
			t.Errorf("G%d: %v", r.G, err)
		}
		for x := range r.Parts() {
			if deep := x.Depth > 32; deep != (x.G == model.NoGoroutine) {
				t.Errorf("G%d: %+v", r.G, x)
			} else if deep && x.To > model.Time(from) {
				summed++
			}
		}
	})
	if summed == 0 {
		t.Error("nothing is so deep")
	}
}

// in says where the next event is, later than the one before.
func (p *program) in(funcs ...string) *modeltest.Thread {
	p.now += 10
	p.b.At(p.now)
	return p.With(funcs...)
}

func (p *program) calls(funcs ...string) {
	p.in(funcs...).Syscall()
	p.in().SyscallEnd()
}

func (p *program) reads(funcs ...string) {
	p.in(slices.Concat([]string{"net.(*netFD).Read", "bufio.(*Reader).Read"}, funcs)...).Block("network").Start(2)
	p.in().Unblock(1).Stop("preempted").Start(1)
}

// exchanges writes and reads twelve times.
func (p *program) exchanges(funcs ...string) {
	for range 12 {
		p.calls(slices.Concat([]string{"net.(*netFD).Write"}, funcs)...)
		p.reads(funcs...)
	}
}

// requests returns the kinds and names of the requests, one of several that follow each other.
func (p *program) requests(t *testing.T, specs ...requests.Spec) (list []string) {
	p.each(t, specs, func(q *requests.Request) { list = append(list, q.Kind+" "+q.Name) })
	return slices.Compact(list)
}

// each calls done with each request, and returns the Tracker.
func (p *program) each(t *testing.T, specs []requests.Spec, done func(*requests.Request)) *requests.Tracker {
	events := p.b.Events()
	machine := model.NewMachine(p.b.Tables, model.Config{})
	r := requests.New(machine, specs)
	r.Done = done
	for i := range events {
		events[i].Stack, events[i].SubjectStack = lines(p.b.Tables, events[i].Stack), lines(p.b.Tables, events[i].SubjectStack)
		if frames := slices.Clone(p.b.Tables.Stack(events[i].SubjectStack)); len(frames) > 1 && frames[0].Func == "net.(*netFD).Write" {
			if frames[1].Line++; p.asks {
				frames[1].Line -= 2
			}
			events[i].SubjectStack = p.b.Tables.AddStack(frames)
		}
		if err := machine.Apply(&events[i]); err != nil {
			t.Fatal(err)
		}
		r.Event(&events[i])
	}
	machine.Finish(machine.Now())
	r.Finish()
	return r
}

// lines returns a stack with the lines that names of functions end with.
func lines(t *model.Tables, stack model.StackID) model.StackID {
	frames := slices.Clone(t.Stack(stack))
	for i := range frames {
		if name, line, ok := strings.Cut(frames[i].Func, ":"); ok {
			n, _ := strconv.Atoi(line)
			frames[i].Func, frames[i].Line = name, uint64(n)
		}
	}
	return t.AddStack(frames)
}

// TestServes checks who serves requests of those who read and write again and again.
func TestServes(t *testing.T) {
	for about, c := range map[string]struct {
		before func(*program)
		want   []string
	}{
		"a server":                      {func(*program) {}, []string{"tcp main.loop"}},
		"it asks, and reads the answer": {func(p *program) { p.asks = true }, nil},
		"it has connected":              {func(p *program) { p.calls("syscall.connect", "net.(*netFD).connect") }, nil},
		"it also hands on messages": {func(p *program) {
			for g := range model.GoID(12) {
				p.reads()
				p.in().Create(10+g, "main.answer")
			}
		}, []string{"tcp main.loop", "message main.answer"}},
		"an acceptor starts others": {func(p *program) {
			p.in().Stop("preempted").Start(2)
			p.in("net.(*TCPListener).Accept").Block("network").Start(1)
			p.in().Unblock(2).Stop("preempted").Start(2)
			p.in("net.(*TCPListener).Accept").Create(3, "main.serve").Stop("preempted").Start(1)
		}, nil},
	} {
		p := newProgram("main.loop")
		c.before(p)
		p.exchanges()
		if got := p.requests(t); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", about, got, c.want)
		}
	}
}

// TestTaken checks what becomes of a connection of net/http whose handler reads and writes itself. One that serves a
// connection may still end a region, and return, after which there are requests of net/http again. One during which
// net/http reads from the connection, or that calls who reads and writes, uses another one, to a backend.
func TestTaken(t *testing.T) {
	http, tcp := requests.Spec{Kind: "http"}, requests.Spec{Kind: "tcp"}
	region := requests.Spec{Kind: "region", Name: "upload"}
	for about, c := range map[string]struct {
		reader bool
		call   []string
		specs  []requests.Spec
		want   []string
	}{
		"taken":      {false, nil, []requests.Spec{http, tcp, region}, []string{"tcp main.handle", "region upload", "http main.other"}},
		"messages":   {false, nil, []requests.Spec{tcp}, []string{"tcp main.handle"}},
		"net/http's": {true, nil, []requests.Spec{http, tcp, region}, []string{"region upload", "http main.handle", "http main.other"}},
		"a client":   {false, []string{"main.query"}, []requests.Spec{http, tcp}, []string{"http main.handle", "http main.other"}},
	} {
		p := newProgram("net/http.(*conn).serve")
		handler := func(name string) []string {
			return []string{name, "net/http.HandlerFunc.ServeHTTP", "net/http.serverHandler.ServeHTTP"}
		}
		ends := func() {
			p.calls("net.(*netFD).Write", "net/http.(*response).finishRequest")
			p.reads("bufio.(*Reader).Peek")
		}
		p.reads("bufio.(*Reader).Peek")
		if c.reader {
			p.in(handler("main.handle")...).Create(3, "net/http.(*connReader).startBackgroundRead.gowrap1")
		}
		p.in(handler("main.handle")...).RegionBegin(0, "upload")
		p.exchanges(slices.Concat(c.call, handler("main.handle"))...)
		p.in(handler("main.handle")...).RegionEnd(0, "upload")
		ends()
		p.in(handler("main.other")...).Block("sleep").Start(2)
		p.in().Unblock(1).Stop("preempted").Start(1)
		ends()
		if got := p.requests(t, c.specs...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", about, got, c.want)
		}
	}
}

// TestRelays checks whether a goroutine serves that reads and wakes another one, which wakes a third, which writes. A
// stack ends with lines.
func TestRelays(t *testing.T) {
	for about, c := range map[string]struct {
		hands, waits, wakes, writes []string // in turns
		want                        []string
	}{
		"a hub":           {[]string{"main.read:11"}, []string{"main.hub:10"}, []string{"main.hub:11"}, []string{"main.write:11"}, []string{"tcp main.read"}},
		"in a test":       {[]string{"main.read:11"}, []string{"main.hub:10"}, []string{"main.hub:11"}, []string{"main.write:11"}, []string{"tcp testing.tRunner"}},
		"before it reads": {[]string{"main.read:9"}, []string{"main.hub:10"}, []string{"main.hub:11"}, []string{"main.write:11"}, nil},
		"for itself":      {nil, []string{"main.hub:10"}, []string{"main.hub:11"}, []string{"main.write:11"}, nil},
		"a client":        {[]string{"main.read:11"}, []string{"main.hub:10"}, []string{"main.hub:9"}, []string{"main.write:11"}, nil},
		"calls in turn": {[]string{"main.read:11"}, []string{"main.call:6 main.hub:10", "main.call:6 main.hub:11"},
			[]string{"main.call:5 main.hub:10", "main.call:5 main.hub:11"}, []string{"main.write:11"}, nil},
		"at many places": {[]string{"main.read:11"}, []string{"main.hub:10"}, []string{"main.hub:11"},
			[]string{"main.write:11", "main.write:12", "main.write:13"}, nil},
	} {
		p := newProgram(cmp.Or(strings.TrimPrefix(strings.Join(c.want, ""), "tcp "), "main.read")) // which gives the name
		p.Status(3, model.GoWaiting, "main.hub").Status(4, model.GoWaiting, "main.write")
		at := func(call string, i int, of []string) *modeltest.Thread {
			return p.in(append([]string{call}, strings.Fields(of[i%len(of)])...)...)
		}
		for i := range 40 {
			p.reads("main.read:10")
			if c.hands == nil {
				continue
			}
			at("runtime.chansend1", i, c.hands).Unblock(3)
			p.in("net.(*netFD).Read", "bufio.(*Reader).Read", "main.read:10").Block("network").Start(3)
			at("runtime.chansend1", i, c.wakes).Unblock(4)
			at("runtime.chanrecv1", i, c.waits).Block("chan receive").Start(4)
			at("net.(*netFD).Write", i, c.writes).Syscall()
			p.in().SyscallEnd()
			p.in("runtime.chanrecv1", "main.write:10").Block("chan receive").Start(2)
			p.in().Unblock(1).Stop("preempted").Start(1)
		}
		if got := p.requests(t); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", about, got, c.want)
		}
	}
}

// TestPushes checks that a handler of net/http which writes whenever another goroutine has read a message answers its own
// request, not the message.
func TestPushes(t *testing.T) {
	p := newProgram("main.read")
	p.Status(3, model.GoWaiting, "net/http.(*conn).serve")
	handle := func(call, line string) *modeltest.Thread {
		return p.in(call, "main.handle:"+line, "net/http.HandlerFunc.ServeHTTP", "net/http.serverHandler.ServeHTTP")
	}
	waits := func() { handle("runtime.chanrecv1", "10").Block("chan receive").Start(2) }
	p.rests()
	p.begins(3)
	p.in("net.(*netFD).Read", "bufio.(*Reader).Peek").Block("network").Start(2)
	p.begins(3)
	waits()
	for range 12 {
		p.hands(1, 3)
		p.in().Stop("preempted").Start(3)
		handle("net.(*netFD).Write", "11").Syscall()
		p.in().SyscallEnd()
		waits()
	}
	if got := p.requests(t); !slices.Equal(got, []string{"http main.handle"}) {
		t.Errorf("%q", got)
	}
}

// newWorkers returns a program in which 1, 3 and 4 read messages, and 5, 6 and 7 wait for some.
func newWorkers() *program {
	p := newProgram("main.read")
	for g := model.GoID(3); g < 8; g++ {
		p.Status(g, model.GoWaiting, map[bool]string{true: "main.read", false: "main.work"}[g < 5])
	}
	p.rests()
	for g := model.GoID(3); g < 8; g++ {
		if p.begins(g); g < 5 {
			p.rests()
		} else {
			p.waits()
		}
	}
	for range 8 { // until they count
		p.hands(1, 5)
		p.answers(5, 1)
	}
	return p
}

func (p *program) rests() {
	p.in("net.(*netFD).Read", "bufio.(*Reader).Read", "main.read:10").Block("network").Start(2)
}

func (p *program) waits() { p.in("runtime.chanrecv1", "main.work:10").Block("chan receive").Start(2) }

// begins ends the wait of a goroutine, and has it run.
func (p *program) begins(g model.GoID) { p.in().Unblock(g).Stop("preempted").Start(g) }

// hands has a reader read a message, and wake a worker.
func (p *program) hands(reader, worker model.GoID) {
	p.begins(reader)
	p.in("runtime.chansend1", "main.read:11").Unblock(worker)
	p.rests()
}

// answers has a worker write so many answers, and wait.
func (p *program) answers(worker model.GoID, n int) {
	p.in().Stop("preempted").Start(worker)
	for range n {
		p.calls("net.(*netFD).Write", "main.work:11")
	}
	p.waits()
}

// TestOwnWorkers checks that where each connection has a worker of its own, none of the messages that queue for one is lost
// as another worker takes what queues for itself.
func TestOwnWorkers(t *testing.T) {
	p := newWorkers()
	for range 3 { // fewer than until it is known who answers
		p.hands(3, 6)
		p.hands(4, 7)
		for _, reader := range []model.GoID{3, 4} {
			p.begins(reader)
			p.rests()
		}
		p.answers(7, 2)
		p.answers(6, 2)
	}
	by := map[model.GoID]int{}
	p.each(t, nil, func(q *requests.Request) { by[q.G]++ })
	if by[6] != 6 || by[7] != 6 {
		t.Errorf("answered by worker: %v, want 6 each", by)
	}
}

// TestOwnAnswers checks that what a reader hands on, and writes itself after, such as a ping, is not answered by another one.
func TestOwnAnswers(t *testing.T) {
	p := newProgram("main.read")
	p.Status(5, model.GoWaiting, "main.work")
	p.rests()
	p.begins(5)
	p.waits()
	for range 12 {
		p.begins(1)
		p.in("runtime.chansend1", "main.read:11").Unblock(5)
		p.calls("net.(*netFD).Write", "main.read:9")
		p.rests()
		p.answers(5, 1)
		for range 4 { // parts of what that has asked for
			p.begins(1)
			p.rests()
		}
	}
	if got := p.requests(t); got != nil {
		t.Errorf("%q, want none", got)
	}
}

// TestTwoWorkers checks that where a connection has two workers, no other one takes what queues for these.
func TestTwoWorkers(t *testing.T) {
	p := newWorkers()
	for _, worker := range []model.GoID{6, 7} {
		p.hands(3, worker)
		p.answers(worker, 1)
	}
	p.hands(3, 6)
	p.begins(3)
	p.rests()
	p.hands(1, 5)
	p.answers(5, 2)
	p.answers(6, 2)
	by := map[model.GoID]int{}
	p.each(t, nil, func(q *requests.Request) { by[q.G]++ })
	if by[5] != 9 || by[6] != 3 || by[7] != 1 {
		t.Errorf("answered by worker: %v, want 9, 3 and 1", by)
	}
}

// TestQueued checks that of messages that queue where more did than are kept it is not said which were answered when.
func TestQueued(t *testing.T) {
	p := newWorkers()
	for reader := range model.GoID(10) {
		p.in("main.accept").Create(10+reader, "main.read").Stop("preempted").Start(10 + reader)
		p.rests()
		p.hands(10+reader, 6)
		p.answers(6, 1)
	}
	p.hands(10, 6)
	for range 30 {
		for reader := range model.GoID(10) {
			p.begins(10 + reader)
			p.rests()
		}
	}
	p.answers(6, 400)
	n := 0
	r := p.each(t, nil, func(q *requests.Request) {
		if q.G == 6 {
			n++
		}
	})
	if n != 10+1 || r.Unanswered != 300 {
		t.Errorf("%d answered, %d not known, want %d and %d", n, r.Unanswered, 10+1, 300)
	}
}

// TestUnanswered checks that messages are counted that came while a worker of several was busy, who then waits.
func TestUnanswered(t *testing.T) {
	p := newWorkers()
	for range 2 {
		p.hands(3, 6)
		p.answers(6, 1)
		p.hands(3, 7)
		p.answers(7, 1)
	}
	p.hands(3, 6)
	for range 3 {
		p.begins(3)
		p.rests()
	}
	p.answers(6, 1)
	if r := p.each(t, nil, nil); r.Unanswered != 3 {
		t.Errorf("%d messages, want 3", r.Unanswered)
	}
}

// TestNotAnswered checks which of the messages that a worker's answers follow these are not to.
func TestNotAnswered(t *testing.T) {
	rests := func(p *program) { // it wakes nobody
		p.begins(1)
		p.rests()
	}
	writes := func(p *program) { // a ping, say
		p.begins(1)
		p.calls("net.(*netFD).Write", "main.read:12")
		p.rests()
	}
	for about, c := range map[string]struct {
		do   func(*program)
		want []int // how many messages there were before each that is answered
	}{
		"that queue": {func(p *program) {
			p.hands(1, 5)
			rests(p)
			p.answers(5, 2)
		}, []int{0, 1}},
		"that queue, and one is not answered": {func(p *program) {
			p.hands(1, 5)
			rests(p)
			rests(p)
			p.answers(5, 2)
		}, []int{0}},
		"that queue, and more answers": {func(p *program) {
			p.hands(1, 5)
			rests(p)
			p.answers(5, 3)
		}, []int{0, 1}},
		"that queue, and more answers, where some are not answered": {func(p *program) {
			p.hands(1, 5)
			rests(p)
			rests(p)
			p.answers(5, 1)
			p.hands(1, 5)
			rests(p)
			p.answers(5, 3)
		}, []int{0, 3}},
		"its reader answers it": {func(p *program) {
			p.hands(1, 5)
			writes(p)
			rests(p)
			p.answers(5, 2)
		}, []int{0}},
		"it answers what its reader has asked": {func(p *program) {
			writes(p)
			p.hands(1, 5)
			p.answers(5, 1)
		}, nil},
		"it answers what its reader has asked, in four parts": {func(p *program) {
			writes(p)
			for range 6 {
				p.hands(1, 5)
				p.answers(5, 1)
			}
		}, []int{5, 6}},
		"it ends": {func(p *program) {
			p.hands(1, 5)
			p.in().Stop("preempted").Start(5)
			p.calls("net.(*netFD).Write", "main.work:11")
			p.in("main.work").Exit().Start(2)
		}, []int{0}},
		"after a timer": {func(p *program) {
			p.hands(1, 5)
			rests(p)
			p.in().Stop("preempted").Start(5)
			p.calls("net.(*netFD).Write", "main.work:11")
			p.in("runtime.selectgo", "main.work:20").Block("select").Start(2)
			p.b.M(2).Unblock(5)
			p.answers(5, 1)
		}, []int{0}},
		"the worker asks others": {func(p *program) {
			p.hands(1, 5)
			p.in().Stop("preempted").Start(5)
			p.calls("net.(*netFD).Write", "main.work:11")
			p.in("net.(*netFD).Read", "main.work:12").Block("network").Start(2)
			p.begins(5)
			p.waits()
		}, nil},
		"others are for their reader alone": {func(p *program) {
			rests(p)
			rests(p)
			p.hands(1, 5)
			rests(p)
			p.answers(5, 2)
		}, []int{2}},
		"nobody is known who takes it": {func(p *program) {
			p.hands(4, 7)
			p.begins(3)
			p.rests()
			p.answers(7, 1)
			p.hands(3, 6)
			p.answers(6, 2)
		}, []int{0, 2}},
		"nobody has it, as all wait": {func(p *program) {
			p.hands(1, 5)
			rests(p)
			p.answers(5, 1)
			p.hands(3, 5)
			p.answers(5, 2)
		}, []int{0, 2}},
		"too many, until all wait": {func(p *program) {
			p.hands(1, 5)
			for range 70 {
				rests(p)
			}
			p.answers(5, 71)
			p.hands(1, 5)
			p.answers(5, 1)
		}, []int{71}},
		"too many for several": {func(p *program) { // of each the worker knows its message
			for range 3 {
				p.hands(3, 6)
				p.answers(6, 1)
				p.hands(3, 7)
				p.answers(7, 1)
			}
			p.hands(3, 6)
			for range 70 {
				p.begins(3)
				p.rests()
			}
			p.hands(3, 7)
			p.answers(7, 1)
		}, []int{0, 1, 2, 3, 4, 5, 77}},
	} {
		p := newWorkers()
		from := p.now
		c.do(p)
		var read []model.Time // when each was
		for _, ev := range p.b.Events() {
			if ev.Kind == model.EventGoTransition && (ev.ID == 1 || ev.ID == 3 || ev.ID == 4) && ev.To == uint8(model.GoRunnable) && ev.From == uint8(model.GoWaiting) && ev.Time > modeltest.At(from) {
				read = append(read, ev.Time)
			}
		}
		var got []int
		p.each(t, nil, func(q *requests.Request) { got = append(got, slices.Index(read, q.Start)) })
		if want := append(slices.Repeat([]int{-1}, 8), c.want...); !slices.Equal(got, want) {
			t.Errorf("%s: answered are %v, want %v", about, got, want)
		}
	}
}

// newHub returns a program in which 5 hands to 6 and 7, which write, what 1, 3 and 4 read.
func newHub() *program {
	p := newProgram("main.read")
	for i, fn := range []string{"main.read", "main.read", "main.hub", "main.write", "main.write"} {
		p.Status(model.GoID(3+i), model.GoWaiting, fn)
	}
	p.rests()
	for g := model.GoID(3); g < 8; g++ {
		if p.begins(g); g < 5 {
			p.rests()
		} else {
			p.idles(g)
		}
	}
	for i := range 9 {
		p.hands([]model.GoID{1, 3, 4}[i%3], 5)
		p.spreads()
		p.idles(5)
		p.pushes(6, 1)
		p.pushes(7, 1)
	}
	return p
}

func (p *program) idles(g model.GoID) {
	p.in("runtime.chanrecv1", map[bool]string{true: "main.hub:10", false: "main.write:10"}[g == 5]).Block("chan receive").Start(2)
}

// spreads has the hub wake those who write.
func (p *program) spreads() {
	p.in().Stop("preempted").Start(5)
	for g := range model.GoID(2) {
		p.in("runtime.chansend1", "main.hub:11").Unblock(6 + g)
	}
}

// pushes has g write so many times, and wait.
func (p *program) pushes(g model.GoID, n int) {
	p.in().Stop("preempted").Start(g)
	for range n {
		p.calls("net.(*netFD).Write", "main.write:11")
	}
	p.idles(g)
}

// TestHub checks which of four messages are found that came while a hub was busy, and how many are counted.
func TestHub(t *testing.T) {
	for about, c := range map[string]struct {
		keeps, again  int // messages that the hub keeps to itself, and others that are read at once with the first
		six, seven    int // what those write
		found, counts int
	}{
		"one after the other":    {0, 0, 4, 4, 13, 0},
		"all at once":            {0, 0, 1, 1, 13, 0},
		"more than there were":   {0, 0, 6, 4, 13, 0},
		"slowly":                 {0, 0, 200, 200, 10, 3},
		"at once, and some kept": {3, 0, 1, 1, 10, 3},
		"two read at once":       {0, 1, 5, 5, 14, 0},
		"it ends":                {0, 0, 0, 0, 9, 3},
	} {
		p := newHub()
		for range c.keeps {
			p.hands(1, 5)
			p.in().Stop("preempted").Start(5)
			p.idles(5)
		}
		p.hands(1, 5)
		come := []model.GoID{3, 4, 1}
		for _, g := range come {
			p.begins(g)
			p.in("runtime.chansend1", "main.read:11").Block("chan send").Start(2)
		}
		p.now += 4000
		p.spreads()
		for _, g := range come {
			p.in("runtime.recv", "runtime.chanrecv1", "main.hub:10").Unblock(g)
		}
		p.idles(5)
		for i, g := range come {
			p.in().Stop("preempted").Start(g)
			if i < c.again {
				p.in("runtime.chansend1", "main.read:11").Unblock(5)
				p.rests()
				p.in().Stop("preempted").Start(5)
				p.idles(5)
				p.begins(g)
			}
			p.rests()
		}
		if c.six == 0 {
			p.begins(5)
			p.in("main.hub").Exit().Start(2)
		} else {
			p.pushes(6, c.six)
			p.pushes(7, c.seven)
		}
		found := 0
		r := p.each(t, nil, func(q *requests.Request) {
			if err := check(q); err != nil {
				t.Errorf("%s: %v", about, err)
			}
			found++
		})
		if found != c.found || int(r.Unanswered) != c.counts {
			t.Errorf("%s: %d found, and %d counted, want %d and %d", about, found, r.Unanswered, c.found, c.counts)
		}
	}
}

// TestIdle checks that the first request of a connection that was idle when the trace began is whole, and begins when that
// wait ended, unless a goroutine has ended it, or it may have been another wait.
func TestIdle(t *testing.T) {
	for about, c := range map[string]struct {
		ends func(*program)
		want bool
	}{
		"idle":  {func(p *program) { p.in(); p.b.M(2).Unblock(3); p.in().Stop("preempted").Start(3) }, true},
		"woken": {func(p *program) { p.begins(3) }, false},
		"was in a handler": {func(p *program) {
			p.in()
			p.b.M(2).Unblock(3)
			p.in().Stop("preempted").Start(3)
			p.calls("os.(*File).Read", "main.handle")
		}, false},
	} {
		p := newProgram("net/http.(*conn).serve")
		p.Status(3, model.GoWaiting, "net/http.(*conn).serve")
		p.reads("bufio.(*Reader).Peek")
		c.ends(p)
		woken := p.now - 10
		p.calls("net.(*netFD).Read", "bufio.(*Reader).Peek")
		p.in("main.handle", "net/http.HandlerFunc.ServeHTTP", "net/http.serverHandler.ServeHTTP").Block("sleep").Start(2)
		p.begins(3)
		p.calls("net.(*netFD).Write", "net/http.(*response).finishRequest")
		p.in("net.(*netFD).Read", "bufio.(*Reader).Peek").Block("network").Start(2)
		p.each(t, nil, func(q *requests.Request) {
			if err := check(q); err != nil || q.G == 3 && (q.Complete != c.want || q.Complete && q.Start != modeltest.At(woken)) {
				t.Errorf("%s: complete %t, from %d, want %t, from %d: %v", about, q.Complete, q.Start, c.want, modeltest.At(woken), err)
			}
		})
	}
}

// TestFrameworks checks that the handler is the innermost function that a framework calls, with middleware around it and
// the framework's own functions below it, and that there is none where only the framework is seen.
func TestFrameworks(t *testing.T) {
	serve := []string{"net/http.serverHandler.ServeHTTP"}
	gin := []string{"github.com/gin-gonic/gin.(*Context).Next", "github.com/gin-gonic/gin.(*Engine).ServeHTTP"}
	for _, c := range []struct {
		stack []string
		want  string
	}{
		{slices.Concat([]string{"main.order"}, gin), "http main.order"},
		{slices.Concat([]string{"encoding/json.Marshal", "github.com/gin-gonic/gin.(*Context).JSON", "main.order", gin[0], "main.auth", "github.com/gin-contrib/cors.New.func1"}, gin), "http main.order"},
		{slices.Concat([]string{"github.com/gin-gonic/gin.CustomRecoveryWithWriter.func1"}, gin), "http "},
		{[]string{"main.order", "github.com/labstack/echo/v4.(*Echo).add.func1", "main.auth", "github.com/labstack/echo/v4.(*Echo).ServeHTTP"}, "http main.order"},
		{[]string{"main.order", "github.com/gofiber/fiber/v3.(*DefaultCtx).Next", "main.auth", "github.com/gofiber/fiber/v3.(*App).next"}, "http main.order"},
		{[]string{"main.order", "github.com/julienschmidt/httprouter.(*Router).ServeHTTP"}, "http main.order"},
		{[]string{"net/http.NotFound", "github.com/julienschmidt/httprouter.(*Router).ServeHTTP"}, "http "},
		{[]string{"main.order", "net/http.HandlerFunc.ServeHTTP", "github.com/go-chi/chi/v5.(*Mux).routeHTTP"}, "http main.order"},
		{[]string{"github.com/go-chi/chi/v5.(*Mux).ServeHTTP"}, "http "},
		{[]string{"main.order", "connectrpc.com/connect.NewUnaryHandler[...].func1", "main.logs.func1.1", "connectrpc.com/connect.NewUnaryHandler[...].func2", "connectrpc.com/connect.(*Handler).ServeHTTP"}, "http main.order"},
	} {
		p := newProgram("net/http.(*conn).serve")
		p.reads("bufio.(*Reader).Peek")
		p.in(slices.Concat(c.stack, serve)...).Block("sleep").Start(2)
		p.in().Unblock(1).Stop("preempted").Start(1)
		p.calls("net.(*netFD).Write", "net/http.(*response).finishRequest")
		p.reads("bufio.(*Reader).Peek")
		if got := p.requests(t, requests.Spec{Kind: "http"}); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q: %q, want %q", c.stack, got, c.want)
		}
	}
}

// TestRecords checks that a request which records a trace of the program itself is left out, also where a function wraps
// that of net/http/pprof.
func TestRecords(t *testing.T) {
	for call, want := range map[string]int{"net/http/pprof.Trace": 1, "runtime/trace.Start": 1, "main.save": 2} {
		p := newProgram("net/http.(*conn).serve")
		p.reads("bufio.(*Reader).Peek")
		for _, inner := range [][]string{{"time.Sleep", call}, {"time.Sleep"}} { // the second one records nothing
			p.in(append(inner, "main.wrap.func1", "net/http.HandlerFunc.ServeHTTP", "net/http.serverHandler.ServeHTTP")...).Block("sleep").Start(2)
			p.begins(1)
			p.in("main.wrap.func1", "net/http.HandlerFunc.ServeHTTP", "net/http.serverHandler.ServeHTTP").Block("sleep").Start(2)
			p.begins(1)
			p.calls("net.(*netFD).Write", "net/http.(*response).finishRequest")
			p.reads("bufio.(*Reader).Peek")
		}
		n := 0
		p.each(t, nil, func(q *requests.Request) {
			if n++; q.Name != "main.wrap.func1" {
				t.Errorf("%s: %s", call, q.Name)
			}
		})
		if n != want {
			t.Errorf("%s: %d requests, want %d", call, n, want)
		}
	}
}

// TestRecordsGRPC checks the same of a handler of gRPC.
func TestRecordsGRPC(t *testing.T) {
	for call, want := range map[string][]string{"runtime/trace.Start": nil, "main.save": {"grpc main._Files_Save_Handler"}} {
		p := newProgram("main.accept")
		p.in().Create(3, "google.golang.org/grpc.(*Server).serveStreams.func2.1").Stop("preempted").Start(3)
		p.in("time.Sleep", call, "main._Files_Save_Handler").Block("sleep").Start(2)
		p.begins(3)
		p.in().Exit().Start(1)
		if got := p.requests(t); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}

// TestMiddleware checks that a request that was seen only in a function that calls handlers is named so.
func TestMiddleware(t *testing.T) {
	p := newProgram("net/http.(*conn).serve")
	auth := []string{"main.auth", "github.com/gin-gonic/gin.(*Context).Next", "github.com/gin-gonic/gin.(*Engine).ServeHTTP", "net/http.serverHandler.ServeHTTP"}
	p.reads("bufio.(*Reader).Peek")
	for _, stack := range [][]string{slices.Concat([]string{"main.order", auth[1]}, auth), auth} {
		p.in(stack...).Block("sleep").Start(2)
		p.in().Unblock(1).Stop("preempted").Start(1)
		p.calls("net.(*netFD).Write", "net/http.(*response).finishRequest")
		p.reads("bufio.(*Reader).Peek")
	}
	if got := p.requests(t); !slices.Equal(got, []string{"http main.order", "http main.auth (middleware)"}) {
		t.Errorf("%q", got)
	}
}

// TestNext checks that middleware which calls the next handler as a function is known once that is another one, also for
// stacks that were seen before, and that of a function that was preempted nothing is concluded.
func TestNext(t *testing.T) {
	p := newProgram("net/http.(*conn).serve")
	p.reads("bufio.(*Reader).Peek")
	for _, calls := range [][]string{{"time.Sleep", "main.order"}, {"runtime.asyncPreempt", "main.hash"}, {"time.Sleep", "main.order"}, {"time.Sleep", "main.item"}, {"time.Sleep", "main.order"}, {}} {
		p.in(slices.Concat(calls, []string{"main.log.func1", "main.auth.func1", "net/http.HandlerFunc.ServeHTTP", "net/http.serverHandler.ServeHTTP"})...).Block("sleep").Start(2)
		p.in().Unblock(1).Stop("preempted").Start(1)
		p.calls("net.(*netFD).Write", "net/http.(*response).finishRequest")
		p.reads("bufio.(*Reader).Peek")
	}
	if got := p.requests(t); !slices.Equal(got, []string{"http main.auth.func1", "http main.item", "http main.order", "http main.auth.func1 (middleware)"}) {
		t.Errorf("%q", got)
	}
}

// TestFuncCalls checks that a function that is asked for keeps its name where it calls handlers, as middleware does.
func TestFuncCalls(t *testing.T) {
	spec, err := requests.ParseSpec("func:^main.auth.func1$")
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram("net/http.(*conn).serve")
	p.reads("bufio.(*Reader).Peek")
	for _, name := range []string{"main.order", "main.order", "main.item", "main.item"} {
		p.in("time.Sleep", name, "main.auth.func1", "net/http.HandlerFunc.ServeHTTP", "net/http.serverHandler.ServeHTTP").Block("sleep").Start(2)
		p.in().Unblock(1)
		p.in("main.check", "main.auth.func1").Stop("preempted").Start(1)
		p.calls("net.(*netFD).Write", "net/http.(*response).finishRequest")
		p.in("main.check", "main.auth.func1").Stop("preempted").Start(2)
		p.in("main.check", "main.auth.func1").Stop("preempted").Start(1)
		p.reads("bufio.(*Reader).Peek")
	}
	got := p.requests(t, spec, requests.Spec{Kind: "http"})
	funcs := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return strings.HasPrefix(s, "http ") })
	if !slices.Contains(got, "http main.item") || !slices.Equal(slices.Compact(funcs), []string{"func main.auth.func1"}) {
		t.Errorf("%q", got)
	}
}

// TestFuncOpen checks that a function in which a goroutine still waits when the trace ends is a request that is cut off
// there, and that one in which it was seen last, and then ran, ends where it was.
func TestFuncOpen(t *testing.T) {
	spec, err := requests.ParseSpec("func:^main.ask$")
	if err != nil {
		t.Fatal(err)
	}
	for runs, about := range []string{"waits", "ran"} {
		p := newProgram("main.loop")
		p.Status(9, model.GoWaiting, "main.other")
		p.in("main.check", "main.ask").Stop("preempted").Start(1)
		p.in("main.ask").Block("sleep").Start(2)
		at := modeltest.At(p.now)
		if runs > 0 {
			p.begins(1)
		}
		p.in()
		if p.b.M(2).Unblock(9); runs == 0 {
			at = modeltest.At(p.now) + 1
		}
		n := 0
		p.each(t, []requests.Spec{spec}, func(q *requests.Request) {
			if n++; q.Complete || q.End != at {
				t.Errorf("%s: complete %t, up to %d, want %d", about, q.Complete, q.End, at)
			}
		})
		if n != 1 {
			t.Errorf("%s: %d requests", about, n)
		}
	}
}

// TestOpenAtWindow checks that a request which waits from before a window until after it is open all the time, with what it
// waits for, though the window has no event of it, and that what does not serve is none.
func TestOpenAtWindow(t *testing.T) {
	const serve = "net/http.(*conn).serve"
	for want, stack := range map[string][]string{"http main.move lock": {"sync.(*Mutex).Lock", "main.move", "net/http.HandlerFunc.ServeHTTP", serve}, "": {"main.move"}} {
		p := newProgram(serve)
		p.in(stack...).Block("sync").Start(2)
		m := model.NewMachine(p.b.Tables, model.Config{})
		for _, ev := range p.b.Events() {
			if err := m.Apply(&ev); err != nil {
				t.Fatal(err)
			}
		}
		begin, got := m.Now()+1000, ""
		m.Begin(begin)
		r := requests.New(m, nil)
		r.Done = func(q *requests.Request) {
			for part := range q.Parts() {
				got += strings.Join([]string{q.Kind, q.Name, part.Kind.String()}, " ")
			}
			if err := check(q); err != nil || q.Start != begin || q.End != begin+5000 || !q.Open {
				t.Errorf("from %d to %d, open %t: %v", q.Start, q.End, q.Open, err)
			}
		}
		m.Finish(begin + 5000)
		if r.Finish(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOpenSinceStart checks that a request which waits already when its goroutine is seen first does so since the trace began.
func TestOpenSinceStart(t *testing.T) {
	const serve = "net/http.(*conn).serve"
	p := newProgram("main.main")
	p.in("main.main").Block("sleep").Start(2)
	p.in().Status(3, model.GoWaiting, serve)
	p.in().Unblock(1)
	m := model.NewMachine(p.b.Tables, model.Config{})
	r, n := requests.New(m, nil), 0
	r.Done = func(q *requests.Request) {
		n++
		if err := check(q); err != nil || q.Start != m.Start() || q.End != m.Now() || !q.Open || q.Name != "main.move" {
			t.Errorf("%s from %d to %d, open %t: %v", q.Name, q.Start, q.End, q.Open, err)
		}
	}
	for _, ev := range p.b.Events() {
		if ev.ID == 3 {
			ev.SubjectStack = p.b.Tables.AddStack([]model.Frame{{Func: "sync.(*Mutex).Lock"}, {Func: "main.move"}, {Func: "net/http.HandlerFunc.ServeHTTP"}, {Func: serve}})
		}
		if err := m.Apply(&ev); err != nil {
			t.Fatal(err)
		}
		r.Event(&ev)
	}
	m.Finish(m.Now())
	if r.Finish(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestUnseen checks that a request of gRPC whose method is not seen has no name: the start function is the server's.
func TestUnseen(t *testing.T) {
	const start = "google.golang.org/grpc.(*Server).serveStreams.func2.1"
	for want, stack := range map[string][]string{"grpc ": {start}, "grpc pb._Shop_Order_Handler": {"main.order", "pb._Shop_Order_Handler", start}} {
		p := newProgram("main.accept")
		p.in().Create(3, start).Block("sleep").Start(3)
		p.in(stack...).Block("sleep").Start(2)
		p.in().Unblock(3).Stop("preempted").Start(3)
		p.in().Exit().Start(2)
		if got := p.requests(t, requests.Spec{Kind: "grpc"}); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %q, want %q", stack, got, want)
		}
	}
}

// TestTimedHandler checks that the handler is known that net/http calls in a goroutine of its own, with a time-out.
func TestTimedHandler(t *testing.T) {
	p := newProgram("net/http.(*conn).serve")
	p.reads("bufio.(*Reader).Peek")
	timed := []string{"net/http.(*timeoutHandler).ServeHTTP", "net/http.serverHandler.ServeHTTP"}
	p.in(timed...).Create(3, timed[0]+".func1")
	p.in(timed...).Block("select").Start(3)
	for range 2 {
		p.in("main.order", "net/http.HandlerFunc.ServeHTTP").Block("sleep").Start(2)
		p.in().Unblock(3).Stop("preempted").Start(3)
	}
	p.in().Unblock(1).Exit().Start(1)
	p.calls("net.(*netFD).Write", "net/http.(*response).finishRequest")
	p.reads("bufio.(*Reader).Peek")
	order, err := requests.ParseSpec("func:main.order")
	if err != nil {
		t.Fatal(err)
	}
	for want, spec := range map[string]requests.Spec{"http main.order": {Kind: "http"}, "func main.order": order} {
		if got := p.requests(t, spec); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %s", got, want)
		}
	}
}

// TestTicks checks that what waits for a loop to flush waits for the timer of its select, whoever interrupts that meanwhile.
func TestTicks(t *testing.T) {
	p := newProgram("main.loop")
	p.Status(3, model.GoWaiting, "main.flush")
	flushes := func() *modeltest.Thread { return p.in("runtime.selectgo", "main.flush").Block("select") }
	p.begins(3)
	flushes().Start(1)
	for g := model.GoID(10); g < 15; g++ {
		p.in("main.loop").Create(g, "main.write").Stop("preempted").Start(g)
		p.in("runtime.chansend1", "main.write").Unblock(3)
		p.in("runtime.chanrecv1", "main.write").Block("chan receive").Start(3)
		flushes().Start(2)
		p.now += 1000
		p.in().Stop("preempted").Start(1)
	}
	p.b.At(p.now + 5)
	p.b.M(2).Unblock(3)
	p.in().Stop("preempted").Start(3)
	for g := model.GoID(10); g < 15; g++ {
		p.in("runtime.chansend1", "main.flush").Unblock(g)
	}
	flushes().Start(10)
	for g := model.GoID(10); g < 15; g++ {
		p.in("main.write").Exit().Start(max((g+1)%15, 1))
	}
	spec, err := requests.ParseSpec("goroutine:^main.write$")
	if err != nil {
		t.Fatal(err)
	}
	var timers []model.Duration
	p.each(t, []requests.Spec{spec}, func(q *requests.Request) { timers = append(timers, q.Path[requests.Timer]) })
	if !slices.Equal(timers, []model.Duration{328640, 262720, 196800, 130880, 64960}) {
		t.Errorf("%d for a timer", timers)
	}
}

// TestIdleTicks checks that who gathers answers does not wait for a timer that interrupts that, and after which it wakes nobody, or
// only who has an answer at once.
func TestIdleTicks(t *testing.T) {
	p := newProgram("main.work")
	p.Status(4, model.GoWaiting, "main.answer")
	gathers := func() { p.in("runtime.selectgo", "main.gather").Block("select").Start(1) }
	p.in("main.work").Create(3, "main.gather").Stop("preempted").Start(3)
	for i := range 10 {
		gathers()
		if i%5 < 4 {
			p.in("runtime.chansend1", "main.work").Unblock(3)
		} else {
			p.in()
			p.b.M(2).Unblock(3)
		}
		p.in().Stop("preempted").Start(3)
		if i == 9 {
			p.in("runtime.selectgo:2", "main.gather").Unblock(4)
		}
	}
	p.in("main.gather").Exit().Start(1)
	spec, err := requests.ParseSpec("goroutine:^main.gather$")
	if err != nil {
		t.Fatal(err)
	}
	p.each(t, []requests.Spec{spec}, func(q *requests.Request) {
		if waited, timer := q.Own[requests.Channel]+q.Own[requests.Timer], q.Path[requests.Timer]; timer == 0 || timer > waited/5 {
			t.Errorf("for a timer %d of %d", timer, waited)
		}
	})
}

// TestOpenRegion checks that a region that the trace leaves open is reported as incomplete, and one whose goroutine ends is not.
func TestOpenRegion(t *testing.T) {
	for ends, want := range map[bool]int{false: 1, true: 0} {
		p, n := newProgram("main.work"), 0
		if p.in("main.work").RegionBegin(0, "upload").Block("sleep").Start(2); ends {
			p.in().Unblock(1).Stop("preempted").Start(1).Exit()
		}
		p.each(t, []requests.Spec{{Kind: "region", Name: "upload"}}, func(r *requests.Request) {
			if n++; r.Complete || !r.Open {
				t.Errorf("%+v", r)
			}
		})
		if n != want {
			t.Errorf("the goroutine ends: %t: %d, want %d", ends, n, want)
		}
	}
}

// TestPassed checks that who waits for a connection waits for whoever had it before who gives it back, not for what that one did
// until it got it, unless that one had it all the time.
func TestPassed(t *testing.T) {
	for gets, want := range map[bool]model.GoID{true: 3, false: 4} {
		p := newProgram("main.ask")
		p.Status(3, model.GoRunnable, "main.hold").Status(4, model.GoRunnable, "main.next")
		p.in("main.ask").RegionBegin(0, "ask")
		p.in("runtime.chanrecv1", "database/sql.(*DB).conn", "main.ask").Block("chan receive").Start(3)
		p.in("time.Sleep", "main.hold").Block("sleep").Start(4)
		p.in("time.Sleep", "main.next").Block("sleep").Start(2)
		p.now += 1000
		p.begins(4)
		if gets {
			p.in("runtime.chanrecv1", "database/sql.(*DB).conn", "main.next").Block("chan receive").Start(2)
			p.now += 1000
			p.begins(3)
			p.in("main.hold").Unblock(4).Stop("preempted").Start(4)
		}
		p.in("main.next").Unblock(1).Stop("preempted").Start(1)
		p.in("main.ask").RegionEnd(0, "ask")
		long := map[model.GoID]bool{}
		p.each(t, []requests.Spec{{Kind: "region", Name: "ask"}}, func(q *requests.Request) {
			for x := range q.Parts() {
				if x.To.Sub(x.From) > 50_000 {
					long[x.G] = true
				}
			}
		})
		if !maps.Equal(long, map[model.GoID]bool{want: true}) {
			t.Errorf("it gets it: %t: goroutines %v, want %d", gets, long, want)
		}
	}
}
