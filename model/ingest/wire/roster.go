package wire

import (
	"encoding/binary"
	"math/bits"

	"github.com/schedscope/schedscope/model"
)

// roster collects what the generation shows of its goroutines' names. It goes through the
// events of each thread alone, before the first is emitted: the order among threads does not
// matter, and the rest of what decoding does is not needed. What is invalid is left to the
// decoding proper to find.
func (d *Decoder) roster() *model.Roster {
	r := &model.Roster{Roles: make([]model.Role, 1)}
	index := map[model.Role]int32{{}: 0}
	member := func(id uint64) *model.Member { // nil if the number is not usable
		if g, i := d.gos.find(id); g != nil {
			return r.Member(int(i))
		}
		if _, ok := d.gos.add(id, goWaiting); !ok {
			return nil
		}
		return r.Member(r.Enter(model.Member{G: model.GoID(id)}))
	}
	var frames []model.Frame // scratch
	cast := func(e *stackEntry) {
		frames = d.appendFrames(frames[:0], e)
		of := model.RoleOf(frames)
		i, ok := index[of]
		if !ok {
			i = int32(len(r.Roles))
			r.Roles = append(r.Roles, of)
			index[of] = i
		}
		e.role, e.cast = i, true
	}
	role := func(id uint64) int32 {
		if id >= uint64(len(d.stacks.entries)) {
			return 0
		}
		e := &d.stacks.entries[id]
		if !e.cast {
			cast(e)
		}
		return e.role
	}
	show := func(g *model.Member, stack uint64) {
		if i := role(stack); g != nil && i != 0 && g.Roles[0] != i {
			g.Add(i)
		}
	}
threads:
	for _, t := range d.threads.list {
		var g *model.Member // that it runs
		for i := t.first; i != 0; i = d.batches[i].next {
			buf := d.fetch(&d.scratch, d.batches[i].at, int(d.batches[i].size))
			for pos := 0; pos < len(buf); {
				typ, from := buf[pos], pos+1
				n := argCounts[typ]
				if n == 0 {
					continue threads // so is what follows
				}
				last := uint64(0) // the bits that end numbers, from the last one of the event on
				if from <= len(buf)-8 {
					last = ^binary.LittleEndian.Uint64(buf[from:]) & ends
				}
				for i := n; i > 1; i-- {
					last &= last - 1
				}
				if pos = from + bits.TrailingZeros64(last)/8 + 1; last == 0 {
					for pos = from; n > 0; n-- {
						_, pos = number(buf, pos)
					}
					if pos > len(buf) {
						continue threads
					}
				}
				switch typ { // N.B. if there is a stack of where g is, it is the last argument
				case evGoStart, evGoSwitch, evGoSwitchDestroy, evGoCreateSyscall:
					g = member(argument(buf, from, 1))
				case evGoStatus, evGoStatusStack:
					of := member(argument(buf, from, 1))
					if typ == evGoStatusStack {
						show(of, lastArgument(buf, pos))
					}
					if status := argument(buf, from, 3); status == goRunning || status == goSyscall && model.ThreadID(argument(buf, from, 2)) == t.id {
						g = of
					}
				case evGoStop, evGoBlock:
					show(g, lastArgument(buf, pos))
					g = nil
				case evGoDestroy, evGoSyscallEndBlocked, evGoDestroySyscall:
					g = nil
				case evGoCreate, evGoCreateBlocked:
					stack := lastArgument(buf, pos)
					show(g, stack)
					if of := member(argument(buf, from, 1)); of != nil {
						of.Created, of.Creation = role(argument(buf, from, 2)), d.creation(stack)
					}
				case evGoUnblock, evGoSyscallBegin, evGCMarkAssistBegin, evSTWBegin, evUserTaskBegin, evUserTaskEnd, evUserRegionBegin, evUserRegionEnd, evUserLog:
					show(g, lastArgument(buf, pos))
				}
			}
		}
	}
	for i := range d.samples.list { // those that a signal took elsewhere than on the goroutine's stack have another start
		s := &d.samples.list[i]
		g, of := d.gos.find(uint64(s.g))
		if i := role(s.stack); g != nil && r.Roles[i].Start == r.Start(r.Member(int(of))) {
			show(r.Member(int(of)), s.stack)
		}
	}
	d.gos.reset()
	return r
}

// argument returns an argument of the event whose arguments begin at b[pos:]; that with number 0
// is the time.
func argument(b []byte, pos int, i uint8) uint64 {
	for ; i > 0; pos++ {
		if b[pos] < 0x80 {
			i--
		}
	}
	v, _ := number(b, pos)
	return v
}

// lastArgument returns the last argument of an event that ends at b[:end] and has others.
func lastArgument(b []byte, end int) uint64 {
	v := uint64(b[end-1])
	for i := end - 2; b[i] >= 0x80; i-- {
		v = v<<7 | uint64(b[i]&0x7f)
	}
	return v
}

// creation identifies a stack by its content, 0 if it is absent.
func (d *Decoder) creation(stack uint64) uint64 {
	if stack >= uint64(len(d.stacks.entries)) {
		return 0
	}
	e, sum := &d.stacks.entries[stack], uint64(0)
	for _, i := range d.stacks.calls[e.from:e.to] {
		sum = (sum ^ d.stacks.frames[i].pc) * golden
		sum ^= sum >> 32
	}
	return sum
}
