package runqueue

import "github.com/schedscope/schedscope/model"

// length is what stands in a queue, and 1 for a goroutine in runnext.
type length struct{ queue, next int32 }

// reported is the length of a queue that was reported or logged last.
type reported struct {
	length
	once    bool // one was
	touched bool // it may have changed since
}

// touch notes that the length of a queue, of a proc or (NoProc) the global one,
// may have changed.
func (h *hypothesis) touch(p model.ProcID) {
	if t := h.reportedOf(p); !t.touched {
		t.touched = true
		h.touched = append(h.touched, p)
	}
}

func (h *hypothesis) reportedOf(p model.ProcID) *reported {
	if p == model.NoProc {
		return &h.all
	}
	return &h.proc(p).reported
}

// noteLengths reports the lengths that changed, or logs them if there are other hypotheses.
func (h *hypothesis) noteLengths() {
	for _, p := range h.touched {
		now := length{queue: int32(h.global.len())}
		if p != model.NoProc {
			q := h.proc(p)
			now = length{queue: int32(q.q.len())}
			if q.next != noSlot {
				now.next = 1
			}
		}
		t := h.reportedOf(p)
		t.touched = false
		if now == t.length {
			continue
		}
		t.length, t.once = now, true
		if h.r.alone() {
			h.r.reportLengths(h.r.now, p, now)
		} else if h.r.obs.wantLengths() {
			h.note(logLengths, p, nil, int(now.queue), int(now.next))
		}
	}
	h.touched = h.touched[:0]
}
