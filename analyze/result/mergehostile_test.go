package result_test

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	. "github.com/schedscope/schedscope/analyze/result"
	"github.com/schedscope/schedscope/analyze/resulttest"
	"github.com/schedscope/schedscope/fixtures"
	"github.com/schedscope/schedscope/report/view"
)

// places returns the numbers, texts and lists in v.
func places(v reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.Struct:
		var out []reflect.Value
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out = append(out, places(v.Field(i))...)
			}
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return places(v.Elem())
	case reflect.Slice, reflect.Array:
		var out []reflect.Value
		if v.Kind() == reflect.Slice {
			out = append(out, v)
		}
		for i := range min(v.Len(), 3) {
			out = append(out, places(v.Index(i))...)
		}
		return out
	}
	return []reflect.Value{v}
}

// damage gives one place a value that nothing wrote.
func damage(r *rand.Rand, v reflect.Value) {
	numbers := []int64{0, 1, 2, 1 << 32, 1 << 61, 1 << 62, math.MaxInt64}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(numbers[r.IntN(len(numbers))])
	case reflect.Uint64:
		v.SetUint(uint64(numbers[r.IntN(len(numbers))]))
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, 0.5, math.MaxFloat64, math.SmallestNonzeroFloat64}[r.IntN(5)])
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString([]string{"", "x", "a much longer text than there was", "other"}[r.IntN(4)])
	case reflect.Slice:
		switch n := v.Len(); {
		case n > 0 && r.IntN(2) == 0:
			v.Set(v.Slice(0, r.IntN(n)))
		case n > 0:
			v.Set(reflect.Append(v, v.Index(r.IntN(n)))) // the same twice
		}
	}
}

// TestMergeHostile merges what nothing wrote, as far as it is read at all, with what an
// analysis wrote: the sums are those of valid reports, or it is refused.
func TestMergeHostile(t *testing.T) {
	var good bytes.Buffer
	if err := Write(&good, resulttest.Saved(t, resulttest.Try(t, "gc.go1.26.p4.trace"))); err != nil {
		t.Fatal(err)
	}
	want, accepted, merged := 12, 0, 0
	if fixtures.Sweep() {
		want = 80
	}
	for seed := 0; accepted < want && seed < 10*want; seed++ { // which are accepted depends on all fields of a report
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		v := copyOf(t, good.Bytes())
		list := places(reflect.ValueOf(v).Elem())
		for range 1 + r.IntN(3) {
			damage(r, list[r.IntN(len(list))])
		}
		var bad bytes.Buffer
		if err := Write(&bad, v); err != nil {
			continue
		}
		if _, err := Read(bytes.NewReader(bad.Bytes())); err != nil {
			continue
		}
		accepted++
		for _, order := range [][][]byte{{bad.Bytes()}, {bad.Bytes(), good.Bytes()}, {good.Bytes(), bad.Bytes()}, {bad.Bytes(), bad.Bytes(), bad.Bytes()}} {
			var all []*Report
			for _, data := range order {
				all = append(all, copyOf(t, data))
			}
			func() {
				defer func() {
					if x := recover(); x != nil {
						t.Errorf("seed %d: %v", seed, x)
					}
				}()
				v, err := Merge(all)
				if err != nil {
					return
				}
				merged++
				var b bytes.Buffer
				if err := Write(&b, v); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				if _, err := Read(&b); err != nil {
					t.Errorf("seed %d: merged: %v", seed, err)
				}
				if err := view.Markdown(io.Discard, v); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}()
		}
	}
	if accepted < want || merged < accepted {
		t.Errorf("%d of %d accepted, %d merged: too few to judge", accepted, want, merged)
	}
}
