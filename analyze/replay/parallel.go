package replay

import (
	"context"
	"errors"
	"sync"
)

// parallel calls f(0) to f(n-1), several at the same time, and returns the error of
// the first that has one. After an error, or when ctx is done, no more are begun.
func parallel(ctx context.Context, n, workers int, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, n)
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range min(max(workers, 1), n) {
		wg.Go(func() {
			for i := range jobs {
				if errs[i] = f(ctx, i); errs[i] != nil {
					cancel()
				}
			}
		})
	}
	begun := 0
	for begun < n && ctx.Err() == nil {
		select {
		case jobs <- begun:
			begun++
		case <-ctx.Done():
		}
	}
	close(jobs)
	wg.Wait()
	for _, err := range errs[:begun] {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return ctx.Err()
}
