package runqueue

import (
	"slices"

	"github.com/schedscope/schedscope/model"
)

// touch notes that the length of a queue, of a proc or (NoProc) the global one,
// may have changed.
func (w *world) touch(p model.ProcID) {
	if len(w.r.obs.lengths) > 0 && !slices.Contains(w.touched, p) {
		w.touched = append(w.touched, p)
	}
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
		if was := at(&w.lengths, int(p)+1); *was != now {
			*was = now
			if w.r.alone() {
				w.r.reportLengths(w.r.now, p, now)
			} else {
				w.note(logLengths, p, nil, int(now.queue), int(now.next))
			}
		}
	}
	w.touched = w.touched[:0]
}

// length is what stands in a queue, and 1 for a goroutine in runnext.
type length struct{ queue, next int32 }
