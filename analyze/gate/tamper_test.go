package gate

import (
	"encoding/json"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestTampered deletes, negates and sets to null every field of the samples behind a failing
// verdict, one at a time.
//
//  1. As the files are written, what changes anything is refused by the door, all of it.
//  2. Without their sum the gate's own guards are on their own: either the file is refused, or the
//     exit code is still not 0.
func TestTampered(t *testing.T) {
	const text = "mean(wait/op) <= baseline*1.10"
	b := budgetOf(t, text)
	set := func(side string, seed uint64, times float64) *sample.Set {
		s := recipe{n: 6, seed: seed, times: map[string]float64{"mean(wait/op)": times}}.set(side)
		s.Spec = SpecOf(b)
		return s
	}
	written := func(set *sample.Set) []byte {
		data, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		return savedfiletest.Sealed(data)
	}
	base, cand := written(set("base", 1, 1)), written(set("cand", 2, 9))
	// The files that are not tampered with are read once.
	readSet := func(data []byte) *sample.Set {
		set, err := sample.ReadSet("f", data)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	sets := Input{Budget: b, Today: today, Base: readSet(base), Cand: readSet(cand)}
	total := 0
	for _, tt := range []struct {
		name string
		data []byte
		put  func(in *Input, data []byte) error
	}{
		{"base", base, func(in *Input, data []byte) (err error) { in.Base, err = sample.ReadSet("base", data); return err }},
		{"candidate", cand, func(in *Input, data []byte) (err error) { in.Cand, err = sample.ReadSet("cand", data); return err }},
	} {
		// exit returns the exit code with the file, or an error if it is refused.
		exit := func(data []byte) (int, error) {
			in := sets
			if err := tt.put(&in, data); err != nil {
				return 2, err
			}
			r, err := Check(in)
			if err != nil {
				t.Fatal(err)
			}
			return r.Exit, nil
		}
		for _, sealed := range []bool{true, false} {
			data := tt.data
			if !sealed {
				data = savedfiletest.Unsealed(data)
			}
			if got, err := exit(data); err != nil || got != ExitViolated {
				t.Fatalf("%s, sum %v, untouched: exit %d, %v", tt.name, sealed, got, err)
			}
			n, refused := 0, 0
			savedfiletest.Tamper(t, data, func(what string, changed []byte) {
				n++
				switch got, err := exit(changed); {
				case err != nil:
					refused++
				case got != ExitViolated && sealed, got == ExitOK:
					t.Errorf("%s, sum %v: %s: exit %d", tt.name, sealed, what, got)
				}
			})
			t.Logf("%s, sum %v: %d tamperings, %d refused", tt.name, sealed, n, refused)
			total += n
		}
	}
	if total < 2100 {
		t.Errorf("only %d tamperings", total)
	}
}
