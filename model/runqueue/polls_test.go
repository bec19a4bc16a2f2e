package runqueue_test

import (
	"testing"

	"github.com/schedscope/schedscope/model"
	. "github.com/schedscope/schedscope/model/runqueue"
)

// TestOperations: what separates a poll of the network from a deadline is whether who was
// woken goes on with the operation that it waited in, whatever that is.
func TestOperations(t *testing.T) {
	type frames = []string
	for _, c := range []struct {
		name       string
		wait, call frames
	}{
		{"read", frames{"internal/poll.(*FD).Read", "net.(*conn).Read", "main.f"},
			frames{"syscall.read", "internal/poll.ignoringEINTRIO", "internal/poll.(*FD).Read", "net.(*conn).Read", "main.f"}},
		{"splice", frames{"internal/poll.spliceDrain", "internal/poll.Splice", "net.spliceFrom", "main.f"},
			frames{"syscall.Splice", "internal/poll.splice", "internal/poll.spliceDrain", "internal/poll.Splice", "net.spliceFrom", "main.f"}},
		{"sendfile", frames{"internal/poll.sendFile", "net.sendFile", "main.f"},
			frames{"syscall.sendfile", "internal/poll.sendFileChunk", "internal/poll.sendFile", "net.sendFile", "main.f"}},
		{"a system call of the program's own", frames{"internal/poll.(*FD).RawRead", "net.(*rawConn).Read", "main.f"},
			frames{"syscall.read", "main.f.func1", "internal/poll.(*FD).RawRead", "net.(*rawConn).Read", "main.f"}},
		{"datagrams", frames{"internal/poll.(*FD).ReadFromInet4", "net.(*UDPConn).ReadFrom", "main.f"},
			frames{"syscall.recvfrom", "internal/poll.(*FD).ReadFromInet4", "net.(*UDPConn).ReadFrom", "main.f"}},
		{"names that nobody knows", frames{"example.com/wire.wait", "main.f"},
			frames{"example.com/wire.call", "example.com/wire.wait", "main.f"}},
	} {
		for _, poll := range []bool{true, false} {
			s := newScene(1, 1)
			s.waiting("chan receive", 10, 11, 12)
			for _, g := range []model.GoID{10, 11, 12} {
				s.m(1).With("main.f").Unblock(g)
			}
			for _, g := range []model.GoID{12, 10, 11} {
				s.m(1).Block("network")
				s.soon(1).Start(g)
				s.m(1).With(c.wait...)
			}
			s.m(1).Block("network")
			for round := range 5 {
				for _, g := range []model.GoID{11, 12, 10} {
					s.soon(1).Unblock(g)
				}
				for _, g := range []model.GoID{10, 11, 12} {
					s.soon(1).Start(g)
					if round == 4 && !poll {
						s.soon(1).Block("chan receive")
						continue
					}
					for range 2 { // the second one finds nothing
						s.soon(1).With(c.call...).Syscall()
						s.soon(1).SyscallEnd()
					}
					s.soon(1).With(c.wait...).Block("network")
				}
			}
			r := replay(t, s.Builder)
			want := map[model.GoID]way{
				10: {SourceNetpoll, ViaNone, none, 0, PlaceNone, none, GradeCertain},
				11: {SourceLocal, ViaNetpoll, none, 0, PlaceLocal, 0, GradeCertain},
				12: {SourceLocal, ViaNetpoll, none, 0, PlaceLocal, 0, GradeCertain},
			}
			if !poll {
				want = map[model.GoID]way{
					10: {SourceRunnext, ViaNone, none, 0, PlaceRunnext, 0, anyGrade},
					11: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, anyGrade},
					12: {SourceLocal, ViaOwn, none, 0, PlaceRunnext, 0, anyGrade},
				}
			}
			t.Run(c.name, func(t *testing.T) { r.check(t, want) })
		}
	}
}
