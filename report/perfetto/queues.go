package perfetto

import (
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// queueFeed replays the run queues on a goroutine of its own and encodes what they
// did. Steps go there in batches; what was encoded comes back, with the next batch, in
// an order that depends on the trace alone.
type queueFeed struct {
	resolver *runqueue.Resolver
	filling  []model.Step
	spare    []model.Step
	idle     chan struct{} // holds a token while no batch is on its way
	enc      encoder       // nil before the window
	from     model.Time
	lengths  []gauge // by proc + 1; the first is that of the global queue
	write    func(*[]byte)
	// Of the steal being told:
	taken, got moment
	args       [3]arg
}

// stepRecords is the number of steps in a batch.
const stepRecords = 1 << 13

func newQueueFeed(t *model.Tables, version int, write func(*[]byte)) (*queueFeed, error) {
	r, err := runqueue.New(t, version)
	if err != nil {
		return nil, err
	}
	f := &queueFeed{resolver: r, idle: make(chan struct{}, 1), write: write}
	f.idle <- struct{}{}
	r.Observe(queueObserver{f})
	return f, nil
}

// start has written what is not before a time.
func (f *queueFeed) start(enc encoder, from model.Time) {
	f.send()
	<-f.idle
	f.enc, f.from = enc, from
	for i := range f.lengths {
		f.lengths[i].begin(from)
	}
	f.idle <- struct{}{}
}

// Step implements [model.StepObserver].
func (f *queueFeed) Step(s *model.Step) {
	f.filling = append(f.filling, *s)
	if len(f.filling) >= stepRecords {
		f.send()
	}
}

// send has another goroutine replay the steps, once it is done with those before.
func (f *queueFeed) send() {
	<-f.idle
	f.flush(flushSize)
	steps := f.filling
	f.filling, f.spare = f.spare[:0], steps
	go func() {
		for i := range steps {
			f.resolver.Step(&steps[i])
		}
		f.idle <- struct{}{}
	}()
}

func (f *queueFeed) finish(end model.Time) {
	f.send()
	<-f.idle
	f.resolver.Finish()
	for i := range f.lengths {
		f.lengths[i].finish(f.enc, end)
	}
	f.flush(0)
	f.idle <- struct{}{}
}

// flush writes what is encoded, if it is as much.
func (f *queueFeed) flush(size int) {
	if f.enc != nil && len(*f.enc.buffer()) >= size {
		f.write(f.enc.buffer())
	}
}

// queueObserver is what a queueFeed tells its Resolver of itself.
type queueObserver struct{ f *queueFeed }

// Lengths implements [runqueue.LengthsObserver].
func (o queueObserver) Lengths(x *runqueue.Lengths) {
	f, i := o.f, int(x.P)+1
	for p := len(f.lengths); p <= i; p++ {
		f.lengths = append(f.lengths, newGauge(queueTrack(model.ProcID(p-1))))
	}
	f.lengths[i].set(f.enc, max(x.Time, f.from), int64(x.Len+x.Next))
}

func queueTrack(p model.ProcID) track {
	if p == model.NoProc {
		return track{kind: trackGlobal}
	}
	return track{trackLocal, int64(p)}
}

// Steal implements [runqueue.StealObserver].
func (o queueObserver) Steal(s *runqueue.Steal) {
	f := o.f
	if f.enc == nil || s.Time < f.from {
		return
	}
	f.taken = moment{track: track{trackProc, int64(s.Victim)}, at: s.Time, name: labelStolen}
	f.got = moment{track: track{trackProc, int64(s.Thief)}, at: s.Time, name: labelSteal, args: f.args[:]}
	if s.Runnext {
		f.taken.name, f.got.name = labelStolenOne, labelStealOne
	}
	f.args = [3]arg{{key: keyGoroutine, number: int64(s.G)}, {key: keySize, number: int64(s.Size)}, {key: keyGrade, text: s.Grade.String()}}
	f.enc.flow(&f.taken, &f.got)
}
