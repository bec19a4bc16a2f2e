package gate

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/sample"
	"github.com/schedscope/schedscope/internal/savedfiletest"
)

var fileSum = regexp.MustCompile(`"sum":\s*"[0-9a-f]{16}",?`)

// TestTampered deletes, negates and sets to null every field of the samples and of the history
// behind a failing verdict, one at a time.
//
//  1. As the files are written, what changes anything is refused by the door, all of it.
//  2. Without their sum, as older versions wrote them, the gate's own guards are on their own:
//     either the file is refused, or the exit code is still not 0.
//  3. They cannot guard the last session that makes a history full: without it a violation only
//     warns. There the door alone refuses, so that this test fails where it does not.
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
		lost bool // without its sum some change gives exit code 0
	}{
		{"base", base, sets, inBase, false},
		{"candidate", cand, sets, inCand, false},
		{"candidate, with a history", cand, withHistory, inCand, false},
		{"history with sessions to spare", history(FullHistory + 1), withHistory, inPast, false},
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
				data = fileSum.ReplaceAll(data, nil)
			}
			if got, err := exit(data); got != ExitViolated {
				t.Fatalf("%s, untouched: exit %d, %v", tt.name, got, err)
			}
			n, refused, lost := 0, 0, 0
			savedfiletest.Tamper(t, data, func(what string, changed []byte) {
				n++
				switch got, err := exit(changed); {
				case err != nil:
					refused++
				case got == ExitOK && !sealed && tt.lost:
					lost++
				case got != ExitViolated && sealed, got == ExitOK:
					t.Errorf("%s, sum %v: %s: exit %d", tt.name, sealed, what, got)
				}
			})
			t.Logf("%s, sum %v: %d tamperings, %d refused, %d lost", tt.name, sealed, n, refused, lost)
			if !sealed && tt.lost != (lost > 0) {
				t.Errorf("%s without a sum: %d tamperings give exit code 0: the door has nothing to do", tt.name, lost)
			}
			total += n
		}
	}
	if total < 500 {
		t.Errorf("only %d tamperings", total)
	}
}
