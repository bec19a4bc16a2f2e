package main

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/schedscope/schedscope/internal/source"
)

// windowPerWorker bounds how many finished results wait for their turn, so that one slow
// trace does not have those after it fill memory.
const windowPerWorker = 2

// inOrder calls do for 0 to n-1, as many at the same time as there are workers, and take
// with the results one after another in order, until it returns false. Workers have ended
// when inOrder returns; ctx tells them that nobody waits any more.
func inOrder[T any](ctx context.Context, n, workers int, do func(context.Context, int) T, take func(int, T) bool) {
	if workers == 1 {
		for i := range n {
			if !take(i, do(ctx, i)) {
				return
			}
		}
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	window := workers * windowPerWorker
	slots := make([]chan T, window) // a result's slot is free: the one before has been taken
	for i := range slots {
		slots[i] = make(chan T, 1)
	}
	indices := make(chan int)
	tokens := make(chan struct{}, window) // one for each index that is not taken yet
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() {
		defer close(indices)
		for i := range n {
			select {
			case tokens <- struct{}{}:
			case <-ctx.Done():
				return
			}
			indices <- i
		}
	})
	for range workers {
		all.Go(func() {
			for i := range indices {
				slots[i%window] <- do(ctx, i)
			}
		})
	}
	for i := range n {
		select {
		case x := <-slots[i%window]:
			<-tokens
			if !take(i, x) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// analysed is what became of one of several traces.
type analysed struct {
	said *bytes.Buffer // on stderr
	*analysis
	err error
}

// referenceTraces is of how many traces at most the reference is simulated, unless it is
// asked for: each may take half a second.
const referenceTraces = 8

// forSeveral returns the flags with which each of n traces is read, by so many workers.
func (f *analyzeFlags) forSeveral(n, workers int) *analyzeFlags {
	each := *f
	if n > referenceTraces && !f.referenceAsked {
		each.reference = false
	}
	if workers > 1 {
		// Traces keep the processors busy, not their parts.
		each.read.workers = max(1, f.read.jobs()/workers)
	}
	return &each
}

// jobs returns what -j asks for.
func (f *readFlags) jobs() int {
	if f.workers > 0 {
		return f.workers
	}
	return runtime.GOMAXPROCS(0)
}

// workersFor returns how many of the inputs to read at the same time: what comes from
// stdin or a server is read by itself.
func (f *readFlags) workersFor(refs []source.Ref) int {
	if slices.ContainsFunc(refs, func(r source.Ref) bool { return r.Kind != source.File }) {
		return 1
	}
	return min(f.jobs(), len(refs))
}

// analyzeSeveral analyses traces and calls take with what became of each, in their order
// and whatever the number of workers, until it returns false. What is said about a trace
// is said when it is its turn.
func (a *app) analyzeSeveral(ctx context.Context, refs []source.Ref, f *analyzeFlags, take func(int, *analysed) bool) {
	workers := f.read.workersFor(refs)
	each := f.forSeveral(len(refs), workers)
	if workers == 1 {
		for i, ref := range refs {
			x := &analysed{}
			if x.analysis, x.err = a.analyzeOne(ctx, ref, each); !take(i, x) {
				return
			}
		}
		return
	}
	a.progress.begin()
	defer a.progress.clear()
	do := func(ctx context.Context, i int) *analysed {
		own, said := a.aside()
		x := &analysed{}
		x.analysis, x.err = own.analyzeOne(ctx, refs[i], each)
		x.said = said
		return x
	}
	inOrder(ctx, len(refs), workers, do, func(i int, x *analysed) bool {
		a.repeat(x.said)
		a.progress.step("traces", i+1, len(refs))
		return take(i, x)
	})
}
