package requests_test

import (
	"os"
	"testing"

	"github.com/schedscope/schedscope/analyze/requests"
	"github.com/schedscope/schedscope/model"
)

// TestTakenUp checks from when a task is with the goroutine that ends it, which does nothing else of it
// that a trace shows: three workers are idle when each of 30 mails comes, and sleep for 5 ms; so do
// goroutines that are created for jobs; of a burst of 30 mails nearly all wait until a worker is free.
func TestTakenUp(t *testing.T) {
	f, err := os.Open("testdata/pool.trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	count, queued, all := map[string]int{}, map[string]model.Duration{}, map[string]model.Duration{}
	if _, err := track(t, f, []string{"label:."}, func(r *requests.Request) {
		if err := check(r); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		count[r.Name]++
		queued[r.Name] += r.Path[requests.Queued]
		all[r.Name] += r.Duration()
		if r.Path[requests.Queued] != r.Own[requests.Queued] {
			t.Errorf("%s: queued for %d of the path and %d of its own time", r.Name, r.Path[requests.Queued], r.Own[requests.Queued])
		}
	}); err != nil {
		t.Fatal(err)
	}
	for name, free := range map[string]bool{"mail": true, "job": true, "burst": false} {
		if share := float64(queued[name]) / float64(all[name]); count[name] != 30 || free != (share < 0.1) || free == (share > 0.8) {
			t.Errorf("%s: %d tasks, queued for %.0f %% of their time", name, count[name], 100*share)
		}
	}
}

// TestOpenTask checks that a task that is not ended is open when the trace ends, while its goroutine lives.
func TestOpenTask(t *testing.T) {
	f, err := os.Open("../../fixtures/tasks.go1.26.p4.trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	open := map[string]int{}
	if _, err := track(t, f, nil, func(r *requests.Request) {
		if r.Open {
			open[r.Name]++
		}
	}); err != nil {
		t.Fatal(err)
	}
	if open["never ended"] != 1 || len(open) != 1 {
		t.Errorf("%v", open)
	}
}
