package verdict

import (
	"encoding/json"
	"encoding/xml"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/schedscope/schedscope/analyze/gate"
	"github.com/schedscope/schedscope/analyze/gate/budget"
	"github.com/schedscope/schedscope/analyze/gate/rule"
	"github.com/schedscope/schedscope/report/document"
)

// TestRandom renders results of random texts and numbers in all formats: none fails, and
// those that others parse can be parsed.
func TestRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		r := new(gate.Result)
		scramble(rnd, reflect.ValueOf(r).Elem())
		for _, f := range Formats {
			o := Options{TextOptions: document.TextOptions{Color: rnd.IntN(2) == 0, Unicode: rnd.IntN(2) == 0, Width: rnd.IntN(3) * 40}, Root: "/r", Module: "m"}
			out := render(t, f, r, o)
			if !utf8.ValidString(out) {
				t.Fatalf("%s is not UTF-8: %q", f.Name, out)
			}
			switch f.Name {
			case "json", "sarif":
				if !json.Valid([]byte(out)) {
					t.Fatalf("%s is no JSON: %s", f.Name, out)
				}
			case "junit":
				if err := xml.Unmarshal([]byte(out), new(junitSuites)); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
		}
	}
}

// pieces are what random texts are made of.
var pieces = append(strings.Split(evil, " "), "p99(runnable) <= baseline*1.1", "mean(wakes/op) <= baseline", "/r/a.go", "m/b.go", "", " ", "\t", "é", "\u00a0", "\ufffe", "x")

// scramble sets all fields of v: texts of pieces, some lists empty, some pointers nil.
func scramble(rnd *rand.Rand, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *gate.Verdict:
		*x = []gate.Verdict{gate.Fail, gate.Pass, gate.Unseen, gate.Inconclusive, gate.Waived, gate.Unusable, ""}[rnd.IntN(7)]
		return
	case *gate.GuardStatus:
		*x = []gate.GuardStatus{gate.GuardOK, gate.GuardFailed, gate.GuardUnknown, gate.GuardFlag}[rnd.IntN(4)]
		return
	case *budget.Level:
		*x = []budget.Level{budget.Error, budget.Warn, budget.Off}[rnd.IntN(3)]
		return
	case *rule.Unit:
		*x = rule.Unit(rnd.IntN(3))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(pieces[rnd.IntN(len(pieces))] + strings.Repeat(pieces[rnd.IntN(len(pieces))], rnd.IntN(2)))
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat([]float64{0, -1, 1e-12, 0.3, 1, 1.5, 12345, 1e300}[rnd.IntN(8)])
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, -1, 1, 17, 1 << 40, -1 << 63}[rnd.IntN(6)])
	case reflect.Pointer:
		if rnd.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			scramble(rnd, v.Elem())
		}
	case reflect.Slice:
		n := rnd.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			scramble(rnd, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scramble(rnd, v.Field(i))
		}
	}
}
