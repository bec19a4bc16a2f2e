package runqueue

import "github.com/schedscope/schedscope/model"

// length is what stands in a queue, and 1 for a goroutine in runnext.
type length struct{ queue, next int32 }

// told is the length of a queue that was reported or logged last.
type told struct {
	length
	once    bool // one was
	touched bool // it may have changed since
}

// touch notes that the length of a queue, of a proc or (NoProc) the global one,
// may have changed.
func (w *world) touch(p model.ProcID) {
	if t := w.toldOf(p); !t.touched {
		t.touched = true
		w.touched = append(w.touched, p)
	}
}

// touchNext is touch of a change that concerns a runnext alone, which most are.
func (w *world) touchNext(p model.ProcID) {
	if len(w.r.obs.lengths) > 0 || !w.proc(p).told.once {
		w.touch(p)
	}
}

func (w *world) toldOf(p model.ProcID) *told {
	if p == model.NoProc {
		return &w.all
	}
	return &w.proc(p).told
}

// noteLengths reports the lengths that changed, or logs them if there are other worlds.
func (w *world) noteLengths() {
	for _, p := range w.touched {
		now := length{queue: int32(w.global.len())}
		if p != model.NoProc {
			q := w.proc(p)
			now = length{queue: int32(q.q.len())}
			if q.next != noSlot {
				now.next = 1
			}
		}
		t := w.toldOf(p)
		t.touched = false
		if now == t.length {
			continue
		}
		t.length, t.once = now, true
		if w.r.alone() {
			w.r.reportLengths(w.r.now, p, now)
		} else if w.r.obs.wantLengths() {
			w.note(logLengths, p, nil, int(now.queue), int(now.next))
		}
	}
	w.touched = w.touched[:0]
}
