package wire

import "github.com/schedscope/schedscope/model"

// stackArgs says which argument of an event is a stack of the goroutine that the thread runs,
// plus 1; 0 if none is.
var stackArgs = [256]uint8{
	evGoCreate:          3,
	evGoCreateBlocked:   3,
	evGoStop:            2,
	evGoBlock:           2,
	evGoUnblock:         3,
	evGoSyscallBegin:    2,
	evSTWBegin:          2,
	evGCMarkAssistBegin: 1,
	evUserTaskBegin:     4,
	evUserTaskEnd:       2,
	evUserRegionBegin:   3,
	evUserRegionEnd:     3,
	evUserLog:           4,
}

// roster collects what the generation shows of its goroutines' names. It goes through the
// events of each thread alone, before the first is emitted: the order among threads does not
// matter, and the rest of what decoding does is not needed. What is invalid is left to the
// decoding proper to find.
func (d *Decoder) roster() *model.Roster {
	r := &model.Roster{Roles: make([]model.Role, 1)}
	index := map[model.Role]int32{{}: 0}
	member := func(id uint64) int { // its index, -1 if the number is not usable
		if g, i := d.gos.find(id); g != nil {
			return int(i)
		}
		if _, ok := d.gos.add(id, goWaiting); !ok {
			return -1
		}
		return r.Enter(model.Member{G: model.GoID(id)})
	}
	var frames []model.Frame // scratch
	role := func(id uint64) int32 {
		if id >= uint64(len(d.stacks.entries)) {
			return 0
		}
		e := &d.stacks.entries[id]
		if !e.cast {
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
		return e.role
	}
	show := func(g int, stack uint64) {
		if i := role(stack); g >= 0 && i != 0 {
			r.Member(g).Add(i)
		}
	}
threads:
	for _, t := range d.threads.list {
		g := -1 // that it runs, an index
		for i := t.first; i != 0; i = d.batches[i].next {
			buf := d.fetch(&d.scratch, d.batches[i].at, int(d.batches[i].size))
			for pos := 0; pos < len(buf); {
				var args [maxArgs]uint64 // without the time
				typ := buf[pos]
				if argCounts[typ] == 0 {
					continue threads // so is what follows
				}
				if pos = skim(buf, pos, &args); pos > len(buf) {
					continue threads
				}
				if arg := stackArgs[typ]; arg != 0 {
					show(g, args[arg-1])
				}
				switch typ {
				case evGoStart, evGoSwitch, evGoSwitchDestroy, evGoCreateSyscall:
					g = member(args[0])
				case evGoStatus, evGoStatusStack:
					of := member(args[0])
					if typ == evGoStatusStack {
						show(of, args[3])
					}
					if status := args[2]; status == goRunning || status == goSyscall && model.ThreadID(args[1]) == t.id {
						g = of
					}
				case evGoStop, evGoBlock, evGoDestroy, evGoSyscallEndBlocked, evGoDestroySyscall:
					g = -1
				case evGoCreate, evGoCreateBlocked:
					if of := member(args[0]); of >= 0 {
						m := r.Member(of)
						m.Created, m.Creation = role(args[1]), d.creation(args[2])
					}
				}
			}
		}
	}
	for i := range d.samples.list { // those that a signal took elsewhere than on the goroutine's stack have another start
		s := &d.samples.list[i]
		g, of := d.gos.find(uint64(s.g))
		if i := role(s.stack); g != nil && r.Roles[i].Start == r.Start(r.Member(int(of))) {
			show(int(of), s.stack)
		}
	}
	d.gos.reset()
	return r
}

// skim reads the arguments of the event at b[pos:] except the first, its time, which it skips,
// and returns the position after them.
func skim(b []byte, pos int, args *[maxArgs]uint64) int {
	n := argCounts[b[pos]]
	pos++
	for pos < len(b) && b[pos] >= 0x80 {
		pos++
	}
	pos++
	for i := range n - 1 {
		v := &args[i%maxArgs]
		switch { // N.B. this is number, inline: nearly all have one byte or two
		case uint(pos) < uint(len(b)) && b[pos] < 0x80:
			*v = uint64(b[pos])
			pos++
		case uint(pos)+1 < uint(len(b)) && b[pos+1] < 0x80:
			*v = uint64(b[pos]&0x7f) | uint64(b[pos+1])<<7
			pos += 2
		default:
			*v, pos = longNumber(b, pos)
		}
	}
	return pos
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
