package schedtest_test

import (
	"context"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/schedtest"
)

// TestServe requires an absolute limit of one run. Compiled with go test -c the same test is
// what schedscope gate record runs to compare two versions.
func TestServe(t *testing.T) {
	r := schedtest.Start(t, schedtest.Workload("checkout"), schedtest.Op("region:request"))
	serve(1000)
	r.Require("p99(runnable) < 10s @ point")
}

// Code that is measured tells what an operation is: a region of runtime/trace.
func serve(requests int) {
	var wg sync.WaitGroup
	for range requests {
		wg.Go(func() {
			defer trace.StartRegion(context.Background(), "request").End()
			time.Sleep(10 * time.Microsecond)
		})
	}
	wg.Wait()
}

// BenchmarkServe reports runnable-p99-ns, wait-ns/op, wakes/op and cpu-ns/op next to ns/op.
func BenchmarkServe(b *testing.B) {
	schedtest.Bench(b)
	for b.Loop() {
		serve(10)
	}
}
