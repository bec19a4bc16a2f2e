package model

// A Line passes batches, such as those of a StepLog, to another goroutine, which takes them in the order
// in which they were sent. Its methods must be called on the Machine's goroutine. Once the Machine
// is stopped, take only has to empty its batches.
type Line[B any] struct {
	take  func(B)
	empty chan B        // those that are not on their way
	sent  chan B        // to the goroutine; nil: there is none
	taken chan struct{} // closed once that has taken all
}

// NewLine returns a Line that calls take for each batch. Take must empty it. The number of
// empty batches limits how many are in flight.
func NewLine[B any](take func(B), empty ...B) *Line[B] {
	l := &Line[B]{take: take, empty: make(chan B, len(empty))}
	for _, b := range empty {
		l.empty <- b
	}
	return l
}

// Send sends a batch and returns an empty one, for which it may have to wait. The goroutine goes on
// until Wait: each new one would have its stack grow again.
func (l *Line[B]) Send(b B) B {
	if l.sent == nil {
		l.sent, l.taken = make(chan B, cap(l.empty)+1), make(chan struct{})
		go l.run()
	}
	l.sent <- b
	return <-l.empty
}

func (l *Line[B]) run() {
	defer close(l.taken)
	for b := range l.sent {
		l.take(b)
		l.empty <- b
	}
}

// Wait blocks until all batches that were sent are taken.
func (l *Line[B]) Wait() {
	if l.sent != nil {
		close(l.sent)
		<-l.taken
		l.sent = nil
	}
}

// Empty waits and returns the batches. The Line must not be used afterwards.
func (l *Line[B]) Empty() []B {
	l.Wait()
	var list []B
	for range cap(l.empty) {
		list = append(list, <-l.empty)
	}
	return list
}
