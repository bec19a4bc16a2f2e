package workloadtest

import (
	"reflect"
	"testing"

	"github.com/schedscope/schedscope/analyze/workload"
)

// TestRandom checks that random workloads can be carried out, and that each kind of
// thing occurs in them.
func TestRandom(t *testing.T) {
	var ends [workload.NumEnds]int
	var ops [8]int
	var begins [8]int
	goroutines, early := 0, 0
	n := 3000
	if testing.Short() {
		n = 500
	}
	for seed := range uint64(n) {
		w := Random(seed, Options{})
		if _, err := Chains(w, 1, 1); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := Check(w); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		ids := map[int64]bool{}
		for i := range w.Goroutines {
			g := &w.Goroutines[i]
			if ids[int64(g.ID)] {
				t.Fatalf("seed %d: goroutine id %d twice", seed, g.ID)
			}
			ids[int64(g.ID)] = true
			begins[g.Begin]++
			for k := range g.Segments {
				ends[g.Segments[k].End]++
			}
			for k := range g.Ops {
				ops[g.Ops[k].Kind]++
			}
		}
		goroutines = max(goroutines, len(w.Goroutines))
		early += len(w.Arrivals)
	}
	t.Logf("most goroutines %d, ends %v, ops %v, begins %v, arrivals %d", goroutines, ends, ops, begins, early)
	for kind, n := range ends {
		if n == 0 {
			t.Errorf("no segment ends with %d", kind)
		}
	}
	for kind := range workload.OpBlocked + 1 {
		if ops[kind] == 0 {
			t.Errorf("no operation of kind %d", kind)
		}
	}
	if goroutines < 500 {
		t.Errorf("at most %d goroutines, want crowds", goroutines)
	}
}

// TestDeterminism: a seed is all that a workload depends on.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(50) {
		a, b := Random(seed, Options{}), Random(seed, Options{})
		a.Tables, b.Tables = nil, nil
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: two workloads", seed)
		}
	}
}

// TestChain: in a chain, two procs are never of use.
func TestChain(t *testing.T) {
	for seed := range uint64(500) {
		w := Chain(seed, Options{})
		last, err := Chains(w, 1, 0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if work := Work(w); last != work {
			t.Errorf("seed %d: the longest chain is %d, want all the work, %d", seed, last, work)
		}
	}
}

// TestTransforms: other labels change no length, scaling all of them alike.
func TestTransforms(t *testing.T) {
	for seed := range uint64(50) {
		w := Random(seed, Options{})
		want, _ := Chains(w, 1, 1)
		relabelled, ids := Relabel(w, seed)
		if got, err := Chains(relabelled, 1, 1); got != want || err != nil || len(ids) != len(w.Goroutines) {
			t.Errorf("seed %d: relabelled, the longest chain is %d (%v), want %d", seed, got, err, want)
		}
		if got, err := Chains(Scale(w, 3), 1, 1); got != 3*want || err != nil {
			t.Errorf("seed %d: scaled, the longest chain is %d (%v), want 3 times %d", seed, got, err, want)
		}
	}
}
