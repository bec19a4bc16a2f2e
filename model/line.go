package model

import "sync"

// A Line passes batches, such as those of a StepLog, to another goroutine, which takes them in the order
// in which they were sent. Its methods must be called on the Machine's goroutine. Once the Machine
// is stopped, take only has to empty its batches.
type Line[B any] struct {
	take  func(B)
	empty chan B         // those that are not on their way
	full  chan B         // those that are to be taken
	taker chan struct{}  // holds a token while a goroutine takes them
	sent  sync.WaitGroup // batches that are not taken yet
}

// NewLine returns a Line that calls take for each batch. Take must empty it. The number of
// empty batches limits how many are in flight.
func NewLine[B any](take func(B), empty ...B) *Line[B] {
	l := &Line[B]{take: take, empty: make(chan B, len(empty)+1), full: make(chan B, len(empty)+1), taker: make(chan struct{}, 1)}
	for _, b := range empty {
		l.empty <- b
	}
	return l
}

// Send sends a batch and returns an empty one, for which it may have to wait.
func (l *Line[B]) Send(b B) B {
	l.sent.Add(1)
	l.full <- b
	if l.takes() {
		go l.run()
	}
	return <-l.empty
}

// takes reports whether the caller has become the one that takes batches.
func (l *Line[B]) takes() bool {
	select {
	case l.taker <- struct{}{}:
		return true
	default:
		return false
	}
}

// run takes batches as long as there are any. It ends then, for nobody says when there will be no more. A goroutine for
// each batch would have to grow its stack for each.
func (l *Line[B]) run() {
	for {
		for len(l.full) > 0 {
			b := <-l.full
			l.take(b)
			l.empty <- b
			l.sent.Done()
		}
		<-l.taker
		if len(l.full) == 0 || !l.takes() { // else one was sent just before
			return
		}
	}
}

// Wait blocks until all batches that were sent are taken.
func (l *Line[B]) Wait() { l.sent.Wait() }

// Empty waits and returns the batches. The Line must not be used afterwards.
func (l *Line[B]) Empty() []B {
	l.Wait()
	var list []B
	for len(l.empty) > 0 {
		list = append(list, <-l.empty)
	}
	return list
}
