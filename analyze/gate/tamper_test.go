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
	base, cand := written(set("base", 1, 1)), written(set("cand", 2, 9))
	full := history(FullHistory)
	// exit returns the exit code for files, or an error if one is refused.
	exit := func(base, past, cand []byte) (int, error) {
		in := Input{Budget: b, Today: today}
		var err error
		if in.Cand, err = baseline.ReadSet("cand", cand); err == nil && past != nil {
			in.Baseline, err = baseline.Read("history", past)
		} else if err == nil {
			in.Base, err = baseline.ReadSet("base", base)
		}
		if err != nil {
			return 2, err
		}
		r, err := Check(in)
		if err != nil {
			t.Fatal(err)
		}
		return r.Exit, nil
	}
	total := 0
	for _, tt := range []struct {
		name string
		data []byte
		exit func(data []byte) (int, error)
		past bool
	}{
		{"base", base, func(data []byte) (int, error) { return exit(data, nil, cand) }, false},
		{"candidate", cand, func(data []byte) (int, error) { return exit(base, nil, data) }, false},
		{"candidate, with a history", cand, func(data []byte) (int, error) { return exit(nil, full, data) }, false},
		{"history with sessions to spare", history(FullHistory + 1), func(data []byte) (int, error) { return exit(nil, data, cand) }, true},
		{"full history", full, func(data []byte) (int, error) { return exit(nil, data, cand) }, true},
	} {
		for _, sealed := range []bool{true, false} {
			data := tt.data
			if !sealed {
				data = savedfiletest.Unsealed(data)
			}
			if got, err := tt.exit(data); (err != nil) != (tt.past && !sealed) || err == nil && got != ExitViolated {
				t.Fatalf("%s, sum %v, untouched: exit %d, %v", tt.name, sealed, got, err)
			}
			n, refused := 0, 0
			savedfiletest.Tamper(t, data, func(what string, changed []byte) {
				n++
				switch got, err := tt.exit(changed); {
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
