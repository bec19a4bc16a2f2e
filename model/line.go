package model

// A Line has a goroutine of its own take what a [StepLog] collects, a few batches behind. It
// takes batches one after another, in the order in which they were sent. Its methods are for the
// Machine's goroutine. Once the log is stopped, take has only to empty what it gets.
type Line[B any] struct {
	take  func(B)
	empty chan B        // those that are not on their way
	taken chan struct{} // closed once all that was sent has been taken
}

// NewLine returns a Line of batches, of which at most as many as there are empty ones are on
// their way. Take must empty what it gets.
func NewLine[B any](log *StepLog, take func(B), empty ...B) *Line[B] {
	l := &Line[B]{take: take, empty: make(chan B, len(empty)), taken: make(chan struct{})}
	for _, b := range empty {
		l.empty <- b
	}
	close(l.taken)
	log.Wait = l.Wait
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

// Wait returns when all that was sent has been taken.
func (l *Line[B]) Wait() { <-l.taken }

// Empty waits and hands back the batches. The Line is not to be used any more.
func (l *Line[B]) Empty() []B {
	l.Wait()
	var list []B
	for range cap(l.empty) {
		list = append(list, <-l.empty)
	}
	return list
}
