package model

// A Line passes batches, such as those of a StepLog, to another goroutine, which takes them in the order
// in which they were sent. Its methods must be called on the Machine's goroutine. Once the Machine
// is stopped, take only has to empty its batches.
type Line[B any] struct {
	take  func(B)
	empty chan B        // those that are not on their way
	taken chan struct{} // closed once all that was sent has been taken
}

// NewLine returns a Line that calls take for each batch. Take must empty it. The number of
// empty batches limits how many are in flight.
func NewLine[B any](take func(B), empty ...B) *Line[B] {
	l := &Line[B]{take: take, empty: make(chan B, len(empty)), taken: make(chan struct{})}
	for _, b := range empty {
		l.empty <- b
	}
	close(l.taken)
	return l
}

// Send sends a batch and returns an empty one, for which it may have to wait.
func (l *Line[B]) Send(b B) B {
	before, done := l.taken, make(chan struct{})
	go func() {
		<-before
		l.take(b)
		l.empty <- b
		close(done)
	}()
	l.taken = done
	return <-l.empty
}

// Wait blocks until all batches that were sent are taken.
func (l *Line[B]) Wait() { <-l.taken }

// Empty waits and returns the batches. The Line must not be used afterwards.
func (l *Line[B]) Empty() []B {
	l.Wait()
	var list []B
	for range cap(l.empty) {
		list = append(list, <-l.empty)
	}
	return list
}
