package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/schedscope/schedscope/analyze/gate/baseline"
	"github.com/schedscope/schedscope/analyze/gate/sample"
)

// TestTampered deletes, negates and sets to null every field of the samples behind a failing
// verdict, one at a time: either the file is refused, or the exit code is still not 0.
func TestTampered(t *testing.T) {
	const text = "mean(wait/op) <= baseline*1.10"
	spec := SpecOf(budgetOf(t, text))
	sides := [2]*sample.Set{recipe{n: 6, seed: 1}.set("base"), recipe{n: 6, seed: 2, times: map[string]float64{"mean(wait/op)": 9}}.set("cand")}
	var files [2][]byte
	for i, set := range sides {
		set.Spec = spec
		var b bytes.Buffer
		if err := baseline.WriteSet(&b, set); err != nil {
			t.Fatal(err)
		}
		files[i] = b.Bytes()
	}
	exit := func() int {
		in := Input{Budget: budgetOf(t, text), Base: sides[0], Cand: sides[1], Today: today}
		r, err := Check(in)
		if err != nil {
			t.Fatal(err)
		}
		return r.Exit
	}
	if got := exit(); got != ExitViolated {
		t.Fatalf("untouched: exit %d", got)
	}
	n, refused := 0, 0
	for i, data := range files {
		good := sides[i]
		var doc any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		try := func(what string) {
			n++
			changed, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if sides[i], err = baseline.ReadSet("f", changed); err != nil {
				refused++
			} else if exit() == ExitOK {
				t.Errorf("%s: exit 0", what)
			}
			sides[i] = good
		}
		var walk func(v any, place string)
		walk = func(v any, place string) {
			switch v := v.(type) {
			case []any:
				for k := range v {
					walk(v[k], fmt.Sprintf("%s[%d]", place, k))
				}
			case map[string]any:
				for _, key := range slices.Sorted(maps.Keys(v)) {
					old, at := v[key], place+"."+key
					delete(v, key)
					try("without " + at)
					v[key] = nil
					try("null for " + at)
					if x, ok := old.(float64); ok {
						v[key] = -x
						try("negative " + at)
					}
					v[key] = old
					walk(old, at)
				}
			}
		}
		walk(doc, fmt.Sprint(i))
	}
	t.Logf("%d tamperings, %d refused", n, refused)
	if n < 500 {
		t.Errorf("only %d tamperings", n)
	}
}
