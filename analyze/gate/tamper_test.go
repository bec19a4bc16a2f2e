package gate

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/savedfiletest"
)

// TestTampered deletes, negates and sets to null every field of the samples and of the history
// behind a failing verdict, one at a time.
//
//  1. As the files are written, what changes anything is refused by the door, all of it.
//  2. Without their sum the gate's own guards are on their own: either the file is refused, or the
//     exit code is still not 0. A history is refused.
func TestTampered(t *testing.T) {
	const text = "mean(wait/op) <= baseline*1.10"
	b := budgetOf(t, text)
	set := func(side string, seed uint64, times float64) *sample.Set {
		s := recipe{n: 6, seed: seed, times: map[string]float64{"mean(wait/op)": times}}.set(side)
		s.Spec = SpecOf(b)
		return s
	}
	history := func(sessions int) []byte {
		f := baseline.New("")
		for i := range sessions {
			past := set(fmt.Sprintf("past-%d", i), uint64(100+i), 1)
			past.Samples = past.Samples[:1]
			for k := range past.Samples {
				past.Samples[k].Events += int64(1000 * i)
			}
			s, err := baseline.SessionOf(past, time.Time{})
			if err == nil {
				err = f.Add(s)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		if err := baseline.Write(&out, f); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	written := func(set *sample.Set) []byte {
		var out bytes.Buffer
		if err := baseline.WriteSet(&out, set); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	base, cand, full := written(set("base", 1, 1)), written(set("cand", 2, 9)), history(FullHistory)
	// The files that are not tampered with are read once.
	readSet := func(data []byte) *sample.Set {
		set, err := baseline.ReadSet("f", data)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	past, err := baseline.Read("history", full)
	if err != nil {
		t.Fatal(err)
	}
	sets := Input{Budget: b, Today: today, Base: readSet(base), Cand: readSet(cand)}
	withHistory := Input{Budget: b, Today: today, Baseline: past, Cand: sets.Cand}
	inBase := func(in *Input, data []byte) (err error) { in.Base, err = baseline.ReadSet("base", data); return err }
	inCand := func(in *Input, data []byte) (err error) { in.Cand, err = baseline.ReadSet("cand", data); return err }
	inPast := func(in *Input, data []byte) (err error) {
		in.Baseline, err = baseline.Read("history", data)
		return err
	}
	total := 0
	for _, tt := range []struct {
		name string
		data []byte
		in   Input // with what put reads of data
		put  func(in *Input, data []byte) error
		past bool
	}{
		{"base", base, sets, inBase, false},
		{"candidate", cand, sets, inCand, false},
		{"candidate, with a history", cand, withHistory, inCand, false},
		{"history with sessions to spare", history(FullHistory + 1), withHistory, inPast, true},
		{"full history", full, withHistory, inPast, true},
	} {
		// exit returns the exit code with the file, or an error if it is refused.
		exit := func(data []byte) (int, error) {
			in := tt.in
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
			if got, err := exit(data); (err != nil) != (tt.past && !sealed) || err == nil && got != ExitViolated {
				t.Fatalf("%s, sum %v, untouched: exit %d, %v", tt.name, sealed, got, err)
			}
			n, refused := 0, 0
			savedfiletest.Tamper(t, data, func(what string, changed []byte) {
				n++
				switch got, err := exit(changed); {
				case err != nil:
					refused++
				case got != ExitViolated && sealed, got == ExitOK, tt.past:
					t.Errorf("%s, sum %v: %s: exit %d", tt.name, sealed, what, got)
				}
			})
			t.Logf("%s, sum %v: %d tamperings, %d refused", tt.name, sealed, n, refused)
			total += n
		}
	}
	if total < 4000 {
		t.Errorf("only %d tamperings", total)
	}
}
