package perfetto

import (
	"github.com/schedscope/schedscope/model"
	"github.com/schedscope/schedscope/model/runqueue"
)

// A feed replays the run queues on another goroutine and encodes there what they did.
// What was encoded is written between what the Writer writes itself, at places that
// depend on the trace alone.
type feed interface {
	// steps has m followed, from the first event on.
	steps(m *model.Machine)
	// start has encoded what is not before a time, which is now.
	start(m *model.Machine, enc *encoder, from model.Time)
	event(ev *model.Event)
	// finish encodes and writes what is left.
	finish(end model.Time)
}

// queueFeed is the feed of queues alone: steps go to the other goroutine in batches.
type queueFeed struct {
	teller
	resolver *runqueue.Resolver
	log      model.StepLog
	line     *model.Line[*[]model.Step]
	filling  *[]model.Step // its steps are in log
	write    func(*[]byte)
}

// stepRecords is the number of steps in a batch.
const stepRecords = 1 << 13

func newQueueFeed(t *model.Tables, version int, write func(*[]byte)) (*queueFeed, error) {
	r, err := runqueue.New(t, version)
	if err != nil {
		return nil, err
	}
	f := &queueFeed{resolver: r, write: write}
	a, b := make([]model.Step, 0, stepRecords), make([]model.Step, 0, stepRecords)
	f.log, f.filling = model.StepLog{Steps: a, Full: f.send}, &a
	f.line = model.NewLine(f.replay, &b)
	f.log.Wait = f.line.Wait
	r.Observe(&f.teller)
	return f, nil
}

func (f *queueFeed) steps(m *model.Machine) { m.Log(&f.log) }

func (f *queueFeed) start(_ *model.Machine, enc *encoder, from model.Time) {
	f.send()
	f.line.Wait()
	f.begin(enc, from)
}

func (f *queueFeed) event(*model.Event) {}

// send has another goroutine replay the steps, once it is done with those before.
func (f *queueFeed) send() {
	f.line.Wait()
	f.flush(f.write, flushSize)
	*f.filling = f.log.Steps
	f.filling = f.line.Send(f.filling)
	f.log.Steps = *f.filling
}

// replay takes a batch of steps and empties it.
func (f *queueFeed) replay(steps *[]model.Step) {
	for i := range *steps {
		s := &(*steps)[i]
		if i%64 == 0 && f.log.Stopped() {
			break
		}
		f.resolver.Step(s)
	}
	*steps = (*steps)[:0]
}

func (f *queueFeed) finish(end model.Time) {
	f.send()
	f.line.Wait()
	f.resolver.Finish()
	f.end(end)
	f.flush(f.write, 0)
}

// A teller encodes what the run queues did. It observes a Resolver.
type teller struct {
	enc     *encoder // nil before the window
	from    model.Time
	lengths []gauge // by proc + 1; the first is that of the global queue
	// Of the steal being written:
	taken, got moment
	args       [3]arg
}

func (t *teller) begin(enc *encoder, from model.Time) {
	t.enc, t.from = enc, from
	for i := range t.lengths {
		t.lengths[i].begin(from)
	}
}

// end writes the last lengths.
func (t *teller) end(at model.Time) {
	for i := range t.lengths {
		t.lengths[i].finish(t.enc, at)
	}
}

// flush writes what is encoded, if it is as much.
func (t *teller) flush(write func(*[]byte), size int) {
	if t.enc != nil && len(t.enc.buf) >= size {
		write(&t.enc.buf)
	}
}

// Lengths implements [runqueue.LengthsObserver].
func (t *teller) Lengths(x *runqueue.Lengths) {
	i := int(x.P) + 1
	for p := len(t.lengths); p <= i; p++ {
		t.lengths = append(t.lengths, newGauge(queueTrack(model.ProcID(p-1))))
	}
	t.lengths[i].set(t.enc, max(x.Time, t.from), int64(x.Len+x.Next))
}

func queueTrack(p model.ProcID) track {
	if p == model.NoProc {
		return track{kind: trackGlobal}
	}
	return track{trackLocal, int64(p)}
}

// Steal implements [runqueue.StealObserver].
func (t *teller) Steal(s *runqueue.Steal) {
	if t.enc == nil || s.Time < t.from {
		return
	}
	t.taken = moment{track: track{trackProc, int64(s.Victim)}, at: s.Time, name: labelStolen}
	t.got = moment{track: track{trackProc, int64(s.Thief)}, at: s.Time, name: labelSteal, args: t.args[:]}
	if s.Runnext {
		t.taken.name, t.got.name = labelStolenOne, labelStealOne
	}
	t.args = [3]arg{{key: keyGoroutine, number: int64(s.G)}, {key: keySize, number: int64(s.Size)}, {key: keyGrade, text: s.Grade.String()}}
	t.enc.arrow(&t.taken, &t.got)
}
