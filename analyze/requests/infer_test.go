package requests_test

import (
	"os"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/modeltest"
)

// TestMessages checks that servers whose connections, and readers of UDP, are older than the trace serve
// requests, and that their clients in the same process do not, and that a handler of net/http may serve
// WebSockets. What comes before the first eight messages is not seen: dns and redis are programs of
// fixtures/validation with -n 250, chat is a server of fixtures/validation/requests that answered 128.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		trace, kind, name string
		count             int
	}{
		{"dns", "message", "github.com/miekg/dns.(*Server).serveUDPPacket", 167},
		{"redis", "tcp", "github.com/tidwall/redcon.handle", 215},
		{"chat", "tcp", "main.(*room).ServeHTTP", 89},
	} {
		count := 0
		f, err := os.Open("testdata/" + c.trace + ".trace")
		if err != nil {
			t.Fatal(err)
		}
		_, err = track(t, f, nil, func(r *requests.Request) {
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

// TestTaken checks what becomes of a connection of net/http whose handler reads and writes itself. One that serves a
// connection may still end a region, and return, after which there are requests of net/http again. One during which
// net/http reads from the connection uses another one, to a backend.
func TestTaken(t *testing.T) {
	for _, c := range []struct {
		backend bool
		want    []string
	}{{false, []string{"tcp main.handle", "region upload", "http main.other"}}, {true, []string{"region upload", "http main.handle", "http main.other"}}} {
		b := modeltest.NewBuilder()
		m := b.M(1).Proc(0)
		m.Status(1, model.GoRunnable, "net/http.(*conn).serve").Status(2, model.GoRunnable, "main.spin").Start(1)
		now := 0
		in := func(funcs ...string) *modeltest.Thread {
			now += 10
			b.At(now)
			return m.With(funcs...)
		}
		waits := func(funcs ...string) {
			in(append([]string{"net.(*netFD).Read"}, funcs...)...).Block("network").Start(2)
			in().Unblock(1).Stop("preempted").Start(1)
		}
		handled := func(fn, handler string) []string {
			return []string{fn, handler, "net/http.HandlerFunc.ServeHTTP", "net/http.serverHandler.ServeHTTP"}
		}
		finishes := func() {
			in("net.(*netFD).Write", "net/http.(*response).finishRequest").Syscall()
			in().SyscallEnd()
			waits("bufio.(*Reader).Peek")
		}
		waits("bufio.(*Reader).Peek")
		if c.backend {
			in(handled("net/http.(*connReader).startBackgroundRead", "main.handle")...).Create(3, "net/http.(*connReader).startBackgroundRead.gowrap1")
		}
		in(handled("runtime/trace.StartRegion", "main.handle")...).RegionBegin(0, "upload")
		for range 10 {
			in(handled("net.(*netFD).Write", "main.handle")...).Syscall()
			in().SyscallEnd()
			waits(handled("bufio.(*Reader).Read", "main.handle")...)
		}
		in(handled("runtime/trace.Region.End", "main.handle")...).RegionEnd(0, "upload")
		finishes()
		in(handled("time.Sleep", "main.other")...).Block("sleep").Start(2)
		in().Unblock(1).Stop("preempted").Start(1)
		finishes()
		events := b.Events()
		for i := range events { // it writes at another line than it reads
			if frames := slices.Clone(b.Tables.Stack(events[i].SubjectStack)); len(frames) > 1 && frames[0].Func == "net.(*netFD).Write" {
				frames[1].Line++
				events[i].SubjectStack = b.Tables.AddStack(frames)
			}
		}
		machine := model.NewMachine(b.Tables, model.Config{})
		r := requests.New(machine, []requests.Spec{{Kind: "http"}, {Kind: "tcp"}, {Kind: "region", Name: "upload"}})
		var got []string
		r.Done = func(q *requests.Request) { got = append(got, q.Kind+" "+q.Name) }
		for i := range events {
			if err := machine.Apply(&events[i]); err != nil {
				t.Fatal(err)
			}
			r.Event(&events[i])
		}
		machine.Finish(machine.Now())
		r.Finish()
		if !slices.Equal(got, c.want) {
			t.Errorf("of a backend: %v: %q, want %q", c.backend, got, c.want)
		}
	}
}
