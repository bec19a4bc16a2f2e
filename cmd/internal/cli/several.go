package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/internal/source"
)

// inOrder calls do for 0 to n-1, as many at the same time as there are workers, and take
// with the results one after another in order, until it returns false. No more than twice as
// many calls as workers are ahead of take, so that one slow trace does not have the results
// of those after it fill memory. All calls have ended when inOrder returns; their ctx ends
// when nobody waits any more.
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
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	begun := make(chan chan T, 2*workers-1) // in order
	all.Go(func() {
		defer close(begun)
		busy := make(chan struct{}, workers) // holds one for each call that runs
		for i := range n {                   // begun in order: a call may wait for those before it
			result := make(chan T, 1)
			select {
			case begun <- result:
			case <-ctx.Done():
				return
			}
			if busy <- struct{}{}; ctx.Err() != nil {
				return
			}
			all.Go(func() {
				result <- do(ctx, i)
				<-busy
			})
		}
	})
	i := 0
	for result := range begun {
		select {
		case x := <-result:
			if !take(i, x) {
				return
			}
		case <-ctx.Done():
			return
		}
		i++
	}
}

// several calls do for each of the traces, some of them at the same time, and take with
// what do made of each, one after another in order. What is said about a trace is said
// when it is its turn. A trace that cannot be read is reported and skipped as long as
// another can: several returns the skipped ones.
func several[T any](ctx context.Context, a *app, refs []source.Ref, workers int, do func(ctx context.Context, a *app, i int) (T, error), take func(int, T) error) ([]result.Skipped, error) {
	type made struct {
		said  *bytes.Buffer // on stderr
		value T
		err   error
	}
	aside := workers > 1
	if aside {
		a.progress.begin()
		defer a.progress.clear()
	}
	var skipped []result.Skipped
	var failed error
	done := 0
	inOrder(ctx, len(refs), workers, func(ctx context.Context, i int) (m made) {
		own := a
		if aside {
			own, m.said = a.aside()
		}
		m.value, m.err = do(ctx, own, i)
		return m
	}, func(i int, m made) bool {
		if aside {
			a.progress.clear()
			m.said.WriteTo(a.stderr) // as all messages: if stderr is gone, nobody reads them
			a.progress.step("traces", i+1, len(refs))
		}
		done++
		err := m.err
		if err == nil {
			err = take(i, m.value)
		}
		if unwritable := new(outputError); err != nil && (len(refs) == 1 || ctx.Err() != nil || errors.As(err, &unwritable)) {
			failed = err
			return false
		}
		if err != nil {
			a.warn("%v; skipped", err)
			if hint := hintOf(err); hint != "" {
				a.hint("%s", hint)
			}
			skipped = append(skipped, result.Skipped{Name: refs[i].Name, Cause: err.Error()})
		}
		return true
	})
	switch {
	case failed != nil:
		return skipped, failed
	case done < len(refs):
		return skipped, &exitError{code: exitInterrupted, err: context.Cause(ctx)}
	case len(skipped) == len(refs):
		return skipped, fmt.Errorf("none of the %d traces could be read", len(refs))
	}
	return skipped, nil
}

// aside returns an app that says what it has to say into a buffer and shows no
// progress: several can work at the same time, and speak in order later.
func (a *app) aside() (*app, *bytes.Buffer) {
	said, b := new(bytes.Buffer), *a
	b.stderr, b.progress = said, progressLine{}
	return &b, said
}

// forSeveral returns the flags with which each of several traces is read, by so many workers.
func (f *analyzeFlags) forSeveral(workers int) *analyzeFlags {
	each := *f
	each.timeline, each.drawsWaits = false, false
	if workers > 1 {
		// Traces keep the processors busy, not their parts.
		each.read.workers = max(1, f.read.workers/workers)
	}
	return &each
}

// workersFor returns how many of the inputs to read at the same time: what comes from
// stdin or a server is read by itself.
func (f *readFlags) workersFor(refs []source.Ref) int {
	if slices.ContainsFunc(refs, func(r source.Ref) bool { return r.Kind != source.File }) {
		return 1
	}
	return min(f.workers, len(refs))
}
